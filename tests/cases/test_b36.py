"""B36: arrays that may not be written to."""

import numpy as np
import pytest

import gssbo

RNG = np.random.default_rng(0)
X, Y = RNG.random((30, 4)), RNG.random(30)


def locked(array, tmp_path):
    copy = array.copy()
    copy.flags.writeable = False
    yield copy
    path = tmp_path / f"{array.ndim}"
    array.tofile(path)
    yield np.memmap(path, np.float64, mode="r", shape=array.shape)
    yield np.frombuffer(array.tobytes()).reshape(array.shape)


def everything(X, Y):
    opt = gssbo.Optimizer([(0.0, 1.0)] * 4, n_init=5, n_candidates=100, rng=0)
    opt.tell(X, Y)
    gp = gssbo.GaussianProcess(rng=0).fit(X, Y)
    result = gssbo.minimize(lambda x: 1.0, [(0, 1)] * 4, n_evals=1, x0=X, y0=Y, n_init=5, n_candidates=100, rng=0)
    return [opt.ask(), *opt.predict(X, return_std=True), *gp.predict(X, return_std=True), result.x_iters, opt.X, opt.y]


def test_they_are_read_and_left_alone(tmp_path):
    expected = everything(X.copy(), Y.copy())
    for given, values in zip(locked(X, tmp_path), locked(Y, tmp_path), strict=True):
        got = everything(given, values)
        np.testing.assert_array_equal(given, X)
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.flags.writeable
            assert not np.shares_memory(one, given)


def test_an_input_that_may_be_written_to_is_not():
    points, values = X.copy(), Y.copy()
    everything(points, values)
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(values, Y)


@pytest.mark.parametrize("bounds", [[(0.0, 1.0)] * 4, [*[(0.0, 1.0)] * 3, gssbo.Real(0, 1, step=1e-4)]])
def test_results_are_ours_to_change(bounds):
    opt = gssbo.Optimizer(bounds, n_init=2, n_candidates=50, rng=0)
    first = opt.ask()
    opt.tell(first, 1.0)
    kept = opt.X.copy()
    opt.X[:] = 0.0
    first[:] = 0.0
    np.testing.assert_array_equal(opt.X, kept)
