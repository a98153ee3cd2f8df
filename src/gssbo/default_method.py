"""The method that is used where none is named, and the options that are the box's alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["BOX_OPTIONS", "DEFAULT", "default_n_init", "method_for", "refuse_box_options"]

DEFAULT = "portfolio"

BOX_OPTIONS = (
    "dynamic_factor",
    "gap_tolerance",
    "rule",
    "retain_initial",
    "retain_newest",
    "pool",
    "refit",
    "fit_on",
    "posterior",
    "refresh",
    "acquisition",
    "acquisition_options",
    "n_candidates",
    "surrogate",
    "strategy",
)
"""Keyword arguments of `gssbo.Optimizer` that only the box has a use for."""


def method_for(options: Mapping[str, Any]) -> Any:
    """The method that options ask for: the one they name, "box" if one of them is the box's, else the default.

    Examples
    --------
    >>> method_for({"rule": "residual"}), method_for({"n_init": 5, "surrogate": None}), method_for({"method": "turbo"})
    ('box', 'portfolio', 'turbo')
    """
    name = options.get("method")
    if name is not None:
        return name
    size = options.get("subset_size")
    dynamic = isinstance(size, str) and size == "dynamic"
    return "box" if dynamic or any(options.get(each) is not None for each in BOX_OPTIONS) else DEFAULT


def refuse_box_options(options: Mapping[str, Any]) -> None:
    """Raise a ValueError that names an option that a portfolio has no use for."""
    for name in BOX_OPTIONS:
        if options.get(name) is not None:
            raise ValueError(
                f"{name} must not be given with method='portfolio', which has its own, got {options[name]!r}"
            )


def default_n_init(method: str, n_parameters: int) -> int:
    """Points of the initial design, for so many free parameters."""
    return min(max(2 * n_parameters + 2, 6), 40) if method == "portfolio" else 20
