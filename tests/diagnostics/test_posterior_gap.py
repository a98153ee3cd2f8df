"""The paper's analysis: every identity against dense posteriors, every bound against what it bounds."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from threadpoolctl import threadpool_limits

from gssbo import GaussianProcess, select_subset
from gssbo import reference as ref
from gssbo.diagnostics import PosteriorGap, directional_dispersion, leave_one_out, residual_table, trust
from gssbo.exceptions import NotFittedError
from gssbo.kernels import Kernel
from tests.partitions import KERNELS, Case, at_most, cases, same

pytestmark = pytest.mark.usefixtures("single_thread")


# ---- theorem 5.1


@settings(max_examples=50, deadline=None)
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


@settings(max_examples=50, deadline=None)
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


@settings(max_examples=50, deadline=None)
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
