"""Keywords that a function does not take, and attributes that are not there: which one was likely meant."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

__all__ = [
    "check_keywords",
    "checked",
    "hint",
    "inherited",
    "keywords_of",
    "likely",
    "no_attribute",
    "with_checked_fields",
    "with_checked_keywords",
]

NEAR = 0.65  # of 1, for the same word: a name that is less like another is no slip of the pen
SYNONYMS = {
    "rng": ("seed", "random_state", "random_seed", "rstate"),
    "fun": ("func", "function", "f", "fn", "objective", "objective_function", "target_function"),
    "n_evals": (
        *("n_calls", "n_trials", "n_iter", "n_iters", "iterations", "max_iter", "maxiter", "budget", "total_trials"),
        *("max_evals", "maxfun", "maxfev", "max_nfev", "maxev", "maxfevals"),
    ),
    "workers": ("n_jobs", "n_workers", "num_workers", "max_workers", "executor"),
    "batch_size": ("n_points",),
    "bounds": ("space", "dimensions", "search_space", "pbounds", "parametrization", "parameters", "configspace"),
    "n_init": ("n_initial_points", "n_startup_trials", "n_random_starts", "init_points"),
    "initial_design": ("init", "initial_point_generator"),
    "x0": ("points_to_evaluate",),
    "maximize": ("direction", "minimize"),
    "duplicates": ("allow_duplicate_points", "deterministic"),
    "surrogate": ("base_estimator", "kernel"),
    "acquisition": ("acq", "acq_func", "acquisition_function"),
    "acquisition_options": ("acq_func_kwargs", "kappa", "xi"),
    "timeout": ("max_time", "maxtime", "time_limit", "walltime_limit"),
    "target": ("f_min", "f_target", "ftarget", "loss_threshold"),
    "callback": ("early_stop_fn",),
    "progress": ("disp", "verbose", "show_progress_bar"),
    "journal": ("storage", "trials"),
    # of a parameter
    "log": ("prior", "log_scale"),
    "step": ("q",),
    "values": ("choices", "categories"),
    # of `ask` and `tell`
    "n": ("n_points", "n_suggestions", "max_trials", "count"),
    "x": ("params", "candidate", "trial"),
    "y": ("value", "values", "target", "loss", "raw_data"),
    "id": ("trial_index", "trial_id", "number"),
    "failed": ("state", "status"),
    "noise_std": ("sem",),
}  # words of other packages
ATTRIBUTES = {
    "ask": ("suggest", "get_next_trial", "get_next_trials"),
    "tell": ("register", "observe", "complete_trial", "attach_data"),
    "tell_prior": ("add_trial", "add_trials", "attach_trial"),
    "enqueue": ("probe", "enqueue_trial"),
    "forget": ("mark_trial_abandoned",),
    "best": ("recommend", "provide_recommendation", "best_trial", "get_best_parameterization"),
    "best_x": ("best_params", "max", "incumbent", "xbest"),
    "best_y": ("best_value", "fbest"),
    "X": ("Xi", "x_iters", "res", "trials"),
    "y": ("yi", "func_vals"),
    "n_told": ("num_tell",),
    "result": ("get_result",),
}  # of an optimizer, with the words of other packages for them

ELSEWHERE = dict.fromkeys(
    ("noise_std", "noise", "sem", "yerr"),
    "noise is found by the model, and what is known of it goes to `tell` or `tell_prior` of an Optimizer, or to `fit` "
    "of a GaussianProcess, as noise_std",
)  # what others have in other places

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def keywords_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names that a function takes by keyword; those behind ** are not among them, nor is `self`."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return tuple(each.name for each in parameters if each.kind in named and each.name != "self")


def check_keywords(function: str, given: Iterable[str], accepted: Iterable[str]) -> None:
    """Raise a TypeError at the first keyword that is not accepted.

    Examples
    --------
    >>> check_keywords("minimize", ["fun", "seed"], ["fun", "bounds", "rng"])
    Traceback (most recent call last):
        ...
    TypeError: minimize() got an unexpected keyword argument 'seed': did you mean 'rng'?
    """
    known = tuple(accepted)
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint(name, known)}")


def check_positions(function: Callable[..., Any], n: int, keywords: Iterable[str]) -> None:
    """Raise a TypeError where n arguments by position are too many, or one of them is there by keyword, too.

    Examples
    --------
    >>> def minimize(fun, bounds, *, n_evals, x0=None, y0=None): ...
    >>> check_positions(minimize, 2, ["bounds"])
    Traceback (most recent call last):
        ...
    TypeError: minimize() takes fun, bounds by position and n_evals, x0 ... by keyword; got 2, and bounds by keyword too
    """
    parameters = inspect.signature(function).parameters.values()
    by_position = [each.name for each in parameters if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    by_keyword = [each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]
    twice = [name for name in by_position[:n] if name in keywords]
    if n > len(by_position) or twice:
        names = f"{', '.join(by_position)} by position and {', '.join(by_keyword[:2])} ... by keyword"
        again = f", and {', '.join(twice)} by keyword too" if twice else ""
        raise TypeError(f"{function.__name__}() takes {names}; got {n}{again}")


def hint(name: str, known: tuple[str, ...]) -> str:
    """What to add to a message about an unknown name: which known one was likely meant, where it goes, or nothing.

    Examples
    --------
    >>> hint("seed", ("bounds", "rng")), hint("betta", ("beta",)), hint("kappa", ("beta",))
    (": did you mean 'rng'?", ": did you mean 'beta'?", '')
    """
    if name in ELSEWHERE and "noise_std" not in known:
        return f": {ELSEWHERE[name]}"
    meant = likely(name, known)
    return "" if meant is None else f": did you mean {meant!r}?"


def likely(name: str, known: tuple[str, ...]) -> str | None:
    """Which known name was likely meant by another one, if any: another package's word for it, or nearly the same."""
    for ours, theirs in SYNONYMS.items():
        if ours in known and name.lower() in theirs:
            return ours
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=NEAR)
    return near[0] if near else None


def no_attribute(owner: Any, name: str) -> AttributeError:
    """The error of an attribute that an object has not; other slips of the pen Python itself points out.

    Examples
    --------
    >>> class Optimizer:
    ...     def ask(self): ...
    >>> no_attribute(Optimizer(), "suggest")
    AttributeError("'Optimizer' object has no attribute 'suggest': did you mean 'ask'?")
    """
    meant = next((ours for ours, theirs in ATTRIBUTES.items() if name in theirs and hasattr(type(owner), ours)), None)
    guess = "" if meant is None else f": did you mean {meant!r}?"
    return AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}{guess}", name=name, obj=owner)


def inherited(init: Function) -> Function:
    """Check the keywords of a constructor that others inherit, in the name of the class that is made.

    Python itself would name the class that the constructor stands in.
    """
    accepted = keywords_of(init)

    @functools.wraps(init)
    def with_checks(self: Any, *args: Any, **keywords: Any) -> None:
        check_keywords(type(self).__name__, keywords, accepted)
        init(self, *args, **keywords)

    return cast(Function, with_checks)


def with_checked_fields(cls: Class) -> Class:
    """Check the keywords that a dataclass is made with; above `dataclass`, which writes the constructor."""
    constructor = inherited(vars(cls)["__init__"])
    type.__setattr__(cls, "__init__", constructor)
    return cls


def checked(method: Function) -> Function:
    """Check the keywords of a method, in its own name."""
    accepted = keywords_of(method)

    @functools.wraps(method)
    def with_checks(self: Any, *args: Any, **keywords: Any) -> Any:
        check_keywords(method.__name__, keywords, accepted)
        return method(self, *args, **keywords)

    return cast(Function, with_checks)


def with_checked_keywords(*, others: Callable[..., Any] | None = None) -> Callable[[Function], Function]:
    """Check the keywords of a function that may hand those it does not know to another one, before anything is bound.

    Python itself would first complain that the keyword that was misspelt is missing.
    """

    def decorate(function: Function) -> Function:
        accepted = (*keywords_of(function), *(() if others is None else keywords_of(others)))

        @functools.wraps(function)
        def with_checks(*args: Any, **keywords: Any) -> Any:
            check_keywords(function.__name__, keywords, accepted)
            check_positions(function, len(args), keywords)
            return function(*args, **keywords)

        return cast(Function, with_checks)

    return decorate
