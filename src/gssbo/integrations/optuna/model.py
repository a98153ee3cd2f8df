"""One space of a study, its optimizer, and which trial got which suggestion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from gssbo._optional import import_optional
from gssbo.integrations.optuna.relative_space import Code, RelativeSpace
from gssbo.integrations.optuna.trials import Trials
from gssbo.optimizer import Optimizer

__all__ = ["SHARED", "Model"]

TrialState: Any = import_optional("optuna.trial", extra="optuna", purpose="gssbo.integrations.optuna").TrialState

SHARED = "gssbo:params"  # system attribute of a trial: what was suggested, before the objective asks for it


class Model:
    """An optimizer that reads a study.

    Parameters
    ----------
    space : RelativeSpace
        Not empty.
    avoided : container of TrialState
        Besides those that completed without a usable value: the ends that make a trial count as a failed evaluation.
        The ends that are neither are ignored.
    options : dict
        Keyword arguments of `Optimizer`.

    Examples
    --------
    >>> import optuna
    >>> distributions = {"x": optuna.distributions.FloatDistribution(0, 1)}
    >>> study, seen = optuna.create_study(), Trials()
    >>> for x, value in [(0.25, 1.0), (0.5, float("inf")), (0.75, 3.0)]:
    ...     study.add_trial(optuna.create_trial(params={"x": x}, distributions=distributions, value=value))
    >>> seen.read(study.trials)
    >>> model = Model(RelativeSpace(distributions), avoided=(), options={"rng": 0})
    >>> model.read(study.trials, seen, current=3)
    >>> model.optimizer.y
    array([ 1., nan,  3.])
    """

    def __init__(self, space: RelativeSpace, *, avoided: Any, options: dict[str, Any]) -> None:
        self.space, self._avoided = space, avoided
        self.optimizer = Optimizer(space.parameters, **options)
        self._ids: dict[int, int] = {}  # of suggestions, by the number of the trial
        self._n_read = 0

    def read(self, trials: Sequence[Any], seen: Trials, *, current: int) -> None:
        """Tell what finished since the last time, and announce what others run.

        Parameters
        ----------
        trials : sequence of FrozenTrial
            All of the study.
        seen : Trials
            What it has come to.
        current : int
            Number of the trial that is being sampled.
        """
        self._forget_lost()
        n_read = len(seen.finished)
        finished = seen.finished[self._n_read :]
        told: dict[int, tuple[dict[str, Code], float]] = {}
        for number in finished:
            value = self._value(trials[number])
            codes = None if value is None else self.space.codes(trials[number].params)
            if value is not None and codes is not None:
                told[number] = codes, value
            elif number in self._ids:
                self._forget(self._ids[number])
        if told:
            # Every trial by a number of its own: others may have evaluated the very point that one of ours still does.
            others = [number for number in told if number not in self._ids]
            if others:
                announced = self.optimizer.announce([told[number][0] for number in others])
                self._ids.update(zip(others, [each.id for each in announced], strict=True))
            points, values = zip(*told.values(), strict=True)
            self.optimizer.tell(list(points), list(values), id=[self._ids[number] for number in told])
        # Interrupted before, all of this is done again, and what is told by its number again changes nothing.
        ended = set(finished)
        ids = {number: known for number, known in self._ids.items() if number not in ended}
        self._ids, self._n_read = ids, n_read
        for number in seen.running:
            if number != current and number not in self._ids:
                codes = self._running(trials[number])
                if codes is not None:
                    self._ids[number] = self.optimizer.announce(codes).id

    def rivals(self, trials: Sequence[Any], seen: Trials, *, current: int) -> list[int]:
        """Numbers of other trials, not read yet, that have the very point of the current one; none where they may.

        Parameters
        ----------
        trials, seen, current
            As for `read`.
        """
        if self.optimizer.duplicates == "allow":
            return []
        own = self._running(trials[current])
        others = [number for number in (*seen.running, *seen.finished[self._n_read :]) if number != current]
        return [number for number in others if own is not None and self._running(trials[number]) == own]

    def give_way(self, number: int, rivals: Sequence[int]) -> None:
        """Drop the suggestion of a trial, and what its rivals were thought to evaluate: `read` looks again."""
        for each in (number, *rivals):
            if each in self._ids:
                self._forget(self._ids.pop(each))

    def suggest(self, number: int, *, skip: int = 0) -> dict[str, Code]:
        """Codes of a suggestion for the trial of this number, after so many others that are left to rivals.

        Raises
        ------
        SpaceExhausted
            If a finite space has nothing new.
        """
        if number in self._ids:
            self._forget(self._ids.pop(number))
        *others, suggestion = self.optimizer.ask(1 + skip, ids=True)
        self._ids[number] = suggestion.id
        for each in others:
            self._forget(each.id)
        codes: dict[str, Code] = suggestion.x
        return codes

    def _forget_lost(self) -> None:
        """Drop pending suggestions of no trial: what made them was interrupted."""
        known = set(self._ids.values())
        for each in self.optimizer.pending:
            if each.id not in known:
                self._forget(each.id)

    def _forget(self, suggestion: int) -> None:
        with suppress(ValueError):  # it may be forgotten already, overtaken by many observations
            self.optimizer.forget(id=suggestion)

    def _value(self, trial: Any) -> float | None:
        """The value of a finished trial, NaN for a failed one, None for one that is ignored."""
        if trial.state in self._avoided:
            return math.nan
        if trial.state != TrialState.COMPLETE:
            return None
        infeasible = any(violation > 0.0 for violation in getattr(trial, "constraints", {}).values())
        return float(trial.value) if math.isfinite(trial.value) and not infeasible else math.nan

    def _running(self, trial: Any) -> dict[str, Code] | None:
        """Codes of a running trial, if it is known what it evaluates."""
        attributes = trial.system_attrs
        shared = {
            name: self.space.distributions[name].to_external_repr(internal)
            for name, internal in attributes.get(SHARED, {}).items()
            if name in self.space.distributions
        }
        return self.space.codes({**shared, **attributes.get("fixed_params", {}), **trial.params})
