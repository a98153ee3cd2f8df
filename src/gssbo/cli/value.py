"""The last number of a line, as people print one: `loss 0.5`, `loss=0.5`, `time: 2.4 s`, `(0.5)`."""

from __future__ import annotations

import re

__all__ = ["last_number"]

# What stands for a number, well written or not: the last one must not lead to one before it, as 95 to 3 in
# "epoch 3: 95%". A word with digits in it, "run3" or "v1.2-rc", begins with a letter.
TOKEN = re.compile(
    r"(?<![\w.+-])(?:[+-]?(?:nan|inf|infinity|none|null)|(?![^\W\d])[\w.+-]*\d[\w.+-]*)(?![\w.+-])", re.IGNORECASE
)
BEFORE = re.compile(r"(?:\A|[\s=,(\[{\"']|(?<!\d):)\Z")  # 12:30 is a time
BEHIND = re.compile(r"[\s,;)\]}\"']|\Z")
UNCLEAR = re.compile(r"\d,(?:\d+|\d{3}\.\d*)\Z")  # 0,5 and 1,234.5 are one number to some, and two to others


def last_number(line: str) -> float | None:
    """Return the last number of a line, or None where there is none, or it cannot be told for sure.

    It is a word of its own, or directly behind an equals sign, a colon, a comma, an opening bracket or a quote, and
    before a comma, a semicolon, a closing bracket or a quote. Digits in a word are no number.

    Examples
    --------
    >>> last_number("run3: loss=0.5 (2.25 s)"), last_number("score:-1e-3"), last_number("loss nan")
    (2.25, -0.001, nan)
    >>> last_number("epoch 3: 95%"), last_number("took 2.4s"), last_number("v1.2-rc"), last_number("1,234")
    (None, None, None, None)
    """
    tokens = list(TOKEN.finditer(line))
    if not tokens:
        return None
    before, number, behind = line[: tokens[-1].start()], tokens[-1][0], line[tokens[-1].end() :]
    if not BEFORE.search(before) or not BEHIND.match(behind) or UNCLEAR.search(before + number):
        return None
    try:
        return float(number)
    except ValueError:
        return None
