"""Searches of several spaces by `GSSBOSearchCV`, as a list of dicts."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC

from tests.searches import IRIS, search

pytestmark = pytest.mark.usefixtures("single_thread")

SPACES = [
    {"kind": ["bowl"], "p": (0.0, 1.0)},
    {"kind": ["valley"], "p": (0.0, 1.0), "q": (0.0, 1.0)},
]


class Kinds(ClassifierMixin, BaseEstimator):
    """A bowl up to 0.5, a narrower one in two parameters up to 1, and one that fails."""

    def __init__(self, kind="bowl", p=0.5, q=None):
        self.kind, self.p, self.q = kind, p, q

    def fit(self, X, y):
        if self.kind == "broken":
            raise MemoryError("broken")
        self.classes_ = np.unique(y)
        return self

    def score(self, X, y):
        if self.kind == "bowl":
            assert self.q is None
            return 0.5 - (self.p - 0.3) ** 2
        return 1.0 - 4.0 * (self.p - 0.7) ** 2 - 4.0 * (self.q - 0.2) ** 2


def kinds(found):
    return [params["kind"] for params in found.cv_results_["params"]]


def test_each_candidate_has_the_parameters_of_one_dict():
    spaces = [{"kernel": ["linear"], "C": (1e-2, 1e2, "log-uniform")}, {"kernel": ["rbf"], "gamma": (1e-3, 1e1)}]
    found = search(SVC(), spaces, n_iter=12, cv=3).fit(*IRIS)
    results = found.cv_results_
    assert len(results["params"]) == 12
    for params, c, gamma in zip(results["params"], results["param_C"], results["param_gamma"], strict=True):
        linear = params["kernel"] == "linear"
        assert set(params) == {"kernel", "C" if linear else "gamma"}
        assert (c is np.ma.masked, gamma is np.ma.masked) == (not linear, linear)
    assert found.best_params_ == results["params"][found.best_index_] and found.predict(IRIS[0]).shape == (150,)
    assert found.optimizer_ is None and sum(each.n_told for each in found.optimizers_) == 12
    for k, optimizer in enumerate(found.optimizers_):
        mine = [params["kernel"] == spaces[k]["kernel"][0] for params in results["params"]]
        np.testing.assert_array_equal(optimizer.y, results["mean_test_score"][mine])


def test_one_in_a_list_is_the_one():
    alone, listed = (search(Kinds(), space, cv=2, n_iter=9).fit(*IRIS) for space in (SPACES[1], [SPACES[1]]))
    assert alone.cv_results_["params"] == listed.cv_results_["params"]
    assert listed.optimizer_ is listed.optimizers_[0]


def test_the_spaces_share_the_candidates_by_their_best_scores():
    found, again = (search(Kinds(), SPACES, cv=2, n_iter=40, n_points=1).fit(*IRIS) for _ in range(2))
    assert kinds(found)[:8] == ["bowl"] * 4 + ["valley"] * 4
    assert 16 < kinds(found)[8:].count("valley") < 28  # two of three
    assert found.best_score_ > 0.99
    assert found.cv_results_["params"] == again.cv_results_["params"]
    batches = search(Kinds(), SPACES, cv=2, n_iter=20, n_points=6).fit(*IRIS)
    assert len(kinds(batches)) == 20 and set(kinds(batches)[8:]) == {"bowl", "valley"}


def test_a_short_search_tries_every_space():
    assert sorted(kinds(search(Kinds(), SPACES, cv=2, n_iter=3).fit(*IRIS))) == ["bowl", "bowl", "valley"]


def test_finite_spaces_end_and_the_others_go_on():
    finite = {"kind": ["bowl"], "p": [0.1, 0.2]}
    found = search(Kinds(), [finite, SPACES[1], {"kind": ["bowl"]}], cv=2, n_iter=15).fit(*IRIS)
    assert kinds(found).count("valley") == 12 and kinds(found).count("bowl") == 3
    found = search(Kinds(), [finite, {"kind": ["bowl"], "p": [0.3]}], cv=2, n_iter=15).fit(*IRIS)
    assert sorted(params["p"] for params in found.cv_results_["params"]) == [0.1, 0.2, 0.3]


@pytest.mark.filterwarnings("ignore")
def test_a_space_whose_candidates_all_fail_comes_last():
    found = search(Kinds(), [{"kind": ["broken"], "p": (0.0, 1.0)}, SPACES[1]], cv=2, n_iter=40, n_points=1).fit(*IRIS)
    broken = [kind == "broken" for kind in kinds(found)]
    assert np.isnan(found.cv_results_["mean_test_score"][broken]).all()
    assert 4 < sum(broken) < 20 and found.best_score_ > 0.99


@pytest.mark.parametrize(
    ("spaces", "message"),
    [
        ([], r"param_distributions must be a dict, or a list of at least one, got \[\]"),
        ([SPACES[0], {}], r"param_distributions\[1\] must be a dict of at least one parameter, got {}"),
        ([SPACES[0], (SPACES[1], 16)], r"param_distributions\[1\] must be a dict of at least one parameter, got \({"),
        ([SPACES[0], {"p": 3.0}], r"param_distributions\[1\]\['p'\] must be a list of values, .*, got 3.0"),
        ([SPACES[0], {1: [1, 2]}], r"^param_distributions\[1\] must have text as names, got 1$"),
        ([SPACES[0], {"p": [1.0, np.ma.masked]}], r"^param_distributions\[1\]\['p'\] must have no masked entries"),
    ],
)
def test_a_wrong_space_is_named(spaces, message):
    with pytest.raises(ValueError, match=message):
        search(Kinds(), spaces, cv=2).fit(*IRIS)
