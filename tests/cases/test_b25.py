"""B25: suggestions that nobody ever tells."""

import time

import numpy as np

import gssbo

QUERY = np.random.default_rng(1).random((20, 2))


def bowl(x):
    return float(np.sum((x - 0.3) ** 2))


def lonely():
    opt = gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=5, rng=0)
    for _ in range(30):
        opt.ask()
    for _ in range(10):
        x = opt.ask()
        opt.tell(x, bowl(x))
    return opt


def test_they_are_no_data():
    opt = lonely()
    assert (opt.n_told, len(opt.pending)) == (10, 30)
    assert opt.best_y == min(map(bowl, opt.X))
    alone = gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=5, rng=0)
    alone.tell(opt.X, opt.y)
    for result, expected in zip(
        opt.predict(QUERY, return_std=True), alone.predict(QUERY, return_std=True), strict=True
    ):
        np.testing.assert_allclose(result, expected, rtol=0.2, atol=1e-3)  # hyperparameters were fitted on another path


def test_they_can_be_dropped():
    fixed = gssbo.GaussianProcess(lengthscale=0.4, fit_hyperparameters=False)
    opt = gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=5, surrogate=fixed, rng=0)
    opt.ask(30)
    for _ in range(10):
        x = opt.ask()
        opt.tell(x, bowl(x))
    opt.forget()
    assert opt.pending == []
    alone = gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=5, surrogate=fixed, rng=5)
    alone.tell(opt.X, opt.y)
    for result, expected in zip(
        opt.predict(QUERY, return_std=True), alone.predict(QUERY, return_std=True), strict=True
    ):
        np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_one_may_be_dropped_and_told_after_all():
    opt = gssbo.Optimizer({"n": range(100)}, rng=0)
    asked = opt.ask(4, ids=True)
    opt.forget(asked[0])
    opt.forget(id=1)
    opt.forget(asked[2].x)
    assert opt.pending == asked[3:]
    for gone in (asked[0], asked[2].x):
        try:
            opt.forget(gone)
        except ValueError as error:
            assert "must be of a pending suggestion" in str(error)
        else:
            raise AssertionError
    opt.tell(asked[0], 5.0)
    opt.tell(asked[0], 5.0)
    assert opt.n_told == 1 and [asked[0].x] == opt.X


def test_a_thousand_observations_later_they_are_forgotten():
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=2, rng=0)
    opt.ask()
    X = np.random.default_rng(0).random((1001, 1))
    opt.tell(X[:1000], X[:1000, 0])
    assert len(opt.pending) == 1
    opt.tell(X[1000], 0.5)
    assert opt.pending == []


def test_thirty_pending_ones_do_not_double_the_time_of_an_ask():
    seconds = {}
    for n_pending in (0, 30):
        opt = gssbo.Optimizer([(0.0, 1.0)] * 6, n_init=5, rng=0)
        X = np.random.default_rng(0).random((130, 6))
        opt.tell(X, [bowl(x) for x in X])
        opt.ask()
        opt.forget()
        taken = []
        for k in range(5):
            if n_pending:
                opt.ask(n_pending)
            opt.tell(X[k], bowl(X[k]))
            start = time.process_time()
            opt.ask()
            taken.append(time.process_time() - start)
            opt.forget()
        seconds[n_pending] = min(taken)
    assert seconds[30] < 2.0 * seconds[0]
