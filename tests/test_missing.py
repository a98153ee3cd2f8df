"""Missing values and nullable arrays of other packages, as observations, points and ids."""

import numpy as np
import pytest

import gssbo
from tests.missing import NA, Nullable

POINTS = [[0.1], [0.4], [0.9]]


@pytest.mark.parametrize(
    "y",
    [
        Nullable([1.0, NA, 3.0]),
        [1.0, NA, 3.0],
        (1, NA, 3),
        np.array([1.0, NA, 3.0], dtype=object),
        np.array([[1.0, NA, 3.0]], dtype=object)[0],
    ],
)
def test_a_missing_value_is_a_failed_evaluation(y):
    opt = gssbo.Optimizer([(0.0, 1.0)], rng=0)
    opt.tell(POINTS, y)
    np.testing.assert_array_equal(opt.y, [1.0, np.nan, 3.0])
    opt.tell([0.2], NA)
    assert (opt.n_told, opt.n_failed) == (4, 2)
    opt.tell_prior(POINTS, y, once=True)
    assert opt.n_told == 4
    result = gssbo.minimize(lambda x: x[0], [(0.0, 1.0)], n_evals=4, x0=POINTS, y0=y, rng=0)
    np.testing.assert_array_equal(result.func_vals[:3], [1.0, np.nan, 3.0])


def test_an_objective_may_return_a_missing_value():
    result = gssbo.minimize(lambda x: NA if x[0] < 0.5 else x[0], [(0.0, 1.0)], n_evals=8, rng=0)
    assert 0 < result.n_failed < 8 and result.fun >= 0.5


def test_without_missing_values_a_nullable_array_is_any_array():
    gp, same = (gssbo.GaussianProcess(rng=0) for _ in range(2))
    gp.fit([Nullable(point) for point in POINTS], Nullable([1, 2, 4]), noise_std=Nullable([0.0, 0.5, 0.0]))
    same.fit(POINTS, [1.0, 2.0, 4.0], noise_std=[0.0, 0.5, 0.0])
    np.testing.assert_array_equal(gp.predict([Nullable([0.3])]), same.predict([[0.3]]))


def test_what_must_be_there_may_not_be_missing():
    opt = gssbo.Optimizer([(0.0, 1.0)], rng=0)
    mixed = gssbo.Optimizer({"n": range(9), "c": ["u", "v"], "x": (0.0, 1.0)}, rng=0)
    for told, message in (
        (lambda: opt.tell([[0.1], [NA]], [1.0, 2.0]), r"x must be finite, got nan at index \(1, 0\)"),
        (lambda: opt.tell(POINTS, [1.0] * 3, noise_std=[0.1, NA, 0.1]), r"noise_std must be finite, got nan"),
        (lambda: gssbo.GaussianProcess().fit(POINTS, Nullable([1.0, NA, 2.0])), r"y must be finite, got nan at"),
        (lambda: mixed.tell({"n": NA, "c": "u", "x": 0.5}, 1.0), r"x must be .*parameter 'n' of point 0"),
        (lambda: mixed.tell({"n": 1, "c": NA, "x": 0.5}, 1.0), r"x must be one of the values, .*parameter 'c'"),
        (lambda: mixed.tell({"n": 1, "c": "u", "x": NA}, 1.0), r"x must be finite, .*parameter 'x' of point 0"),
        (lambda: opt.tell(POINTS, [1.0] * 3, failed=Nullable([True, NA, False])), r"failed must be True or False"),
        (lambda: opt.tell(id=NA, y=1.0), r"id must be an integer"),
        (lambda: gssbo.Optimizer([(0.0, NA)]), r"bounds.* must be finite, got nan"),
    ):
        with pytest.raises(ValueError, match=message):
            told()
    assert opt.n_told == mixed.n_told == 0


def test_arrays_of_other_packages_hold_points_columns_and_ids():
    opt = gssbo.Optimizer({"n": range(9), "m": range(9)}, rng=0)
    opt.tell({"n": Nullable([1, 2]), "m": Nullable([3, 4])}, Nullable([1.0, 2.0]))
    assert opt.X == [{"n": 1, "m": 3}, {"n": 2, "m": 4}]
    listed = gssbo.Optimizer([range(9), range(9)], rng=0)
    listed.tell(Nullable([1, 2]), 1.0)
    listed.tell([Nullable([3, 4]), Nullable([5, 6])], [1.0, 2.0])
    assert listed.X == [[1, 2], [3, 4], [5, 6]]
    listed.ask(3)
    listed.tell(id=Nullable([2, 0]), y=Nullable([0.5, NA]))
    assert [each.id for each in listed.pending] == [1] and listed.n_failed == 1


class Figure:
    """A category with a shape, which is no array."""

    def __init__(self, shape):
        self.shape = shape


@pytest.mark.parametrize("shape", ["square", 3, (3, 4), None], ids=str)
def test_what_has_a_shape_alone_is_no_array(shape):
    figure = Figure(shape)
    for bounds, point in (
        ([[figure, "b"]], [figure]),
        ([[figure, "b"], (0.0, 1.0)], [figure, 0.5]),
        ({"c": [figure, "b"], "x": (0.0, 1.0)}, {"c": figure, "x": 0.5}),
    ):
        opt = gssbo.Optimizer(bounds, rng=0, duplicates="allow")
        opt.tell(point, 1.0)
        opt.tell([point, point], [1.0, 2.0])
        opt.enqueue(point)
        opt.tell(opt.ask(), 3.0)
        assert opt.n_told == 4 and all(each == point for each in opt.X)
    with pytest.raises(ValueError, match="id must be an integer, got <"):
        opt.tell(id=figure, y=1.0)


@pytest.mark.parametrize("kind", ["Float64", "Int64", "object", "double[pyarrow]", "int64[pyarrow]"])
def test_nullable_columns_of_pandas(kind):
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    y = pandas.Series([1, pandas.NA, 3], dtype=kind)
    frame = pandas.DataFrame({"n": [1, 2, 3], "x": [0, 1, 0]}).astype(kind)
    for value in (y, y.array, list(y)):
        opt = gssbo.Optimizer({"x": (0.0, 1.0), "n": range(9)}, rng=0)
        opt.tell(frame, value)
        opt.tell(frame.iloc[1], y.iloc[1])
        np.testing.assert_array_equal(opt.y, [1.0, np.nan, 3.0, np.nan])
        assert opt.X[1] == opt.X[3] == {"x": 1.0, "n": 2}
    gp = gssbo.GaussianProcess(rng=0).fit(frame, frame["n"])
    assert gp.predict(frame).shape == (3,)
    assert gssbo.minimize(lambda x: x[0], [(0, 9), (0, 1)], n_evals=4, x0=frame, y0=y, rng=0).n_failed == 1
