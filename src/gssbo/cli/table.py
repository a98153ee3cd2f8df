"""Observations as a table: the columns that `gssbo export` writes, and what `--from` reads.

A header, then a line for each observation. Columns go by their names: one for each parameter, and `value`; `failed`,
`reason`, why it did, `noise_std`, `prior` and `suggestion` may be there, the number of the pending suggestion that a
line answers: without a value, it does not yet. Where a parameter has the name of one of these, the column has an
underscore more.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gssbo.cli.reading import read_points
from gssbo.cli.text import labels
from gssbo.ledger import Ledger
from gssbo.space import Space

__all__ = ["Table", "own_columns", "read_table", "tell_table"]

OWN = ("number", "suggestion", "value", "failed", "reason", "noise_std", "prior")
# What separates the fields, and whether spaces may follow it: the header tells, the first of equals is taken.
DIALECTS: list[dict[str, Any]] = [
    {"skipinitialspace": spaces, "delimiter": delimiter} for spaces in (False, True) for delimiter in ",\t;"
]
FLAGS = {"true": True, "false": False}


@dataclass(frozen=True)
class Table:
    """Observations (n): points, values, NaN where one failed, why, noise, whether made before the run, answers.

    These are numbers of suggestions, or None; `n_waiting` lines have such a number and no value yet. `unread` has the
    names of the columns that say none of that.
    """

    points: list[Any]
    values: list[float]
    reasons: list[str | None]
    noise_std: list[float | None]
    prior: list[bool]
    answers: list[int | None]
    n_waiting: int
    unread: list[str]


def own_columns(names: Iterable[str]) -> dict[str, str]:
    """Names of the columns beside those of the parameters, by what they are.

    Examples
    --------
    >>> own_columns(["lr", "value"])["value"]
    'value_'
    """
    taken = set(names)
    found = {}
    for name in OWN:
        column = name
        while column in taken:
            column += "_"
        found[name] = column
    return found


def read_table(path: Path, space: Space, *, maximize: bool, asked: Callable[[int], Any] = lambda number: None) -> Table:
    r"""Read a table separated by commas, tabs or semicolons; a value that is empty or NaN is a failed evaluation.

    `asked` gives the point of a suggestion by its number, or None: of a text that stands for two values of a category,
    a line with a number has the one that is its point's.

    Raises
    ------
    ValueError
        If anything in it is wrong; the message names the file, the line, the column, the rule and the text.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "old.tsv"
    >>> _ = path.write_text("n\tvalue\n3\t0.5\n4\t\n")
    >>> table = read_table(path, Space({"n": range(1, 9)}), maximize=False)
    >>> table.points, table.values
    ([{'n': 3}, {'n': 4}], [0.5, nan])
    """
    names = labels(space)
    own = own_columns(names)
    cells = _Cells(path, [*names, own["value"]], [own[name] for name in OWN])
    failed, prior = (cells.flags(own[name]) for name in ("failed", "prior"))
    answers = _answers(cells, own["suggestion"])
    texts = cells.texts(own["value"])
    done = [k for k, text in enumerate(texts) if answers[k] is None or text.strip() or failed[k]]
    columns = [[column[k] for k in done] for column in map(cells.texts, names)]
    known = [None if number is None or prior[k] else asked(number) for k, number in enumerate(answers)]
    points = read_points(space, columns, lambda i: cells.where(done[i]), asked=[known[k] for k in done])
    values = _values(cells, own["value"], done, failed, maximize=maximize)
    noise_std = _noise(cells, own["noise_std"])
    return Table(
        points,
        values,
        _reasons(cells, own["reason"], dict(zip(done, values, strict=True))),
        [noise_std[k] for k in done],
        [prior[k] is True for k in done],
        [answers[k] for k in done],
        len(texts) - len(done),
        cells.unread,
    )


def _answers(cells: _Cells, column: str) -> list[int | None]:
    """Number of the suggestion that each line answers."""
    found: list[int | None] = []
    seen = set[float]()
    for k, text in enumerate(cells.texts(column)):
        number = _number(text)
        if text.strip() and (number is None or number < 0.0 or not number.is_integer()):
            raise cells.wrong(k, column, "be the number of a suggestion, or empty")
        if number in seen:
            raise cells.wrong(k, column, "be there once")
        if number is not None:
            seen.add(number)
        found.append(None if number is None else int(number))
    return found


def _values(cells: _Cells, column: str, done: list[int], failed: list[bool | None], *, maximize: bool) -> list[float]:
    """Values of the lines that are done, NaN where the evaluation failed."""
    found, texts = [], cells.texts(column)
    for k in done:
        value = _number(texts[k]) if texts[k].strip() else math.nan
        if value is None or (failed[k] is False and math.isnan(value)):
            raise cells.wrong(k, column, "be a number, or empty or nan where the evaluation failed")
        if value == (math.inf if maximize else -math.inf):
            raise cells.wrong(k, column, "be finite: no failure is infinitely good")
        found.append(math.nan if failed[k] or math.isinf(value) else value)
    return found


def _reasons(cells: _Cells, column: str, values: dict[int, float]) -> list[str | None]:
    """Why evaluations failed, of the lines that have values."""
    texts = cells.texts(column)
    for k, text in enumerate(texts):
        if text and not math.isnan(values.get(k, 0.0)):
            raise cells.wrong(k, column, "be empty where the evaluation did not fail, which `nan` as its value says")
    return [texts[k] or None for k in values]


def _noise(cells: _Cells, column: str) -> list[float | None]:
    found = []
    for k, text in enumerate(cells.texts(column)):
        std = _number(text)
        if text.strip() and (std is None or not 0.0 <= std < math.inf):
            raise cells.wrong(k, column, "be at least 0 and finite, or empty")
        found.append(std)
    return found


def tell_table(ledger: Ledger, table: Table, *, prior: bool) -> int:
    """Tell a ledger those observations of a table that it has not been told yet; return how many they are.

    With `prior` all of them were made before the run, whatever the table says. Those that answer suggestions by number
    are told first, all at once: they alone may be refused, and nothing is told then.
    """
    if not table.values:
        return 0
    answers = [None if prior or table.prior[k] else number for k, number in enumerate(table.answers)]
    waiting = {suggestion.id for suggestion in ledger.pending}
    known = ledger.was_told(table.points, table.values) & [number not in waiting for number in answers]
    new = np.flatnonzero(~known).tolist()
    n_told = ledger.n_told
    numbered = [k for k in new if answers[k] is not None]
    if numbered:
        noise = [table.noise_std[k] for k in numbered]
        ledger.tell(
            [table.points[k] for k in numbered],
            [table.values[k] for k in numbered],
            id=[answers[k] for k in numbered],
            noise_std=None if all(std is None for std in noise) else [std or 0.0 for std in noise],
        )
        for reason in dict.fromkeys(filter(None, (table.reasons[k] for k in numbered))):
            ledger.tell(id=[answers[k] for k in numbered if table.reasons[k] == reason], failed=True, reason=reason)
    others = (k for k in new if answers[k] is None)
    kinds = itertools.groupby(
        others, key=lambda k: (prior or table.prior[k], table.noise_std[k] is not None, table.reasons[k])
    )
    for (early, noisy, reason), group in kinds:
        chosen = list(group)
        tell = ledger.tell_prior if early else ledger.tell
        tell(
            [table.points[k] for k in chosen],
            [table.values[k] for k in chosen],
            noise_std=[table.noise_std[k] for k in chosen] if noisy else None,
            reason=reason,
        )
    return ledger.n_told - n_told


class _Cells:
    """The texts of a table, by column, and where they stand.

    Parameters
    ----------
    path : Path
    needed : sequence of str
        Columns that must be there.
    own : sequence of str
        Columns that may be.
    """

    def __init__(self, path: Path, needed: list[str], own: list[str]) -> None:
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"the table must be a CSV or TSV file in UTF-8, got {path} ({error})") from None
        self._path = path
        limit = csv.field_size_limit(max(len(text), 1))  # a reason may be long
        try:
            dialect = max(DIALECTS, key=lambda each: len(set(needed).intersection(_header(text, each))))
            (line, self._header), *rows = _rows(path, text, dialect) or [(1, [])]
        finally:
            csv.field_size_limit(limit)
        self._check(line, needed, own)
        self._lines = [number for number, _ in rows]  # at which rows begin
        self._rows = [row for _, row in rows]
        for number, row in rows:
            if len(row) != len(self._header):
                raise ValueError(
                    f"{path}: line {number} must have {len(self._header)} fields, as the header has, got {len(row)}"
                )
        self.unread = [name for name in self._header if name not in {*needed, *own}]

    def _check(self, line: int, needed: list[str], own: list[str]) -> None:
        """Raise a ValueError if the header, in that line, lacks a column or names one twice."""
        missing = [name for name in needed if name not in self._header]
        if missing:
            raise ValueError(
                f"{self._path}: line {line} must be a header that names the columns {', '.join(needed)}; missing: "
                f"{', '.join(missing)}; got {', '.join(self._header) or 'nothing'}"
            )
        twice = [name for name in {*needed, *own} if self._header.count(name) > 1]
        if twice:
            again = ", ".join(sorted(twice))
            raise ValueError(f"{self._path}: line {line} must name each column once, got {again} again")

    def texts(self, name: str) -> list[str]:
        """A column; empty where there is none."""
        if name not in self._header:
            return [""] * len(self._rows)
        k = self._header.index(name)
        return [row[k] for row in self._rows]

    def flags(self, name: str) -> list[bool | None]:
        """A column of true, false and nothing."""
        found: list[bool | None] = []
        for k, text in enumerate(self.texts(name)):
            flag = FLAGS.get(text.strip().lower())
            if flag is None and text.strip():
                raise self.wrong(k, name, "be true or false, or empty")
            found.append(flag)
        return found

    def where(self, k: int) -> str:
        """How a message about a row begins."""
        return f"{self._path}: line {self._lines[k]}: "

    def wrong(self, k: int, name: str, rule: str) -> ValueError:
        """The error of a cell."""
        return ValueError(f"{self.where(k)}{name} must {rule}, got {self.texts(name)[k]!r}")


def _lines(text: str) -> io.StringIO:
    return io.StringIO(text, newline="")


def _rows(path: Path, text: str, dialect: dict[str, Any]) -> list[tuple[int, list[str]]]:
    """Rows that are not empty, each with the line it begins at."""
    found = []
    reader = csv.reader(_lines(text), strict=True, **dialect)
    begin = 1
    try:
        for row in reader:
            if any(row):
                found.append((begin, row))
            begin = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{path}: line {begin} must be a line of a table, got {error}") from None
    return found


def _header(text: str, dialect: dict[str, Any]) -> list[str]:
    try:
        return next((row for row in csv.reader(_lines(text), **dialect) if any(row)), [])
    except csv.Error:
        return []


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
