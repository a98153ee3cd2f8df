"""Hyperparameter tuning of a small network on the Pima Indians Diabetes data: noisy, four inputs.

Notation
--------
=====  ================================================  ==========  ==============
k      input                                             range       kind
=====  ================================================  ==========  ==============
0      batch size                                        [32, 128]   rounded
1      learning rate                                     [1e-6, 1]   linear scale
2      weight decay                                      [1e-6, 1]   linear scale
3      hidden units                                      [1, 8]      rounded
=====  ================================================  ==========  ==============

One evaluation draws initial weights and five shuffles, trains for five epochs on 576 rows (RMSprop, see
:mod:`gssbo.problems.mlp`) and returns the fraction of 192 validation rows classified wrongly. The network has
one logit and is trained on the binary cross entropy. Features are scaled to [0, 1] by the minima and maxima
of the training rows. The split never changes; weights and shuffles come from the problem's own generator and
differ in every evaluation, so the same input gives different values.

References
----------
[1] J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler, R. S. Johannes. Using the ADAP learning
    algorithm to forecast the onset of diabetes mellitus. Proc. Symposium on Computer Applications in Medical
    Care, 1988.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from gssbo._typing import FloatArray
from gssbo.problems._dimension import fixed_dimension
from gssbo.problems.mlp import draw_weights, predict_labels, train
from gssbo.problems.problem import Normalizer, Problem

__all__ = ["N_EPOCHS", "DiabetesSplit", "diabetes_problem", "diabetes_split", "load_pima", "validation_error"]

N_EPOCHS = 5

_BOUNDS = np.array([[32.0, 128.0], [1e-6, 1.0], [1e-6, 1.0], [1.0, 8.0]])
_LABELS = ("batch size", "learning rate", "weight decay", "hidden units")
_TRAIN_FRACTION = 0.75
_SPLIT_SEED = 0

# Estimates, for this split; see `diabetes_problem` for how they were made.
_X_OPTIMUM = (32.0, 0.03, 2e-4, 8.0)
_OPTIMUM, _OPTIMUM_ERROR = 0.27303, 0.00021
_SCALES = Normalizer(  # what `normalizer(40_000)` computes
    mean_regret=0.395137 - _OPTIMUM,
    mean_regret_error=0.000545,
    std=0.108933,
    std_error=0.000523,
    n_samples=40_000,
)


class DiabetesSplit(NamedTuple):
    """Training and validation parts of the data, features scaled; read-only arrays."""

    X_train: FloatArray
    y_train: FloatArray
    X_valid: FloatArray
    y_valid: FloatArray


def load_pima() -> tuple[FloatArray, FloatArray]:
    """Load the Pima Indians Diabetes data.

    Returns
    -------
    X : ndarray, shape (768, 8)
        Pregnancies, glucose (mg/dl), diastolic blood pressure (mm Hg), skin fold thickness (mm), insulin
        (uU/ml), body mass index (kg/m^2), pedigree function, age (years). As distributed: zeros that
        stand for missing measurements are left in.
    y : ndarray, shape (768,)
        Labels: 1 for the 268 women with diabetes, 0 for the others.

    Examples
    --------
    >>> from gssbo.problems.diabetes import load_pima
    >>> X, y = load_pima()
    >>> X.shape, int(y.sum())
    ((768, 8), 268)
    """
    text = resources.files(__package__).joinpath("data/pima_diabetes.csv").read_text(encoding="utf-8")
    table = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1, dtype=np.float64)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].copy()


@lru_cache(maxsize=1)
def diabetes_split() -> DiabetesSplit:
    """Split and scale the data, always in the same way.

    Returns
    -------
    DiabetesSplit
        `X_train` (576, 8), `y_train` (576,), `X_valid` (192, 8), `y_valid` (192,). Training features lie in
        [0, 1]; validation features may leave it.

    Examples
    --------
    >>> from gssbo.problems.diabetes import diabetes_split
    >>> split = diabetes_split()
    >>> split.X_train.shape, split.X_valid.shape
    ((576, 8), (192, 8))
    """
    X, y = load_pima()
    rows = np.random.default_rng(_SPLIT_SEED).permutation(y.size)
    train_rows, valid_rows = np.split(rows, [round(_TRAIN_FRACTION * y.size)])
    low, high = X[train_rows].min(axis=0), X[train_rows].max(axis=0)
    scaled = (X - low) / (high - low)
    split = DiabetesSplit(scaled[train_rows], y[train_rows], scaled[valid_rows], y[valid_rows])
    for part in split:
        part.setflags(write=False)
    return split


def validation_error(X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Train one network for every configuration and return its validation error.

    Parameters
    ----------
    X : ndarray, shape (n, 4)
        Configurations: batch size, learning rate, weight decay, hidden units. The first and last are rounded.
    rng : numpy.random.Generator
        Source of initial weights and shuffles.

    Returns
    -------
    ndarray, shape (n,)
        Fraction of validation rows misclassified, in [0, 1]; never NaN.

    Raises
    ------
    ValueError
        If an entry lies outside the search space by more than rounding error.

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo.problems.diabetes import validation_error
    >>> errors = validation_error(np.array([[32.0, 0.01, 1e-6, 8.0]] * 2), np.random.default_rng(0))
    >>> bool((errors < 0.5).all())
    True
    """
    lower, upper = _BOUNDS.T
    slack = 1e-9 * (upper - lower)
    inside = (lower - slack <= X) & (upper + slack >= X)  # false for NaN
    if not inside.all():
        row, k = (int(i) for i in np.argwhere(~inside)[0])
        raise ValueError(f"{_LABELS[k]} must lie in [{lower[k]:g}, {upper[k]:g}], got {X[row, k]:g}")
    return np.array([_one_error(row, rng) for row in np.clip(X, lower, upper)], dtype=np.float64)


def _one_error(configuration: FloatArray, rng: np.random.Generator) -> float:
    batch_size, learning_rate, weight_decay, n_hidden = configuration.tolist()
    split = diabetes_split()
    n, p = split.X_train.shape
    theta = draw_weights(p, round(n_hidden), rng)
    order = rng.permuted(np.tile(np.arange(n), (N_EPOCHS, 1)), axis=1)
    path = train(
        theta,
        split.X_train,
        split.y_train,
        order,
        batch_size=round(batch_size),
        learning_rate=learning_rate,
        weight_decay=weight_decay,
    )
    wrong = np.count_nonzero(predict_labels(path[-1], split.X_valid) != split.y_valid)
    return wrong / split.y_valid.size


def diabetes_problem(dim: int | None = None, rng: np.random.Generator | int | None = None) -> Problem:
    """Diabetes tuning problem: minimise the validation error over four hyperparameters.

    The optimum is an estimate of the lowest expected validation error. A random search (4,000
    configurations, linear and logarithmic in rate and decay), repeats and local refinement of the best, and
    a small grid chose `x_optimum`; the optimum is the mean of 20,000 fresh evaluations there, so choosing
    it did not bias it, and `optimum_error` is the standard error of that mean. A slightly better
    configuration may have been missed: in that respect the optimum is an upper estimate. A single
    evaluation is noisy (standard deviation 0.03 at `x_optimum`) and often lies below the expectation; its
    regret is then negative.

    On 99 percent of the box the trained network predicts one class for everybody: the error is then 0.349
    or 0.651, the shares of the two classes. The configurations that learn have a decay below about 0.01;
    the best have one below 0.002 and a rate near 0.03.

    Parameters
    ----------
    dim : int, optional
        Only 4.
    rng : numpy.random.Generator, int or None
        Source of initial weights and shuffles; None draws fresh entropy.

    Returns
    -------
    Problem
        The problem `diabetes`. Its normaliser is stored (40,000 evaluations), because sampling it takes
        minutes.

    Raises
    ------
    ValueError
        If `dim` is not 4.

    Examples
    --------
    >>> from gssbo.problems.diabetes import diabetes_problem
    >>> problem = diabetes_problem(rng=0)
    >>> problem([64.0, 0.03, 1e-6, 6.0]) < 0.5
    True
    """
    fixed_dimension("diabetes", dim, 4)
    return Problem(
        name="diabetes",
        bounds=_BOUNDS,
        function=validation_error,
        optimum=_OPTIMUM,
        optimum_error=_OPTIMUM_ERROR,
        x_optimum=np.array(_X_OPTIMUM),
        source="Pima Indians Diabetes data, National Institute of Diabetes and Digestive and Kidney Diseases "
        "(UCI, KEEL); the optimum is an estimate",
        stochastic=True,
        rng=np.random.default_rng(rng),
        default_samples=_SCALES.n_samples,
        precomputed=_SCALES,
    )
