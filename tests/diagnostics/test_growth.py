"""Gaps of larger subsets."""

import numpy as np
import pytest
from hypothesis import given, settings

from gssbo import GaussianProcess, select_subset
from gssbo import reference as ref
from gssbo.diagnostics import growth_order, trust
from gssbo.selection import RULES
from tests.partitions import Case, cases, same

pytestmark = pytest.mark.usefixtures("single_thread")


@settings(max_examples=20, deadline=None)
@given(cases)
def test_growth_against_every_size(case):
    order = np.random.default_rng(0).permutation(case.R)
    gap = case.gap(candidates=case.Q[:7], discarded=order)
    grown = gap.growth()
    assert list(grown.sizes) == list(range(len(case.U), len(case.X) + 1))
    means, variances = [], []
    for j in range(len(order) + 1):
        whole = case.posterior(np.arange(len(case.X)), gap.points)
        part = case.posterior(np.concatenate([case.U, order[:j]]), gap.points)
        means.append(np.abs(whole[0] - part[0]).max())
        variances.append(np.max(part[1] - whole[1]))
    same(grown.mean_gap, means, np.abs(case.y).max())
    same(grown.variance_gap, variances, case.kernel.variance)
    assert grown.mean_gap[-1] == grown.variance_gap[-1] == 0.0
    assert np.all(np.diff(grown.variance_gap) <= 0.0)
    assert grown.mean_gap[0] == pytest.approx(gap.largest_mean_gap, rel=1e-10, abs=1e-14)
    target = 0.5 * gap.largest_mean_gap
    size = grown.size_for(target)
    assert size == min(s for s in grown.sizes if all(grown.mean_gap[grown.sizes >= s] <= target))


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in ("topk-random", "residual-exchange")])
def test_growth_order_is_the_rules(rule):
    """A subset of any larger size is this one and the first of the order: what the rule itself would give."""
    case = Case(31, "matern52", d=3, noise=1e-2)
    gp = GaussianProcess(lengthscale=0.5, noise=1e-2, fit_hyperparameters=False).fit(case.X, case.y)
    kept = select_subset(gp, case.X, 10, y=case.y, rule=rule, rng=1)
    order = growth_order(gp, case.X, case.y, kept, rule=rule, rng=5)
    assert np.array_equal(np.sort(np.concatenate([kept, order])), np.arange(len(case.X)))
    for size in range(11, len(case.X)):
        larger = select_subset(gp, case.X, size, y=case.y, rule=rule, forced=kept, rng=5)
        assert np.array_equal(larger, np.concatenate([kept, order[: size - 10]]))


def test_growth_by_the_best_and_a_random_rest_begins_with_the_best():
    case = Case(31, "matern52", d=3, noise=1e-2)
    gp = GaussianProcess(lengthscale=0.5, noise=1e-2, fit_hyperparameters=False).fit(case.X, case.y)
    kept = np.arange(10)
    order = growth_order(gp, case.X, case.y, kept, rule="topk-random", rng=5)
    n = len(case.X)
    best = sorted(range(10, n), key=lambda i: -case.y[i])[: (n - 1) // 4]
    assert order[: len(best)].tolist() == best
    assert sorted(order.tolist()) == list(range(10, n))


@pytest.mark.parametrize("rule", ["vector", "maxmin", "random"])
def test_size_to_halve_by_doing_it(rule):
    """Select the larger subset, fit it, and compare it with the full data: half the gap, and not before."""
    rng = np.random.default_rng(3)
    n = 80
    X = rng.random((n, 2))
    y = np.sin(9.0 * X[:, 0]) * X[:, 1] + 0.05 * rng.standard_normal(n)
    gp = GaussianProcess(rng=0).fit(X, y)
    kept = select_subset(gp, X, 20, rule=rule, rng=0)
    found = trust(gp, X, y, kept, rule=rule, tolerance=0.05, rng=7)
    theta = gp.theta_ + np.log([1.0, 1.0, gp.y_std_**2, gp.y_std_**2])
    points = found.gap.points

    def largest_gap(size):
        larger = select_subset(gp, X, size, rule=rule, forced=kept, rng=7) if size > 20 else kept
        full = ref.posterior(X, y - gp.y_mean_, points, theta)[0]
        return np.abs(full - ref.posterior(X[larger], y[larger] - gp.y_mean_, points, theta)[0]).max()

    start = largest_gap(20)
    assert found.largest_gap == pytest.approx(start, rel=1e-6)
    assert 20 < found.size_to_halve < found.size_to_trust <= n
    for size, target in ((found.size_to_halve, 0.5 * start), (found.size_to_trust, 0.05 * y.std())):
        assert largest_gap(size - 1) > target
        assert all(largest_gap(larger) <= target * (1 + 1e-9) for larger in range(size, n))
