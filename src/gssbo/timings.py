"""Where the time of the loop goes, split as in the paper's runtime tables."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

__all__ = ["Timings"]

PARTS = ("refit", "embed", "select", "acquisition", "other")


class Timings(Mapping[str, float]):
    """Cumulative seconds by part: refit, embed, select, acquisition, other.

    The split is that of a single model: the fits, embeddings and choices of subsets that the searchers of
    `method="portfolio"`, the default, make are all `acquisition`. `other` is what `total` holds beyond the four named
    parts: books, the journal, looking for points that meet constraints; with it goes what a run took before it was
    taken up from a journal, which knows no parts. The objective is never included.

    Examples
    --------
    >>> timings = Timings()
    >>> with timings.whole(), timings.part("refit"):
    ...     pass
    >>> sorted(timings)
    ['acquisition', 'embed', 'other', 'refit', 'select']
    """

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(PARTS[:-1], 0.0)
        self.total = 0.0

    def __getitem__(self, part: str) -> float:
        if part == "other":
            return max(self.total - sum(self._seconds.values()), 0.0)
        return self._seconds[part]

    def __iter__(self) -> Iterator[str]:
        return iter(PARTS)

    def __len__(self) -> int:
        return len(PARTS)

    def __repr__(self) -> str:
        return f"Timings({', '.join(f'{part}={seconds:.3g} s' for part, seconds in self.items())})"

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time of the block to a part."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] += time.perf_counter() - start

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Add the time of the block to the total."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.total += time.perf_counter() - start

    def begin_with(self, total: float) -> None:
        """Forget the parts so far, and begin with a total."""
        self._seconds = dict.fromkeys(PARTS[:-1], 0.0)
        self.total = total

    def with_total(self) -> dict[str, float]:
        """Seconds by part so far, and their sum as `total`."""
        return {**self, "total": self.total}

    def shares(self) -> dict[str, float]:
        """Percentages of the total by part; zeros before anything was timed."""
        return {part: 100.0 * seconds / self.total if self.total else 0.0 for part, seconds in self.items()}
