"""A space of gssbo's in Optuna's terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gssbo.space import Categorical, Integer

__all__ = ["distributions"]


def distributions(space: Mapping[str, Any]) -> dict[str, Any]:
    """Optuna's distributions by name, of parameters by name."""
    import optuna

    of = optuna.distributions
    return {
        name: of.CategoricalDistribution(list(each.values))
        if isinstance(each, Categorical)
        else (of.IntDistribution if isinstance(each, Integer) else of.FloatDistribution)(
            each.low, each.high, log=each.log
        )
        for name, each in space.items()
    }
