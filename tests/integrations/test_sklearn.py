"""Searches of scikit-learn by `GSSBOSearchCV`."""

import pickle
import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

import joblib  # noqa: E402
from sklearn.base import BaseEstimator, ClassifierMixin, clone  # noqa: E402
from sklearn.datasets import make_classification, make_regression  # noqa: E402
from sklearn.exceptions import FitFailedWarning  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from gssbo.integrations.sklearn import GaussianProcessRegressor, GSSBOSearchCV  # noqa: E402
from tests.searches import IRIS, QUICK, search  # noqa: E402

pytestmark = pytest.mark.usefixtures("single_thread")


# ---- scikit-learn's own checks

CHEAP = {"n_iter": 2, "cv": 2, "random_state": 0, "error_score": "raise", "optimizer_options": {"n_init": 1}}
# A search of a Ridge takes y with columns as a Ridge does, without the warning the check waits for.
COLUMNS = {"check_supervised_y_2d": "RandomizedSearchCV of a Ridge does not warn of columns either"}


@pytest.mark.filterwarnings("ignore")  # of what the checks do to an estimator
@pytest.mark.parametrize(
    ("estimator", "known"),
    [
        (GaussianProcessRegressor(random_state=0), {}),
        (GaussianProcessRegressor(subset_size=60, random_state=0), {}),
        (GSSBOSearchCV(Ridge(), {"alpha": (0.1, 10.0)}, **CHEAP), COLUMNS),
        (GSSBOSearchCV(RidgeClassifier(), {"alpha": (0.1, 10.0, "log-uniform")}, **CHEAP), {}),
    ],
    ids=["regressor", "retained subset", "search of a regressor", "search of a classifier"],
)
def test_scikit_learns_checks_pass(estimator, known):
    done = check_estimator(estimator, on_skip=None, expected_failed_checks=known)  # raises at the first that fails
    assert sum(check["status"] == "passed" for check in done) > 40
    assert {check["check_name"] for check in done if check["status"] == "xfail"} == set(known)


# ---- the search


def test_results_are_the_scores_of_the_candidates():
    found = search(SVC(), {"C": (1e-2, 1e2, "log-uniform"), "kernel": ["rbf", "linear"]}, cv=3, n_iter=10).fit(*IRIS)
    results = found.cv_results_
    assert len(results["params"]) == 10
    for params, mean in zip(results["params"], results["mean_test_score"], strict=True):
        assert mean == cross_val_score(SVC(**params), *IRIS, cv=3).mean()
    assert np.array_equal(found.optimizer_.y, results["mean_test_score"])
    assert found.best_score_ == results["mean_test_score"].max() == found.optimizer_.best_y
    assert found.best_params_ == results["params"][found.best_index_]
    assert results["rank_test_score"][found.best_index_] == 1
    assert found.best_estimator_.get_params()["C"] == found.best_params_["C"]
    assert np.array_equal(found.predict(IRIS[0]), found.best_estimator_.predict(IRIS[0]))
    assert type(found.best_params_["C"]) is float


def test_results_are_made_of_each_batch_and_once_of_all(monkeypatch):
    base, made = GSSBOSearchCV.__base__, []
    format_results = base._format_results

    def counted(self, candidates, *others):
        made.append(len(candidates))
        return format_results(self, candidates, *others)

    monkeypatch.setattr(base, "_format_results", counted)
    found = search(Ridge(), {"alpha": (0.1, 10.0)}, n_points=2, n_iter=12).fit(*IRIS)
    assert made == [4, 2, 2, 2, 2, 12] and len(found.cv_results_["mean_test_score"]) == 12


def test_the_search_finds_a_narrow_optimum():
    X, y = make_regression(120, 30, noise=30.0, random_state=1)
    wide = search(Ridge(), {"alpha": (1e-6, 1e6, "log-uniform")}, n_iter=20, cv=KFold(5)).fit(X, y)
    grid = GridSearchCV(Ridge(), {"alpha": np.geomspace(1e-6, 1e6, 49)}, cv=KFold(5)).fit(X, y)
    assert wide.best_score_ > grid.best_score_


def test_workers_and_kinds_of_random_state_change_nothing():
    space = {"C": (1e-2, 1e2, "log-uniform")}
    alone = search(SVC(), space, n_points=2).fit(*IRIS)
    with joblib.parallel_config("threading"):
        for other in [{"n_jobs": 2}, {"random_state": np.int64(0)}]:
            found = search(SVC(), space, n_points=2, **other).fit(*IRIS)
            assert found.cv_results_["params"] == alone.cv_results_["params"]
    one, two = (search(SVC(), space, random_state=np.random.RandomState(3)).fit(*IRIS) for _ in range(2))
    assert one.cv_results_["params"] == two.cv_results_["params"] != alone.cv_results_["params"]


def test_no_seed_means_other_numbers_and_leaves_the_global_generator():
    np.random.seed(0)
    before = np.random.get_state()[1].tolist()
    runs = [search(Ridge(), {"alpha": (0.0, 1.0)}, random_state=None, n_iter=2).fit(*IRIS) for _ in range(2)]
    assert runs[0].cv_results_["params"] != runs[1].cv_results_["params"]
    assert np.random.get_state()[1].tolist() == before


def test_batches_fill_the_workers():
    sizes = []

    class Watched(GSSBOSearchCV):
        def _run_search(self, evaluate_candidates):
            def evaluate(candidates):
                sizes.append(len(candidates))
                return evaluate_candidates(candidates)

            super()._run_search(evaluate)

    space = {"alpha": (0.0, 1.0)}
    for options in [{"cv": 5}, {"cv": 2, "n_jobs": 3}, {"n_points": 3}, {"n_iter": 3}]:
        with joblib.parallel_config("threading"):
            Watched(Ridge(), space, **({"n_iter": 8, "optimizer_options": QUICK} | options)).fit(*IRIS)
        sizes.append(None)
    assert sizes == [4, 1, 1, 1, 1, None, 4, 2, 2, None, 4, 3, 1, None, 3, None]


def test_one_of_several_metrics_is_optimised():
    scoring = {"right": "accuracy", "loss": "neg_log_loss"}
    model, space = GaussianNB(), {"var_smoothing": (1e-9, 1.0, "log-uniform")}
    found = search(model, space, scoring=scoring, refit="loss", return_train_score=True, cv=2).fit(*IRIS)
    assert np.array_equal(found.optimizer_.y, found.cv_results_["mean_test_loss"])
    assert found.best_score_ == found.cv_results_["mean_test_loss"].max()
    assert "mean_train_right" in found.cv_results_


class Unfitted(ClassifierMixin, BaseEstimator):
    def __init__(self, x=0.0):
        self.x = x

    def fit(self, X, y):
        raise AssertionError("fitted before the options were checked")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(
            (
                {"scoring": ["accuracy", "f1_macro"], "refit": refit},
                "refit must be the name of the metric to optimise .* one of 'accuracy', 'f1_macro', got",
            )
            for refit in [False, True, "recall", len]
        ),
        ({"n_points": 0}, "n_points must be at least 1, got 0"),
        ({"n_points": "a"}, "n_points must be an integer, got 'a'"),
    ],
)
def test_nothing_is_fitted_before_the_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        search(Unfitted(), {"x": (0.0, 1.0)}, error_score="raise", **options).fit(*IRIS)


def two_scores(model, X, y):
    return {"score": -model.x, "other": model.x}


def test_metrics_of_a_function_need_a_name_too():
    found = search(Fragile(), {"x": (0.2, 0.5)}, scoring=two_scores, refit="other", cv=2).fit(*IRIS)
    assert np.array_equal(found.optimizer_.y, found.cv_results_["mean_test_other"])
    assert found.best_score_ == max(params["x"] for params in found.cv_results_["params"])
    with pytest.raises(ValueError, match="one of 'score', 'other', got True; True, False or a function"):
        search(Fragile(), {"x": (0.2, 0.5)}, scoring=two_scores, cv=2).fit(*IRIS)


def test_without_refit_there_is_a_best_candidate_but_no_estimator():
    found = search(Ridge(), {"alpha": (0.0, 1.0)}, refit=False).fit(*IRIS)
    assert found.best_score_ == found.optimizer_.best_y
    assert not hasattr(found, "best_estimator_")


def test_with_one_metric_a_function_may_choose_among_all_rows():
    def second(results):
        return int(np.flatnonzero(results["rank_test_score"] == 2)[0])

    with pytest.warns((FitFailedWarning, UserWarning)):
        found = search(Script(), {"x": range(4)}, scoring=lambda model, X, y: model.x, refit=second, cv=2).fit(*IRIS)
    assert found.best_params_ == {"x": 0} == found.cv_results_["params"][found.best_index_]
    assert found.best_estimator_.x == 0


def test_a_finite_space_is_evaluated_once():
    found = search(SVC(), {"C": [1, 10], "kernel": ["rbf", "linear"]}, n_iter=30).fit(*IRIS)
    assert len(found.cv_results_["params"]) == 4


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails where x is large, scores NaN where it is small."""

    def __init__(self, x=0.0):
        self.x = x

    def fit(self, X, y):
        if self.x > 0.6:
            raise MemoryError("too large")
        self.classes_ = np.unique(y)
        return self

    def score(self, X, y):
        return -((self.x - 0.4) ** 2) if self.x > 0.1 else float("nan")


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite:UserWarning")
def test_candidates_that_fail_are_failures_and_not_the_end():
    with pytest.warns(FitFailedWarning, match="fits failed"):
        found = search(Fragile(), {"x": (0.0, 1.0)}, n_iter=25, n_points=1, cv=2).fit(*IRIS)
    results = found.cv_results_
    x = np.array([params["x"] for params in results["params"]])
    failed = np.isnan(results["mean_test_score"])
    assert np.array_equal(failed, (x > 0.6) | (x <= 0.1))
    assert results["params"] == found.optimizer_.X  # as they came
    assert np.array_equal(results["mean_test_score"], found.optimizer_.y, equal_nan=True)
    assert found.best_params_ == results["params"][found.best_index_]
    assert found.best_score_ == results["mean_test_score"][found.best_index_]
    assert (x[4:] > 0.6).any()  # alone in their batches, where scikit-learn's searches end
    assert found.optimizer_.n_failed == failed.sum()
    assert len(x) == 25 == len(np.unique(x))
    assert np.array_equal(np.ma.getdata(results["param_x"]), x)
    assert results["param_x"].dtype == np.float64
    assert found.best_score_ > -1e-3
    assert sorted(results["rank_test_score"][~failed]) == list(range(1, (~failed).sum() + 1))
    assert set(results["rank_test_score"][failed]) == {(~failed).sum() + 1}
    assert {len(column) for column in results.values()} == {25}


def test_scores_that_are_not_finite_are_counted_once():
    def fit(**options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = search(Fragile(), {"x": (0.0, 0.5)}, n_iter=15, n_points=1, cv=2, **options).fit(*IRIS)
        assert {each.filename for each in caught} <= {__file__}
        return found, [str(each.message) for each in caught]

    found, messages = fit()
    n_bad = sum(params["x"] <= 0.1 for params in found.cv_results_["params"])
    assert 0 < n_bad < 15
    assert messages == [f"One or more of the test scores are non-finite: those of {n_bad} of 15 candidates"]
    several = {"own": lambda model, X, y: model.x, "nan": lambda model, X, y: float("nan")}
    _, messages = fit(scoring=several, refit="own", return_train_score=True)
    assert messages == [
        f"One or more of the {kind} scores are non-finite: those of 15 of 15 candidates" for kind in ("test", "train")
    ]
    assert fit(scoring={"own": several["own"]}, refit="own", return_train_score=True)[1] == []


class Script(ClassifierMixin, BaseEstimator):
    """Fails where x is odd."""

    def __init__(self, x=0):
        self.x = x

    def fit(self, X, y):
        if self.x % 2:
            raise MemoryError("odd")
        self.classes_ = np.unique(y)
        return self


def both_scores(model, X, y):
    return {"plus": model.x, "minus": -model.x}


@pytest.mark.filterwarnings("ignore:One or more of the:UserWarning")
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("error_score", [float("nan"), -7.0])
def test_rows_are_in_the_order_of_evaluation_wherever_whole_batches_fail(several, error_score):
    """Of all orders of six candidates: failures first, between and last, in a search that takes each alone."""
    scoring = both_scores if several else (lambda model, X, y: model.x)
    refit, column = ("plus", "mean_test_plus") if several else (True, "mean_test_score")
    orders = set()
    for seed in range(8):
        with pytest.warns(FitFailedWarning):
            found = search(
                Script(),
                {"x": range(6)},
                scoring=scoring,
                refit=refit,
                n_iter=6,
                n_points=1,
                cv=2,
                error_score=error_score,
                return_train_score=True,
                optimizer_options={"n_init": 1, "threads": 1},
                random_state=seed,
            ).fit(*IRIS)
        results = found.cv_results_
        x = np.array([params["x"] for params in results["params"]])
        orders.add(tuple(x % 2))
        expected = np.where(x % 2, error_score, x)
        assert sorted(x) == list(range(6))
        assert results["params"] == found.optimizer_.X
        assert np.array_equal(results["param_x"], x)
        for key in [column, column.replace("test", "train"), column.replace("mean", "split1")]:
            assert np.array_equal(results[key], expected, equal_nan=True)
        if several:
            assert np.array_equal(results["mean_test_minus"], np.where(x % 2, error_score, -x), equal_nan=True)
        assert np.array_equal(np.isnan(results["mean_fit_time"]), x % 2 == 1)
        assert list(results[column.replace("mean", "rank")]) == [4 if each % 2 else 3 - each // 2 for each in x]
        assert found.best_params_ == {"x": 4} == results["params"][found.best_index_]
    assert {order[0] for order in orders} == {order[-1] for order in orders} == {0, 1}


def test_failures_may_have_a_score_or_be_raised_or_be_all_there_is():
    with pytest.warns(FitFailedWarning):
        found = search(Fragile(), {"x": (0.1001, 1.0)}, n_iter=12, n_points=1, cv=2, error_score=-7.0).fit(*IRIS)
    assert found.optimizer_.n_failed == 0
    assert found.cv_results_["mean_test_score"].min() == -7.0
    with pytest.raises(MemoryError, match="too large"):
        search(Fragile(), {"x": (0.7, 1.0)}, error_score="raise").fit(*IRIS)
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="fits failed"):
        search(Fragile(), {"x": (0.7, 1.0)}).fit(*IRIS)
    with pytest.raises(ValueError, match="Invalid parameter"):
        search(Fragile(), {"z": (0.7, 1.0)}).fit(*IRIS)


def test_weights_and_groups_are_passed_on():
    X, y = make_classification(60, random_state=0)
    weights, groups = np.arange(60.0), np.arange(60) % 3
    space = {"C": (0.1, 10.0)}
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = search(model, space, cv=GroupKFold(3)).fit(X, y, sample_weight=weights, groups=groups)
    params = found.best_params_
    scores = []
    for k in range(3):
        test = groups == k
        fitted = LogisticRegression(**params).fit(X[~test], y[~test], sample_weight=weights[~test])
        scores.append(fitted.score(X[test], y[test], sample_weight=weights[test]))
    assert found.best_score_ == pytest.approx(np.mean(scores), abs=1e-12)


def test_search_is_cloned_pickled_and_nested():
    found = search(Ridge(), {"alpha": (0.0, 1.0)}, cv=2).fit(*IRIS)
    twin = pickle.loads(pickle.dumps(found))
    assert np.array_equal(twin.predict(IRIS[0]), found.predict(IRIS[0]))
    assert twin.optimizer_.n_told == 8
    assert clone(found).get_params()["optimizer_options"] == QUICK
    nested = make_pipeline(StandardScaler(), search(Ridge(), {"alpha": (0.0, 1.0)}, cv=2))
    assert nested.set_params(gssbosearchcv__n_iter=3).fit(*IRIS)[-1].optimizer_.n_told == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_iter": 0}, "n_iter must be at least 1, got 0"),
        (
            {"optimizer_options": {"journal": "run.jsonl"}},
            "must not have 'journal': it keeps one score of a candidate, cv_results_ needs one of each fold",
        ),
        ({"optimizer_options": {"maximize": False}}, "optimizer_options must not have 'maximize': the score of"),
        ({"optimizer_options": {"rng": 3}}, "optimizer_options must not have 'rng': give random_state instead"),
        ({"optimizer_options": {"constraints": []}}, "must not have 'constraints': the search knows none;"),
        ({"optimizer_options": {"bounds": {}}}, "must not have 'bounds': the search makes them of param_distributions"),
        ({"optimizer_options": {"timeout": 3}}, "optimizer_options must be among .*n_init, .*, got 'timeout'"),
        (
            {"optimizer_options": {"acq": "ei"}},
            r"options must be among .*, got 'acq': did you mean 'acquisition'\?",
        ),
        ({"optimizer_options": {"subset_size": 0}}, "subset_size must be at least 3"),
        ({"optimizer_options": 3}, "optimizer_options must be a dict, got 3"),
        ({"random_state": "x"}, "random_state must be None, a seed"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        search(Ridge(), {"alpha": (0.0, 1.0)}, **options).fit(*IRIS)


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # scikit-learn's, of their spread
def test_an_infinite_score_is_a_failure_for_the_search_and_the_best_for_scikit_learn():
    def score(model, X, y):
        return float("inf") if model.x == 2 else float(-model.x)

    found = search(Script(), {"x": [0, 2, 4]}, scoring=score, n_iter=3, cv=2).fit(*IRIS)
    assert found.best_params_ == {"x": 2} and found.best_score_ == np.inf
    assert found.optimizer_.n_failed == 1 and found.optimizer_.best_y == 0.0
    theirs = GridSearchCV(Script(), {"x": [0, 2, 4]}, scoring=score, cv=2).fit(*IRIS)
    assert theirs.best_params_ == found.best_params_
