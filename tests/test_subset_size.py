"""How many are retained where a tolerance is given: as by dense solves, what it comes to, and in the loop."""

import numpy as np
import pytest

import gssbo
from gssbo import GaussianProcess, Optimizer, select_subset
from gssbo import reference as ref
from gssbo.embedding import Embedding
from gssbo.kernels import KERNELS, Kernel
from gssbo.selection.rules import ORDERS, RULES
from gssbo.selection.size import sufficient_size
from tests.pools import chosen_by, log_theta, make_pool


def size_for(X, z, theta, most, forced=(), rule="residual", tolerance=0.1, kernel="matern52"):
    scales, variance, noise = ref.unpack(theta)
    embedding = Embedding(Kernel(kernel, scales.copy(), variance), noise, X)
    return sufficient_size(embedding, most, rule=rule, forced=np.array(forced, dtype=np.intp), z=z, tolerance=tolerance)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("rule", sorted(ORDERS))
@pytest.mark.parametrize(
    ("n", "d", "most", "f", "tolerance"),
    [
        (300, 2, 120, 0, 0.3),
        (300, 2, 120, 25, 0.02),
        (180, 3, 120, 7, 0.1),
        (200, 1, 190, 3, 1e-4),
        (90, 2, 20, 5, 0.1),
    ],
)
def test_as_by_dense_solves(n, d, most, f, tolerance, rule, kernel):
    X, z = make_pool(n, d, seed=n + d)
    theta, forced = log_theta(d, lengthscale=0.3, noise=1e-2), np.random.default_rng(1).permutation(n)[:f]
    order = chosen_by(
        "residual" if rule == "residual-exchange" else rule, X, z, theta, min(2 * most, n), forced, kernel
    )
    expected = ref.sufficient_size(X, z, theta, order, most, f, tolerance, kernel)
    assert size_for(X, z, theta, most, forced, rule, tolerance, kernel) == expected


@pytest.mark.parametrize(("noise", "tolerance"), [(1e-4, 0.3), (1e-4, 0.1), (0.1, 0.3), (0.1, 0.1)])
def test_the_gap_to_all_data_is_about_the_tolerance(noise, tolerance):
    """At points that the size was not chosen by."""
    rng = np.random.default_rng(0)
    X, points = rng.random((1_000, 3)), rng.random((2_000, 3))
    wave = np.sin(9 * X[:, 0]) + np.cos(7 * X[:, 1] * X[:, 2])
    z = ref.standardise(wave + noise**0.5 * rng.standard_normal(1_000))[0]
    theta = log_theta(3, lengthscale=0.4, variance=1.0, noise=noise)
    size = size_for(X, z, theta, 500, tolerance=tolerance)
    kept = chosen_by("residual", X, z, theta, size)
    whole, part = (ref.posterior(X[i], z[i], points, theta)[0] for i in (slice(None), kept))
    assert size < 500 and tolerance / 2 < np.abs(whole - part).max() < 2 * tolerance


def test_less_tolerance_and_rougher_functions_want_more():
    X, z = make_pool(600, 2)
    smooth, rough = log_theta(2, lengthscale=0.8), log_theta(2, lengthscale=0.05)
    sizes = [size_for(X, z, smooth, 400, tolerance=t) for t in (1.0, 0.1, 0.01, 0.001)]
    assert sizes == sorted(sizes) and sizes[0] == 30 and sizes[-1] > 100
    assert size_for(X, z, rough, 400) == 400 > size_for(X, z, smooth, 400)


@pytest.mark.parametrize("forced", [(), (5, 80)])
def test_where_all_are_the_same(forced):
    """Constant responses and copies of one point: few are enough, and rounding is no reason for more."""
    X, _ = make_pool(200, 2)
    theta = log_theta(2)
    assert size_for(X, np.zeros(200), theta, 100, forced) == 30 + len(forced)
    one = np.repeat(X[:1], 200, axis=0)
    assert size_for(one, make_pool(200, 2)[1], theta, 100, forced) <= 100


def test_select_subset_keeps_so_many():
    X, z = make_pool(500, 3)
    gp = GaussianProcess(rng=0).fit(X[:80], z[:80])
    kept = select_subset(gp, X, 300, y=z, rule="residual", forced=[7, 8], tolerance=0.1)
    assert 32 <= len(kept) < 300 and kept[:2].tolist() == [7, 8]
    np.testing.assert_array_equal(kept, select_subset(gp, X, len(kept), y=z, rule="residual", forced=[7, 8]))
    assert len(select_subset(gp, X, 300, y=z, rule="variance", tolerance=1e-9)) == 300
    assert len(select_subset(gp, X[:20], 300, y=z[:20], rule="residual", tolerance=0.1)) == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "vector"}, "rule, with gap_tolerance, must be one of 'residual', .*, got 'vector'"),
        ({"rule": "residual", "gap_tolerance": 0.0}, "gap_tolerance must be greater than 0"),
        ({"rule": "residual", "gap_tolerance": np.nan}, "gap_tolerance must be"),
        ({"rule": "residual", "gap_tolerance": "0.1"}, "gap_tolerance must be"),
        ({"rule": "residual", "subset_size": "dynamic"}, "subset_size must be an integer with gap_tolerance"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Optimizer([(0.0, 1.0)], **{"gap_tolerance": 0.1, **options})


@pytest.mark.parametrize(("rule", "value"), [("vector", 0.1), ("residual", -1.0)])
def test_the_selection_alone_refuses_the_same(rule, value):
    X, z = make_pool(50, 2)
    gp = GaussianProcess(rng=0).fit(X, z)
    with pytest.raises(ValueError, match="tolerance"):
        select_subset(gp, X, 20, y=z, rule=rule, tolerance=value)
    with pytest.raises(ValueError, match="y must be given with a tolerance, got None"):
        select_subset(gp, X, 20, rule="variance", tolerance=0.1)


FIXED = {"surrogate": GaussianProcess(lengthscale=0.5, noise=1e-4, fit_hyperparameters=False), "n_candidates": 200}
OPTIONS = {"n_init": 5, "rule": "residual", "subset_size": 90, "gap_tolerance": 0.05, "rng": 0, **FIXED}


def smooth(x):
    return float(np.sin(3 * x[0]) + x[1] ** 2)


def run(opt, n):
    for _ in range(n):
        x = opt.ask()
        opt.tell(x, smooth(x))
    return opt


def test_the_loop_retains_what_is_enough():
    """Fewer than M of a smooth function, M where hardly anything is tolerated."""
    opt, held = Optimizer([(0.0, 1.0)] * 2, **OPTIONS), []
    for _ in range(100):
        run(opt, 1)
        held.append(opt.n_retained)
    assert opt.M == 90 and 36 <= max(held) < 90 and set(range(5)) <= set(opt.retained.tolist())
    rough = Optimizer([(0.0, 1.0)] * 2, **OPTIONS | {"gap_tolerance": 1e-6})
    assert run(rough, 100).n_retained == 90


def test_told_in_bulk_it_is_the_references():
    rng = np.random.default_rng(3)
    X = rng.random((300, 2))
    y = np.sin(6 * X[:, 0]) + X[:, 1]
    opt = Optimizer([(0.0, 1.0)] * 2, **OPTIONS | {"pool": "full", "subset_size": 140})
    opt.tell(X, y)
    opt.ask()
    theta, z = log_theta(2, lengthscale=0.5, variance=1.0, noise=1e-4), -ref.standardise(y)[0]
    forced = [0, 1, 2, 3, 4, 299]
    order = chosen_by("residual", X, z, theta, 280, forced)
    size = ref.sufficient_size(X, z, theta, order, 140, 6, 0.05, "matern52")
    assert 36 < size < 140
    np.testing.assert_array_equal(opt.retained, np.sort(order[:size]))


def test_a_run_taken_up_is_the_uninterrupted_one(tmp_path):
    whole = run(Optimizer([(0.0, 1.0)] * 2, **OPTIONS), 120)
    path = tmp_path / "run.jsonl"
    for n in (50, 7, 33, 30):
        with Optimizer([(0.0, 1.0)] * 2, **OPTIONS, journal=path) as opt:
            run(opt, n)
    np.testing.assert_array_equal(whole.X, opt.X)
    np.testing.assert_array_equal(whole.retained, opt.retained)


def test_repeats_and_failures_are_no_trouble():
    opt = Optimizer([range(12)] * 2, **OPTIONS | {"duplicates": "allow"})
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (400, 2))
    y = np.where(rng.random(400) < 0.1, np.nan, np.sin(X[:, 0] / 2.0) + X[:, 1] / 5.0)
    opt.tell(X.tolist(), y)
    for _ in range(5):
        x = opt.ask()
        opt.tell(x, float("nan"))
    assert opt.n_retained <= 90


def test_the_method_of_that_name():
    opt = gssbo.Optimizer([(0.0, 1.0)] * 2, method="gssbo-tolerance", rng=0)
    assert (opt.M, opt.rule) == (400, "residual")
    assert gssbo.Optimizer([(0.0, 1.0)] * 2, method="gssbo-tolerance", subset_size=60, rng=0).M == 60
    assert set(ORDERS) <= set(RULES)
