"""Selection features: cosines and rules against plain NumPy, and which rules may be used."""

import numpy as np
import pytest

import gssbo
from gssbo import reference as ref
from gssbo.features import FeatureEmbedding
from gssbo.selection.rules import FEATURED, RULES
from gssbo.selection.subset import select


def centred(n=80, q=5, seed=0):
    F = np.random.default_rng([n, q, seed]).standard_normal((n, q)) + 3.0
    return F, F - F.mean(axis=0)


def plain_cosines(F):
    directions = F / np.linalg.norm(F, axis=1)[:, None]
    return directions @ directions.T


@pytest.mark.parametrize("q", [1, 5, 40])
def test_cosines_are_of_what_differs_from_the_mean(q):
    F, C = centred(q=q)
    np.testing.assert_allclose(FeatureEmbedding(F).cosines(), plain_cosines(C), atol=1e-13)
    np.testing.assert_allclose(FeatureEmbedding(F + 7.0).cosines(), plain_cosines(C), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_vector_rule_is_the_references(seed):
    F, C = centred(seed=seed)
    forced = np.array([3, 70])
    found = select(FeatureEmbedding(F), 20, rule="vector", forced=forced, y=None, rng=np.random.default_rng(0))
    assert found.tolist() == list(ref.greedy_cosine(plain_cosines(C), 20, forced))


def test_a_member_at_the_mean_is_unlike_and_like_none():
    F = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    cosines = FeatureEmbedding(F).cosines()
    np.testing.assert_array_equal(cosines[2], [0.0, 0.0, 1.0, 0.0])


@pytest.mark.parametrize("rule", FEATURED)
def test_rules_keep_the_forced_and_choose_as_many_as_asked(rule):
    F, _ = centred()
    y = np.arange(80.0)
    found = select(FeatureEmbedding(F), 20, rule=rule, forced=np.array([5, 1]), y=y, rng=np.random.default_rng(0))
    assert len(set(found.tolist())) == 20 and found[:2].tolist() == [5, 1]
    whole = select(FeatureEmbedding(F), 80, rule=rule, forced=np.array([5]), y=y, rng=np.random.default_rng(0))
    assert sorted(whole) == list(range(80))


class Flat:
    """A surrogate with features, for the check."""

    fit_hyperparameters, fitted, threads = False, True, 1

    def prepare(self, dim):
        pass

    def condition(self, X, y, **settings):
        pass

    def posterior(self, points):
        return np.zeros(len(points)), np.ones(len(points))

    posterior_bound = posterior

    def selection_features(self, X):
        return X


@pytest.mark.parametrize("rule", sorted(set(RULES) - set(FEATURED)))
def test_rules_that_need_more_than_cosines_are_refused(rule):
    with pytest.raises(ValueError, match=rf"^rule must be one of 'vector', .*got '{rule}'"):
        gssbo.Optimizer([(0.0, 1.0)], surrogate=Flat(), rule=rule, method="box")
    assert gssbo.Optimizer([(0.0, 1.0)], surrogate=Flat(), rule="kmeans++", method="box").rule == "kmeans++"
