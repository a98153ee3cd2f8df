"""The choice among candidates is that of scoring all of them every time."""

import numpy as np
import pytest

from gssbo import GaussianProcess
from gssbo.acquisition import ACQUISITIONS
from gssbo.choice import choose
from gssbo.fantasy import fantasize

RNG = np.random.default_rng(0)
X = RNG.random((30, 2))
GP = GaussianProcess(rng=0).fit(X, -np.sum((X - 0.3) ** 2, axis=1))
CANDIDATES = RNG.random((1500, 2))


def everything(U):
    return np.ones(len(U), dtype=bool)


def exhaustive(acquisition, candidates, admit, n, best):
    """Scores of all candidates under a process that knows of every one chosen before."""
    gp, chosen, free = GP, [], admit(candidates)
    while len(chosen) < n and free.any():
        scores = np.where(free, acquisition(gp, candidates, best, None), -np.inf)
        chosen.append(int(np.argmax(scores)))
        free &= (candidates != candidates[chosen[-1]]).any(axis=1)
        gp = fantasize(gp, candidates[chosen[-1:]])
    return chosen


@pytest.mark.parametrize("name", ["ucb", "ei", "log_ei", "pi"])
@pytest.mark.parametrize("best", [-1.0, 0.8, 1.5])
@pytest.mark.parametrize("n", [1, 2, 25])
def test_is_the_exhaustive_one(name, best, n):
    acquisition = ACQUISITIONS[name]()
    for admit in (everything, lambda U: U[:, 0] + U[:, 1] > 0.9):
        # EI is ranked by its logarithm, which does not underflow.
        judge = ACQUISITIONS["log_ei"]() if name == "ei" else acquisition
        expected = exhaustive(judge, CANDIDATES, admit, n, best)
        got = choose(acquisition, GP, CANDIDATES, best, np.random.default_rng(0), admit, n)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
@pytest.mark.parametrize("noise", [1e-6, 0.05])
@pytest.mark.parametrize("name", ["ucb", "ei", "log_ei", "pi"])
def test_one_is_the_argmax_of_the_scores(name, noise, kernel):
    """With incumbents far below, near and far above: then everything ties, underflows or is out of reach."""
    acquisition, rng = ACQUISITIONS[name](), np.random.default_rng(1)
    for seed in range(6):
        d = 1 + seed
        X = np.random.default_rng(seed).random((40, d))
        gp = GaussianProcess(kernel, lengthscale=0.5, noise=noise, fit_hyperparameters=False)
        gp.fit(X, np.sin(5 * X).sum(axis=1))
        candidates = rng.random((3000, d))
        candidates[100:140] = X
        for best in (-1e3, 0.0, float(gp.y_train_.max()), 50.0, 1e100):
            scores = acquisition(gp, candidates, best, rng)
            (found,) = choose(acquisition, gp, candidates, best, rng, everything)
            assert scores[found] == scores.max()


class Counting:
    """A process that counts the candidates it gives an exact deviation for."""

    def __init__(self, gp):
        self.posterior_bound, self._gp, self.n_asked = gp.posterior_bound, gp, 0

    def posterior(self, points):
        self.n_asked += len(points)
        return self._gp.posterior(points)


def test_few_exact_deviations_are_needed():
    gp = Counting(GaussianProcess(lengthscale=0.3, noise=1e-4, fit_hyperparameters=False).fit(X, X.sum(axis=1)))
    candidates = np.random.default_rng(3).random((10_000, 2))
    choose(ACQUISITIONS["ucb"](), gp, candidates, 0.0, RNG, everything)
    assert gp.n_asked < 1000


def test_few_exact_deviations_are_needed_for_a_batch():
    class Upper(ACQUISITIONS["ucb"]):
        n_ranked = 0

        def rank(self, mean, std, best):
            self.n_ranked += len(mean)
            return super().rank(mean, std, best)

    acquisition = Upper()
    candidates = np.random.default_rng(3).random((10_000, 2))
    assert len(choose(acquisition, GP, candidates, 0.0, RNG, everything, 16)) == 16
    assert acquisition.n_ranked < 2 * len(candidates)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_equal_candidates_are_chosen_once(name):
    grid = np.repeat([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], 50, axis=0)
    got = choose(ACQUISITIONS[name](), GP, grid, 0.5, np.random.default_rng(0), everything, 10)
    assert sorted(got.tolist()) == [0, 50, 100] or name == "thompson"
    assert len(np.unique(grid[got], axis=0)) == len(got) == 3


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("name", ACQUISITIONS)
def test_none_is_admitted(name, n):
    got = choose(ACQUISITIONS[name](), GP, CANDIDATES, 0.5, np.random.default_rng(0), lambda U: U[:, 0] > 2.0, n)
    assert got.shape == (0,)


@pytest.mark.parametrize("best", [-1.0, 1e100])
def test_where_all_scores_are_minus_infinity_the_first_admitted_wins(best):
    gp = GaussianProcess(lengthscale=0.5, noise=0.0, fit_hyperparameters=False, normalize_y=False).fit(X, 0.0 * X[:, 0])
    got = choose(ACQUISITIONS["log_ei"](), gp, X, 5.0, np.random.default_rng(0), lambda U: U[:, 0] > 0.5, 3)
    assert len(got) == 3 and (X[got, 0] > 0.5).all()


def test_few_are_asked_about_and_none_twice():
    asked = []

    def admit(U):
        asked.extend(U.tolist())
        return U[:, 0] > 0.5

    choose(
        ACQUISITIONS["ucb"](), GP, CANDIDATES, 0.5, np.random.default_rng(0), lambda U: everything(asked.append(U) or U)
    )
    assert [len(U) for U in asked] == [1]
    asked.clear()
    got = choose(ACQUISITIONS["ucb"](), GP, CANDIDATES, 0.5, np.random.default_rng(0), admit, 10)
    assert (CANDIDATES[got, 0] > 0.5).all()
    assert len(asked) == len({tuple(x) for x in asked}) < len(CANDIDATES)


def test_scores_without_a_number_are_the_last_choice():
    class Broken(ACQUISITIONS["ucb"]):
        def rank(self, mean, std, best):
            return np.where(np.arange(len(mean)) % 3 == 0, np.nan, mean)

    few = CANDIDATES[:200]
    (got,) = choose(Broken(), GP, few, 0.5, np.random.default_rng(0), everything)
    mean = np.where(np.arange(200) % 3 == 0, -np.inf, GP.posterior(few)[0])
    assert got == np.argmax(mean)
