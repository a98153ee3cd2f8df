"""The Gaussian process as an estimator of scikit-learn, on a retained subset where there are many observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from gssbo._optional import import_optional
from gssbo._typing import ArrayLike, FloatArray
from gssbo._validation import check_array, check_choice, check_flag, check_integer
from gssbo.gp import GaussianProcess
from gssbo.integrations.sklearn.random_state import generator
from gssbo.joint import Process, draw, predict
from gssbo.projected import ProjectedProcess
from gssbo.responses import standardize
from gssbo.selection import select_subset
from gssbo.selection.rules import RULES

__all__ = ["GaussianProcessRegressor"]

base: Any = import_optional("sklearn.base", extra="sklearn", purpose="gssbo.integrations.sklearn")
validation: Any = import_optional("sklearn.utils.validation", extra="sklearn", purpose="gssbo.integrations.sklearn")

LEAST_FITTED = 500  # observations for the hyperparameters, where there are so many; fewer take noise for signal


class GaussianProcessRegressor(base.RegressorMixin, base.BaseEstimator):  # type: ignore[misc]
    """Gaussian-process regression for pipelines and searches of scikit-learn.

    A `gssbo.GaussianProcess` behind an estimator's interface. Beyond `subset_size` observations the hyperparameters are
    fitted to 500 random ones, or `subset_size` if that is more, the rule chooses from all of them with these, and all
    of them are projected on what it chose, what that does not span being noise; or the process stands on these alone.
    For the rules with residuals and "variance" that takes time linear in the number of observations, and
    memory likewise.

    What a rule chooses is no fair sample: hyperparameters fitted to it again take large residuals for noise. On noisy
    functions that made the residual rule's error 1.6 to 2.9 times as large, and worse than a random subset's.

    Parameters
    ----------
    kernel : {"matern52", "matern32", "rbf"}
    lengthscale, variance, noise, fit_hyperparameters, normalize_y, n_restarts
        As for `gssbo.GaussianProcess`.
    lengthscale_bounds, variance_bounds, noise_bounds, threads
        As for `gssbo.GaussianProcess`.
    subset_size : int or None
        Observations to keep; None keeps all, at a cost that grows with the cube of their number.
    rule : str
        Selection rule: "residual", "residual-exchange", "variance", "residual-ratio", "maxmin", "vector", "scalar",
        "random", "kmeans++" or "topk-random".
    posterior : {"projected", "exact"}
        Whether all observations are learnt from, or those that are retained alone.
    random_state : None, int, RandomState or Generator
        Source of the restarts, of the random subset and of the rules that draw; of the draws of `sample_y` too if that
        is not given its own.

    Attributes
    ----------
    gp_ : GaussianProcess
        Of the retained observations alone.
    projection_ : ProjectedProcess or None
        Of all observations, which is what predicts; None where all are retained, or the posterior is exact.
    retained_ : ndarray of int, shape (min(n, subset_size),)
        Indices of the retained observations, ascending.
    noise_std_ : float
        Standard deviation of the noise it found, in units of y.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Raises
    ------
    ValueError
        From `fit`, if a parameter is out of its range.
    NotFittedError
        From the other methods, before `fit`.
    MissingDependencyError
        From importing this module, if scikit-learn is not installed.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.random.default_rng(0).uniform(0.0, 100.0, (900, 2))
    >>> y = np.sin(X[:, 0] / 15.0) + X[:, 1] / 50.0
    >>> model = make_pipeline(StandardScaler(), GaussianProcessRegressor(subset_size=100, random_state=0))
    >>> bool(model.fit(X[:800], y[:800]).score(X[800:], y[800:]) > 0.99)
    True
    >>> mean, std = model.predict(X[800:], return_std=True)
    """

    def __init__(
        self,
        kernel: str = "matern52",
        *,
        lengthscale: ArrayLike | None = None,
        variance: float = 1.0,
        noise: float = 1e-2,
        fit_hyperparameters: bool = True,
        normalize_y: bool = True,
        n_restarts: int = 2,
        lengthscale_bounds: ArrayLike | None = None,
        variance_bounds: ArrayLike = (1e-4, 1e4),
        noise_bounds: ArrayLike = (1e-6, 1e1),
        subset_size: int | None = 500,
        rule: str = "residual",
        posterior: str = "projected",
        threads: int = 1,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.variance = variance
        self.noise = noise
        self.fit_hyperparameters = fit_hyperparameters
        self.normalize_y = normalize_y
        self.n_restarts = n_restarts
        self.lengthscale_bounds = lengthscale_bounds
        self.variance_bounds = variance_bounds
        self.noise_bounds = noise_bounds
        self.subset_size = subset_size
        self.rule = rule
        self.posterior = posterior
        self.threads = threads
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GaussianProcessRegressor:
        """Fit to observations X (n, d) and y (n,)."""
        rule = check_choice("rule", self.rule, RULES)
        size = None if self.subset_size is None else check_integer("subset_size", self.subset_size, at_least=2)
        projects = check_choice("posterior", self.posterior, ("projected", "exact")) == "projected"
        rng = generator(self.random_state)
        gp = self._gaussian_process(rng)
        normalize = check_flag("normalize_y", self.normalize_y)
        given = X, y
        if y is not None and np.asarray(y).dtype.kind in "OUSmM":  # scikit-learn's errors about these do not name y
            check_array("y", y)
        X, y = validation.check_X_y(X, y, dtype=np.float64, y_numeric=True, estimator=self)
        z, mean, std = np.ascontiguousarray(y), 0.0, 1.0
        if normalize:
            z, mean, std = standardize(y)  # all of y gives the scale, not what is retained
        retained, projection = np.arange(len(X)), None
        if size is None or len(X) <= size:
            gp.fit(X, z)
        else:
            first = np.sort(rng.permutation(len(X))[: max(size, LEAST_FITTED)])
            gp.fit(X[first], z[first])
            retained = np.sort(select_subset(gp, X, size, y=z, rule=rule, rng=rng))
            gp.condition(np.ascontiguousarray(X[retained]), z[retained], optimize=False, rng=rng)
            if projects:
                projection = ProjectedProcess(
                    gp.kernel_, gp.noise_, gp.X_train_, scale=(mean, std), threads=self.threads
                )
                projection.observe(np.ascontiguousarray(X), z, rest_is_noise=True)
        gp.y_mean_, gp.y_std_ = mean, std
        # Number and names of the columns, last of all: a fit that is refused leaves the model fitted before as it was.
        validation.validate_data(self, *given, skip_check_array=True)
        self.gp_, self.projection_ = gp, projection
        self.noise_std_ = float(std * np.sqrt(gp.noise_))
        self.retained_ = retained
        return self

    def _gaussian_process(self, rng: np.random.Generator) -> GaussianProcess:
        """The process that the settings ask for, of responses that are standardised already."""
        return GaussianProcess(
            self.kernel,
            lengthscale=self.lengthscale,
            variance=self.variance,
            noise=self.noise,
            fit_hyperparameters=self.fit_hyperparameters,
            normalize_y=False,
            n_restarts=self.n_restarts,
            lengthscale_bounds=self.lengthscale_bounds,
            variance_bounds=self.variance_bounds,
            noise_bounds=self.noise_bounds,
            warm_start=True,  # the hyperparameters stand when the subset is exchanged
            threads=self.threads,
            rng=rng,
        )

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, include_noise: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Posterior mean (m,) of the latent function at X (m, d), in units of y.

        With its standard deviation (m,) if `return_std`, or covariance (m, m) if `return_cov`. These are of the
        function, where the mean of many observations would lie; `include_noise` makes them those of a new observation.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has the wrong shape or is not finite, or both std and covariance are asked for.
        """
        validation.check_is_fitted(self)
        noisy = check_flag("include_noise", include_noise)
        points = validation.validate_data(self, X, dtype=np.float64, reset=False)
        found = predict(self._process, np.ascontiguousarray(points), return_std, return_cov)
        if not noisy or not isinstance(found, tuple):
            return found
        mean, spread = found
        if return_std:
            return mean, np.hypot(spread, self.noise_std_)
        spread[np.diag_indices(len(points))] += self.noise_std_**2
        return mean, spread

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = None) -> FloatArray:
        """Joint draws of the latent function at X (m, d): shape (m, n_samples)."""
        validation.check_is_fitted(self)
        points = validation.validate_data(self, X, dtype=np.float64, reset=False)
        rng = self.gp_.rng if random_state is None else generator(random_state)
        count = check_integer("n_samples", n_samples, at_least=1)
        return draw(self._process, np.ascontiguousarray(points), count, rng)

    @property
    def _process(self) -> Process:
        """What predicts."""
        return self.gp_ if self.projection_ is None else self.projection_
