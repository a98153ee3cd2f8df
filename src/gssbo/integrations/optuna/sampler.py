"""The sampler: Bayesian optimization on a retained subset for Optuna's studies."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from contextlib import suppress
from types import NoneType
from typing import Any

import numpy as np

from gssbo._optional import import_optional
from gssbo._turns import Turns
from gssbo._validation import check_choice, check_flag, check_integer
from gssbo.exceptions import SpaceExhausted
from gssbo.integrations.options import check_options
from gssbo.integrations.optuna.model import SHARED, Model
from gssbo.integrations.optuna.relative_space import RelativeSpace
from gssbo.integrations.optuna.trials import Trials
from gssbo.optimizer import Optimizer

__all__ = ["GSSBOSampler"]

optuna: Any = import_optional("optuna", extra="optuna", purpose="gssbo.integrations.optuna")

logger = optuna.logging.get_logger(f"optuna.{__name__}")  # below Optuna's, whose verbosity it follows

ROUNDS = 10  # looks at what others suggested at the same moment
N_STARTUP = 10  # where neither the user nor a model of ours says how many

Key = tuple[str, ...]  # of a model: its parameters

OURS = {  # options of the optimizer, or of other samplers, that are not the user's here
    "bounds": "the study's trials say what the parameters are",
    "constraints": "there is nothing in Optuna to take them from",
    "constraints_func": "call Trial.set_constraint in the objective; a trial that violates one counts as failed",
    "journal": "the study's storage keeps the trials",
    "maximize": "the study has a direction",
    "n_init": "it is called n_startup_trials",
    "rng": "it is called seed",
}


class GSSBOSampler(Turns, optuna.samplers.BaseSampler):  # type: ignore[misc]
    """Bayesian optimization on a retained subset, for studies of many trials.

    The parameters that all complete or pruned trials had, with the same distributions, are suggested together by an
    `Optimizer`; the others, all those of the first trial among them, by `independent_sampler`. Running trials are
    pending suggestions, those of other processes too: while there are others, no two are suggested the same point by a
    model, not even at the same moment, and the surroundings of one that is being evaluated count as known.

    Parameters
    ----------
    seed : int, optional
        With a seed a study that is run by one worker is reproducible. Without one, every process has its own numbers.
    n_startup_trials : int, optional
        Trials before the model comes in, `n_init` of `Optimizer` (2d + 2 for d parameters by default, 6 to 40; 20 with
        `method="box"`). Those after the first, which is one whatever is given, are a Latin hypercube.
    independent_sampler : optuna.samplers.BaseSampler, optional
        Default: a `TPESampler` with the same seed and `n_startup_trials` (10 if that is not given).
    group : bool
        Whether parameters that always come together are suggested together, each group by a model of its own, as
        `TPESampler(group=True)` has it: for conditional parameters. By default those are left to `independent_sampler`.
    failed, pruned : {"avoid", "ignore"}
        Whether a failed or pruned trial counts as an evaluation that failed (one standard deviation worse than the
        worst), or not at all.
    warn_independent_sampling : bool
        Whether to log a warning when a parameter is left to `independent_sampler` after the startup trials; once a
        name.
    **options
        Keyword arguments of `gssbo.Optimizer`, such as `subset_size`, `method`, `rule`, `acquisition`, `duplicates`.

    Raises
    ------
    ValueError
        If an option is out of its range; from its methods, if the study has several objectives.
    MissingDependencyError
        From importing this module, if Optuna is not installed.

    Notes
    -----
    The intermediate values of a pruned trial are never taken for its value: they are of another step, so they say how
    far it came rather than how good it is. That it was pruned is worth knowing all the same: with a median pruner on
    Hartmann6, 100 trials and six seeds, the median best value was -3.25 where pruned trials are avoided and -3.07 where
    they are ignored (with `method="box"` -3.10 and -2.27): the model then goes on proposing what is pruned again.

    Nor is an infinite value, of either sign, taken for one: such a trial counts as failed, and so does one that
    violates a constraint set by `Trial.set_constraint`. Constraints are not modelled otherwise.

    A running trial whose process is gone stays pending until the storage's heartbeat fails it, or 1,000 observations
    later.

    When a finite space has nothing new left, points are suggested again, as for a noisy objective.

    A trial is read once it is finished, in whatever order that happens, and each only once. With a `HyperbandPruner`
    those of all brackets are read.

    Examples
    --------
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=GSSBOSampler(seed=0, n_startup_trials=8))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", -5, 5) - 1) ** 2, n_trials=25)
    >>> study.best_value < 0.01
    True
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        n_startup_trials: int | None = None,
        independent_sampler: Any = None,
        group: bool = False,
        failed: str = "avoid",
        pruned: str = "avoid",
        warn_independent_sampling: bool = True,
        **options: Any,
    ) -> None:
        self._seeded = seed is not None
        self._rng = np.random.default_rng(None if seed is None else check_integer("seed", seed, at_least=0))
        self._n_init = n_startup_trials
        if n_startup_trials is not None:
            self._n_init = max(check_integer("n_startup_trials", n_startup_trials, at_least=0), 1)
        if not isinstance(independent_sampler, (optuna.samplers.BaseSampler, NoneType)):
            raise ValueError(
                f"independent_sampler must be a sampler of Optuna's, such as TPESampler(), got {independent_sampler!r}"
            )
        self._independent: Any = independent_sampler
        if independent_sampler is None:
            # Random in its startup trials, so the first trial of all is: ours takes over after that in a fixed space.
            self._independent = optuna.samplers.TPESampler(seed=seed, n_startup_trials=self._n_init or N_STARTUP)
        self._group = check_flag("group", group)
        states = optuna.trial.TrialState
        ends = {"failed": (failed, states.FAIL), "pruned": (pruned, states.PRUNED)}
        self._avoided = tuple(
            state for name, (how, state) in ends.items() if check_choice(name, how, ("avoid", "ignore")) == "avoid"
        )
        self._warn = check_flag("warn_independent_sampling", warn_independent_sampling)
        self._options = _checked(options, self._n_init)
        self._process = os.getpid()
        self._take_turns()
        self._start_over()

    def _start_over(self) -> None:
        self._study: tuple[Any, ...] | None = None
        self._storage: Any = None
        self._trials = Trials()
        self._models: dict[Key, Model] = {}
        self._warned: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_storage")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._take_turns()
        self._storage = None
        if not self._seeded:
            self.reseed_rng()

    # ---- what Optuna calls

    def reseed_rng(self) -> None:
        """Go on with other random numbers."""
        with self._lock:
            self._process = os.getpid()
            self._rng = np.random.default_rng()
            for model in self._models.values():
                model.optimizer.reseed()
            self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        """Distributions of the parameters that a model suggests; see `optuna.samplers.BaseSampler`."""
        self._raise_error_if_multi_objective(study)
        with self._lock:
            self._read(_whole(study))
            found = self._trials.groups if self._group else [self._trials.intersection]
            together = {name: distribution for space in found for name, distribution in space.items()}
            return RelativeSpace(together).distributions

    def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> dict[str, Any]:
        """Values of those parameters; see `optuna.samplers.BaseSampler`."""
        self._raise_error_if_multi_objective(study)
        study = _whole(study)
        if search_space.keys() <= trial.system_attrs.get("fixed_params", {}).keys():
            return {}  # they are given
        with self._lock:
            trials = self._read(study)
            models: dict[Key, Model] = {}
            params: dict[Key, dict[str, Any]] = {}
            for space in self._parts(search_space):
                key = tuple(f"{name}: {distribution!r}" for name, distribution in space.distributions.items())
                models[key] = self._models.get(key) or self._model(study, space)
                try:
                    params[key] = self._suggested(models[key], trials, trial.number)
                except SpaceExhausted:
                    models[key] = self._model(study, space, duplicates="allow")
                    params[key] = self._suggested(models[key], trials, trial.number)
            self._models = models
            if not isinstance(study._storage, optuna.storages.InMemoryStorage):
                self._share(study, trial, search_space, params)
        return {name: value for part in params.values() for name, value in part.items()}

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
        """The value of another parameter; see `optuna.samplers.BaseSampler`."""
        self._raise_error_if_multi_objective(study)
        if self._warn:
            self._say_once(trial, param_name, param_distribution)
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Any, trial: Any) -> None:
        """See `optuna.samplers.BaseSampler`."""
        self._independent.before_trial(study, trial)

    def after_trial(self, study: Any, trial: Any, state: Any, values: Sequence[float] | None) -> None:
        """See `optuna.samplers.BaseSampler`."""
        self._independent.after_trial(study, trial, state, values)

    # ---- how

    def _read(self, study: Any) -> list[Any]:
        """Read what is new in the study, and return all its trials, not to be changed."""
        if not self._seeded and self._process != os.getpid():
            self.reseed_rng()  # a child of the process that had these numbers
        trials: list[Any] = study.get_trials(deepcopy=False)
        named = (study.study_name, study._study_id, study.direction)
        known = None if self._storage is None else self._storage()
        elsewhere = known is not None and known is not study._storage
        if named != self._study or elsewhere or len(trials) < self._trials.n_seen:
            self._start_over()
            self._study = named
        self._storage = weakref.ref(study._storage)
        self._trials.read(trials)
        return trials

    def _parts(self, search_space: dict[str, Any]) -> list[RelativeSpace]:
        """The search space in spaces of one model each."""
        if not self._group:
            parts = [search_space]
        else:
            left = dict(search_space)
            parts = [{name: left.pop(name) for name in group if name in left} for group in self._trials.groups]
            parts.append(left)
        return [space for space in map(RelativeSpace, parts) if len(space) > 0]

    def _model(self, study: Any, space: RelativeSpace, **changes: Any) -> Model:
        options = {**self._options, **changes, "rng": self._rng.spawn(1)[0]}
        options["maximize"] = study.direction == optuna.study.StudyDirection.MAXIMIZE
        return Model(space, avoided=self._avoided, options=options)

    def _suggested(self, model: Model, trials: list[Any], number: int, *, skip: int = 0) -> dict[str, Any]:
        model.read(trials, self._trials, current=number)
        return model.space.values(model.suggest(number, skip=skip))

    def _share(self, study: Any, trial: Any, search_space: dict[str, Any], params: dict[Key, dict[str, Any]]) -> None:
        """Show other processes the parameters of a trial, and change those that others suggested at the same moment.

        Who looks after it has shown its own meets the other's point, or the other meets its: one gives way, or both.
        """
        if not params:
            return
        for _ in range(ROUNDS):
            values = {name: value for part in params.values() for name, value in part.items()}
            shown = {name: search_space[name].to_internal_repr(value) for name, value in values.items()}
            study._storage.set_trial_system_attr(trial._trial_id, SHARED, shown)
            trials = self._read(study)
            met = {
                key: rivals
                for key in params
                if (rivals := self._models[key].rivals(trials, self._trials, current=trial.number))
            }
            if not met:
                return
            for key, rivals in met.items():
                # Those with the same numbers would meet again: each leaves one to everyone that began before it.
                model = self._models[key]
                model.give_way(trial.number, rivals)
                with suppress(SpaceExhausted):
                    before = sum(number < trial.number for number in rivals)
                    params[key] = self._suggested(model, trials, trial.number, skip=before)

    def _say_once(self, trial: Any, name: str, distribution: Any) -> None:
        with self._lock:
            why = self._why_independent(name, distribution)
            if why is None or name in self._warned or self._starting():
                return
            self._warned.add(name)
        logger.warning(
            "The parameter %r of trial %d is sampled by %s, without a model of ours, as %s. Without this message: "
            "warn_independent_sampling=False",
            name,
            trial.number,
            type(self._independent).__name__,
            why,
        )

    def _starting(self) -> bool:
        """Whether the study is in its startup trials."""
        n_init = max((model.optimizer.n_init for model in self._models.values()), default=self._n_init or N_STARTUP)
        return self._trials.n_completed < n_init

    def _why_independent(self, name: str, distribution: Any) -> str | None:
        """What is special about a parameter that no model suggests, None if nothing is."""
        found = self._trials.groups if self._group else [self._trials.intersection]
        seen = next((space[name] for space in found if name in space), None)
        if seen is not None and seen == distribution:
            return None if len(RelativeSpace({name: seen})) > 0 else "its range is too wide"
        if not self._group:
            return (
                "not all trials had it with the same distribution; group=True gives parameters that come together a "
                "model"
            )
        return None if seen is None else "its distribution is not that of the last trial that had it"


def _whole(study: Any) -> Any:
    """All of a study of which Optuna shows the trials of one bracket, as it does where a `HyperbandPruner` is set.

    What is learnt from is the value of a trial that came to its end, and that is the same whatever the bracket.
    """
    return getattr(study, "_study", study)


def _checked(options: dict[str, Any], n_init: int | None) -> dict[str, Any]:
    check_options(options, OURS, name="options", refusal="{} must not be given to GSSBOSampler")
    complete = {**options, "n_init": n_init}
    if "surrogate" not in options and "strategy" not in options:
        # Say now what is wrong, not in the second trial. The space is not known yet: the design that must have room in
        # the subset is smallest with a single parameter, so what is refused there fits no space.
        Optimizer([(0.0, 1.0)], **complete, rng=0)
    return complete
