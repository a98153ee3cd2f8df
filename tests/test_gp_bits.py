"""What changes no bit of a Gaussian process: blocks, threads, the layout of arrays."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gssbo import GaussianProcess
from tests.gaussian_processes import fixed, setting


def test_a_prediction_does_not_depend_on_its_block():
    """Nor on how many others are asked for, at n on both sides of the packed routines."""
    for n in (30, 257):
        X, y, theta, rng = setting(n, 3)
        gp = fixed("matern52", theta).fit(X, y)
        Q = rng.random((300, 3))
        mean, std = gp.predict(Q, return_std=True)
        dmean, dstd = gp.predict_gradient(Q)
        order = rng.permutation(300)
        shuffled = gp.predict(Q[order], return_std=True)
        assert np.array_equal(shuffled[0], mean[order]) and np.array_equal(shuffled[1], std[order])
        for i in (0, 1, 7, 15, 16, 127, 128, 255, 299):
            alone = gp.predict(Q[i : i + 1], return_std=True)
            assert alone[0][0] == mean[i] and alone[1][0] == std[i]
            assert np.array_equal(gp.predict_gradient(Q[i : i + 1])[0][0], dmean[i])
            assert np.array_equal(gp.predict_gradient(Q[i : i + 1])[1][0], dstd[i])
        for m in (1, 5, 16, 129):
            assert np.array_equal(gp.predict(Q[:m]), mean[:m])


def test_nothing_depends_on_blas_threads():
    X, y, _, rng = setting(280, 3)
    Q = rng.random((50, 3))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            gp = GaussianProcess(n_restarts=0, rng=0).fit(X, y)
            mean, covariance = gp.predict(Q, return_cov=True)
            results.append([gp.theta_, gp.alpha_, mean, covariance, *gp.predict_gradient(Q), gp.sample_y(Q, 3, rng=1)])
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


def everything(X, y, Q):
    gp = GaussianProcess(n_restarts=1, rng=0).fit(X, y)
    mean, std = gp.predict(Q, return_std=True)
    return [gp.theta_, gp.alpha_, mean, std, *gp.predict_gradient(Q), gp.sample_y(Q, 2, rng=0)]


def field(A):
    table = np.zeros(A.shape[0], dtype=[("a", "i4"), ("x", "f8", A.shape[1:])])
    table["x"] = A
    return table["x"]


def wider(A):
    out = np.full((A.shape[0], 2 * A.shape[-1] + 1), np.nan)
    out[:, 1::2] = A
    return out[:, 1::2]


LAYOUTS = {
    "fortran": np.asfortranarray,
    "transposed": lambda A: np.ascontiguousarray(A.T).T,
    "reversed": lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
    "columns of a wider array": wider,
    "structured field": field,
    "big-endian": lambda A: A.astype(">f8"),
    "list": lambda A: A.tolist(),
    "frombuffer": lambda A: np.frombuffer(A.tobytes()).reshape(A.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_layout_changes_no_bit(layout):
    X, y, _, rng = setting(30, 4)
    Q = rng.random((9, 4))
    expected = everything(X, y, Q)
    strided = np.repeat(y, 2)[::2]
    for a, b in zip(everything(LAYOUTS[layout](X), strided, LAYOUTS[layout](Q)), expected, strict=True):
        assert np.array_equal(a, b)


def test_read_only_and_memory_mapped_inputs(tmp_path):
    X, y, _, rng = setting(30, 4)
    Q = rng.random((9, 4))
    expected = everything(X, y, Q)
    maps = []
    for name, array in (("X", X), ("y", y), ("Q", Q)):
        np.save(tmp_path / name, array)
        maps.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    for array in (X, y, Q):
        array.setflags(write=False)
    for inputs in ((X, y, Q), maps):
        assert all(np.array_equal(a, b) for a, b in zip(everything(*inputs), expected, strict=True))


def test_a_transpose_is_read_as_its_rows():
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    gp = GaussianProcess(fit_hyperparameters=False).fit(A.T, [0.0, 1.0])
    assert np.array_equal(gp.X_train_, [[1.0, 3.0], [2.0, 4.0]])


def test_inputs_stay_and_outputs_are_ones_own():
    X, y, _, rng = setting(20, 2)
    Q = rng.random((6, 2))
    kept = [array.copy() for array in (X, y, Q)]
    gp = GaussianProcess(normalize_y=False, rng=0).fit(X, y)
    outputs = [
        *gp.predict(Q, return_std=True),
        *gp.predict(Q, return_cov=True),
        *gp.predict_gradient(Q),
        gp.sample_y(Q),
        gp.log_marginal_likelihood(eval_gradient=True)[1],
    ]
    mine = [v for v in vars(gp).values() if isinstance(v, np.ndarray)]
    for out in outputs:
        assert out.flags.writeable
        assert not any(np.shares_memory(out, other) for other in (X, y, Q, *mine))
    assert all(np.array_equal(a, b) for a, b in zip((X, y, Q), kept, strict=True))
    expected = gp.predict(Q)
    X[:], y[:] = 0.0, 0.0  # the model keeps its own copies
    assert np.array_equal(gp.predict(Q), expected)
    assert gp.X_train_.any() and gp.y_train_.any()
