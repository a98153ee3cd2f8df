"""The paper's table of residual diagnostics, for all rules."""

import numpy as np
import pytest

from gssbo import GaussianProcess, select_subset
from gssbo import reference as ref
from gssbo.diagnostics import PosteriorGap, residual_table
from gssbo.kernels import Kernel
from gssbo.selection import RULES
from gssbo.selection.rules import DRAWING
from tests.partitions import Case

pytestmark = pytest.mark.usefixtures("single_thread")


def test_residual_table():
    case = Case(37, "matern52", d=2, noise=1e-2)
    rows = residual_table(
        case.kernel, case.X, case.y, 8, rules=list(RULES), forced=[0, 3], draws=4, noise=1e-2, candidates=case.Q, rng=2
    )
    assert [row.rule for row in rows] == list(RULES)
    assert {row.rule: row.draws for row in rows} == {rule: 4 if rule in DRAWING else 1 for rule in RULES}
    vector = next(row for row in rows if row.rule == "vector")
    chosen = ref.select_vector(ref.precision(case.X, case.theta, "matern52"), 8, [0, 3])
    gap = PosteriorGap(case.kernel, case.X, case.y, chosen, noise=1e-2, candidates=case.Q)
    expected = (gap.residual_norm, gap.rho, gap.score_norm, gap.inverse_norm, gap.largest_mean_gap)
    assert vector[1:6] == pytest.approx(expected, rel=1e-9)
    # The random rows are means over subsets, so they lie within what single draws give.
    random = [
        residual_table(case.kernel, case.X, case.y, 8, rules=["random"], forced=[0, 3], draws=1, noise=1e-2, rng=seed)[
            0
        ]
        for seed in range(20)
    ]
    row = next(row for row in rows if row.rule == "random")
    assert min(r.residual_norm for r in random) < row.residual_norm < max(r.residual_norm for r in random)


def test_residual_table_is_standardised_and_averaged():
    case = Case(41, "matern52", d=2)
    gp = GaussianProcess(lengthscale=0.4, noise=1e-2, fit_hyperparameters=False).fit(case.X, 50.0 * case.y)
    rows = residual_table(gp, case.X, 50.0 * case.y, 6, rules=["random"], draws=3, rng=np.random.default_rng(4))
    plain = []
    rng = np.random.default_rng(4)
    for _ in range(3):
        chosen = rng.permutation(len(case.X))[:6]
        plain.append(PosteriorGap(gp.kernel_, case.X, gp.y_train_, chosen, noise=gp.noise_))
    assert rows[0].mean_gap == pytest.approx(np.mean([gap.largest_mean_gap for gap in plain]), rel=1e-9)
    assert rows[0].score_norm == pytest.approx(np.mean([gap.score_norm for gap in plain]), rel=1e-9)


def test_a_rule_that_draws_does_so_however_often_its_draws_coincide():
    """One of two: the second draw is the first again every other time."""
    X, y = np.array([[0.0], [0.5], [1.0]]), np.array([0.0, 1.0, 0.5])
    kernel = Kernel("matern52", np.array([0.3]), 1.0)
    for seed in range(4):
        rows = residual_table(kernel, X, y, 2, rules=list(RULES), forced=[0], draws=7, noise=0.1, rng=seed)
        assert {row.rule: row.draws for row in rows} == {rule: 7 if rule in DRAWING else 1 for rule in RULES}


@pytest.mark.parametrize("rule", RULES)
def test_the_rules_that_draw_are_named(rule):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 2)), rng.standard_normal(40)
    gp = GaussianProcess(lengthscale=0.3, fit_hyperparameters=False).fit(X, y)
    subsets = {tuple(np.sort(select_subset(gp, X, 10, y=y, rule=rule, rng=seed))) for seed in range(5)}
    assert (len(subsets) > 1) == (rule in DRAWING)
