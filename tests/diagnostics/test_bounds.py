"""Proposition 5.3, corollaries 5.4 and A.1, lemma A.2."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gssbo.diagnostics import PosteriorGap
from gssbo.diagnostics.bounds import Norms
from gssbo.kernels import Kernel
from tests.partitions import CLOSE, Case, at_most, cases, same

pytestmark = pytest.mark.usefixtures("single_thread")


@settings(max_examples=50, deadline=None)
@given(cases)
def test_residual_bridge(case):
    gap = case.gap()
    s = -np.linalg.solve(case.covariance(np.arange(len(case.X))), case.y)
    same(gap.scores, s)
    same(gap.discarded_scores, s[case.R], np.abs(s).max())
    same(gap.residual, -gap.S @ gap.discarded_scores)
    same(gap.mean_gap_by_scores(case.Q), gap.mean_gap(case.Q))
    assert gap.residual_norm == pytest.approx(np.linalg.norm(gap.residual), rel=1e-14)
    assert gap.score_norm == pytest.approx(np.linalg.norm(gap.discarded_scores), rel=1e-14)


@settings(max_examples=50, deadline=None)
@given(cases, st.floats(0.0, 10.0))
def test_bounds_hold(case, beta):
    gap = case.gap()
    found, bounds = gap.at(case.Q), gap.bounds(case.Q, beta=beta)
    mean = np.abs(found.mean_gap)
    for bound in (bounds.mean_by_scores, bounds.mean, bounds.mean_coarse):
        at_most(mean, bound)
    at_most(bounds.mean_by_scores, bounds.mean)
    at_most(bounds.mean, bounds.mean_coarse)
    at_most(found.variance_gap, bounds.variance)
    at_most(bounds.variance, bounds.variance_coarse)
    at_most(found.std_gap, np.sqrt(found.variance_gap))
    at_most(np.sqrt(found.variance_gap), bounds.std)
    at_most(bounds.std, bounds.std_coarse)
    at_most(np.abs(gap.ucb_gap(case.Q, beta=beta)), bounds.ucb)
    dense_mean, dense_std, subset_mean, subset_std = case.posteriors()
    slack = 1e-8 * (np.abs(dense_mean).max() + case.kernel.variance)
    assert np.all(np.abs(dense_mean - subset_mean) <= bounds.mean_by_scores + slack)
    assert np.all(subset_std**2 - dense_std**2 <= bounds.variance + slack)
    reach = np.sqrt(beta)
    ucb = (dense_mean + reach * dense_std) - (subset_mean + reach * subset_std)
    assert np.all(np.abs(ucb) <= bounds.ucb + 3 * slack + 1e-4 * reach)  # std of nearly nothing, by subtraction


@settings(max_examples=50, deadline=None)
@given(cases)
def test_bounds_are_their_formulas(case):
    gap, blocks = case.gap(), case.blocks()
    c = np.linalg.norm(blocks["c_U"], axis=0)
    r, s = np.linalg.norm(blocks["r_U"]), np.linalg.norm(blocks["s_R"])
    widest = np.linalg.norm(np.linalg.inv(blocks["S"]), 2)
    assert gap.inverse_norm == pytest.approx(widest, rel=CLOSE)
    least = case.noise + case.known[case.R].min()
    assert gap.inverse_norm <= 1 / least
    bounds = gap.bounds(case.Q, beta=4.0)
    expected = (
        c * widest * r, c * s, c * r / least, c**2 * widest, c**2 / least, c * np.sqrt(widest),
        c / np.sqrt(least), c * s + 2 * c * np.sqrt(widest),
    )  # fmt: skip
    for got, value in zip(bounds, expected, strict=True):
        same(got, value, max(np.max(value), 1e-4))
    assert gap.uniform_bounds(beta=4.0) == pytest.approx(
        [float(np.max(b)) for b in gap.bounds(gap.points, beta=4.0)], rel=1e-12
    )


@settings(max_examples=40, deadline=None)
@given(cases)
def test_uniform_bounds_hold_everywhere(case):
    gap = case.gap(candidates=case.Q[:5])
    everywhere = np.random.default_rng(0).uniform(-1.0, 2.0, (300, case.d))
    assert np.array_equal(gap.points, np.vstack([case.Q[:5], case.X]))
    norms = np.linalg.norm(gap.cross_residual(gap.points), axis=0)
    assert gap.rho == pytest.approx(norms.max(), rel=1e-12)
    at_most(np.linalg.norm(gap.cross_residual(everywhere), axis=0), gap.rho_ceiling)
    assert gap.rho <= gap.rho_ceiling * (1 + 1e-12)
    found, sure = gap.at(everywhere), gap.uniform_bounds(certain=True)
    at_most(np.abs(found.mean_gap), min(sure.mean, sure.mean_by_scores))
    at_most(found.variance_gap, sure.variance)
    at_most(found.std_gap, sure.std)
    at_most(np.abs(gap.ucb_gap(everywhere)), sure.ucb)
    seen = gap.everywhere()
    assert gap.largest_mean_gap == np.abs(seen.mean_gap).max() <= gap.uniform_bounds().mean_by_scores * (1 + 1e-9)
    assert gap.largest_std_gap == seen.std_gap.max() <= gap.uniform_bounds().std * (1 + 1e-9)


def test_rho_ceiling_is_its_formula():
    case = Case(6, "matern52")
    assert case.known[case.R].any()
    latent = case.blocks()["S"] - np.diag(case.noise + case.known[case.R])
    assert case.gap().rho_ceiling == pytest.approx(
        np.sqrt(case.kernel.variance * np.linalg.eigvalsh(latent)[-1]), rel=1e-9
    )


def test_bounds_without_noise_or_residual():
    quiet = Norms(residual=0.0, scores=0.0, inverse=2.0, noise=0.0).bounds(3.0, beta=1.0, scale=10.0)
    assert quiet.mean == quiet.mean_by_scores == quiet.mean_coarse == 0.0
    assert quiet.variance == pytest.approx(1800.0) and quiet.variance_coarse == np.inf
    nowhere = Norms(residual=1.0, scores=1.0, inverse=2.0, noise=0.0).bounds(np.zeros(2), beta=1.0, scale=1.0)
    assert all(np.array_equal(bound, np.zeros(2)) for bound in nowhere)


def test_surprise_is_one_on_draws_from_the_prior():
    rng = np.random.default_rng(0)
    X = rng.random((50, 3))
    kernel, noise = Kernel("matern32", np.full(3, 0.6), 1.5), 0.1
    root = np.linalg.cholesky(kernel(X) + noise * np.eye(50))
    found = [PosteriorGap(kernel, X, root @ rng.standard_normal(50), np.arange(20), noise=noise) for _ in range(300)]
    values = np.array([gap.surprise for gap in found])
    assert abs(values.mean() - 1.0) < 4 * np.sqrt(2 / 30 / 300)
    assert abs(values.std() - np.sqrt(2 / 30)) < 0.05
    gap = found[0]
    assert gap.surprise == pytest.approx(gap.residual @ np.linalg.solve(gap.S, gap.residual) / 30, rel=1e-10)
