"""The loop: point for point the reference's, and what ask, tell and predict promise."""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import Bounds, OptimizeResult
from scipy.stats import qmc

from gssbo import GaussianProcess, Optimizer
from gssbo import reference as ref
from tests.optimizers import BOX, bowl, drive, fixed, quick

pytestmark = pytest.mark.usefixtures("single_thread")


# ---- designs, streams, candidates


def test_initial_design_is_a_latin_hypercube_of_the_first_stream():
    optimizer = Optimizer(BOX, method="box", rng=9)
    design = qmc.LatinHypercube(2, rng=np.random.default_rng(9).spawn(4)[0]).random(20)
    got = np.array([optimizer.ask() for _ in range(20)])
    np.testing.assert_array_equal(got, ref.to_user(design, np.array(BOX)))
    strata = np.sort(np.floor((got - [-2.0, 0.0]) / [5.0, 4.0] * 20), axis=0)
    np.testing.assert_array_equal(strata, np.column_stack([np.arange(20)] * 2))


@pytest.mark.parametrize("n_init", [1, 8, 20])
def test_sobol_design(n_init):
    optimizer = quick(initial_design="sobol", n_init=n_init, subset_size=50, rng=9)
    expected = qmc.Sobol(2, rng=np.random.default_rng(9).spawn(4)[0]).random_base2(5)[:n_init]
    got = np.array([optimizer.ask() for _ in range(n_init)])
    np.testing.assert_allclose(got, ref.to_user(expected, np.array(BOX)), rtol=1e-12)


def test_observations_told_stand_in_for_the_design():
    optimizer = quick(n_init=5)
    design = np.array([quick(n_init=5).ask()])
    optimizer.tell([[0.0, 1.0]] * 3, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(optimizer.ask(), design[0])
    assert optimizer.retained.size == 0
    optimizer.tell([[0.5, 1.0]] * 2, [1.0, 2.0])
    optimizer.ask()
    assert optimizer.retained.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n_told", [0, 5, 20])
def test_asking_without_telling_gives_other_points(n_told):
    optimizer = quick()
    drive(optimizer, n_told)
    points = np.array([optimizer.ask() for _ in range(12)])
    assert len(np.unique(points, axis=0)) == 12


# ---- copies


@pytest.mark.parametrize("n", [0, 3, 8, 18])
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))], ids=["deepcopy", "pickle"])
def test_a_copy_in_mid_run_continues_alike(clone, n):
    for options in ({"refit": 3, "rule": "kmeans++"}, {"acquisition": "thompson", "rule": "random", "refit": "frozen"}):
        optimizer = quick(**options)
        drive(optimizer, n)
        optimizer.ask()
        again = clone(optimizer)
        np.testing.assert_array_equal(drive(again, 8), drive(optimizer, 8))
        np.testing.assert_array_equal(again.X, optimizer.X)
        np.testing.assert_array_equal(again.retained, optimizer.retained)


def test_a_copy_is_its_own():
    optimizer = quick()
    drive(optimizer, 12)
    again = copy.deepcopy(optimizer)
    drive(again, 5)
    assert optimizer.n_told == 12
    np.testing.assert_array_equal(drive(optimizer, 5), again.X[12:])


# ---- what users see


def test_state_of_an_empty_optimizer():
    optimizer = quick()
    assert optimizer.n_told == 0
    assert optimizer.X.shape == (0, 2)
    assert optimizer.y.shape == (0,)
    assert optimizer.best_x is optimizer.best_y is None
    result = optimizer.result()
    assert isinstance(result, OptimizeResult)
    assert result.x is result.fun is None
    assert result.nfev == 0
    with pytest.raises(ValueError, match=r"at least one observation"):
        optimizer.predict([[0.0, 1.0]])


@pytest.mark.parametrize("maximize", [False, True])
def test_best_is_the_first_of_equals(maximize):
    sign = -1.0 if maximize else 1.0
    optimizer = quick(maximize=maximize)
    optimizer.tell([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [-1.0, 3.0]], sign * np.array([3.0, 1.0, 1.0, 2.0]))
    assert optimizer.best_y == sign
    assert type(optimizer.best_y) is float
    np.testing.assert_array_equal(optimizer.best_x, [1.0, 1.0])
    result = optimizer.result()
    assert result.fun == sign
    np.testing.assert_array_equal(result.func_vals, sign * np.array([3.0, 1.0, 1.0, 2.0]))
    for array in (optimizer.X, optimizer.y, optimizer.best_x, result.x, result.x_iters):
        array[:] = 99.0
    np.testing.assert_array_equal(optimizer.best_x, [1.0, 1.0])
    np.testing.assert_array_equal(optimizer.y, sign * np.array([3.0, 1.0, 1.0, 2.0]))


def test_told_arrays_are_copied():
    optimizer, x, y = quick(), np.array([[0.0, 1.0]]), np.array([2.0])
    optimizer.tell(x, y)
    x[:], y[:] = 1.5, 9.0
    np.testing.assert_array_equal(optimizer.X, [[0.0, 1.0]])
    np.testing.assert_array_equal(optimizer.y, [2.0])
    suggestion = optimizer.ask()
    kept = suggestion.copy()
    optimizer.tell(suggestion, 1.0)
    suggestion[:] = 2.0
    np.testing.assert_array_equal(optimizer.X[1], kept)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0.0, 1.0], 2),
        ((0, 1), np.float32(2)),
        (np.array([0.0, 1.0]), np.array(2.0)),
        ([0.0, 1.0], [2.0]),
        ([[0.0, 1.0]], [2.0]),
        (np.array([[0, 1]]), np.array([2], dtype=object)),
    ],
)
def test_forms_of_one_observation(x, y):
    optimizer = quick()
    optimizer.tell(x, y)
    np.testing.assert_array_equal(optimizer.X, [[0.0, 1.0]])
    np.testing.assert_array_equal(optimizer.y, [2.0])


def test_one_dimension():
    optimizer = Optimizer([(0.0, 1.0)], n_init=3, subset_size=8, n_candidates=50, rng=0)
    optimizer.tell(0.5, 1.0)
    optimizer.tell([0.25], 2.0)
    optimizer.tell([[0.75], [1.0]], [3.0, 4.0])
    np.testing.assert_array_equal(optimizer.X, [[0.5], [0.25], [0.75], [1.0]])
    assert optimizer.ask().shape == (1,)


def test_scipy_bounds_and_a_fixed_parameter():
    optimizer = Optimizer(Bounds([0.0, 5.0], [1.0, 5.0]), n_init=3, subset_size=8, n_candidates=50, rng=0)
    points = drive(optimizer, 15, lambda x: float(x[0]))
    np.testing.assert_array_equal(points[:, 1], 5.0)
    assert len(np.unique(points[:, 0])) == 15


def test_suggestions_stay_inside_the_bounds():
    bounds = np.array([(0.1, 0.3), (-1e-3, 1e6), (1e8, 1e8 + 1.0)])
    optimizer = Optimizer(bounds, n_init=4, subset_size=8, n_candidates=50, rng=0)
    points = drive(optimizer, 20, lambda x: float(-x[0]))
    assert np.all((points >= bounds[:, 0]) & (points <= bounds[:, 1]))


# ---- bad input


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"maximize": 1}, "^maximize must be True or False, got 1"),
        ({"n_init": 0}, "^n_init must be at least 1, got 0"),
        ({"n_init": 2.0}, "^n_init must be an integer, got 2.0"),
        ({"n_init": 10**30}, "^n_init must be at most 1000000, got 1"),
        ({"method": np.array(["box", "portfolio"])}, r"^method must be one of 'box', 'portfolio', .*got array"),
        ({"subset_size": np.array([30, 40])}, r"^subset_size must be an integer, got array\(\[30, 40\]\)$"),
        ({"method": "box", "subset_size": np.array([30, 40])}, r"^subset_size must be an integer.*, got array"),
        ({"initial_design": "grid"}, "^initial_design must be one of 'lhs', 'sobol', got 'grid'"),
        ({"method": "box", "subset_size": 20}, r"^subset_size must be larger than the forced set \(21.*got 20"),
        ({"method": "box", "subset_size": 21}, r"^subset_size must be larger than the forced set \(21.*got 21"),
        ({"subset_size": "dyn"}, "^subset_size must be an integer, or 'dynamic' with method='box', got 'dyn'$"),
        (
            {"method": "portfolio", "subset_size": "dynamic"},
            "^subset_size must be .* with method='box', got 'dynamic'$",
        ),
        ({"dynamic_factor": 0.5}, "^dynamic_factor must be greater than 1.*got 0.5"),
        ({"rule": "best"}, "^rule must be one of 'vector', 'scalar', 'random', 'kmeans.*got 'best'"),
        ({"retain_initial": "no"}, "^retain_initial must be True or False, got 'no'"),
        ({"retain_newest": 0}, "^retain_newest must be True or False, got 0"),
        ({"pool": "window"}, "^pool must be 'auto', 'full', 'rotating' or a window size, got 'window'"),
        ({"pool": 10}, "^pool must leave at least subset_size"),
        ({"refit": 0}, "^refit must be at least 1, got 0"),
        ({"refit": "never"}, "^refit must be an integer or 'frozen', got 'never'$"),
        ({"refit": 1.5}, "^refit must be an integer, got 1.5"),
        ({"refresh": "lazy"}, "^refresh must be one of .*'recompute', 'cached', got 'lazy'"),
        ({"acquisition": "kg"}, "^acquisition must be one of 'ucb', 'ei', 'log_ei', 'pi', 'thompson', got 'kg'"),
        (
            {"acquisition_options": {"kappa": 1}},
            "^acquisition_options must .* 'beta' .*acquisition='ucb', got 'kappa'$",
        ),
        (
            {"acquisition": "ei", "acquisition_options": {"x": 1}},
            "^acquisition_options must hold nothing but 'xi' with acquisition='ei', got 'x': did you mean 'xi'[?]$",
        ),
        ({"acquisition_options": {1: 1}}, "^acquisition_options must .*, got 1$"),
        ({"acquisition_options": 3}, "^acquisition_options must be a dict, got 3$"),
        ({"acquisition_options": {"beta": -1.0}}, "^beta must be at least 0.*got -1"),
        ({"n_candidates": 0}, "^n_candidates must be at least 1, got 0"),
        ({"n_candidates": 10.0}, "^n_candidates must be an integer, got 10.0"),
        ({"n_candidates": 10**19}, "^n_candidates must be at most 10000000, got 1"),
        ({"surrogate": "gp"}, "^surrogate must be a GaussianProcess or .*, got 'gp'"),
        ({"surrogate": GaussianProcess}, "^surrogate must be a GaussianProcess or .*, got <class "),
        ({"strategy": 3}, "^strategy must be callable, got 3$"),
        ({"surrogate": fixed(3)}, "^surrogate must have 1 or 2 lengthscales, got 3"),
        ({"rng": "seed"}, "^rng must be .*got 'seed'"),
        ({"rng": "7"}, "^rng must be .*got '7'"),
        ({"rng": -7}, "^rng must be .*got -7"),
        ({"bounds": []}, "^bounds must "),
        ({"bounds": None}, "^bounds must have an entry a parameter, .* got None"),
        ({"bounds": 3}, "^bounds must have an entry a parameter, .* got 3"),
        ({"bounds": [(1.0, 0.0)]}, r"^bounds\[0\] must have low <= high, got \(1.0, 0.0\)"),
        ({"bounds": [(0.0, np.nan)]}, "^bounds must be finite, got nan"),
    ],
)
def test_bad_settings(keywords, message):
    with pytest.raises(ValueError, match=message):
        Optimizer(**{"bounds": BOX, **keywords})


def test_more_than_anyone_evaluates_is_not_asked_for():
    optimizer = Optimizer(BOX)
    with pytest.raises(ValueError, match=r"^n must be at most 1000000, got 1"):
        optimizer.ask(10**18)
    assert len(optimizer.pending) == 0


def test_settings_are_keywords():
    with pytest.raises(TypeError):
        Optimizer(BOX, True)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0.0], 1.0, r"^x must have shape \(2,\) or \(n, 2\), got shape \(1,\)"),
        (0.0, 1.0, r"^x must have shape \(2,\) or \(n, 2\), got shape \(\)"),
        ([[0.0, 1.0, 2.0]], [1.0], r"^x must have 2 columns, got shape \(1, 3\)"),
        (np.zeros((1, 1, 2)), [1.0], r"^x must have shape"),
        (np.empty((0, 2)), [], "^x must not be empty"),
        ([0.0, np.nan], 1.0, "^x must be finite, got nan"),
        ([[0.0, 1.0], [np.inf, 1.0]], [1.0, 2.0], r"^x must be finite, got inf at index \(1, 0\)"),
        ([[0.0, 1.0], [0.0]], [1.0, 2.0], "^x must be an array of real numbers"),
        (["a", "b"], 1.0, "^x must be an array of real numbers"),
        (None, 1.0, "^x or id must say what was evaluated, got neither"),
        ([], [], "^x must "),
        ([0.0, 5.0], 1.0, r"^x must lie within bounds, got 5.0 for parameter 1 of point 0.*\(0.0, 4.0\)"),
        ([[0.0, 1.0], [-2.1, 1.0]], [1.0, 2.0], "^x must lie within bounds, got -2.1 for parameter 0 of point 1"),
        ([0.0, 1.0], -np.inf, r"^y must be finite, got -inf at index \(0,\)"),
        ([0.0, 1.0], None, "^y must be a number, or NaN where an evaluation failed, got None"),
        ([0.0, 1.0], 10**400, "^y must be an array of real numbers"),
        ([0.0, 1.0], "3", "^y must be a number, not text"),
        ([0.0, 1.0], 1j, "^y must be an array of real numbers"),
        ([0.0, 1.0], [1.0, 2.0], r"^y must be one number for one point x, got shape \(2,\)"),
        ([[0.0, 1.0], [1.0, 1.0]], [1.0], "^y must have 2 entries, got 1"),
        ([[0.0, 1.0], [1.0, 1.0]], 1.0, r"^y must have shape \(n,\), got shape \(\)"),
        ([[0.0, 1.0], [1.0, 1.0]], [[1.0, 2.0]], r"^y must have shape \(n,\), got shape \(1, 2\)"),
        ([[0.0, 1.0], [1.0, 1.0]], [1.0, -np.inf], r"^y must be finite, got -inf at index \(1,\)"),
    ],
)
@pytest.mark.parametrize("n", [0, 13])
def test_a_bad_observation_leaves_no_trace(n, x, y, message):
    optimizer = quick()
    drive(optimizer, n)
    twin = copy.deepcopy(optimizer)
    with pytest.raises(ValueError, match=message):
        optimizer.tell(x, y)
    assert optimizer.n_told == n
    np.testing.assert_array_equal(optimizer.y, twin.y)
    np.testing.assert_array_equal(optimizer.ask(), twin.ask())


@pytest.mark.parametrize("X", [[0.0, 1.0], [[0.0]], [[0.0, np.nan]], [], "x"])
def test_bad_points_to_predict_at(X):
    optimizer = quick()
    drive(optimizer, 7)
    twin = copy.deepcopy(optimizer)
    with pytest.raises(ValueError, match=r"^X must "):
        optimizer.predict(X)
    with pytest.raises(ValueError, match=r"^return_std must be True or False, got 'no'$"):
        optimizer.predict([[0.5, 0.5]], return_std="no")
    np.testing.assert_array_equal(optimizer.ask(), twin.ask())


# ---- hard data


def test_reprs_say_where_things_stand():
    optimizer = Optimizer([(0, 1)], method="box", n_init=2, subset_size=5, rng=0)
    assert repr(optimizer) == "Optimizer(d=1, told=0, best_y=None, rule='vector', M=5, retained=0)"
    assert repr(GaussianProcess()) == "GaussianProcess('matern52', not fitted)"
    assert "n=2" in repr(GaussianProcess(rng=0).fit([[0.0], [1.0]], [0.0, 1.0]))


@pytest.mark.parametrize("method", ["box", "portfolio"])
@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.Philox, np.random.MT19937])
def test_reseeded_copies_part_and_agree_with_each_other(method, kind):
    opt = Optimizer(BOX, method=method, n_init=4, rng=np.random.Generator(kind(3)))
    for _ in range(6):
        x = opt.ask()
        opt.tell(x, bowl(x))
    copies = [copy.deepcopy(opt) for _ in range(3)]
    for twin, seed in zip(copies, (1, 1, 2), strict=True):
        twin.reseed(seed)
    points = [tuple(each.ask()) for each in (*copies, opt)]
    assert points[0] == points[1]
    assert len(set(points)) == 3
    assert copies[0].X.tolist() == opt.X.tolist()
