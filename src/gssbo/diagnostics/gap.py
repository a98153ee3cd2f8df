"""How far a retained subset's posterior is from that of its whole pool.

Notation
--------
D, U, R     the pool of n observations, the retained subset of M, the discarded ones, r = n - M
z           standardised responses (y - mean) / scale, with the mean and scale of the model
A, B, C     blocks of K_y: k(U, U) + noise I, k(U, R), k(R, R) + noise I; noise that is known of single observations
            adds to their diagonal entries (the paper has none; its results hold as they are)
S           Schur complement C - B' A^-1 B (r, r)
r_U         discarded-response residual z_R - B' A^-1 z_U (r,)
c_U(x)      conditional cross-covariance residual k(R, x) - B' A^-1 k(U, x) (r,)
rho_U       sup over x of |c_U(x)|
s, s_R      response scores -K_y^-1 z (n,), and the discarded ones (r,)
mu, sigma   posterior mean and standard deviation of the latent function, full-data (D) or of the subset (U)

Blocks, residuals, scores and norms are in units of the standardised responses (squared for covariances, inverse for
scores); whatever takes points is in units of y, as `GaussianProcess.predict` is. Points are in units of X. With a
`Kernel` for a model the two units are the same.

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, section 5 and appendix A.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gssbo._arithmetic import all_in_own_arithmetic, in_own_arithmetic
from gssbo._typing import ArrayLike, FloatArray
from gssbo._validation import check_indices, check_matrix, check_real, check_vector
from gssbo.diagnostics.accuracy import root_mean_square
from gssbo.diagnostics.bounds import Bounds, Norms
from gssbo.diagnostics.comparison import Comparison, compared
from gssbo.diagnostics.growth import Growth, growth
from gssbo.diagnostics.partition import Partition
from gssbo.diagnostics.pool import read_pool
from gssbo.gp import GaussianProcess
from gssbo.kernels import Kernel

__all__ = ["PosteriorGap", "box_points"]

LOG_POINTS = 11  # 2^11 = 2,048 points where suprema are sought, as many as the paper's 2,000


@all_in_own_arithmetic
class PosteriorGap:
    """The posterior of a retained subset against that of its pool, under shared hyperparameters.

    The exact gaps, the quantities they are made of and the bounds of section 5 of [1]. Nothing is refitted: what
    choosing other hyperparameters on the subset would change is not measured.

    Parameters
    ----------
    model : GaussianProcess or Kernel
        A fitted Gaussian process lends its kernel, its noise (with the jitter its fit took), and the mean and scale it
        standardises responses with; it need not have been fitted to this pool. A kernel takes the responses as they
        are, with mean 0.
    X : array of shape (n, d)
        Inputs of the pool, in the units of the model's lengthscales.
    y : array of shape (n,) or (n, 1)
    retained : array of int, shape (M,)
        Distinct positions in the pool, at least one.
    noise : float, optional
        Noise variance: needed with a kernel, refused with a Gaussian process.
    noise_std : array of shape (n,), optional
        Known standard deviations of the noise of y, in its units, on top of the noise that all observations share.
    candidates : array of shape (m, d), optional
        Where suprema are sought, beside the pool itself; default: 2,048 Sobol points in the box around the pool.
    discarded : array of int, shape (n - M,), optional
        The other positions, in the order that S, r_U and c_U shall have and in which `growth` adds them;
        default: ascending.

    Attributes
    ----------
    retained, discarded : ndarray of int
    scale : float
        Standard deviation that turns standardised units into units of y; 1 with a kernel.
    points : ndarray of shape (m + n, d)
        Candidates and pool: where suprema are sought.

    Raises
    ------
    NotFittedError
        If a Gaussian process is not fitted.
    ValueError
        If an argument is out of its range; the message names it, the rule and the value.

    Notes
    -----
    One Cholesky factorization of K_y on first use, O(n^3), and O(n^2) a point. Largest values are over `points`, so
    they are lower bounds of the suprema over the box; `rho_ceiling` is an upper one. Results do not depend on the
    number of BLAS threads, except for the last digits of `inverse_norm`, `rho_ceiling` and the bounds made of them.
    `gssbo.diagnostics` says how many digits ill-conditioned pools leave.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((60, 2))
    >>> y = np.sin(5.0 * X[:, 0]) + X[:, 1]
    >>> gp = GaussianProcess(rng=0).fit(X, y)
    >>> gap = PosteriorGap(gp, X, y, np.arange(30))
    >>> found = gap.at([[0.2, 0.4], [0.9, 0.1]])
    >>> bool(np.allclose(found.mean, gp.predict([[0.2, 0.4], [0.9, 0.1]])))
    True
    >>> bounds = gap.bounds([[0.2, 0.4], [0.9, 0.1]])
    >>> bool((abs(found.mean_gap) <= bounds.mean_by_scores).all() and (found.std_gap <= bounds.std).all())
    True
    >>> bool(np.allclose(gap.residual, -gap.S @ gap.discarded_scores))
    True
    """

    def __init__(
        self,
        model: GaussianProcess | Kernel,
        X: ArrayLike,
        y: ArrayLike,
        retained: ArrayLike,
        *,
        noise: float | None = None,
        noise_std: ArrayLike | None = None,
        candidates: ArrayLike | None = None,
        discarded: ArrayLike | None = None,
    ) -> None:
        self._pool = read_pool(model, X, y, noise=noise, noise_std=noise_std)
        self._X, self._shared = self._pool.X, self._pool.shared
        n, d = self._X.shape
        self.retained = check_indices("retained", retained, below=n)
        if self.retained.size == 0:
            raise ValueError("retained must hold at least one position, got none")
        rest = np.setdiff1d(np.arange(n, dtype=np.intp), self.retained)
        self.discarded = rest if discarded is None else check_indices("discarded", discarded, below=n)
        if not np.array_equal(np.sort(self.discarded), rest):
            raise ValueError(
                f"discarded must be the {len(rest)} positions that are not retained, got {self.discarded.tolist()}"
            )
        self.scale = self._shared.scale
        if candidates is None:
            where = box_points(self._X.min(axis=0), self._X.max(axis=0))
        else:
            where = check_matrix("candidates", candidates, columns=d)
        self.points = np.vstack([where, self._X])

    def __repr__(self) -> str:
        return f"PosteriorGap(n={len(self._X)}, M={len(self.retained)}, d={self._X.shape[1]})"

    @cached_property
    def _partition(self) -> Partition:
        return Partition(self._pool, self.retained, self.discarded)

    # ---- what the subset is, in standardised units

    @property
    def noise(self) -> float:
        """Noise variance all observations share, jitter included, in squared standardised units."""
        return self._shared.noise + self._partition.jitter

    @property
    def jitter(self) -> float:
        """What was added to the noise because K_y was not positive definite in doubles; 0 unless it was needed."""
        return self._partition.jitter

    @property
    @in_own_arithmetic
    def A(self) -> FloatArray:
        """k(U, U) + noise I (M, M), in squared standardised units."""
        return self._shared.kernel(self._X[self.retained]) + np.diag(self._partition.noise_U)

    @property
    @in_own_arithmetic
    def B(self) -> FloatArray:
        """k(U, R) (M, r), in squared standardised units."""
        return self._shared.kernel(self._X[self.retained], self._X[self.discarded])

    @property
    @in_own_arithmetic
    def C(self) -> FloatArray:
        """k(R, R) + noise I (r, r), in squared standardised units."""
        return self._shared.kernel(self._X[self.discarded]) + np.diag(self._partition.noise_R)

    @property
    @in_own_arithmetic
    def S(self) -> FloatArray:
        """Schur complement C - B' A^-1 B (r, r), in squared standardised units.

        The covariance of the discarded responses given the retained ones, never below noise I.
        """
        return self._partition.S

    @property
    def residual(self) -> FloatArray:
        """r_U (r,), in standardised units: discarded responses less what the subset predicts for them."""
        return self._partition.residual.copy()

    @property
    @in_own_arithmetic
    def scores(self) -> FloatArray:
        """Response scores s = -K_y^-1 z of the whole pool (n,), in inverse standardised units; in pool order."""
        scores = np.empty(len(self._X))
        scores[self.retained], scores[self.discarded] = self._partition.scores
        return scores

    @property
    @in_own_arithmetic
    def discarded_scores(self) -> FloatArray:
        """s_R = -S^-1 r_U (r,), in inverse standardised units, in the order of `discarded`; proposition 5.3."""
        return self._partition.scores[1].copy()

    @property
    @in_own_arithmetic
    def residual_norm(self) -> float:
        """|r_U|, in standardised units: xi_U of corollary A.1."""
        return _norm(self._partition.residual)

    @property
    @in_own_arithmetic
    def score_norm(self) -> float:
        """|s_R|, in inverse standardised units."""
        return _norm(self._partition.scores[1])

    @property
    @in_own_arithmetic
    def inverse_norm(self) -> float:
        """|S^-1|, in inverse squared standardised units, at most 1 / noise; O(r^3) at the first call."""
        return self._partition.inverse_norm

    @property
    @in_own_arithmetic
    def surprise(self) -> float:
        """r_U' S^-1 r_U / r: how badly the subset predicts the discarded responses, jointly.

        About 1, give or take sqrt(2 / r), if the hyperparameters are right, whichever the subset, provided that it was
        not chosen by the responses; far above 1 the model itself is doubtful, with all the data as with the subset.
        NaN where nothing is discarded.
        """
        w = self._partition.w_R
        with np.errstate(over="ignore"):
            return float(np.mean(w * w)) if len(w) else float("nan")

    # ---- at points

    def at(self, points: ArrayLike) -> Comparison:
        """Both posteriors and their gaps at points (m, d), in units of y.

        Raises
        ------
        ValueError
            If `points` has the wrong shape or is not finite; so in all methods that take points.
        """
        return self._compare(check_matrix("points", points, columns=self._X.shape[1]))

    def _compare(self, points: FloatArray) -> Comparison:
        return compared(self._partition.measure(points), self._shared.mean, self.scale)

    def mean_gap(self, points: ArrayLike) -> FloatArray:
        """mu_D - mu_U at points (m, d): (m,), in units of y; theorem 5.1."""
        return self.at(points).mean_gap

    def mean_gap_by_scores(self, points: ArrayLike) -> FloatArray:
        """`mean_gap` as -c_U(x)' s_R, through the discarded response scores: proposition 5.3; in units of y."""
        gap: FloatArray = np.einsum("ij,i->j", self.cross_residual(points), -self._partition.scores[1])
        return self.scale * gap

    def variance_gap(self, points: ArrayLike) -> FloatArray:
        """sigma_U^2 - sigma_D^2 >= 0 at points (m, d): (m,), in squared units of y; theorem 5.1."""
        return self.at(points).variance_gap

    def std_gap(self, points: ArrayLike) -> FloatArray:
        """sigma_U - sigma_D >= 0 at points (m, d): (m,), in units of y; lemma A.2."""
        return self.at(points).std_gap

    def ucb_gap(self, points: ArrayLike, *, beta: float = 2.0) -> FloatArray:
        """Full-data less subset upper confidence bound mu + sqrt(beta) sigma at points: (m,), in units of y."""
        found = self.at(points)
        reach = float(np.sqrt(check_real("beta", beta, at_least=0.0)))
        return found.mean_gap - reach * found.std_gap

    def cross_residual(self, points: ArrayLike) -> FloatArray:
        """c_U at points (m, d): (r, m), in squared standardised units."""
        return self._partition.cross_residual(check_matrix("points", points, columns=self._X.shape[1]))

    def bounds(self, points: ArrayLike, *, beta: float = 2.0) -> Bounds:
        """Bounds of theorem 5.1, proposition 5.3, lemma A.2 and corollary 5.4 at points (m, d), in units of y."""
        return self._bounds(self.at(points).cross_norm, beta)

    def uniform_bounds(self, *, beta: float = 2.0, certain: bool = False) -> Bounds:
        """`bounds` for all x at once, with rho_U: corollaries A.1 and 5.4, proposition 5.3; in units of y.

        Parameters
        ----------
        beta : float
        certain : bool
            Whether `rho_ceiling` takes the place of `rho`: the bounds then hold everywhere, not at `points` alone.
        """
        return self._bounds(self.rho_ceiling if certain else self.rho, beta)

    def _bounds(self, cross: FloatArray | float, beta: float) -> Bounds:
        least = float(self._partition.noise_R.min(initial=np.inf))
        norms = Norms(self.residual_norm, self.score_norm, self.inverse_norm, least)
        return norms.bounds(cross, beta=check_real("beta", beta, at_least=0.0), scale=self.scale)

    def rmse(self, points: ArrayLike, values: ArrayLike) -> tuple[float, float]:
        """Root mean square errors of mu_D and of mu_U against true values (m,) at points (m, d), in units of y."""
        found = self.at(points)
        truth = check_vector("values", values, size=len(found.mean), column=True)
        return root_mean_square(found.mean, truth), root_mean_square(found.subset_mean, truth)

    # ---- largest values over `points`

    @cached_property
    def _everywhere(self) -> Comparison:
        return self._compare(self.points)

    def everywhere(self) -> Comparison:
        """`at(points)` for the attribute `points`, (m + n,) each; computed once."""
        return self._everywhere

    @property
    @in_own_arithmetic
    def rho(self) -> float:
        """rho_U, in squared standardised units: the largest |c_U(x)| found."""
        return float(self._everywhere.cross_norm.max())

    @cached_property
    def rho_ceiling(self) -> float:
        """What rho_U cannot exceed, wherever x is, in squared standardised units; O(r^3). Ours.

        S less the noise, c_U(x) and sigma_U^2(x) make up one covariance, so |c_U(x)|^2 is at most sigma_U^2(x) times
        the largest eigenvalue of S less the noise, and sigma_U^2(x) at most k(x, x).
        """
        r = len(self.discarded)
        if r == 0:
            return 0.0
        latent = self.S - np.diag(self._partition.noise_R)
        largest = float(np.linalg.eigvalsh(latent)[-1])
        return float(np.sqrt(self._shared.kernel.variance * max(largest, 0.0)))

    @property
    @in_own_arithmetic
    def largest_mean_gap(self) -> float:
        """Largest |mu_D - mu_U| found, in units of y."""
        return float(np.abs(self._everywhere.mean_gap).max())

    @property
    @in_own_arithmetic
    def largest_std_gap(self) -> float:
        """Largest sigma_U - sigma_D found, in units of y."""
        return float(self._everywhere.std_gap.max())

    def growth(self) -> Growth:
        """Largest gaps over `points` as the discarded observations come back in their order.

        See `growth_order` for an order; O(n^3), like one `PosteriorGap`, for all sizes together.
        """
        part = self._partition
        return growth(part.roots(self.points), part.w_R, len(self.retained), self.scale)


def box_points(low: FloatArray, high: FloatArray) -> FloatArray:
    """2,048 Sobol points, the same every time, in the box between low and high (d,)."""
    from scipy.stats import qmc  # as in `gssbo.design`

    unit: FloatArray = qmc.Sobol(len(low), scramble=False).random_base2(LOG_POINTS)
    return low + unit * (high - low)


def _norm(v: FloatArray) -> float:
    """Euclidean norm; squares of huge entries would overflow."""
    largest = float(np.abs(v).max(initial=0.0))
    return largest * float(np.sqrt(np.sum((v / largest) ** 2))) if largest > 0.0 else 0.0
