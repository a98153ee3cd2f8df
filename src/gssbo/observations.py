"""What a user tells, read and checked before anything is entered in the books."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gssbo._text import brief
from gssbo._typing import FloatArray
from gssbo._validation import check_array, check_flags, check_integer, check_noise_std, check_vector, is_array
from gssbo.books import Books
from gssbo.pending import Pending, Suggestion
from gssbo.space import Rows

__all__ = ["Observations", "read_observations"]


@dataclass(frozen=True)
class Observations:
    """Observations to enter: rows (n), responses to be maximised (n,), noise (n,), suggestions they answer or None.

    Beside them why they failed, if that was said, and the suggestions that were told before, which are not among them.
    """

    rows: Rows
    y: FloatArray
    noise_std: FloatArray | None
    ids: list[int | None]
    reason: str | None = None
    retried: tuple[int, ...] = ()

    def where(self, mask: Sequence[bool] | NDArray[np.bool_]) -> Observations:
        """Those of the mask (n,)."""
        kept = np.flatnonzero(np.asarray(mask, dtype=bool))
        noise_std = None if self.noise_std is None else self.noise_std[kept]
        ids = [self.ids[k] for k in kept]
        return replace(self, rows=self.rows[kept], y=self.y[kept], noise_std=noise_std, ids=ids)


def read_observations(
    books: Books,
    x: Any,
    y: Any,
    *,
    id: Any = None,
    noise_std: Any = None,
    failed: Any = False,
    reason: Any = None,
    names: tuple[str, str] = ("x", "y"),
) -> Observations:
    """Read the arguments of `Optimizer.tell`, and leave out what was told before under the same id.

    Raises
    ------
    ValueError
        If anything is out of order; the books are as they were.
    """
    if x is None and id is None:
        raise ValueError(f"{names[0]} or id must say what was evaluated, got neither")
    if isinstance(x, Integral) and books.space.n_parameters > 1:
        raise ValueError(f"{names[0]} must be a point, got {x}; the number of a suggestion is told by id={x}")
    points, numbers = _points_and_ids(x, id)
    if points is None and numbers is not None:
        rows = np.stack([_row_asked(books, number) for number in numbers])
        single = not _is_many(id)
    else:
        rows, single = books.space.read(names[0], points)
    if numbers is not None and len(numbers) != len(rows):
        raise ValueError(f"id must have one entry a point ({len(rows)}), got {len(numbers)}")
    responses = _responses(names[1], y, len(rows), single, failed, books.sign)
    if reason is not None and not (isinstance(reason, str) and np.isnan(responses).all()):
        raise ValueError(f"reason must be text, and of evaluations that failed, got {brief(reason)}")
    noise = None if noise_std is None else _noise(noise_std, len(rows))
    if numbers is None:
        return Observations(rows, responses, noise, _matches(books, rows), reason)
    noises: Sequence[float | None] = [None] * len(rows) if noise is None else noise.tolist()
    each = zip(numbers, rows, responses, noises, strict=True)
    new = [_is_new(books, *one) for one in each]
    retried = tuple(number for number, is_new in zip(numbers, new, strict=True) if not is_new)
    return Observations(rows, responses, noise, list(numbers), reason, retried).where(new)


def _is_many(value: Any) -> bool:
    return isinstance(value, list | tuple | range) or is_array(value)


def _points_and_ids(x: Any, id: Any) -> tuple[Any, list[int] | None]:
    """Points as the space reads them, and the numbers they go by; None where they go by their values."""
    if id is not None:
        numbers = [check_integer("id", each, at_least=0) for each in (id if _is_many(id) else [id])]
        if not numbers:
            raise ValueError("id must be of one suggestion at least, got none")
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"id must hold each number once, got {numbers}")
        if isinstance(x, Suggestion) and numbers != [x.id]:
            raise ValueError(f"x and id must be of the same suggestion, got {brief(x)} and {brief(id)}")
        return (x.x if isinstance(x, Suggestion) else x), numbers
    if isinstance(x, Suggestion):
        return _points_and_ids(x.x, x.id)
    if isinstance(x, list | tuple) and any(isinstance(each, Suggestion) for each in x):
        for i, each in enumerate(x):
            if not isinstance(each, Suggestion):
                raise ValueError(f"x must be of suggestions alone, or of points alone, got {brief(each)} as x[{i}]")
        return _points_and_ids([each.x for each in x], [each.id for each in x])
    return x, None


def _outcome(pending: Pending, number: int) -> int:
    try:
        return pending.outcome(number)
    except IndexError:
        raise ValueError(f"id must be of a suggestion, got {number} where {pending.n_asked} were asked") from None


def _row_asked(books: Books, number: int) -> Rows:
    _outcome(books.pending, number)
    row = books.row_asked(number)
    if row is None:
        raise ValueError(f"id must be of a suggestion whose point is known, or come with its point, got {number}")
    return row


def _is_new(books: Books, number: int, row: Rows, response: float, noise: float | None) -> bool:
    """Whether an observation is no retry; a retry at another point, with another value or noise is an error."""
    history, sign = books.history, books.sign
    outcome = _outcome(books.pending, number)
    if outcome < 0:
        return True
    more = "a point observed once more is told without an id"
    if row.tobytes() != history.X[outcome].tobytes():
        raise ValueError(f"x must be the point told before for suggestion {number}, got another one; {more}")
    before = float(history.y[outcome])
    if before != response and not (np.isnan(before) and np.isnan(response)):
        raise ValueError(
            f"y must be the value told before for suggestion {number}, {sign * before}, got {sign * response}; {more}"
        )
    known = 0.0 if history.noise_std is None else float(history.noise_std[outcome])
    if noise is not None and noise != known:
        raise ValueError(f"noise_std must be that told before for suggestion {number}, {known}, got {noise}; {more}")
    return False


def _matches(books: Books, rows: Rows) -> list[int | None]:
    """The pending suggestion each row answers, if it does: the oldest of the same values, equal rows in turn."""
    pending = books.pending
    found: list[int | None] = [None] * len(rows)
    if len(pending):
        left: dict[bytes, list[int]] = {}
        for k in np.flatnonzero(pending.seen(rows)):
            numbers = left.setdefault(rows[k].tobytes(), pending.matches(rows[k])[::-1])
            found[k] = numbers.pop() if numbers else None
        others, taken = np.flatnonzero([number is None for number in found]), set(found)
        for i, candidates in pending.rounded(rows[others], books.space.to_unit(rows[others])).items():
            free = [number for number in candidates if number not in taken]
            if free:
                found[others[i]] = free[0]
                taken.add(free[0])
    return found


def _responses(name: str, y: Any, n: int, single: bool, failed: Any, sign: float) -> FloatArray:
    """Responses to be maximised (n,); NaN where the evaluation failed."""
    flags = check_flags("failed", failed, size=n)
    if y is None and flags.all():
        return np.full(n, np.nan)
    if y is None:
        raise ValueError(f"{name} must be a number, or NaN where an evaluation failed, got None")
    if isinstance(y, str | bytes):
        raise ValueError(f"{name} must be a number, not text: float(...) reads it, got {brief(y)}")
    if (where := _first_none(y)) is not None:
        raise ValueError(f"{name} must be a number, or NaN where an evaluation failed, got None at index ({where},)")
    values = check_array(name, y)
    if single:
        if values.size != 1:
            raise ValueError(f"{name} must be one number for one point x, got shape {values.shape}")
        values = values.reshape(1)
    values = check_vector(name, values, size=n, finite=False, column=True)
    responses: FloatArray = np.where(flags, np.nan, sign * values)
    if (responses == np.inf).any():
        where = int(np.argmax(responses == np.inf))
        raise ValueError(
            f"{name} must be finite, got {values[where]} at index ({where},): no failure is infinitely good"
        )
    responses[responses == -np.inf] = np.nan
    return responses


def _first_none(y: Any) -> int | None:
    """Index of the first entry that is None, which is no missing value but to Polars."""
    plain = isinstance(y, list | tuple) or hasattr(y, "iloc")
    if not plain and not (isinstance(y, np.ndarray) and y.dtype == object and y.ndim > 0):
        return None
    return next((i for i, value in enumerate(y) if value is None), None)


def _noise(noise_std: Any, n: int) -> FloatArray:
    values = check_array("noise_std", noise_std)
    if values.ndim == 0:
        values = np.full(n, float(values))
    return check_noise_std(values, size=n)
