"""What surrogates with a neural network share: settings, and the network.

Notation
--------
X, y        inputs (n, d) in the unit cube, responses (n,); z standardised
W_l, b_l    weights (fan_in, fan_out) and biases (fan_out,) of layer l
h(x)        tanh(... tanh((2 x - 1) W_1 + b_1) ...), the last hidden layer
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np

from gssbo._typing import ArrayLike, FloatArray, RngLike
from gssbo._validation import (
    as_generator,
    check_flag,
    check_integer,
    check_interval,
    check_matrix,
    check_real,
    check_vector,
)
from gssbo.standardized import StandardizedRegression

__all__ = ["NetworkSurrogate", "hidden_layer", "initial_layers"]


def initial_layers(sizes: Sequence[int], rng: np.random.Generator) -> list[FloatArray]:
    """W_1, b_1, W_2, b_2 ...: weights normal with variance 1 / fan_in, biases 0."""
    layers: list[FloatArray] = []
    for fan_in, fan_out in pairwise(sizes):
        layers += [rng.standard_normal((fan_in, fan_out)) / np.sqrt(fan_in), np.zeros(fan_out)]
    return layers


def hidden_layer(layers: Sequence[Any], X: Any) -> Any:
    """H (n, q) of a tensor X (n, d), or (s, n, q) for layers with a leading dimension s; 2 X - 1 without layers."""
    h = 2.0 * X - 1.0
    for W, b in zip(layers[::2], layers[1::2], strict=True):
        h = (h @ W + b.unsqueeze(-2)).tanh()
    return h


class NetworkSurrogate(StandardizedRegression):
    """A surrogate trained by Adam; subclasses say which. See `gssbo.surrogate.Surrogate` for the methods.

    Parameters
    ----------
    hidden : sequence of int
        Units of each hidden layer.
    epochs : int
        Steps of Adam a fit, on all observations.
    learning_rate : float
    noise : float
        Start of the noise variance, in squared units of the standardised responses.
    noise_bounds : (low, high)
        What it is kept within.
    normalize_y : bool
        Whether responses are standardised.
    warm_start : bool
        Whether a fit goes on from the last one. The optimizer sets it.
    threads : int
        Not used: the network runs on one.
    rng : None, int or numpy.random.Generator
        Source of the first weights, and of whatever else is random.
    """

    fit_hyperparameters = True

    def __init__(
        self,
        *,
        hidden: Sequence[int] = (32, 32),
        epochs: int = 100,
        learning_rate: float = 0.01,
        noise: float = 1e-2,
        noise_bounds: ArrayLike = (1e-6, 1e1),
        normalize_y: bool = True,
        warm_start: bool = False,
        threads: int = 1,
        rng: RngLike = None,
    ) -> None:
        self.hidden = tuple(check_integer("hidden", each, at_least=1) for each in hidden)
        self.epochs = check_integer("epochs", epochs, at_least=0)
        self.learning_rate = check_real("learning_rate", learning_rate, above=0.0)
        self.noise = check_real("noise", noise, above=0.0)
        self.noise_bounds = check_interval("noise_bounds", noise_bounds, above=0.0)
        self.normalize_y = check_flag("normalize_y", normalize_y)
        self.warm_start = check_flag("warm_start", warm_start)
        self.threads = check_integer("threads", threads, at_least=1)
        self.rng = as_generator("rng", rng)

    def __repr__(self) -> str:
        fit = f"n={len(self.X_train_)}, noise={self.noise_:.3g}" if self.fitted else "not fitted"
        return f"{type(self).__name__}(hidden={self.hidden}, {fit})"

    def prepare(self, dim: int) -> None:
        """Get ready for a loop: forget, and from now on start each fit from the last one."""
        self.forget()
        self.warm_start = True

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Condition on observations X (n, d), y (n,), and return itself.

        Raises
        ------
        ValueError
            If an array has the wrong shape or an entry that is not finite.
        """
        inputs = check_matrix("X", X)
        self.condition(inputs, check_vector("y", y, size=len(inputs), column=True), optimize=True)
        self._note_names(X)
        return self

    def condition(
        self,
        X: FloatArray,
        y: FloatArray,
        *,
        optimize: bool,
        rng: np.random.Generator | None = None,
        noise_std: FloatArray | None = None,
    ) -> None:
        """See `gssbo.surrogate.Surrogate`; `optimize` says whether the network is trained further."""
        z, mean, std, known = self.standardized(y, noise_std)
        goes_on = self.warm_start and self.fitted and self.X_train_.shape[1] == X.shape[1]
        generator = self.rng if rng is None else rng
        epochs = self.epochs if optimize and bool(np.any(z)) else 0
        taken = self._train(X, z, known, epochs=epochs, goes_on=goes_on, rng=generator)
        self.X_train_, self.y_train_ = X, z
        self.y_mean_, self.y_std_ = mean, std
        self.fit_info_ = {"status": "trained" if epochs else "fixed" if np.any(z) else "constant", "epochs": taken}

    @abstractmethod
    def _train(
        self,
        X: FloatArray,
        z: FloatArray,
        known: FloatArray,
        *,
        epochs: int,
        goes_on: bool,
        rng: np.random.Generator,
    ) -> int:
        """Fit to responses z (n,) with known noise variances (n,); return the epochs taken."""

    @abstractmethod
    def selection_features(self, X: FloatArray) -> FloatArray:
        """What the selection rule measures observations X (n, d) by, (n, q)."""
