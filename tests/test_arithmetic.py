"""Floating-point error settings of the user's: they neither break anything nor are they changed."""

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

import gssbo.problems
from gssbo import Integer, Real
from gssbo._arithmetic import all_in_own_arithmetic, callers_arithmetic, in_own_arithmetic
from gssbo.diagnostics import PosteriorGap, leave_one_out, residual_table, trust

BOX = [(0.0, 1.0)] * 3
MIXED = {"r": Real(1e-300, 1.0, log=True), "n": Integer(1, 50), "c": ["u", "v", "w"], "s": Real(0, 1, step=0.25)}
FEW = {"method": "box", "n_candidates": 200}


def plain(x):
    return list(x.values()) if isinstance(x, dict) else x.tolist()


def loss(x, scale):
    values = [value if isinstance(value, float) else len(str(value)) / 4 for value in plain(x)]
    with np.errstate(all="ignore"):
        return float(np.cos(3.0 * np.array(values)).sum() * scale)


def everything(space, scale, **options):
    """What there is to see of a run, as text."""
    opt = gssbo.Optimizer(space, n_init=5, subset_size=12, rng=0, **options)
    for k in range(24):
        x = opt.ask()
        opt.tell(x, np.nan if k % 7 == 6 else loss(x, scale), noise_std=scale * 1e-3 if k % 5 == 0 else None)
    opt.tell_prior([opt.X[0]], [loss(opt.X[0], scale)])
    mean, std = opt.predict(opt.X[:5], return_std=True)
    points = [plain(x) for x in (*opt.X, *opt.ask(3))]
    return repr([points, mean.tolist(), std.tolist(), opt.best("model"), opt.best_y, opt.result().fun_model])


@pytest.mark.parametrize("scale", [1.0, 1e-310, 1e-150, 1e307])
@pytest.mark.parametrize(
    ("space", "options"),
    [
        (BOX, {}),
        (MIXED, {}),
        (BOX, FEW | {"acquisition": "ei"}),
        (BOX, FEW | {"acquisition": "pi", "rule": "scalar"}),
        (BOX, FEW | {"acquisition": "thompson", "rule": "kmeans++"}),
        (MIXED, FEW | {"rule": "residual", "posterior": "projected", "fit_on": "spread"}),
    ],
    ids=["portfolio", "mixed", "ei", "pi", "thompson", "projected"],
)
def test_the_settings_change_nothing_and_are_not_changed(space, options, scale):
    usual = everything(space, scale, **options)
    with np.errstate(all="raise"):
        before = np.geterr()
        assert everything(space, scale, **options) == usual
        assert np.geterr() == before


def test_a_model_and_what_can_be_said_of_it():
    X = np.random.default_rng(0).random((60, 2))
    y = np.exp(-800.0 * ((X - 0.5) ** 2).sum(axis=1)) * 1e-290
    kept = np.arange(20)

    def found():
        gp = gssbo.GaussianProcess("rbf", rng=0).fit(X[kept], y[kept])
        gap = PosteriorGap(gp, X, y, kept)
        return repr(
            [
                gp.predict(X, return_std=True),
                gp.predict_gradient(X[:3]),
                gssbo.select_subset(gp, X, 30, y=y, rule="residual"),
                gap.at(X),
                gap.growth(),
                [gap.A, gap.S, gap.scores, gap.surprise, gap.rho, gap.residual_norm],
                gap.bounds(X),
                leave_one_out(gp, X, y),
                residual_table(gp, X, y, 20, rng=0),
                str(trust(gp, X, y, kept)),
            ]
        )

    usual = found()
    with np.errstate(all="raise"):
        assert found() == usual


def test_a_problem_is_evaluated():
    problem = gssbo.problems.get_problem("michalewicz10")  # whose sines, to the power of 20, underflow
    with np.errstate(all="raise"):
        assert problem(problem.bounds[:, 0]) == 0.0


def test_functions_of_the_users_have_the_users_settings():
    seen = []

    def rule(x):
        seen.append(np.geterr())
        return x.sum()

    def objective(x):
        seen.append(np.geterr())
        return float(x @ x)

    with np.errstate(all="raise", over="ignore"):
        theirs = np.geterr()
        gssbo.minimize(objective, BOX, constraints=NonlinearConstraint(rule, 0.0, 1.0), n_evals=15, n_init=5, rng=0)
    assert len(seen) > 30 and all(each == theirs for each in seen)


def test_an_error_of_a_users_function_is_the_users():
    rule = NonlinearConstraint(lambda x: np.float64(1.0) / np.float64(0.0), 0.0, np.inf)
    with np.errstate(all="raise"):
        opt = gssbo.Optimizer(BOX, constraints=rule, rng=0)
        with pytest.raises(FloatingPointError):
            opt.ask()
        assert np.geterr()["divide"] == "raise"


def test_what_a_users_function_calls_of_ours_is_ours():
    @in_own_arithmetic
    def outer(function):
        with callers_arithmetic():
            return function()

    @in_own_arithmetic
    def inner():
        return np.geterr()["under"]

    def theirs():
        return np.geterr()["under"], inner(), np.geterr()["under"]

    with np.errstate(under="raise"):
        assert outer(theirs) == ("raise", "ignore", "raise")
    with callers_arithmetic():  # nobody called us
        assert np.geterr()["under"] == "ignore"


def test_a_class_is_decorated_where_users_see_it():
    @all_in_own_arithmetic
    class Tail:
        """A tail."""

        x = -1000.0

        def __init__(self):
            self.first = np.exp(self.x)

        def height(self, factor=1.0):
            """How high it is."""
            return factor * np.exp(self.x)

        def _private(self):
            return np.exp(self.x)

    with np.errstate(all="raise"):
        tail = Tail()
        assert tail.first == tail.height(2.0) == 0.0 and Tail.height.__doc__ == "How high it is."
        with pytest.raises(FloatingPointError):
            tail._private()
