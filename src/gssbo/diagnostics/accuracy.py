"""Posterior error on a test set, the paper's auxiliary diagnostic (its appendix C, equation for RMSE_t).

It measures posterior means alone: neither variances nor acquisitions nor the quantities of the bounds.
"""

from __future__ import annotations

import numpy as np

from gssbo._arithmetic import in_own_arithmetic
from gssbo._typing import ArrayLike, FloatArray
from gssbo._validation import check_vector
from gssbo.gp import GaussianProcess

__all__ = ["posterior_rmse", "root_mean_square"]


def root_mean_square(mean: FloatArray, truth: FloatArray) -> float:
    """Root mean square of the differences, whose squares may overflow."""
    half = 0.5 * mean - 0.5 * truth
    largest = float(np.abs(half).max())
    with np.errstate(over="ignore"):
        return 2.0 * (largest * float(np.sqrt(np.mean((half / largest) ** 2)))) if largest > 0.0 else 0.0


@in_own_arithmetic
def posterior_rmse(model: GaussianProcess, X: ArrayLike, values: ArrayLike) -> float:
    """Root mean square error of a posterior mean at test points, in units of y.

    Parameters
    ----------
    model : GaussianProcess
        Fitted; to everything, or to a retained subset. `PosteriorGap.rmse` gives both under shared hyperparameters.
    X : array of shape (m, d)
        Test inputs.
    values : array of shape (m,)
        The true function there, without noise.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If a shape is wrong or an entry is not finite.

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> gp = GaussianProcess(rng=0).fit(X, np.sin(6.0 * X[:, 0]))
    >>> test = np.linspace(0.0, 1.0, 101)[:, None]
    >>> posterior_rmse(gp, test, np.sin(6.0 * test[:, 0])) < 0.01
    True
    """
    mean = np.asarray(model.predict(X))
    return root_mean_square(mean, check_vector("values", values, size=len(mean), column=True))
