"""Tasks of machine learning: accuracies that are quantised, training that diverges, parameters that do not matter."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gssbo.space import Categorical, Integer, Real

from .task import Point, Task

__all__ = ["TASKS"]


@cache
def _data(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn import datasets
    from sklearn.preprocessing import scale

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    return scale(X[rows]), y[rows]


def _split(name: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X, y = _data(name, n)
    half = len(X) // 2
    return X[:half], y[:half], X[half:], y[half:]


def _error(model: Any, name: str, n: int) -> float:
    """Share of mistakes on the half that was not trained on."""
    X, y, others, wanted = _split(name, n)
    return float(np.mean(model.fit(X, y).predict(others) != wanted))


def support_vectors(x: Point) -> float:
    """Error of a support vector machine on 300 digits, of which it mistakes a whole number."""
    from sklearn.svm import SVC

    return _error(SVC(**x, max_iter=2000), "digits", 600)


def tree(x: Point) -> float:
    """Error of a decision tree on 284 tumours: most steps change nothing."""
    from sklearn.tree import DecisionTreeClassifier

    return _error(DecisionTreeClassifier(**x, random_state=0), "breast_cancer", 569)


def boosting(x: Point) -> float:
    """Mean squared error of boosted trees on 150 patients."""
    from sklearn.ensemble import GradientBoostingRegressor

    X, y, others, wanted = _split("diabetes", 300)
    model = GradientBoostingRegressor(**x, random_state=0)
    return float(np.mean((model.fit(X, y).predict(others) - wanted) ** 2))


def pipeline(x: Point) -> float:
    """Error on 89 wines of the model that a category chooses; most other parameters are of the other models."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.feature_selection import SelectKBest
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    models = {
        "svm": lambda: SVC(C=x["C"], gamma=x["gamma"]),
        "neighbours": lambda: KNeighborsClassifier(x["neighbours"], p=x["power"]),
        "linear": lambda: LogisticRegression(C=x["C"], max_iter=50),
        "trees": lambda: ExtraTreesClassifier(8, max_depth=x["depth"], random_state=0),
    }
    return _error(make_pipeline(SelectKBest(k=x["features"]), models[x["model"]]()), "wine", 178)


def network(x: Point) -> float:
    """Loss of a small network after 60 steps of gradient descent with momentum; training diverges in half the box."""
    X, y = _data("diabetes", 442)
    target = (y - y.mean()) / y.std()
    train, test = slice(None, 300), slice(300, None)
    rng = np.random.default_rng(1)
    width = x["width"]
    weights = [rng.standard_normal((X.shape[1], width)), rng.standard_normal((width, 1))]
    weights = [x["scale"] * each / np.sqrt(len(each)) for each in weights]
    speed = [np.zeros_like(each) for each in weights]

    def forward(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        hidden = np.maximum(X[rows] @ weights[0], 0.0)
        return hidden, (hidden @ weights[1])[:, 0] - target[rows]

    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(60):
            hidden, residual = forward(train)
            back = residual[:, None] / len(residual)
            slopes = [X[train].T @ ((back @ weights[1].T) * (hidden > 0.0)), hidden.T @ back]
            for i in range(2):
                speed[i] = x["momentum"] * speed[i] - x["rate"] * (slopes[i] + x["decay"] * weights[i])
                weights[i] = weights[i] + speed[i]
        loss = float(np.mean(forward(test)[1] ** 2))
    return loss if loss < 1e3 else float("nan")


TASKS = {
    "support vectors": Task(
        support_vectors,
        {
            "C": Real(1e-3, 1e3, log=True),
            "gamma": Real(1e-6, 10.0, log=True),
            "kernel": Categorical(["rbf", "poly", "sigmoid", "linear"]),
            "degree": Integer(2, 5),
            "coef0": Real(0.0, 2.0),
        },
        150,
    ),
    "tree": Task(
        tree,
        {
            "max_depth": Integer(1, 20),
            "min_samples_leaf": Integer(1, 100, log=True),
            "min_samples_split": Integer(2, 100, log=True),
            "max_features": Real(0.05, 1.0),
            "ccp_alpha": Real(1e-6, 0.1, log=True),
            "criterion": Categorical(["gini", "entropy"]),
        },
        200,
    ),
    "boosting": Task(
        boosting,
        {
            "learning_rate": Real(1e-3, 1.0, log=True),
            "n_estimators": Integer(5, 40),
            "max_depth": Integer(1, 8),
            "subsample": Real(0.2, 1.0),
            "max_features": Real(0.1, 1.0),
            "min_samples_leaf": Integer(1, 60, log=True),
            "loss": Categorical(["squared_error", "absolute_error", "huber"]),
        },
        150,
    ),
    "pipeline": Task(
        pipeline,
        {
            "model": Categorical(["svm", "neighbours", "linear", "trees"]),
            "features": Integer(1, 13),
            "C": Real(1e-4, 1e3, log=True),
            "gamma": Real(1e-5, 10.0, log=True),
            "neighbours": Integer(1, 40),
            "power": Real(1.0, 4.0),
            "depth": Integer(1, 12),
        },
        150,
    ),
    "network, diverging": Task(
        network,
        {
            "rate": Real(1e-4, 1e2, log=True),
            "momentum": Real(0.0, 0.99),
            "decay": Real(1e-6, 10.0, log=True),
            "scale": Real(0.01, 30.0, log=True),
            "width": Integer(2, 64, log=True),
        },
        200,
    ),
}
