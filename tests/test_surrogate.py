"""Surrogates that users bring: what is missing or wrong in them is said, whatever reads it."""

import numpy as np
import pytest

from gssbo import Optimizer


class Flat:
    """Every member of `Surrogate`, and nothing known anywhere."""

    fit_hyperparameters, fitted, threads, y_mean_, y_std_ = True, True, 1, 0.0, 1.0

    def __repr__(self):
        return "Flat()"

    def prepare(self, dim):
        pass

    def condition(self, X, y, **settings):
        pass

    def posterior(self, points):
        return self.answer(len(points))

    posterior_bound = posterior

    def answer(self, m):
        return np.zeros(m), np.ones(m)


def optimizer_on(answer, acquisition="ucb", n_candidates=1_000):
    surrogate = Flat()
    surrogate.answer = answer
    optimizer = Optimizer(
        [(0.0, 1.0)], surrogate=surrogate, acquisition=acquisition, n_candidates=n_candidates, n_init=1, rng=0
    )
    optimizer.tell(0.5, 1.0)
    return optimizer


@pytest.mark.parametrize("acquisition", ["ucb", "ei", "log_ei", "pi"])
@pytest.mark.parametrize("n_candidates", [50, 1_000])
@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (lambda m: np.zeros(m), "the posterior of a surrogate must be a mean and a .*, got ndarray from Flat"),
        (lambda m: None, "the posterior of a surrogate must be a mean and a .*, got NoneType from Flat"),
        (lambda m: (0.0, 1.0), r"the posterior mean of Flat\(\) must have shape \(n,\), got shape \(\)"),
        (lambda m: (np.zeros((m, 1)), np.ones(m)), r"the posterior mean of Flat\(\) must have shape \(n,\), got"),
        (
            lambda m: (np.zeros(m), np.ones(m - 1)),
            r"the posterior standard deviation of Flat\(\) must have \d+ entries",
        ),
        (
            lambda m: (np.zeros(m, dtype=complex), np.ones(m)),
            r"the posterior mean of Flat\(\) must be an array of real",
        ),
    ],
)
def test_a_posterior_that_is_none_is_refused_by_name(answer, rule, acquisition, n_candidates):
    optimizer = optimizer_on(answer, acquisition, n_candidates)
    with pytest.raises(ValueError, match=f"^{rule}"):
        optimizer.ask()
    with pytest.raises(ValueError, match=f"^{rule}"):
        optimizer.predict([[0.1], [0.2]])
    assert optimizer.n_told == 1 and not optimizer.pending


@pytest.mark.parametrize("acquisition", ["ucb", "ei", "log_ei", "pi"])
@pytest.mark.parametrize(
    "answer",
    [lambda m: (np.zeros(m, dtype=np.float32), np.ones(m, dtype=np.float32)), lambda m: ([0] * m, [1] * m)],
    ids=["single precision", "lists"],
)
def test_a_posterior_of_other_numbers_is_the_one_in_double_precision(answer, acquisition):
    expected = optimizer_on(Flat().answer, acquisition)
    optimizer = optimizer_on(answer, acquisition)
    assert optimizer.ask() == expected.ask() and optimizer.predict([[0.1]]) == expected.predict([[0.1]])


@pytest.mark.parametrize("name", ["posterior_bound", "fitted", "fit_hyperparameters"])
def test_what_a_surrogate_lacks_is_named(name):
    members = {member: value for member, value in vars(Flat).items() if member != name}
    incomplete = type("Incomplete", (), members)()
    with pytest.raises(ValueError, match=f"^surrogate must be a GaussianProcess or .* got Flat.. without {name}$"):
        Optimizer([(0.0, 1.0)], surrogate=incomplete)


@pytest.mark.parametrize("shape", [(3, 2), (7,)])
def test_selection_features_of_other_rows_are_refused(shape):
    class Featured(Flat):
        def selection_features(self, X):
            return np.ones(shape)

    optimizer = Optimizer([(0.0, 1.0)], surrogate=Featured(), subset_size=4, n_init=2, rng=0)
    optimizer.tell(np.linspace(0.0, 1.0, 7)[:, None], np.arange(7.0))
    with pytest.raises(ValueError, match=r"^the selection features of Flat\(\) must have shape \(7, q\), got shape"):
        optimizer.ask()
