"""A search over the parameters of an estimator, with cross-validation, in scikit-learn's own terms."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from gssbo._optional import import_optional
from gssbo._text import brief
from gssbo._typing import FloatArray
from gssbo._validation import check_integer
from gssbo._warning import warn
from gssbo.integrations.options import check_options
from gssbo.integrations.sklearn.branches import Branches
from gssbo.integrations.sklearn.random_state import generator

__all__ = ["GSSBOSearchCV"]

model_selection: Any = import_optional("sklearn.model_selection", extra="sklearn", purpose="gssbo.integrations.sklearn")
sklearn_exceptions: Any = import_optional("sklearn.exceptions", extra="sklearn", purpose="gssbo.integrations.sklearn")
joblib: Any = import_optional("joblib", extra="sklearn", purpose="gssbo.integrations.sklearn")

# Options of the optimizer that are not the user's here, and why.
OURS = {
    "bounds": "the search makes them of param_distributions",
    "constraints": "the search knows none; where the estimator raises, the candidate counts as failed",
    "journal": "it keeps one score of a candidate, cv_results_ needs one of each fold: no search could go on from it",
    "maximize": "the score of an estimator is always maximised",
    "rng": "give random_state instead",
}

NOT_FINITE = "One or more of the"  # how scikit-learn's warning begins; who filters it, filters ours

Evaluate = Callable[..., dict[str, Any]]


class GSSBOSearchCV(model_selection._search.BaseSearchCV):  # type: ignore[misc]
    """Search for the parameters of an estimator by Bayesian optimization of a cross-validated score.

    Used like `RandomizedSearchCV`, and like scikit-optimize's `BayesSearchCV`.

    Parameters
    ----------
    estimator : estimator object
    param_distributions : dict of str to anything, or list of such dicts
        A list or array of values; a tuple (low, high), or (low, high, "uniform" or "log-uniform"), of whole numbers
        where both ends are; a `gssbo.Real`, `Integer` or `Categorical`; a frozen `uniform`, `loguniform` or `randint`
        of `scipy.stats`, or another continuous distribution of it, searched from its 0.1 % to its 99.9 % quantile. Of
        several dicts each is a space of its own, with an initial design and a model of its own; of what is left of
        `n_iter`, the space that is k-th by its best score has a k-th as much as the first.
    n_iter : int
        Candidates to evaluate in all, each once; fewer where a finite space has no more.
    n_points : int, optional
        Candidates to evaluate at once, after the initial design, which is evaluated together. Default: so many that
        each of `n_jobs` workers has a fold of one. The run depends on it.
    optimizer_options : dict, optional
        Keyword arguments of `gssbo.Optimizer`: `n_init`, `subset_size`, `method`, ...; but not `bounds`, `constraints`,
        `journal`, `maximize` and `rng`.
    scoring, n_jobs, cv, verbose, pre_dispatch, error_score, return_train_score
        As for `RandomizedSearchCV`. For the search, a candidate whose score is NaN or infinite counts as one that
        failed: no model has room for it. What is best of all is scikit-learn's to say, and to it +inf is the best
        score there is, as in its own searches; a warning says how many scores are not finite.
    refit : bool, str or callable
        As for `RandomizedSearchCV`; with several metrics the name of the one to optimise, and nothing else.
    random_state : None, int, RandomState or Generator
        With an int, and splits that do not change, the search is reproducible.

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_
        As for `RandomizedSearchCV`. Rows of `cv_results_` are in the order of evaluation, that of `optimizer_.y`; where
        every fit of a batch failed, their times are NaN.
    optimizer_ : Optimizer, or None where there are several dicts
    optimizers_ : list of Optimizer
        One a dict, with all its candidates told; categories of a list by their place in it, values of a distribution
        that is no interval by their quantile.

    Raises
    ------
    ValueError
        From `fit`, if a parameter is out of its range, with several metrics and no name among them to optimise, or if
        every fit failed.
    MissingDependencyError
        From importing this module, if scikit-learn is not installed.

    Notes
    -----
    Candidates are compared on the same folds if `cv` splits the same way every time it is asked, so give a shuffling
    splitter a `random_state`.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GSSBOSearchCV(
    ...     SVC(),
    ...     {"C": loguniform(1e-3, 1e3), "gamma": (1e-4, 1e1, "log-uniform"), "kernel": ["rbf", "linear"]},
    ...     n_iter=16,
    ...     optimizer_options={"n_init": 8},
    ...     random_state=0,
    ... ).fit(X, y)
    >>> bool(search.best_score_ > 0.97), len(search.cv_results_["params"]), search.predict(X[:2])
    (True, 16, array([0, 0]))
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 50,
        n_points: int | None = None,
        optimizer_options: dict[str, Any] | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.n_points = n_points
        self.optimizer_options = optimizer_options
        self.random_state = random_state
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Search, and fit the best candidate to all data unless `refit` is False.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, k), optional
        **params
            Passed on as by `RandomizedSearchCV.fit`.

        Returns
        -------
        GSSBOSearchCV
            Itself.
        """
        self._lost: dict[int, dict[str, Any]] = {}  # by their place among all candidates
        self._fitted: tuple[Any, ...] = ()  # lists of scikit-learn's, which grow
        self._n_seen = 0  # candidates in them when a batch was last over
        try:
            super().fit(X, y, **params)
        finally:
            del self._lost, self._fitted, self._n_seen
        _warn_of_scores(self.cv_results_)
        return self

    def _run_search(self, evaluate_candidates: Evaluate, *, callback_ctx: Any = None) -> None:
        """Called by scikit-learn; from version 1.9 on with the context of its callbacks, which see each fold fitted."""
        if callback_ctx is None:
            self._search(evaluate_candidates)
            return
        search = callback_ctx.subcontext(task_name="search", max_subtasks=None).call_on_fit_task_begin(estimator=self)

        def evaluate(candidates: list[dict[str, Any]]) -> dict[str, Any]:
            n_fits = len(candidates) * self.n_splits_
            batch = search.subcontext(task_name="batch", max_subtasks=n_fits, sequential_subtasks=False)
            batch.call_on_fit_task_begin(estimator=self)
            try:
                return evaluate_candidates(candidates, callback_ctx=batch)
            finally:
                batch.call_on_fit_task_end(estimator=self)

        self._search(evaluate)
        search.call_on_fit_task_end(estimator=self)

    def _search(self, evaluate_candidates: Evaluate) -> None:
        left = check_integer("n_iter", self.n_iter, at_least=1)
        if self.n_points is not None:
            check_integer("n_points", self.n_points, at_least=1)
        options = _checked(self.optimizer_options)
        branches = Branches(self.param_distributions, generator(self.random_state), **options)
        self.optimizers_ = branches.optimizers
        self.optimizer_ = self.optimizers_[0] if len(self.optimizers_) == 1 else None
        size = min(branches.n_init, left)
        results: dict[str, Any] = {}
        error, n_splits, n_told = None, 0, 0
        while left > 0 and (batch := branches.ask(size)):
            candidates = [candidate.values for candidate in batch]
            try:
                results = evaluate_candidates(candidates)
                n_splits = len({key.partition("_")[0] for key in results if key.startswith("split")})
                scores = self._scores(results)
            except ValueError as raised:
                # All fits of this batch failed, which ends other searches; what it tells is told.
                if self.error_score == "raise" or "fits failed" not in str(raised):
                    raise
                error = raised
                warnings.warn(str(raised), sklearn_exceptions.FitFailedWarning, stacklevel=2)
                self._lost.update(enumerate(candidates, start=n_told))
                scores = np.full(len(batch), self.error_score, dtype=np.float64)
            branches.tell(batch, np.where(np.isfinite(scores), scores, np.nan))
            left, n_told = left - len(batch), n_told + len(batch)
            size = min(self._batch_size(n_splits), left)
        if n_splits == 0 and error is not None:
            raise error
        if results:
            results.update(self._all_results())  # this dict is the `cv_results_` to be

    def _format_results(self, candidates: Any, n_splits: int, fits: Any, more_results: Any = None) -> Any:
        """Make results of the newest batch; scikit-learn calls it after each, with all so far but those lost."""
        first, self._n_seen = self._n_seen, len(candidates)
        self._fitted = (candidates, n_splits, fits, more_results)
        return self._results(candidates[first:], n_splits, fits[first * n_splits :])

    def _all_results(self) -> dict[str, Any]:
        """Make `cv_results_`: once, as its time grows with the number of candidates."""
        candidates, n_splits, fits, more_results = self._fitted
        candidates, fits = list(candidates), list(fits)
        for place, candidate in self._lost.items():
            candidates.insert(place, candidate)
            fits[place * n_splits : place * n_splits] = [_failed(fits[0], self.error_score)] * n_splits
        return self._results(candidates, n_splits, fits, more_results)

    def _results(self, candidates: Any, n_splits: int, fits: Any, more_results: Any = None) -> dict[str, Any]:
        with warnings.catch_warnings():
            # It would come with each batch, and list all scores each time; `fit` says it once.
            warnings.filterwarnings("ignore", f"{NOT_FINITE} .* are non-finite", UserWarning)
            results: dict[str, Any] = super()._format_results(candidates, n_splits, fits, more_results)
        return results

    def _check_refit_for_multimetric(self, scores: Collection[str]) -> None:
        """Refuse what names no metric to optimise, where scikit-learn's searches need none; it calls this first."""
        if not isinstance(self.refit, str) or self.refit not in scores:
            raise ValueError(
                "refit must be the name of the metric to optimise where there are several, one of "
                f"{', '.join(map(repr, scores))}, got {self.refit!r}; True, False or a function would say how to "
                "choose among the candidates, not what to search for"
            )

    def _batch_size(self, n_splits: int) -> int:
        if self.n_points is not None:
            return self.n_points
        n_jobs: int = joblib.effective_n_jobs(self.n_jobs)
        return -(-n_jobs // max(n_splits, 1))

    def _scores(self, results: dict[str, Any]) -> FloatArray:
        """Mean scores of the metric to optimise, of the candidates in these results."""
        names = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
        if names == ["score"]:
            name = "score"
        else:
            # Before this first batch nobody knew how many metrics a function given as `scoring` returns.
            self._check_refit_for_multimetric(names)
            name = self.refit
        scores: FloatArray = results[f"mean_test_{name}"]
        return scores


def _checked(options: Any) -> dict[str, Any]:
    if options is None:
        return {}
    if not isinstance(options, dict):
        raise ValueError(f"optimizer_options must be a dict, got {brief(options)}")
    check_options(options, OURS, name="optimizer_options", refusal="optimizer_options must not have '{}'")
    return options


def _warn_of_scores(results: dict[str, Any]) -> None:
    """Say once how many candidates have a score, of a metric for test or training, that is NaN or infinite."""
    for kind in ("test", "train"):
        means = [column for key, column in results.items() if key.startswith(f"mean_{kind}_")]
        n_bad = sum(not np.isfinite(scores).all() for scores in zip(*means, strict=True))
        if n_bad:
            n = len(results["params"])
            warn(f"{NOT_FINITE} {kind} scores are non-finite: those of {n_bad} of {n} candidates", UserWarning)


def _failed(fit: dict[str, Any], error_score: float) -> dict[str, Any]:
    """What another fit has, for one that failed: the score of errors, and times that nobody knows."""
    scores = {
        key: dict.fromkeys(value, error_score) if isinstance(value, dict) else error_score
        for key, value in fit.items()
        if key in ("test_scores", "train_scores")
    }
    return {**fit, "fit_time": np.nan, "score_time": np.nan, **scores}
