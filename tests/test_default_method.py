import inspect

import numpy as np
import pytest

import gssbo
from gssbo import GaussianProcess, Optimizer, Real
from gssbo.box_strategy import BoxStrategy
from gssbo.default_method import BOX_OPTIONS
from gssbo.presets import paper

BOUNDS = [(0.0, 1.0)] * 3
GIVEN = {
    "dynamic_factor": 4.0,
    "gap_tolerance": 0.1,
    "rule": "vector",
    "retain_initial": True,
    "retain_newest": True,
    "pool": "auto",
    "refit": 1,
    "fit_on": "retained",
    "posterior": "exact",
    "refresh": "auto",
    "acquisition": "ucb",
    "acquisition_options": {},
    "n_candidates": 500,
    "surrogate": GaussianProcess(),
    "strategy": BoxStrategy,
}


def test_these_are_the_options_of_the_box():
    assert set(GIVEN) == set(BOX_OPTIONS) <= set(inspect.signature(Optimizer).parameters)


@pytest.mark.parametrize("name", GIVEN)
def test_an_option_of_the_box_asks_for_it_even_at_its_default(name):
    rule = {"rule": "residual"} if name == "gap_tolerance" else {}
    assert Optimizer(BOUNDS, **{name: GIVEN[name]} | rule).method == "box"
    with pytest.raises(ValueError, match=f"^{name} must not be given with method='portfolio'"):
        Optimizer(BOUNDS, method="portfolio", **{name: GIVEN[name]})


@pytest.mark.parametrize(
    "options",
    [{}, {"n_init": 5}, {"subset_size": 40}, {"threads": 2}, {"surrogate": None, "acquisition_options": None}],
)
def test_anything_else_does_not(options):
    assert Optimizer(BOUNDS, **options).method == "portfolio"


def test_a_dynamic_size_asks_for_the_box_and_so_does_the_paper():
    assert Optimizer(BOUNDS, subset_size="dynamic").method == "box"
    optimizer = Optimizer(BOUNDS, **paper(50))
    assert (optimizer.method, optimizer.rule, optimizer.n_init, optimizer.M) == ("box", "vector", 20, 50)


@pytest.mark.parametrize(
    ("bounds", "n_init"),
    [
        ([(0.0, 1.0)] * 2, 6),
        ([(0.0, 1.0)] * 10, 22),
        ([(0.0, 1.0)] * 60, 40),
        ([Real(0.0, 1.0), list("abcdefgh"), (2.0, 2.0)], 6),
    ],
)
def test_the_design_grows_with_the_free_parameters(bounds, n_init):
    assert Optimizer(bounds).n_init == n_init
    assert Optimizer(bounds, method="box").n_init == 20


def test_minimize_takes_the_default():
    def valley(x):
        return (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2

    result, same = (
        gssbo.minimize(valley, [(-2.0, 2.0)] * 2, n_evals=120, rng=0, **options)
        for options in ({}, {"method": "portfolio"})
    )
    assert np.array_equal(result.x_iters, same.x_iters)
    assert result.fun < 1e-12


def test_a_long_design_needs_no_larger_subset():
    """The portfolio forces no initial design; the box does."""
    opt = Optimizer([(0.0, 1.0)] * 2, n_init=12, subset_size=8, rng=0)
    for _ in range(30):
        x = opt.ask()
        opt.tell(x, float(x @ x))
    assert opt.n_retained == 8
    with pytest.raises(ValueError, match="larger than the forced set"):
        Optimizer([(0.0, 1.0)] * 2, n_init=12, subset_size=8, method="box")
