"""Selection rules: which observations of a pool are retained."""

from __future__ import annotations

from gssbo.selection.rules import RULES, SelectionRule
from gssbo.selection.subset import select_subset

__all__ = ["RULES", "SelectionRule", "select_subset"]
