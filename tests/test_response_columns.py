"""Responses in a column (n, 1), as GPy, GPflow and BoTorch have them: as good as (n,), wherever they are asked for."""

import numpy as np
import pytest

from gssbo import GaussianProcess, diagnostics, select_subset
from tests.gaussian_processes import data, same, state

pytestmark = pytest.mark.usefixtures("single_thread")

X, y = data(12, 2)
noise = np.linspace(0.0, 0.1, 12)
RETAINED = [0, 3, 5, 7]


@pytest.fixture
def gp():
    return GaussianProcess(rng=0).fit(X, y, noise_std=noise, noise_factors=1.0 + noise)


def test_a_process_is_fitted_to_them(gp):
    column = GaussianProcess(rng=0).fit(X, y[:, None], noise_std=noise[:, None], noise_factors=1.0 + noise[:, None])
    assert same(state(column), state(gp))
    assert column.predict(X).shape == (12,)


@pytest.mark.parametrize(
    "ask",
    [
        lambda gp, y: select_subset(gp, X, 5, y=y, rule="scalar"),
        lambda gp, y: diagnostics.trust(gp, X, y, RETAINED, rng=0),
        lambda gp, y: diagnostics.leave_one_out(gp, X, y).mean,
        lambda gp, y: diagnostics.growth_order(gp, X, y, RETAINED),
        lambda gp, y: diagnostics.residual_table(gp, X, y, 4, rules=["vector"]),
        lambda gp, y: diagnostics.posterior_rmse(gp, X, y),
        lambda gp, y: diagnostics.PosteriorGap(gp, X, y, RETAINED).rmse(X, y),
    ],
    ids=["subset", "trust", "leave one out", "growth order", "residual table", "rmse", "gap"],
)
def test_a_subset_is_chosen_and_judged_by_them(gp, ask):
    assert repr(ask(gp, y[:, None])) == repr(ask(gp, y))
