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
UNCLEAR = re.compile(
    r"\d,(?:\d+|\d{3}\.\d*)\Z"  # 0,5 and 1,234.5 are one number to some, and two to others
    r"|\d['\u2019\u00a0\u2009\u202f][\d.]+\Z|\d 0\d+(?:\.\d*)?\Z"  # so are 1'234, and 1 000
    r"|[^\W\d]:\d+\Z"  # cuda:0 is a device, host:8080 a port
)
GROUPS = re.compile(r"[+-]?\d{1,3}(?:_\d{3})+(?:\.\d*)?(?:e[+-]?\d+)?", re.IGNORECASE)  # not 2024_01


def last_number(line: str) -> float | None:
    """Return the last number of a line, or None where there is none, or it cannot be told for sure.

    It is a word of its own, or directly behind an equals sign, a colon, a comma, an opening bracket or a quote, and
    before a comma, a semicolon, a closing bracket or a quote. Digits in a word are no number, nor are whole ones
    directly behind a word and a colon, as a device's.

    Examples
    --------
    >>> last_number("run3: loss=0.5 (2.25 s)"), last_number("score:-1e-3"), last_number("loss nan")
    (2.25, -0.001, nan)
    >>> last_number("epoch 3: 95%"), last_number("took 2.4s"), last_number("v1.2-rc"), last_number("1,234")
    (None, None, None, None)
    >>> last_number("tensor(0.5, device='cuda:0')")
    """
    tokens = list(TOKEN.finditer(line))
    if not tokens:
        return None
    before, number, behind = line[: tokens[-1].start()], tokens[-1][0], line[tokens[-1].end() :]
    if not BEFORE.search(before) or not BEHIND.match(behind) or UNCLEAR.search(before + number):
        return None
    if "_" in number and not GROUPS.fullmatch(number):
        return None
    try:
        return float(number)
    except ValueError:
        return None
