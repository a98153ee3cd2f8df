"""A mixed space, what its points cost, and an optimizer that is quick about them."""

import numpy as np

from gssbo import Categorical, Integer, Real

MIXED = {
    "rate": Real(1e-5, 1.0, log=True),
    "units": Integer(1, 200),
    "width": Integer(1, 1000, log=True),
    "act": Categorical(["relu", "gelu", "tanh", "silu"]),
    "bias": bool,
}


def cost(x):
    """Least, 0, at rate 1e-3, units 50, width 30, gelu, without a bias."""
    steps = (np.log10(x["rate"]) + 3) ** 2 + ((x["units"] - 50) / 50) ** 2 + np.log10(x["width"] / 30) ** 2
    return float(steps + (x["act"] != "gelu") + x["bias"])


def settings(**keywords):
    return {"n_init": 8, "subset_size": 25, "n_candidates": 2000, "rng": 0, **keywords}
