"""SparseGP: a variational Gaussian process on a few inducing points.

Notation
--------
n, m        observations, inducing points; Z their locations (m, d); U^T U = k(Z, Z) + 1e-6 I
phi(x)      U^-T k(Z, x) (m,)
q(v)        N(a, L L^T), the distribution of the whitened values v at Z, whose prior is N(0, I)
mean        phi(x).a
variance    k(x, x) - phi(x).phi(x) + |L^T phi(x)|^2
bound       sum_i E_q log N(z_i; f(x_i), noise_i) - KL(q(v) | N(0, I)), at most the log marginal likelihood of the exact
            process [1, 2]

Z, a, L, lengthscales, variance and noise climb the bound together. The model is that of GPyTorch's whitened
`VariationalStrategy` with a `CholeskyVariationalDistribution`, and the path of Adam is the same. The bound is written
out here: an epoch takes a quarter of its time with 100 observations, half of it with 1,000. Predictions are made in
this package's core from arrays, which is all the state there is.

Settings [3]. 40 inducing points, or as many as there are observations, which start at randomly chosen ones at every
iteration; Adam with a step of 0.01, 100 epochs an iteration on all observations; locations learned. What the paper does
not say, and is so here: the hyperparameters go on from the last iteration; the prior mean is 0; a and L start at their
optimum for the start of all else, which is known for Gaussian noise [1]. For short runs: `options(epochs=10)`.

Cost of an iteration: epochs times n m^2, each at least a millisecond of PyTorch's; m^2 for each candidate.

References
----------
1. Titsias, Variational learning of inducing variables in sparse Gaussian processes, AISTATS 2009.
2. Hensman, Fusi and Lawrence, Gaussian processes for big data, UAI 2013.
3. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, configuration table
   (appendix).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_integer, check_real
from gssbo.baselines._torch import alone, array, covariances, descend, inverse_softplus, pytorch, require, tensor
from gssbo.baselines.imagined import Imagined
from gssbo.factor import Factor, product
from gssbo.fantasy import fantasize
from gssbo.kernels import Kernel
from gssbo.padded import padded_copy
from gssbo.projected import projected
from gssbo.regressor import Regressor

__all__ = ["SparseProcess", "bound", "optimum", "options"]

JITTER = 1e-6  # GPyTorch's in double precision
BLOCK = 512  # points whose features are held at once

Values: TypeAlias = tuple[Any, Any, Any, Any, Any, Any]
"""Tensors Z (m, d), a (m,), L (m, m), of which the lower triangle counts, lengthscales (d,), variance, noise."""


def options(**settings: Any) -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it SparseGP; settings are those of `SparseProcess`.

    Raises
    ------
    MissingDependencyError
        If PyTorch is not installed.
    """
    require("sparse-gp")
    return {"surrogate": SparseProcess(**settings)}


class SparseProcess(Regressor):
    """A variational sparse Gaussian process; see the module's notes.

    Parameters
    ----------
    kernel : {"matern52", "matern32", "rbf"}
    n_inducing : int
        m.
    epochs : int
        Steps of Adam a fit; 0 leaves locations and hyperparameters where they start.
    learning_rate : float
    **settings
        As for `gssbo.GaussianProcess`, whose bounds (but for the noise floor), restarts and tolerance play no part.

    Attributes
    ----------
    inducing_ : ndarray of shape (m, d)
    mean_, factor_ : ndarray of shape (m,) and (m, m)
        a and L.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> model = SparseProcess(epochs=20, rng=0).fit(X, np.sin(6 * X[:, 0]) + X[:, 1])
    >>> bool(abs(model.predict([[0.5, 0.5]])[0] - (np.sin(3.0) + 0.5)) < 0.05)
    True
    """

    inducing_: FloatArray
    mean_: FloatArray
    factor_: FloatArray
    _U_: FloatArray

    def __init__(
        self,
        kernel: str = "matern52",
        *,
        n_inducing: int = 40,
        epochs: int = 100,
        learning_rate: float = 0.01,
        **settings: Any,
    ) -> None:
        super().__init__(kernel, **settings)
        self.n_inducing = check_integer("n_inducing", n_inducing, at_least=1)
        self.epochs = check_integer("epochs", epochs, at_least=0)
        self.learning_rate = check_real("learning_rate", learning_rate, above=0.0)

    def condition(
        self,
        X: FloatArray,
        y: FloatArray,
        *,
        optimize: bool,
        rng: np.random.Generator | None = None,
        noise_std: FloatArray | None = None,
    ) -> None:
        """See `gssbo.surrogate.Surrogate`; locations are learned whether or not hyperparameters are."""
        z, mean, std, known = self.standardized(y, noise_std)
        theta = self._start(X).copy()
        floor = float(self.noise_bounds[0])
        learn = optimize and bool(np.any(z))
        if learn:
            theta[-1] = max(theta[-1], np.log(1.01 * floor))
        chosen = self.start(X, theta, self.rng if rng is None else rng)
        kernel, noise = self._adopt(theta)
        Z = X[chosen].copy()
        a, L = optimum(kernel, Z, X, z, noise + known)
        theta, (Z, a, L), taken = _climb(
            kernel,
            noise,
            (Z, a, L),
            X,
            z,
            known,
            floor=floor if learn else None,
            epochs=self.epochs,
            rate=self.learning_rate,
        )
        kernel, noise = self._adopt(theta)
        U = _factor(kernel, Z)
        self.inducing_, self.mean_, self.factor_, self._U_ = Z, a, L, U
        self.kernel_, self.noise_, self.theta_ = kernel, noise, theta
        self.X_train_, self.y_train_ = X, z
        status = "trained" if learn else "constant" if optimize else "fixed"
        self.fit_info_ = {"status": status, "epochs": taken, "start": chosen}
        self.y_mean_, self.y_std_ = mean, std

    def start(self, X: FloatArray, theta: FloatArray, rng: np.random.Generator) -> IndexArray:
        """Indices of the observations that the inducing points start at: m of them at random, without replacement."""
        return np.sort(rng.permutation(len(X))[: self.n_inducing])

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) in units of z."""
        mean, variance = np.empty(len(points)), np.empty(len(points))

        def score(first: int, last: int) -> None:
            for begin in range(first, last, BLOCK):
                here = slice(begin, min(begin + BLOCK, last))
                phi, spread = self._features(points[here])
                mean[here] = np.einsum("ij,i->j", phi, self.mean_)
                lost = np.einsum("ij,ij->j", phi, phi)
                variance[here] = np.maximum(self.variance_ - lost, 0.0) + np.einsum("ij,ij->j", spread, spread)

        self._in_parts(score, len(points))
        return mean, np.sqrt(variance, out=variance)

    def covariance(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Posterior covariance (p, m) of the function between points (p, d) and (m, d), in squared units of z."""
        (phi, spread), (other, its_spread) = self._features(first), self._features(second)
        covariance: FloatArray = self.kernel_(first, second) - product(phi, other) + product(spread, its_spread)
        return covariance

    def _features(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Phi and L^T phi of the points (m, k)."""
        phi = projected(self.kernel_, self.inducing_, self._U_, np.ascontiguousarray(points))[:, : len(points)]
        return phi, product(self.factor_, phi)


@fantasize.register(SparseProcess)
def _imagine(model: SparseProcess, points: FloatArray) -> Imagined:
    return Imagined(model, points)


def optimum(
    kernel: Kernel, Z: FloatArray, X: FloatArray, z: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The a (m,) and L (m, m) that maximise the bound for given locations and hyperparameters.

    With noise variances (n,) and W = diag(1 / noise): L L^T = (I + phi(X) W phi(X)^T)^-1, a = L L^T phi(X) W z.
    """
    m, n = len(Z), len(X)
    phi = projected(kernel, Z, _factor(kernel, Z), X)[:, :n]
    scaled = (phi / np.sqrt(noise)).T.copy()
    precision = Factor(np.eye(m) + product(scaled, scaled))
    columns = precision.solve(np.column_stack([np.eye(m), np.einsum("ij,j->i", phi, z / noise)]))
    factor = padded_copy(0.5 * (columns[:, :m] + columns[:, :m].T))
    if _linalg.cholesky(m, factor) != 0:
        raise np.linalg.LinAlgError(f"the distribution at {m} inducing points is not positive definite with {kernel!r}")
    return columns[:, m].copy(), np.triu(factor[:, :m]).T.copy()


def _factor(kernel: Kernel, Z: FloatArray) -> FloatArray:
    """U (m, ld)."""
    U = kernel.padded_gram(Z, JITTER, full=False)
    if _linalg.cholesky(len(Z), U) != 0:
        raise np.linalg.LinAlgError(f"the covariance of {len(Z)} points is not positive definite with {kernel!r}")
    return U


def bound(kernel: str, values: Values, X: Any, z: Any) -> Any:
    """The bound for inputs X (n, d) and responses z (n,); tensors, as are the noise variances (n,) or one for all."""
    torch = pytorch()
    Z, a, L, lengthscale, variance, noise = values
    m, n = len(Z), len(X)
    C = torch.linalg.cholesky(covariances(kernel, Z, Z, lengthscale, variance) + JITTER * tensor(np.eye(m)))
    phi = torch.linalg.solve_triangular(C, covariances(kernel, Z, X, lengthscale, variance), upper=False)
    L = L.tril()
    lost, kept = phi.square().sum(0), (L.T @ phi).square().sum(0)
    squares = (z - a @ phi).square() + (variance - lost).clamp_min(0.0) + kept
    expected = -0.5 * (squares / noise + torch.log(2.0 * np.pi * noise).expand(n)).sum()
    divergence = 0.5 * (L.square().sum() + a @ a - m) - L.diagonal().abs().log().sum()
    return expected - divergence


def _climb(
    kernel: Kernel,
    noise: float,
    start: tuple[FloatArray, FloatArray, FloatArray],
    X: FloatArray,
    z: FloatArray,
    known: FloatArray,
    *,
    floor: float | None,
    epochs: int,
    rate: float,
) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray], int]:
    """Theta; Z, a and L; and the epochs taken. Hyperparameters stay without a floor of the noise.

    What is positive is the softplus of what Adam sees, the noise above its floor, as in GPyTorch: Adam's path is the
    same.
    """
    theta = np.log(np.concatenate([kernel.lengthscale, [kernel.variance, noise]]))
    if epochs == 0:
        return theta, start, 0
    with alone() as torch:
        softplus = torch.nn.functional.softplus
        inputs, responses, extra = tensor(X), tensor(z), tensor(known)
        parts = [tensor(each, learned=True) for each in start]
        offset = np.append(np.zeros(len(theta) - 1), floor or 0.0)
        raw = tensor(inverse_softplus(np.exp(theta) - offset), learned=True)

        def values() -> Values:
            positive = tensor(np.exp(theta)) if floor is None else softplus(raw) + tensor(offset)
            return (*parts, positive[:-2], positive[-2], positive[-1] + extra)

        taken = descend(
            lambda: -bound(kernel.name, values(), inputs, responses) / len(z),
            parts if floor is None else [*parts, raw],
            epochs=epochs,
            rate=rate,
        )
        if floor is not None:
            theta = np.log(np.logaddexp(0.0, array(raw)) + offset)
        Z, a, L = (array(each) for each in parts)
        return theta, (Z, a, np.tril(L)), taken
