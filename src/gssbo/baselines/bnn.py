"""GSSBO with a Bayesian neural network: a normal distribution over the weights, fitted variationally.

Notation
--------
w           all weights and biases (p,), with prior N(0, 1 / fan_in) for weights, N(0, 1) for biases
q(w)        N(mu, diag(sigma^2)), all of them independent [1]
h_s(x)      last hidden layer with the s-th draw of the hidden layers' weights; s = 1 .. S
m_s, v_s    mean h_s.mu_L + mu_b and variance h_s^2.sigma_L^2 + sigma_b^2 of the output over the last layer
bound       mean_s sum_i E log N(z_i; output, noise_i) - KL(q(w) | prior)
posterior   mean: mean_s m_s; variance: variance_s m_s + mean_s v_s
g(x)        gradient of the output at mu in the last layer's weights, which is h(x): the selection features

The last layer is integrated out exactly; the draws of the others are w = mu + sigma e with new normal e for every
epoch, and with S fixed ones for predictions. The retained subset is chosen by the vector rule from the g(x_i) of the
pool, in the place of the precision's columns: [2] has features of the surrogate's own there, and does not say which.

Settings. [2] names a survey of Bayesian networks, but neither network nor inference. Here: two hidden layers of 32
units; mean-field variational inference; one draw an epoch, S = 16 for predictions; Adam with a step of 0.01 and 100
epochs an iteration on the retained subset, as [2] has for its other trained surrogates, going on from the last one. The
noise variance is at most 0.01: free, it grows until it explains the responses alone and all weights are back at their
prior, and the search is as good as a random one. For short runs: `options(epochs=10)`.

Cost of an iteration: epochs times M p, each at least a millisecond of PyTorch's; n^2 32 for the selection; S p for each
candidate.

References
----------
1. Blundell, Cornebise, Kavukcuoglu and Wierstra, Weight uncertainty in neural networks, ICML 2015.
2. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, appendix, the last
   section of experiments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gssbo._parallel import blocks
from gssbo._typing import ArrayLike, FloatArray
from gssbo._validation import check_integer
from gssbo.baselines._torch import alone, array, descend, inverse_softplus, require, tensor
from gssbo.baselines.imagined import Imagined
from gssbo.baselines.network import NetworkSurrogate, hidden_layer, initial_layers
from gssbo.fantasy import fantasize

__all__ = ["BayesianNetwork", "bound", "moments", "options"]

START = 0.05  # standard deviation of a weight, in those of its prior
BLOCK = 512  # points whose hidden layers are held at once


def options(**settings: Any) -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it GSSBO with a Bayesian network; settings: `BayesianNetwork`.

    Raises
    ------
    MissingDependencyError
        If PyTorch is not installed.
    """
    require("bnn")
    return {"surrogate": BayesianNetwork(**settings)}


def moments(mu: list[Any], sigma: list[Any], draws: list[Any], X: Any) -> tuple[Any, Any, Any]:
    """h_s (S, n, q), m_s and v_s (S, n) at X (n, d), for normal draws e (S, ...) of the hidden layers; all tensors."""
    layers = [m + s * e for m, s, e in zip(mu[:-2], sigma[:-2], draws, strict=True)]
    h = hidden_layer(layers, X)
    h = h.expand(len(draws[0]) if draws else 1, *h.shape[-2:])
    mean = (h @ mu[-2])[..., 0] + mu[-1]
    variance = (h.square() @ sigma[-2].square())[..., 0] + sigma[-1].square()
    return h, mean, variance


def bound(mu: list[Any], sigma: list[Any], draws: list[Any], noise: Any, X: Any, z: Any) -> Any:
    """The bound for responses z (n,) with noise variances (n,) or one for all, by draws (S, ...), all of tensors."""
    _, mean, variance = moments(mu, sigma, draws, X)
    expected = -0.5 * ((z - mean).square() + variance) / noise - 0.5 * (2.0 * np.pi * noise).log()
    divergence = 0.0
    for m, s in zip(mu, sigma, strict=True):
        precision = len(m) if m.ndim == 2 else 1
        divergence = divergence + 0.5 * (precision * (s.square() + m.square()) - 1.0).sum()
        divergence = divergence - s.log().sum() - 0.5 * m.numel() * np.log(precision)
    return expected.mean(0).sum() - divergence


class BayesianNetwork(NetworkSurrogate):
    """A network with independent normal weights; see the module's notes.

    Parameters
    ----------
    n_draws : int
        S.
    noise_bounds : (low, high)
        As for `gssbo.baselines.network.NetworkSurrogate`, as are the others.
    **settings
        hidden, epochs, learning_rate, noise, normalize_y, warm_start, rng.

    Attributes
    ----------
    mu_, sigma_ : list of ndarray
        Of W_1, b_1, W_2, b_2 ...
    draws_ : list of ndarray of shape (S, ...)
        The e of all hidden layers.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((80, 2))
    >>> model = BayesianNetwork(epochs=300, rng=0).fit(X, np.sin(6 * X[:, 0]) + X[:, 1])
    >>> bool(abs(model.predict([[0.5, 0.5]])[0] - (np.sin(3.0) + 0.5)) < 0.2)
    True
    """

    mu_: list[FloatArray]
    sigma_: list[FloatArray]
    draws_: list[FloatArray]

    def __init__(self, *, n_draws: int = 16, noise_bounds: ArrayLike = (1e-6, 1e-2), **settings: Any) -> None:
        super().__init__(noise_bounds=noise_bounds, **settings)
        self.n_draws = check_integer("n_draws", n_draws, at_least=1)

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
            mu, sigma, noise = self.mu_, self.sigma_, self.noise_
        else:
            mu = initial_layers([X.shape[1], *self.hidden, 1], rng)
            scales = [1.0 / np.sqrt(len(each)) if each.ndim == 2 else 1.0 for each in mu]
            sigma = [np.full(each.shape, START * scale) for each, scale in zip(mu, scales, strict=True)]
            noise = self.noise
        low, high = np.log(self.noise_bounds)
        with alone() as torch:
            means = [tensor(each, learned=True) for each in mu]
            raw = [tensor(inverse_softplus(each), learned=True) for each in sigma]
            log_noise = tensor(np.array(np.log(noise)), learned=True)
            inputs, responses, extra = tensor(X), tensor(z), tensor(known)

            def loss() -> Any:
                draws = [tensor(rng.standard_normal((1, *each.shape))) for each in mu[:-2]]
                deviations = [torch.nn.functional.softplus(each) for each in raw]
                noises = log_noise.clamp(low, high).exp() + extra
                return -bound(means, deviations, draws, noises, inputs, responses) / len(z)

            taken = descend(loss, [*means, *raw, log_noise], epochs=epochs, rate=self.learning_rate)
            self.mu_ = [array(each) for each in means]
            self.sigma_ = [np.logaddexp(0.0, array(each)) for each in raw]
            self.noise_ = float(np.exp(np.clip(array(log_noise), low, high)))
        if not goes_on:
            self.draws_ = [rng.standard_normal((self.n_draws, *each.shape)) for each in mu[:-2]]
        return taken

    def selection_features(self, X: FloatArray) -> FloatArray:
        """Last hidden layer h (n, q) at mu: the gradient of the output in the last layer's weights."""
        with alone() as torch, torch.no_grad():
            return array(hidden_layer([tensor(each) for each in self.mu_[:-2]], tensor(X)))

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) in units of z."""
        mean, variance = np.empty(len(points)), np.empty(len(points))
        for here in blocks(len(points), BLOCK):
            _, each, inner = self._moments(points[here])
            mean[here] = each.mean(axis=0)
            variance[here] = each.var(axis=0) + inner.mean(axis=0)
        return mean, np.sqrt(variance, out=variance)

    def covariance(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Posterior covariance (p, m) of the function between points (p, d) and (m, d), in squared units of z."""
        (h, means, _), (other, its_means, _) = self._moments(first), self._moments(second)
        S = len(h)
        covariance: FloatArray = (
            np.einsum("sp,sm->pm", means - means.mean(axis=0), its_means - its_means.mean(axis=0)) / S
            + np.einsum("spq,smq->pm", h * self.sigma_[-2][:, 0] ** 2, other) / S
            + self.sigma_[-1] ** 2
        )
        return covariance

    def _moments(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        with alone() as torch, torch.no_grad():
            mu, sigma, draws = ([tensor(each) for each in values] for values in (self.mu_, self.sigma_, self.draws_))
            h, mean, variance = moments(mu, sigma, draws, tensor(points))
            return array(h), array(mean), array(variance)


@fantasize.register(BayesianNetwork)
def _imagine(model: BayesianNetwork, points: FloatArray) -> Imagined:
    return Imagined(model, points)
