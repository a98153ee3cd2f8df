"""A space from a TOML file: a table for each parameter.

.. code-block:: toml

    [lr]
    low = 1e-5
    high = 0.1
    log = true

    [layers]
    low = 1
    high = 8

    [activation]
    values = ["relu", "gelu"]

Whole numbers as both ends, and as the step if there is one, make a whole-number parameter; `type = "real"` or
`type = "integer"` says it otherwise.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from gssbo.space import Categorical, Integer, Parameter, Real

__all__ = ["read_space"]

KINDS = {"real": Real, "integer": Integer}


def read_space(path: Path) -> dict[str, Parameter]:
    r"""Read the parameters of a file, by name.

    Raises
    ------
    ValueError
        If it cannot be read or a table is no parameter; the message names the file and the table.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "space.toml"
    >>> _ = path.write_text('[n]\nlow = 1\nhigh = 8\n[act]\nvalues = ["relu", "gelu"]\n')
    >>> read_space(path)["n"]
    Integer(low=1, high=8, log=False, step=1)
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin a file with a mark
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"the space must be a TOML file, got {path} ({error})") from None
    if not tables:
        raise ValueError(f"{path} must have a table for each parameter, got none")
    found = {}
    for name, table in tables.items():
        try:
            found[name] = _parameter(table)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}: [{name}]: {error}") from None
    return found


def _category(value: Any) -> Any:
    """A value as a journal has it, too: a list is a tuple, and times and tables are none."""
    if isinstance(value, list):
        return tuple(map(_category, value))
    if isinstance(value, str | bool | int | float):
        return value
    raise ValueError(f"values must be text, numbers, true, false, or lists of them, got {value!s}")


def _parameter(table: Any) -> Parameter:
    if not isinstance(table, dict):
        raise ValueError(f"must be a table with low and high, or values, got {table!r}")
    options = dict(table)
    if "values" in options:
        values = options.pop("values")
        if options:
            raise ValueError(f"values must come alone, got {', '.join(options)} too")
        if not isinstance(values, list):
            raise ValueError(f"values must be a list, got {values!r}")
        return Categorical(tuple(map(_category, values)))
    if not {"low", "high"} <= options.keys():
        raise ValueError(f"must have low and high, or values, got {', '.join(options) or 'nothing'}")
    low, high, kind = options.pop("low"), options.pop("high"), options.pop("type", None)
    unknown = options.keys() - {"log", "step"}
    if unknown:
        raise ValueError(f"may have low, high, type, log and step, got {', '.join(sorted(unknown))}")
    if kind is None:
        fractional = isinstance(step := options.get("step"), float) and not step.is_integer()
        kind = "integer" if type(low) is int and type(high) is int and not fractional else "real"
    if kind not in KINDS:
        raise ValueError(f"type must be one of {', '.join(KINDS)}, got {kind!r}")
    return KINDS[kind](low, high, **options)
