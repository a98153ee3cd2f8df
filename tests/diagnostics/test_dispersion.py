"""Dispersion of subsets, and the error on a test set."""

import numpy as np
import pytest
from hypothesis import given, settings

from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo.diagnostics import PosteriorGap, directional_dispersion, posterior_rmse
from tests.partitions import Case, cases

pytestmark = pytest.mark.usefixtures("single_thread")


@settings(max_examples=60, deadline=None)
@given(cases)
def test_dispersion_against_all_pairs(case):
    C = ref.cosines(ref.precision(case.X, case.theta, case.kernel.name))
    total = sum(C[i, j] for i in case.U for j in case.U)
    got = directional_dispersion(case.kernel, case.X, case.U, noise=case.noise)
    assert got == pytest.approx(1 - total / len(case.U) ** 2, abs=1e-9)
    assert 0.0 <= got <= 1.0
    whole = directional_dispersion(case.kernel, case.X, noise=case.noise)
    assert whole == pytest.approx(1 - C.mean(), abs=1e-9)


def test_rmse():
    case = Case(29, "matern52", d=2)
    options = {"lengthscale": 0.5, "noise": 0.05, "fit_hyperparameters": False}
    gp = GaussianProcess(**options).fit(case.X, case.y)
    truth = np.sin(5.0 * case.Q[:, 0])
    expected = np.sqrt(np.mean((gp.predict(case.Q) - truth) ** 2))
    assert posterior_rmse(gp, case.Q, truth) == pytest.approx(expected, rel=1e-12)
    full, subset = PosteriorGap(gp, case.X, case.y, case.U).rmse(case.Q, truth)
    assert full == pytest.approx(expected, rel=1e-9)
    part = GaussianProcess(**options, normalize_y=False).fit(case.X[case.U], gp.y_train_[case.U])
    errors = gp.y_mean_ + gp.y_std_ * part.predict(case.Q) - truth
    assert subset == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-9)
    huge = GaussianProcess(**options).fit(case.X, 1e300 * case.y)
    assert posterior_rmse(huge, case.Q, 1e300 * truth) == pytest.approx(1e300 * expected, rel=1e-9)
    assert posterior_rmse(gp, case.Q, gp.predict(case.Q)) == 0.0
