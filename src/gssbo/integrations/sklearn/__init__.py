"""A search over the parameters of scikit-learn's estimators, and a Gaussian process as such an estimator."""

from __future__ import annotations

from gssbo.integrations.sklearn.regressor import GaussianProcessRegressor
from gssbo.integrations.sklearn.search import GSSBOSearchCV

__all__ = ["GSSBOSearchCV", "GaussianProcessRegressor"]
