"""B37: arrays that are not laid out row by row."""

import numpy as np
import pytest

import gssbo

BASE = np.random.default_rng(0).random((24, 12))
Y = np.random.default_rng(1).random(48)[::2]
RECORDS = np.zeros(24, dtype=[("pad", "i2"), ("x", "f8", 3)])
RECORDS["x"] = BASE[:, :3]
VIEWS = {
    "transposed": BASE.T[:, :3],
    "strided": BASE[::2, ::-1],
    "Fortran": np.asfortranarray(BASE),
    "columns": BASE[:, 3:7],
    "field": RECORDS["x"],
    "one row": BASE[3:4, ::5],
    "one column": BASE[::3, 2:3],
}


@pytest.mark.parametrize("name", VIEWS)
def test_the_values_count_and_not_their_places(name):
    view = VIEWS[name]
    y = Y[: len(view)]
    for rng in range(2):
        results = []
        for X, values in ((view, y), (np.ascontiguousarray(view), y.copy())):
            opt = gssbo.Optimizer([(0.0, 1.0)] * view.shape[1], n_init=1, n_candidates=50, rng=rng)
            opt.tell(X, values)
            np.testing.assert_array_equal(opt.X, view)
            results.append([opt.ask(), *opt.predict(X, return_std=True)])
        for one, other in zip(*results, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_transpose_is_read_by_rows():
    opt = gssbo.Optimizer([(0, 5)] * 2, rng=0)
    opt.tell(np.array([[1, 2], [3, 4]]).T, [0.0, 1.0])
    np.testing.assert_array_equal(opt.X, [[1.0, 3.0], [2.0, 4.0]])
