"""What a sampler has seen of a study: the trials that finished, those that have not, and the parameters they had.

Reading a study again costs what is new in it, not what is old: only trials that were not finished before, and those
with higher numbers, are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gssbo._optional import import_optional

__all__ = ["Trials"]

TrialState: Any = import_optional("optuna.trial", extra="optuna", purpose="gssbo.integrations.optuna").TrialState

Space = dict[str, Any]


class Trials:
    """The books of a study.

    Attributes
    ----------
    finished : list of int
        Numbers of the finished trials, whatever their end, in the order they were seen to be; it only grows.
    running : list of int
        Numbers of the running ones, ascending.
    n_completed : int
        Trials that finished with a value.

    Examples
    --------
    >>> import optuna
    >>> study = optuna.create_study()
    >>> studied, x = Trials(), optuna.distributions.FloatDistribution(0, 1)
    >>> first, second = study.ask({"x": x}), study.ask({"x": x, "y": x})
    >>> _ = study.tell(second, 1.0)
    >>> studied.read(study.get_trials(deepcopy=False))
    >>> studied.finished, studied.running, list(studied.intersection)
    ([1], [0], ['x', 'y'])
    >>> _ = study.tell(first, 2.0)
    >>> studied.read(study.get_trials(deepcopy=False))
    >>> studied.finished, list(studied.intersection), [list(group) for group in studied.groups]
    ([1, 0], ['x'], [['x'], ['y']])
    """

    def __init__(self) -> None:
        self.finished: list[int] = []
        self.running: list[int] = []
        self.n_seen = 0
        self.n_completed = 0
        self._open: list[int] = []
        self._intersection: Space | None = None
        self._groups: list[Space] = []

    def read(self, trials: Sequence[Any]) -> None:
        """Take in all trials of the study, the one number n at index n."""
        finished, unfinished, n_completed = [], [], 0
        for number in [*self._open, *range(self.n_seen, len(trials))]:
            trial = trials[number]
            if not trial.state.is_finished():
                unfinished.append(number)
                continue
            finished.append(number)
            n_completed += trial.state == TrialState.COMPLETE
            if trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
                self._meet(trial.distributions)  # once more, it changes nothing
        running = [number for number in unfinished if trials[number].state == TrialState.RUNNING]
        n_seen = len(trials)
        # Ctrl-C interrupts no assignments in a row: all of this is read, or none.
        self.finished += finished
        self.n_completed += n_completed
        self._open, self.running, self.n_seen = unfinished, running, n_seen

    @property
    def intersection(self) -> Space:
        """Parameters that every complete or pruned trial had, with the same distribution each time."""
        return dict(self._intersection or {})

    @property
    def groups(self) -> list[Space]:
        """Parameters that always came together; no parameter is in two groups, and every one is in one."""
        return self._groups

    def _meet(self, distributions: Space) -> None:
        if self._intersection is None:
            self._intersection = dict(sorted(distributions.items()))
        else:
            self._intersection = {
                name: each for name, each in self._intersection.items() if distributions.get(name) == each
            }
        left = dict(distributions)
        groups = []
        for group in self._groups:
            # A range that changed: the newest one counts.
            common = {name: left.pop(name) for name in group if name in left}
            groups += [common, {name: each for name, each in group.items() if name not in common}]
        self._groups = [dict(sorted(group.items())) for group in [*groups, left] if group]
