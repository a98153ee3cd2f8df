"""The search space: parameters of every kind, and their map to the unit cube the model works in."""

from __future__ import annotations

from gssbo.space.categorical import Categorical
from gssbo.space.integer import Integer
from gssbo.space.parameter import Parameter
from gssbo.space.real import Real
from gssbo.space.space import LISTED, Rows, Space

__all__ = ["LISTED", "Categorical", "Integer", "Parameter", "Real", "Rows", "Space"]
