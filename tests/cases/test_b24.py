"""B24: results come in any order, and some come twice."""

import numpy as np
import pytest

import gssbo
from gssbo import reference as ref


def fresh():
    opt = gssbo.Optimizer({"x": (0.0, 1.0), "c": ["u", "v"]}, n_init=3, rng=0)
    return opt, opt.ask(3, ids=True)


def state(opt):
    return opt.X, opt.y.tolist(), opt.pending, opt.best_x


def test_any_order_and_retries():
    opt, asked = fresh()
    assert [s.id for s in asked] == [0, 1, 2]
    opt.tell(asked[2], 2.0)
    opt.tell(id=0, y=0.0)
    opt.tell(asked[1].x, 1.0)
    assert opt.y.tolist() == [2.0, 0.0, 1.0] and opt.pending == []
    assert [asked[2].x, asked[0].x, asked[1].x] == opt.X
    before = state(opt)
    opt.tell(id=0, y=0.0)  # the same again: nothing happens
    opt.tell(asked, [0.0, 1.0, 2.0])
    for what in ({"id": 0}, {"x": asked[0]}):
        with pytest.raises(ValueError, match=r"value told before for suggestion 0, 0.0, got 5.0"):
            opt.tell(**what, y=5.0)
    with pytest.raises(ValueError, match=r"value told before for suggestion 0, 0.0, got nan"):
        opt.tell(id=0, failed=True)
    with pytest.raises(ValueError, match=r"^id must be of a suggestion, got 99 where 3 were asked"):
        opt.tell(id=99, y=1.0)
    assert state(opt) == before
    other, asked = fresh()
    other.tell(asked, [0.0, 1.0, 2.0])
    assert other.best_x == opt.best_x


def test_the_next_ask_does_not_depend_on_retries():
    runs = []
    for retries in (0, 3):
        opt, asked = fresh()
        opt.tell(asked, [0.0, 1.0, 2.0])
        for _ in range(retries):
            opt.tell(id=[2, 1], y=[2.0, 1.0])
        runs.append(opt.ask())
    assert runs[0] == runs[1]


def test_the_likelihood_does_not_depend_on_the_order():
    X = np.random.default_rng(3).random((12, 2))
    y = np.sin(4 * X[:, 0]) - X[:, 1]
    theta = np.log([0.4, 0.8, 1.0, 1e-3])
    for order in (np.arange(12), np.random.default_rng(0).permutation(12)):
        gp = gssbo.GaussianProcess(
            lengthscale=[0.4, 0.8], noise=1e-3, fit_hyperparameters=False, normalize_y=False
        ).fit(X[order], y[order])
        np.testing.assert_allclose(gp.log_marginal_likelihood_value_, -1.75437342, rtol=1e-8)
        np.testing.assert_allclose(
            gp.log_marginal_likelihood_value_, ref.log_marginal_likelihood(X, y, theta)[0], rtol=1e-10
        )


def test_a_failure_is_retried_as_well():
    opt, asked = fresh()
    opt.tell(asked[0], failed=True)
    opt.tell(asked[0], np.nan)
    opt.tell(id=0, failed=True)
    assert (opt.n_told, opt.n_failed) == (1, 1)
    with pytest.raises(ValueError, match=r"suggestion 0, nan, got 1.0"):
        opt.tell(id=0, y=1.0)
