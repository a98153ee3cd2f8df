"""The paper's analysis: every identity against dense posteriors, every bound against what it bounds."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, NonlinearConstraint
from threadpoolctl import threadpool_limits

import gssbo
from gssbo import GaussianProcess, Optimizer, select_subset
from gssbo import reference as ref
from gssbo.diagnostics import (
    PosteriorGap,
    directional_dispersion,
    growth_order,
    leave_one_out,
    posterior_rmse,
    residual_table,
    trust,
)
from gssbo.diagnostics.bounds import Norms
from gssbo.exceptions import NotFittedError
from gssbo.kernels import Kernel
from gssbo.selection import RULES
from gssbo.selection.rules import DRAWING

KERNELS = ["matern52", "matern32", "rbf"]
CLOSE = 1e-8  # relative, to the largest value of what is compared


@pytest.fixture(scope="module", autouse=True)
def single_thread():
    with threadpool_limits(1):  # small products crawl on several
        yield


class Case:
    """A random pool, partition and points, and both posteriors by plain NumPy."""

    def __init__(self, seed, kernel, d=None, noise=None):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 50))
        self.d = d = int(rng.integers(1, 21)) if d is None else d
        self.noise = 10.0 ** rng.uniform(-4, 0) if noise is None else noise
        self.X = rng.random((n, d))
        if seed % 4 == 0:  # some observations stand where others do, or hardly beside them
            self.X[n // 2 :] = self.X[: n - n // 2] + (seed % 8) * 1e-9 * rng.standard_normal((n - n // 2, d))
        self.y = np.sin(5.0 * self.X[:, 0]) + self.X.sum(axis=1) + rng.standard_normal(n)
        self.kernel = Kernel(kernel, np.sqrt(d) * rng.uniform(0.2, 1.5, d), rng.uniform(0.5, 3.0))
        self.theta = np.log([*self.kernel.lengthscale, self.kernel.variance, self.noise])
        # Every third case has observations whose own noise is known, on top of what all share.
        self.known = np.where(rng.random(n) < 0.5, rng.uniform(0.0, 0.5, n), 0.0) if seed % 3 == 0 else np.zeros(n)
        order = rng.permutation(n)
        m = int(rng.integers(1, n))
        self.U, self.R = order[:m], np.sort(order[m:])
        self.Q = np.vstack([rng.random((20, d)), self.X])

    def gap(self, **options):
        noise_std = np.sqrt(self.known) if self.known.any() else None
        return PosteriorGap(self.kernel, self.X, self.y, self.U, noise=self.noise, noise_std=noise_std, **options)

    def covariance(self, members):
        """K_y of some of the observations."""
        return ref.noisy_covariance(self.X[members], self.theta, self.kernel.name) + np.diag(self.known[members])

    def leave_one_out(self):
        return leave_one_out(self.kernel, self.X, self.y, noise=self.noise, noise_std=np.sqrt(self.known))

    def posterior(self, members, Q=None):
        """Mean and variance at Q from its definition (appendix B of the paper), by solves with K_y."""
        Q = self.Q if Q is None else Q
        X, K_y = self.X[members], self.covariance(members)
        k = ref.kernel_matrix(X, Q, self.theta, self.kernel.name)
        return k.T @ np.linalg.solve(K_y, self.y[members]), self.kernel.variance - np.sum(
            k * np.linalg.solve(K_y, k), axis=0
        )

    def posteriors(self):
        """Full-data and subset mean and standard deviation."""
        mean, variance = self.posterior(np.arange(len(self.X)))
        subset_mean, subset_variance = self.posterior(self.U)
        return mean, np.sqrt(np.maximum(variance, 0)), subset_mean, np.sqrt(np.maximum(subset_variance, 0))

    def blocks(self):
        K = ref.kernel_matrix(self.X, self.X, self.theta, self.kernel.name) + np.diag(self.known)
        k = ref.kernel_matrix(self.X, self.Q, self.theta, self.kernel.name)
        return ref.posterior_gap(K, k, self.y, self.noise, self.U)


cases = st.builds(Case, st.integers(0, 10**6), st.sampled_from(KERNELS))


def same(got, expected, scale=None, tolerance=CLOSE):
    """Equal to within `tolerance` of the largest entry, or of `scale` where that is what cancels."""
    expected = np.asarray(expected)
    assert np.shape(got) == expected.shape
    scale = np.abs(expected).max() if scale is None else scale
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * scale)


def at_most(value, bound):
    """No larger than the bound, beyond rounding."""
    assert np.all(value <= bound * (1 + 1e-9) + 1e-13), np.max(value - bound)


# ---- theorem 5.1


@settings(max_examples=150, deadline=None)
@given(cases)
def test_blocks_are_their_definitions(case):
    gap, blocks = case.gap(), case.blocks()
    for name in "ABC":
        same(getattr(gap, name), blocks[name], tolerance=1e-13)
    same(gap.S, blocks["S"], scale=case.kernel.variance)
    assert np.array_equal(gap.S, gap.S.T)
    same(gap.residual, blocks["r_U"], scale=np.abs(case.y).max())
    same(gap.cross_residual(case.Q), blocks["c_U"], scale=case.kernel.variance)
    assert gap.noise == case.noise and gap.jitter == 0.0


@settings(max_examples=150, deadline=None)
@given(cases)
def test_gaps_are_differences_of_dense_posteriors(case):
    """Means to 1e-8 of the largest mean, variances to 1e-8 of the prior's, standard deviations to the root of that."""
    gap = case.gap()
    mean, std, subset_mean, subset_std = case.posteriors()
    found = gap.at(case.Q)
    size, variance = np.abs(mean).max() + np.abs(subset_mean).max(), case.kernel.variance
    same(found.mean, mean, size)
    same(found.subset_mean, subset_mean, size)
    same(found.mean_gap, mean - subset_mean, size)
    same(found.std**2, std**2, variance)
    same(found.subset_std**2, subset_std**2, variance)
    same(found.variance_gap, subset_std**2 - std**2, variance)
    same((found.subset_std - found.std_gap) ** 2, std**2, variance)
    assert np.all(found.variance_gap >= 0) and np.all(found.std_gap >= 0)
    assert np.array_equal(found.mean_gap, gap.mean_gap(case.Q))
    assert np.array_equal(found.variance_gap, gap.variance_gap(case.Q))
    assert np.array_equal(found.std_gap, gap.std_gap(case.Q))
    same(gap.ucb_gap(case.Q, beta=3.0), found.mean_gap - np.sqrt(3.0) * (found.subset_std - found.std), size, 1e-7)


@settings(max_examples=100, deadline=None)
@given(cases)
def test_gaps_are_quadratic_forms_in_the_inverse_of_s(case):
    """c_U' S^-1 r_U and c_U' S^-1 c_U from explicit blocks, to 1e-8 of the largest gap."""
    gap, blocks = case.gap(), case.blocks()
    same(gap.mean_gap(case.Q), ref.mean_gap(blocks), max(np.abs(ref.mean_gap(blocks)).max(), 1e-4))
    same(gap.variance_gap(case.Q), ref.variance_gap(blocks), max(ref.variance_gap(blocks).max(), 1e-4))


# ---- theorem 5.1 beyond doubles


def exact(case):
    """The same from K_y alone in 50 digits: (mean gap, variance gap, std gap, r_U, s_R, |S^-1|, LOO means)."""
    n, m = len(case.X), len(case.U)
    order = [*case.U, *case.R]
    shapes = {
        "matern52": lambda r: (1 + mp.sqrt(5) * r + 5 * r**2 / 3) * mp.exp(-mp.sqrt(5) * r),
        "matern32": lambda r: (1 + mp.sqrt(3) * r) * mp.exp(-mp.sqrt(3) * r),
        "rbf": lambda r: mp.exp(-(r**2) / 2),
    }

    def k(a, b):
        ratios = [
            (mp.mpf(float(u)) - float(v)) / float(s) for u, v, s in zip(a, b, case.kernel.lengthscale, strict=True)
        ]
        return float(case.kernel.variance) * shapes[case.kernel.name](mp.sqrt(mp.fsum(r**2 for r in ratios)))

    def floats(values):
        return np.array([float(v) for v in values])

    with mp.workdps(50):
        X, z = case.X[order], mp.matrix([mp.mpf(float(v)) for v in case.y[order]])
        K_y = mp.matrix([[k(a, b) for b in X] for a in X]) + mp.diag(
            [mp.mpf(case.noise) + float(v) for v in case.known[order]]
        )
        P, A_inverse = K_y**-1, K_y[:m, :m] ** -1
        s = -P * z
        mean, variance, std = [], [], []
        for q in case.Q:
            kq = mp.matrix([k(a, q) for a in X])
            full = [kq.T * (P * z), case.kernel.variance - (kq.T * P * kq)[0]]
            part = [kq[:m].T * (A_inverse * z[:m]), case.kernel.variance - (kq[:m].T * A_inverse * kq[:m])[0]]
            mean.append(full[0][0] - part[0][0])
            variance.append(part[1] - full[1])
            std.append(mp.sqrt(part[1]) - mp.sqrt(full[1]))
        residual = z[m:] - K_y[m:, :m] * (A_inverse * z[:m])
        widest = max(mp.eigsy(P[m:, m:], eigvals_only=True)) if n > m else mp.mpf(0)
        loo = [z[i] + s[i] / P[i, i] for i in range(n)]
        return (
            floats(mean), floats(variance), floats(std), floats(residual), floats(s[m:]), float(widest),
            floats(loo)[np.argsort(order)],
        )  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("seed", "noise", "tolerance"), [(2, 1e-2, 1e-11), (3, 1e-4, 1e-9), (4, 1e-6, 1e-8), (8, 1e-4, 1e-8)]
)
def test_gaps_keep_their_digits(kernel, seed, noise, tolerance):
    """Relative to the largest gap itself, against arithmetic with 50 digits; seeds 4 and 8 have near-duplicates."""
    case = Case(seed, kernel, d=2, noise=noise)
    case.X, case.y, case.known = case.X[:20], case.y[:20], case.known[:20]
    n = len(case.X)
    case.U = np.arange(0, n, 2)
    case.R, case.Q = np.setdiff1d(np.arange(n), case.U), np.vstack([case.Q[:6], case.X[:3]])
    gap, found = case.gap(), case.gap().at(case.Q)
    mean, variance, std, residual, scores, widest, loo = exact(case)
    same(found.mean_gap, mean, tolerance=tolerance)
    same(found.variance_gap, variance, tolerance=tolerance)
    same(found.std_gap, std, tolerance=tolerance)
    same(gap.residual, residual, tolerance=tolerance)
    same(gap.discarded_scores, scores, tolerance=tolerance)
    assert gap.inverse_norm == pytest.approx(widest, rel=tolerance)
    same(case.leave_one_out().mean, loo, tolerance=tolerance)


@pytest.mark.slow
def test_digits_lost_are_those_of_the_condition_number():
    """The table in the docstring of the package: scores lose them all, gaps fewer, posteriors hardly any."""
    case = Case(1, "rbf", d=2, noise=1e-10)
    rng = np.random.default_rng(0)
    case.X, case.known = rng.random((30, 2)), np.zeros(30)
    case.kernel = Kernel("rbf", np.array([0.5, 0.7]), 1.0)
    case.theta = np.log([0.5, 0.7, 1.0, 1e-10])
    case.y = np.sin(5.0 * case.X[:, 0]) + case.X[:, 1] ** 2 + 1e-5 * rng.standard_normal(30)
    case.U, case.R, case.Q = np.arange(12), np.arange(12, 30), rng.random((6, 2))
    condition = np.linalg.cond(ref.noisy_covariance(case.X, case.theta, "rbf"))
    assert 1e10 < condition < 1e12
    mean, variance, _, residual, scores, widest, loo = exact(case)
    gap = case.gap()
    lost = 1e-16 * condition
    assert 1e-4 * lost < np.abs(gap.discarded_scores - scores).max() / np.abs(scores).max() < lost
    assert gap.inverse_norm == pytest.approx(widest, rel=lost)
    same(gap.mean_gap(case.Q), mean, tolerance=1e-2 * lost)
    same(gap.variance_gap(case.Q), variance, tolerance=1e-3 * lost)
    same(gap.residual, residual, tolerance=1e-3 * lost)
    same(case.leave_one_out().mean, loo, tolerance=1e-2 * lost)


# ---- proposition 5.3, corollaries 5.4 and A.1, lemma A.2


@settings(max_examples=150, deadline=None)
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


@settings(max_examples=150, deadline=None)
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


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=60, deadline=None)
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


# ---- units


@pytest.mark.parametrize("normalize", [True, False])
def test_gaussian_process_lends_its_units(normalize):
    """The subset's posterior is that of the process fitted to it, the full-data one that of all data in its units."""
    case = Case(11, "matern52", d=3)
    y = 40.0 + 7.0 * case.y
    options = {"lengthscale": case.kernel.lengthscale, "variance": 1.5, "noise": 0.02, "fit_hyperparameters": False}
    gp = GaussianProcess(**options, normalize_y=normalize).fit(case.X[case.U], y[case.U])
    gap = PosteriorGap(gp, case.X, y, case.U)
    found = gap.at(case.Q)
    mean, std = gp.predict(case.Q, return_std=True)
    np.testing.assert_allclose(found.subset_mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.subset_std, std, rtol=1e-9)
    raw = GaussianProcess(**options, normalize_y=False).fit(case.X, (y - gp.y_mean_) / gp.y_std_)
    mean, std = raw.predict(case.Q, return_std=True)
    np.testing.assert_allclose(found.mean, gp.y_mean_ + gp.y_std_ * mean, rtol=1e-10)
    np.testing.assert_allclose(found.std, gp.y_std_ * std, rtol=1e-7)
    assert gap.scale == gp.y_std_ and gap.noise == gp.noise_
    np.testing.assert_allclose(found.mean_gap, found.mean - found.subset_mean, atol=1e-11)
    np.testing.assert_allclose(found.std_gap, found.subset_std - found.std, atol=1e-9)
    np.testing.assert_allclose(gap.mean_gap_by_scores(case.Q), found.mean_gap, atol=1e-9)
    bounds = gap.bounds(case.Q)
    at_most(np.abs(found.mean_gap), bounds.mean_by_scores)
    at_most(found.variance_gap, bounds.variance)
    at_most(np.abs(gap.ucb_gap(case.Q)), bounds.ucb)


def test_known_noise_is_in_units_of_y():
    case = Case(12, "matern52", d=2)
    y, noise_std = 100.0 + 5.0 * case.y, 5.0 * np.sqrt(case.known)
    assert case.known[case.U].any() and case.known[case.R].any()
    gp = GaussianProcess(lengthscale=0.5, noise=1e-2, fit_hyperparameters=False)
    gp.fit(case.X[case.U], y[case.U], noise_std=noise_std[case.U])
    gap = PosteriorGap(gp, case.X, y, case.U, noise_std=noise_std)
    found = gap.at(case.Q)
    mean, std = gp.predict(case.Q, return_std=True)
    np.testing.assert_allclose(found.subset_mean, mean, rtol=1e-10)
    np.testing.assert_allclose(found.subset_std, std, rtol=1e-8)
    assert gap.noise == gp.noise_
    np.testing.assert_allclose(np.diag(gap.A), gp.variance_ + gp.noise_ + gp.known_noise_, rtol=1e-14)
    assert trust(gp, case.X, y, case.U, noise_std=noise_std).largest_gap == pytest.approx(
        gap.largest_mean_gap, rel=1e-8
    )
    row = residual_table(gp, case.X, y, len(case.U), rules=["maxmin"], noise_std=noise_std)[0]
    kept = select_subset(gp, case.X, len(case.U), rule="maxmin")
    assert row.score_norm == pytest.approx(PosteriorGap(gp, case.X, y, kept, noise_std=noise_std).score_norm, rel=1e-9)


def test_noise_that_says_nothing_stays_finite():
    y, noise_std = np.array([1.0, 1.0, 0.5]), np.array([0.0, 1e200, 0.0])
    gap = PosteriorGap(UNIT, X3, y, [0], noise=0.1, noise_std=noise_std)
    without = PosteriorGap(UNIT, X3[::2], y[::2], [0], noise=0.1)
    same(gap.mean_gap(X3), without.mean_gap(X3), tolerance=1e-9)


@pytest.mark.parametrize("power", [-600, -40, 40, 500])
def test_powers_of_two_scale_exactly(power):
    case = Case(13, "matern52", d=2)
    options = {"lengthscale": 0.5, "noise": 1e-3, "fit_hyperparameters": False}
    plain, scaled = (
        PosteriorGap(GaussianProcess(**options).fit(case.X, f * case.y), case.X, f * case.y, case.U)
        for f in (1.0, 2.0**power)
    )
    assert np.array_equal(2.0**power * plain.mean_gap(case.Q), scaled.mean_gap(case.Q))
    assert np.array_equal(2.0**power * plain.std_gap(case.Q), scaled.std_gap(case.Q))
    assert plain.rho == scaled.rho and np.array_equal(plain.residual, scaled.residual)
    one, two = plain.growth(), scaled.growth()
    assert np.array_equal(2.0**power * one.mean_gap, two.mean_gap)
    if abs(power) < 500:  # whose square is a double
        assert np.array_equal(4.0**power * one.variance_gap, two.variance_gap)
        assert np.array_equal(4.0**power * plain.variance_gap(case.Q), scaled.variance_gap(case.Q))


def test_huge_responses_stay_finite():
    case = Case(17, "matern52", d=2)
    y = 1.5e308 * np.sign(case.y)
    gp = GaussianProcess(lengthscale=0.5, noise=1e-2, fit_hyperparameters=False).fit(case.X, y)
    gap = PosteriorGap(gp, case.X, y, case.U)
    assert np.isfinite(gap.residual).all() and np.isfinite(gap.mean_gap(case.Q)).all()
    kernel = PosteriorGap(case.kernel, case.X, 1e200 * case.y, case.U, noise=case.noise)
    same(kernel.mean_gap(case.Q), 1e200 * case.gap().mean_gap(case.Q))
    assert kernel.residual_norm == pytest.approx(1e200 * case.gap().residual_norm, rel=1e-12)
    assert kernel.surprise == np.inf


def test_identical_points_without_noise_take_jitter():
    X = np.repeat(np.linspace(0.0, 1.0, 5), 3)[:, None]
    y = np.arange(15.0)
    gap = PosteriorGap(Kernel("rbf", np.array([0.5]), 2.0), X, y, [0, 1, 2, 6], noise=0.0)
    assert gap.jitter == gap.noise > 0.0
    everything = [*gap.at(X), *gap.bounds(X), gap.S, gap.residual, gap.scores, gap.rho, gap.inverse_norm]
    assert all(np.isfinite(each).all() for each in everything)
    assert gap.inverse_norm <= 1 / gap.noise


def test_a_pivot_that_is_rounding_takes_jitter_too():
    """The factorization succeeds, but on a conditional variance of a few units in the last place."""
    gap = PosteriorGap(UNIT, [[0.0], [1e-9]], [1.0, 1.0], [0], noise=4e-16)
    assert gap.jitter == pytest.approx(1e-10) and gap.noise == 4e-16 + gap.jitter


def test_jitter_of_the_fit_is_shared():
    X, y = np.repeat(np.linspace(0.0, 1.0, 5), 3)[:, None], np.arange(15.0)
    gp = GaussianProcess("rbf", lengthscale=0.5, noise=0.0, fit_hyperparameters=False).fit(X, y)
    assert gp.fit_info_["jitter"] > 0.0
    gap = PosteriorGap(gp, X, y, np.arange(15))
    assert gap.noise == gp.fit_info_["jitter"] and gap.jitter == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_standard_deviations_that_are_rounding(seed):
    """At observations without noise the variance is rounding, of either sign: nothing turns NaN."""
    X = np.random.default_rng(seed).random((10, 1))
    gap = PosteriorGap(
        Kernel("matern32", np.array([0.3]), 1.5), X, np.sin(9.0 * X[:, 0]), np.arange(0, 10, 2), noise=0.0
    )
    assert gap.jitter == 0.0
    found = gap.at(X)
    assert all(np.all(np.isfinite(each)) for each in found)
    assert np.all(found.std >= 0.0) and found.std.max() < 1e-6
    assert found.subset_std[::2].max() < 1e-6 < found.subset_std[1::2].max()
    at_most(found.std_gap, np.sqrt(found.variance_gap))
    np.testing.assert_allclose(found.mean, np.sin(9.0 * X[:, 0]), atol=1e-9)


# ---- sizes, orders, threads


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 1), (16, 16), (17, 1), (33, 17), (64, 48), (600, 520)])
def test_sizes_at_the_edges_of_blocks(n, m):
    rng = np.random.default_rng(n)
    X, Q = rng.random((n, 2)), rng.random((515, 2))
    y = rng.standard_normal(n)
    kernel = Kernel("matern52", np.array([0.4, 0.6]), 1.0)
    theta = np.log([0.4, 0.6, 1.0, 0.01])
    gap = PosteriorGap(kernel, X, y, np.arange(m), noise=0.01)
    found = gap.at(Q)
    mean, std = ref.posterior(X, y, Q, theta)
    subset_mean, subset_std = ref.posterior(X[:m], y[:m], Q, theta)
    same(found.mean, mean), same(found.std, std)
    same(found.subset_mean, subset_mean), same(found.subset_std, subset_std)
    assert gap.S.shape == (n - m, n - m) and gap.cross_residual(Q).shape == (n - m, 515)
    if n == m:
        assert gap.rho == gap.rho_ceiling == gap.inverse_norm == gap.largest_mean_gap == 0.0
        assert np.isnan(gap.surprise) and gap.uniform_bounds().mean == 0.0
        assert list(gap.growth().sizes) == [n]


def test_order_of_the_discarded():
    case = Case(19, "rbf")
    plain, turned = case.gap(), case.gap(discarded=case.R[::-1])
    same(turned.S, plain.S[::-1, ::-1], tolerance=1e-12)
    same(turned.residual, plain.residual[::-1], tolerance=1e-12)
    same(turned.cross_residual(case.Q), plain.cross_residual(case.Q)[::-1], tolerance=1e-12)
    same(turned.scores, plain.scores, tolerance=1e-12)
    same(turned.mean_gap(case.Q), plain.mean_gap(case.Q), tolerance=1e-10)


def test_results_do_not_depend_on_blas_threads():
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 4)), rng.standard_normal(300)
    kernel = Kernel("matern52", np.full(4, 0.7), 1.0)
    runs = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found = trust(kernel, X, y, np.arange(50), noise=1e-3)
            loo = leave_one_out(kernel, X, y, noise=1e-3)
            gap = found.gap
            runs.append(
                [*gap.everywhere(), gap.S, gap.residual, gap.scores, gap.rho, gap.surprise, *loo, *found.growth]
            )
            runs[-1] += [
                found.size_to_halve,
                found.missed,
                directional_dispersion(kernel, X, np.arange(50), noise=1e-3),
            ]
    assert all(np.array_equal(one, two) for one, two in zip(*runs, strict=True))


# ---- leave one out, dispersion, error on a test set


@settings(max_examples=60, deadline=None)
@given(cases)
def test_leave_one_out_against_leaving_one_out(case):
    found = case.leave_one_out()
    n = len(case.X)
    mean, variance = np.array(
        [case.posterior(np.delete(np.arange(n), i), case.X[i : i + 1]) for i in range(n)]
    ).T.reshape(2, n)
    variance = variance + case.noise + case.known  # of the noisy response
    same(found.mean, mean, np.abs(case.y).max())
    np.testing.assert_allclose(found.std**2, variance, rtol=CLOSE)
    same(found.scores, -(case.y - mean) / variance)
    same(found.scores, case.gap().scores)
    same(found.errors, (case.y - mean) / np.sqrt(variance))


def test_leave_one_out_in_user_units():
    case = Case(23, "matern32", d=2)
    gp = GaussianProcess(lengthscale=0.5, noise=0.05, fit_hyperparameters=False).fit(case.X, 100.0 + 5.0 * case.y)
    found = leave_one_out(gp, case.X, 100.0 + 5.0 * case.y)
    plain = leave_one_out(gp.kernel_, case.X, gp.y_train_, noise=gp.noise_)
    np.testing.assert_allclose(found.mean, gp.y_mean_ + gp.y_std_ * plain.mean, rtol=1e-10)
    np.testing.assert_allclose(found.std, gp.y_std_ * plain.std, rtol=1e-12)
    same(found.scores, plain.scores, tolerance=1e-10)


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


# ---- larger subsets


@settings(max_examples=40, deadline=None)
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


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "topk-random"])
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


# ---- trust


def trusted(rule="maxmin", scale=1.0, size=12, noise=1e-4, **options):
    X = np.linspace(0.0, 1.0, 40)[:, None]
    y = scale * np.sin(12.0 * X[:, 0])
    kernel = Kernel("matern52", np.array([0.2]), scale**2)
    kept = np.round(np.linspace(0, 39, size)).astype(int)
    return trust(kernel, X, y, kept, noise=noise * scale**2, rule=rule, **options)


def test_verdicts():
    close, covered, misleading = trusted(), trusted(size=7), trusted(size=4)
    assert [each.verdict for each in (close, covered, misleading)] == ["close", "covered", "misleading"]
    assert [each.trusted for each in (close, covered, misleading)] == [True, True, False]
    compared = "mean off theirs, under the same hyperparameters, by up to "
    assert str(close).startswith(f"close: M = 12 of 40; {compared}0.0")
    assert str(covered).startswith(f"covered: M = 7 of 40; {compared}")
    assert str(misleading).startswith(f"misleading: M = 4 of 40; {compared}")
    for each in (close, covered, misleading):
        assert "\n" not in str(each) and repr(each) == f"Trust({str(each)!r})"
        seen = each.gap.everywhere()
        far = np.abs(seen.mean_gap)
        assert each.largest_gap == far.max()
        assert each.typical_gap == pytest.approx(np.sqrt(np.mean(far**2)), rel=1e-12)
        spread = np.std(np.sin(12.0 * np.linspace(0.0, 1.0, 40)))
        assert each.spread == pytest.approx(spread, rel=1e-12)
        assert each.missed == np.mean((far > 0.1 * spread) & (far > 2.0 * seen.subset_std))
        assert each.gap.at(each.worst[None]).mean_gap[0] == pytest.approx(seen.mean_gap[far.argmax()], rel=1e-9)
        assert f"M = {each.size_to_halve}" in str(each) or each is close


def test_trust_has_no_units():
    small, large = trusted(size=5), trusted(size=5, scale=2.0**20)
    assert str(small) == str(large)
    assert large.largest_gap == pytest.approx(2.0**20 * small.largest_gap, rel=1e-9)


def test_tolerance_decides_what_is_close():
    loose = trusted(size=7, tolerance=trusted(size=7).largest_gap * 1.01 / trusted(size=7).spread)
    assert loose.verdict == "close"
    above = loose.growth.sizes[loose.growth.mean_gap > loose.tolerance * loose.spread]
    assert above.tolist() == [10, 11] and loose.size_to_trust == 12  # worse again before it gets better


def test_trust_with_nothing_discarded():
    X = np.linspace(0.0, 1.0, 6)[:, None]
    kernel = Kernel("rbf", np.array([0.3]), 1.0)
    found = trust(kernel, X, X[:, 0], np.arange(6), noise=0.1, max_pool=3)
    assert found.verdict == "close" and found.largest_gap == found.missed == 0.0
    assert found.size_to_halve == found.size_to_trust == found.size == 6
    assert str(found) == "close: all 6 observations are retained, the posterior is the full-data one"


def test_trust_against_a_sample():
    rng = np.random.default_rng(0)
    X, y = rng.random((5000, 2)), rng.standard_normal(5000)
    kernel = Kernel("matern52", np.array([0.3, 0.3]), 1.0)
    kept = rng.permutation(5000)[:60]
    found = trust(kernel, X, y, kept, noise=0.5, max_pool=200)
    assert len(found.pool) == 200 and np.array_equal(found.pool, np.unique(found.pool))
    assert np.array_equal(found.pool[found.gap.retained], kept)
    others = np.setdiff1d(found.pool, kept)
    assert np.diff(others).max() < 2 * 5000 / 140  # spread evenly
    again = trust(kernel, X[found.pool], y[found.pool], found.gap.retained, noise=0.5)
    assert again.largest_gap == found.largest_gap and again.size_to_halve == found.size_to_halve
    assert "M = 60 of 200 sampled from 5,000" in str(found)
    with pytest.raises(ValueError, match=r"max_pool must be larger than the retained subset \(60\), got 60"):
        trust(kernel, X, y, kept, noise=0.5, max_pool=60)


def test_trust_with_equal_responses():
    X = np.random.default_rng(0).random((20, 2))
    gp = GaussianProcess(rng=0).fit(X, np.full(20, 3.0))
    found = trust(gp, X, np.full(20, 3.0), np.arange(5))
    assert found.verdict == "close" and found.largest_gap == 0.0 and found.spread == 1.0


# ---- the paper's table


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


# ---- what is refused


X3, Y3 = np.array([[0.0], [0.5], [1.0]]), np.array([0.0, 1.0, 0.0])
UNIT = Kernel("rbf", np.array([0.5]), 1.0)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((UNIT, X3, Y3, [0]), {}, "noise must be given with a Kernel, got None"),
        ((UNIT, X3, Y3, [0]), {"noise": -1.0}, "noise must be at least 0.0, got -1.0"),
        ((UNIT, X3, Y3, [0]), {"noise": 0.1, "noise_std": [0.0, -1.0, 0.0]}, "noise_std must be at least 0, got -1.0"),
        ((UNIT, X3, Y3, [0]), {"noise": 0.1, "noise_std": [1.0]}, "noise_std must have 3 entries"),
        ((UNIT, X3, Y3, []), {"noise": 0.1}, "retained must hold at least one position"),
        ((UNIT, X3, Y3, [0, 0]), {"noise": 0.1}, "retained must be distinct"),
        ((UNIT, X3, Y3, [3]), {"noise": 0.1}, r"retained must lie in \[0, 3\)"),
        ((UNIT, X3, Y3[:2], [0]), {"noise": 0.1}, "y must have 3 entries, got 2"),
        ((UNIT, X3, [0, np.nan, 1], [0]), {"noise": 0.1}, "y must be finite"),
        (
            (UNIT, np.ones((3, 2)), Y3, [0]),
            {"noise": 0.1},
            r"as many columns as the model has lengthscales \(1\), got 2",
        ),
        ((UNIT, X3, Y3, [0]), {"noise": 0.1, "candidates": [[0.0, 1.0]]}, "candidates must have 1 columns"),
        ((UNIT, X3, Y3, [0]), {"noise": 0.1, "discarded": [1]}, "discarded must be the 2 positions"),
        ((Kernel("rbf", np.array([-0.5]), 1.0), X3, Y3, [0]), {"noise": 0.1}, "lengthscale must be positive"),
        ((Kernel("rbf", np.array([0.5]), 0.0), X3, Y3, [0]), {"noise": 0.1}, "variance must be greater than 0.0"),
        ((Kernel("cosine", np.array([0.5]), 1.0), X3, Y3, [0]), {"noise": 0.1}, "kernel must be one of"),
        (("rbf", X3, Y3, [0]), {"noise": 0.1}, "model must be a GaussianProcess or a Kernel, got 'rbf'"),
        ((GaussianProcess().fit(X3, Y3), X3, Y3, [0]), {"noise": 0.1}, "noise must not be given with a Gaussian"),
        ((GaussianProcess().fit(X3, 1e-300 * Y3), X3, 1e300 * Y3, [0]), {}, "y must be finite in units of the model"),
    ],
)
def test_bad_arguments(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        PosteriorGap(*arguments, **options)


def test_bad_arguments_of_the_functions():
    with pytest.raises(NotFittedError, match=r"call model.fit\(X, y\) first"):
        leave_one_out(GaussianProcess(), X3, Y3)
    with pytest.raises(ValueError, match="subset must hold at least one"):
        directional_dispersion(UNIT, X3, [], noise=0.1)
    with pytest.raises(ValueError, match="rule must be one of 'vector'"):
        trust(UNIT, X3, Y3, [0], noise=0.1, rule="best")
    with pytest.raises(ValueError, match="tolerance must be greater than 0"):
        trust(UNIT, X3, Y3, [0], noise=0.1, tolerance=0.0)
    with pytest.raises(ValueError, match="size must be at most 2, got 3"):
        residual_table(UNIT, X3, Y3, 3, noise=0.1)
    gap = PosteriorGap(UNIT, X3, Y3, [0], noise=0.1)
    with pytest.raises(ValueError, match="points must have 1 columns"):
        gap.at([[0.0, 1.0]])
    with pytest.raises(ValueError, match=r"beta must be at least 0.0, got -1"):
        gap.bounds(X3, beta=-1)
    with pytest.raises(ValueError, match=r"mean_gap must be at least 0.0"):
        gap.growth().size_for(-1.0)
    with pytest.raises(ValueError, match="values must have 3 entries, got 2"):
        gap.rmse(X3, [0.0, 1.0])
    assert repr(gap) == "PosteriorGap(n=3, M=1, d=1)"


# ---- a running optimizer


def wave(x):
    return float(np.sin(3.0 * x[0]) + 0.1 * x[1])


@pytest.mark.parametrize(("method", "rule"), [("box", "vector"), ("portfolio", "residual")])
@pytest.mark.parametrize("maximize", [False, True])
def test_optimizer_is_diagnosed_in_user_units(maximize, method, rule):
    """The gap is that of the model `predict` shows, against the same model on everything told."""
    bounds = [(-2.0, 2.0), (10.0, 30.0)]
    opt = Optimizer(bounds, method=method, maximize=maximize, n_init=8, subset_size=15, rng=0)
    for _ in range(40):
        x = opt.ask()
        opt.tell(x, wave(x))
    found = opt.diagnostics()
    assert (found.size, found.n_observations, found.rule) == (15, 40, rule)
    assert np.all((found.worst >= [-2.0, 10.0]) & (found.worst <= [2.0, 30.0]))
    assert found.spread == pytest.approx(np.std(opt.y), rel=1e-12)
    opt.ask()  # the model of everything told, which `diagnostics` and `predict` had to make in a copy
    assert np.array_equal(found.pool[found.gap.retained], opt.retained)
    gp = opt.surrogate
    theta = gp.theta_
    Z = (opt.X - [-2.0, 10.0]) / [4.0, 20.0]
    z = ((1 if maximize else -1) * opt.y - gp.y_mean_) / gp.y_std_
    full = ref.posterior(Z, z, (found.worst[None] - [-2.0, 10.0]) / [4.0, 20.0], theta)[0][0]
    full = (1 if maximize else -1) * (gp.y_mean_ + gp.y_std_ * full)
    subset = opt.predict(found.worst[None])[0]
    assert abs(full - subset) == pytest.approx(found.largest_gap, rel=1e-5)


def test_diagnosing_changes_nothing():
    quiet, asked = (Optimizer([(0.0, 1.0)] * 2, n_init=6, subset_size=10, rule="random", rng=3) for _ in range(2))
    for _ in range(20):
        x, same_x = quiet.ask(), asked.ask()
        assert np.array_equal(x, same_x)
        quiet.tell(x, wave(x)), asked.tell(x, wave(x))
        assert asked.diagnostics(rng=0).n_observations == asked.n_told
    assert np.array_equal(quiet.ask(), asked.ask())


def test_diagnosing_a_long_history():
    opt = Optimizer([(0.0, 1.0)] * 3, subset_size=50, rng=0)
    rng = np.random.default_rng(0)
    X = rng.random((100_000, 3))
    opt.tell(X, np.sin(5.0 * X[:, 0]) + X[:, 1])
    found = opt.diagnostics(max_pool=300, candidates=X[:100])
    assert (len(found.pool), found.size, found.n_observations) == (300, 50, 100_000)
    assert len(found.gap.points) == 400
    np.testing.assert_allclose(found.gap.points[:100], X[:100], rtol=1e-15)
    assert "M = 50 of 300 sampled from 100,000" in str(found)


def test_diagnosing_a_mixed_space():
    """Points are realisable and meet the constraints; the worst comes in the form of the bounds."""
    bounds = {
        "rate": gssbo.Real(1e-3, 1.0, log=True),
        "units": range(2, 9),
        "act": ["relu", "gelu"],
        "fixed": (2.0, 2.0),
    }
    limit = NonlinearConstraint(lambda point: point["units"] * point["rate"], -np.inf, 1.0)
    opt = Optimizer(bounds, constraints=limit, n_init=6, subset_size=12, rule="residual", rng=0)
    for _ in range(30):
        x = opt.ask()
        opt.tell(x, np.log(x["rate"]) ** 2 + x["units"] + (x["act"] == "relu"))
    found = opt.diagnostics()
    assert (found.size, found.n_observations) == (12, 30)
    assert set(found.worst) == set(bounds) and found.worst["fixed"] == 2.0
    assert found.worst["units"] * found.worst["rate"] <= 1.0
    points = found.gap.points
    rows = opt.space.from_unit(points)
    np.testing.assert_allclose(opt.space.to_unit(rows), points, atol=1e-12)
    assert opt.space.feasible(rows).all() and 100 < len(points) < 2048 + 30
    two = [
        {"rate": 0.1, "units": 3, "act": "gelu", "fixed": 2.0},
        {"rate": 0.01, "units": 5, "act": "relu", "fixed": 2.0},
    ]
    assert len(opt.diagnostics(candidates=two).gap.points) == 32


def test_diagnosing_where_no_candidate_is_feasible():
    limit = LinearConstraint([[1.0, 1.0]], 1e-9, 2e-9)
    opt = Optimizer([(0.0, 1.0)] * 2, constraints=limit, n_init=2, subset_size=4, rng=0)
    opt.tell(np.random.default_rng(0).random((9, 2)), np.arange(9.0))
    assert len(opt.diagnostics().gap.points) == 9 + 9  # the pool takes the candidates' place


def test_known_noise_of_a_run_is_in_its_diagnosis():
    rng = np.random.default_rng(2)
    X = rng.random((40, 2))
    opt = Optimizer([(0.0, 1.0)] * 2, n_init=5, subset_size=15, rng=0)
    opt.tell(X, np.sin(5.0 * X[:, 0]) + X[:, 1], noise_std=rng.uniform(0.0, 0.3, 40))
    opt.ask()
    found = opt.diagnostics()
    np.testing.assert_allclose(found.gap.at(X).subset_mean, -opt.predict(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_failed_evaluations_are_left_out(method):
    """What stands in their place is for the search: against values about 0 it would be a gap of many deviations."""
    rng = np.random.default_rng(1)
    X = rng.random((40, 2))
    y = np.sin(5.0 * X[:, 0]) + X[:, 1]
    y[[2, 7, 20, 33]] = np.nan
    opt = Optimizer([(0.0, 1.0)] * 2, method=method, n_init=5, subset_size=15, rng=0)
    opt.tell(X, y)
    opt.ask()
    found = opt.diagnostics()
    assert found.n_observations == 36
    np.testing.assert_array_equal(found.pool, np.flatnonzero(~np.isnan(y)))
    assert set(found.pool[found.gap.retained]) == set(opt.retained) - {2, 7, 20, 33}
    np.testing.assert_allclose(found.gap.at(X).subset_mean, -opt.predict(X), rtol=1e-6, atol=1e-9)
    clean = Optimizer([(0.0, 1.0)] * 2, method=method, n_init=5, subset_size=15, rng=0)
    clean.tell(X[~np.isnan(y)], y[~np.isnan(y)])
    assert found.largest_gap < 3.0 * clean.diagnostics().largest_gap


def test_diagnosing_too_early_or_wrongly():
    opt = Optimizer([(0.0, 1.0)])
    with pytest.raises(ValueError, match="at least one observation that did not fail is needed"):
        opt.diagnostics()
    opt.tell(0.5, 1.0)
    with pytest.raises(ValueError, match="candidates must have 1 columns"):
        opt.diagnostics(candidates=[[0.0, 1.0]])
    assert opt.diagnostics().trusted


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


@pytest.mark.parametrize("tolerance", [0.1, 100.0])
def test_trust_in_responses_as_large_as_doubles_go(tolerance):
    """Gaps beyond the largest double count as that large."""
    rng = np.random.default_rng(0)
    X, signs = rng.random((60, 2)), np.sign(rng.standard_normal(60))
    options = {"lengthscale": 0.3, "noise": 1e-4, "fit_hyperparameters": False}
    kept = np.arange(15)
    plain, huge = (
        trust(GaussianProcess(**options).fit(X[kept], f * signs[kept]), X, f * signs, kept, tolerance=tolerance)
        for f in (1.0, 8e307)
    )
    assert plain.largest_gap > 2.5  # so that it is beyond
    assert huge.largest_gap == np.finfo(float).max and 0.0 < huge.typical_gap < huge.largest_gap
    assert huge.verdict == plain.verdict and huge.size_to_trust == plain.size_to_trust
    assert 0.0 <= huge.missed <= 1.0 and 15 < huge.size_to_halve <= 60
    assert "inf" not in str(huge) and "nan" not in str(huge)


def test_an_optimizer_of_huge_values_is_diagnosed():
    X = np.random.default_rng(0).random((160, 2))
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0)
    opt.tell(X, 8e307 * np.sign(X[:, 0] - 0.5))
    assert opt.diagnostics(rng=0).verdict in ("close", "covered", "misleading")
