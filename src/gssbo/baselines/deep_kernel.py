"""GSSBO with a deep kernel: an exact Gaussian process on what a neural network makes of the inputs.

Notation
--------
h(x)        last hidden layer of the network, see `gssbo.baselines.network`
f(x)        h(x) W + b (q,), its output: the inputs of the process, and the selection features
theta       log lengthscales (q), log variance, log noise of the process
K_y         k(f(X), f(X)) + noise I + diag(known)

Weights and theta together climb the exact log marginal likelihood of z ~ N(0, K_y) [1]. The retained subset is chosen
by the vector rule from the f(x_i) of the pool, in the place of the precision's columns: [2] has features of the
surrogate's own there.

Settings. [2] gives none. Here: two hidden layers of 32 units, q = 4, Matern 5/2, Adam with a step of 0.01 and 100
epochs an iteration on the retained subset, as [2] has for its other trained surrogates, going on from the last one.
Smaller than the network of [1], which is for thousands of observations. For short runs: `options(epochs=10)`.

Cost of an iteration: epochs times M^3, each at least a millisecond of PyTorch's; n^2 q for the selection; M^2 for each
candidate.

References
----------
1. Wilson, Hu, Salakhutdinov and Xing, Deep kernel learning, AISTATS 2016.
2. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, appendix, the last
   section of experiments.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from gssbo._typing import FloatArray
from gssbo._validation import check_choice, check_integer
from gssbo.baselines._torch import alone, array, covariances, descend, pytorch, require, tensor
from gssbo.baselines.network import NetworkSurrogate, hidden_layer, initial_layers
from gssbo.fantasy import fantasize
from gssbo.gp import GaussianProcess
from gssbo.kernels import KERNELS, Kernel
from gssbo.surrogate import Predictor

__all__ = ["DeepKernelProcess", "log_likelihood", "options", "output"]


def options(**settings: Any) -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it GSSBO with a deep kernel; settings: `DeepKernelProcess`.

    Raises
    ------
    MissingDependencyError
        If PyTorch is not installed.
    """
    require("deep-kernel")
    return {"surrogate": DeepKernelProcess(**settings)}


def output(layers: list[Any], X: Any) -> Any:
    """Output f (n, q) of the network at a tensor X (n, d)."""
    return hidden_layer(layers[:-2], X) @ layers[-2] + layers[-1]


def log_likelihood(kernel: str, layers: list[Any], theta: Any, X: Any, z: Any, known: Any) -> Any:
    """Log marginal likelihood of responses z (n,), all of them tensors."""
    torch = pytorch()
    f, parameters = output(layers, X), theta.exp()
    K = covariances(kernel, f, f, parameters[:-2], parameters[-2]) + torch.diag(parameters[-1] + known)
    C = torch.linalg.cholesky(K)
    half = torch.linalg.solve_triangular(C, z[:, None], upper=False)
    return -0.5 * half.square().sum() - C.diagonal().log().sum() - 0.5 * len(z) * np.log(2.0 * np.pi)


class DeepKernelProcess(NetworkSurrogate):
    """An exact Gaussian process on the output of a network; see the module's notes.

    Parameters
    ----------
    kernel : {"matern52", "matern32", "rbf"}
    n_outputs : int
        q.
    **settings
        As for `gssbo.baselines.network.NetworkSurrogate`: hidden, epochs, learning_rate, noise, noise_bounds,
        normalize_y, warm_start, rng.

    Attributes
    ----------
    layers_ : list of ndarray
        W_1, b_1, W_2, b_2 ...
    theta_ : ndarray of shape (q + 2,)

    Examples
    --------
    >>> X = np.random.default_rng(0).random((80, 2))
    >>> model = DeepKernelProcess(rng=0).fit(X, np.sin(6 * X[:, 0]) + X[:, 1])
    >>> bool(abs(model.predict([[0.5, 0.5]])[0] - (np.sin(3.0) + 0.5)) < 0.1)
    True
    """

    layers_: list[FloatArray]
    theta_: FloatArray
    kernel_: Kernel
    process_: Predictor

    def __init__(self, kernel: str = "matern52", *, n_outputs: int = 4, **settings: Any) -> None:
        super().__init__(**settings)
        self.kernel = check_choice("kernel", kernel, KERNELS)
        self.n_outputs = check_integer("n_outputs", n_outputs, at_least=1)

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
        if goes_on:
            layers, theta = self.layers_, self.theta_
        else:
            layers = initial_layers([X.shape[1], *self.hidden, self.n_outputs], rng)
            theta = np.zeros(self.n_outputs + 2)
            theta[-1] = np.log(self.noise)
        low, high = np.log(self.noise_bounds)
        with alone() as torch:
            weights = [tensor(each, learned=True) for each in layers]
            parameters = tensor(theta, learned=True)
            inputs, responses, extra = tensor(X), tensor(z), tensor(known)

            def loss() -> Any:
                bounded = torch.cat([parameters[:-1], parameters[-1:].clamp(low, high)])
                return -log_likelihood(self.kernel, weights, bounded, inputs, responses, extra) / len(z)

            taken = descend(loss, [*weights, parameters], epochs=epochs, rate=self.learning_rate)
            self.layers_, self.theta_ = [array(each) for each in weights], array(parameters)
        self.theta_[-1] = np.clip(self.theta_[-1], low, high)
        scales = np.exp(self.theta_)
        process = GaussianProcess(
            self.kernel,
            lengthscale=scales[:-2],
            variance=float(scales[-2]),
            noise=float(scales[-1]),
            fit_hyperparameters=False,
            normalize_y=False,
        )
        process.condition(self.selection_features(X), z, optimize=False, noise_std=np.sqrt(known))
        self.process_, self.kernel_, self.noise_ = process, process.kernel_, process.noise_
        return taken

    def selection_features(self, X: FloatArray) -> FloatArray:
        """Output f (n, q) of the network, the inputs of the process."""
        with alone() as torch, torch.no_grad():
            return array(output([tensor(each) for each in self.layers_], tensor(X)))

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) in units of z."""
        return self.process_.posterior(self.selection_features(points))


@fantasize.register(DeepKernelProcess)
def _imagine(model: DeepKernelProcess, points: FloatArray) -> DeepKernelProcess:
    imagined = copy.copy(model)
    imagined.process_ = fantasize(model.process_, model.selection_features(points))
    return imagined
