"""A small binary classifier: one hidden ReLU layer, trained with RMSprop, in plain NumPy.

Notation
--------
=========  ==================================================================  ===============
X          features                                                            (n, p)
y          labels, 0 or 1                                                      (n,)
h          number of hidden units                                              scalar
W1, b1     hidden layer: weights and bias                                      (p, h), (h,)
w2, b2     output layer: weights and bias                                      (h,), scalar
theta      all parameters in one vector: W1 (row-major), b1, w2, b2            (h * (p + 2) + 1,)
z          logit of class 1: max(X W1 + b1, 0) w2 + b2                         (n,)
g          gradient of the mean binary cross entropy of sigmoid(z), plus       as theta
           weight_decay * theta
v          running mean of squared gradients, 0 at the start                   as theta
=========  ==================================================================  ===============

One step on a mini-batch: ``v = alpha * v + (1 - alpha) * g**2``, then
``theta -= learning_rate * g / (sqrt(v) + eps)``, with alpha = 0.99 and eps = 1e-8. These are the semantics of
PyTorch's ``RMSprop`` without momentum or centring: the decay joins the gradient (an L2 penalty, biases
included), and eps is added outside the root. PyTorch's ReLU has derivative 0 at 0, and so has this one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gssbo._typing import FloatArray

__all__ = ["ALPHA", "EPS", "draw_weights", "predict_labels", "train", "unpack"]

ALPHA = 0.99
EPS = 1e-8


def unpack(theta: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Split a parameter vector into its four parts.

    Parameters
    ----------
    theta : ndarray, shape (h * (p + 2) + 1,)
        Parameters.
    n_features : int
        Number of features p.

    Returns
    -------
    W1 : ndarray, shape (p, h)
    b1 : ndarray, shape (h,)
    w2 : ndarray, shape (h,)
    b2 : ndarray, shape (1,)
        Views into `theta`.

    Raises
    ------
    ValueError
        If the length of `theta` fits no whole number of hidden units.

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo.problems.mlp import unpack
    >>> [part.shape for part in unpack(np.zeros(31), n_features=8)]
    [(8, 3), (3,), (3,), (1,)]
    """
    h, rest = divmod(theta.size - 1, n_features + 2)
    if rest or h < 1:
        raise ValueError(f"theta must have length h * {n_features + 2} + 1 with h >= 1, got {theta.size}")
    cut = n_features * h
    return theta[:cut].reshape(n_features, h), theta[cut : cut + h], theta[cut + h : -1], theta[-1:]


def draw_weights(n_features: int, n_hidden: int, rng: np.random.Generator) -> FloatArray:
    """Draw initial parameters by the default law of PyTorch's ``Linear``.

    Weights and biases of a layer are uniform on ``(-1/sqrt(fan_in), 1/sqrt(fan_in))``; the fan-in is p for
    the hidden layer and h for the output.

    Parameters
    ----------
    n_features : int
        Number of features p.
    n_hidden : int
        Number of hidden units h.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray, shape (h * (p + 2) + 1,)
        Parameters theta.

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo.problems.mlp import draw_weights
    >>> draw_weights(8, 3, np.random.default_rng(0)).shape
    (31,)
    """
    theta = rng.uniform(-1.0, 1.0, n_hidden * (n_features + 2) + 1)
    first = n_hidden * (n_features + 1)
    theta[:first] /= np.sqrt(n_features)
    theta[first:] /= np.sqrt(n_hidden)
    return theta


def train(
    theta: FloatArray,
    X: FloatArray,
    y: FloatArray,
    order: npt.NDArray[np.intp],
    *,
    batch_size: int,
    learning_rate: float,
    weight_decay: float,
) -> FloatArray:
    """Train from given parameters through given batches; a deterministic function of its arguments.

    Parameters
    ----------
    theta : ndarray, shape (h * (p + 2) + 1,)
        Initial parameters; not modified.
    X : ndarray, shape (n, p)
        Training features.
    y : ndarray, shape (n,)
        Training labels, 0 or 1.
    order : ndarray of int, shape (n_epochs, n)
        Row e is the order in which epoch e visits the rows of X. It is cut into batches of `batch_size`; the
        last one may be shorter, and its gradient is the mean over its own rows.
    batch_size : int
        Rows a batch.
    learning_rate : float
        Step size of RMSprop.
    weight_decay : float
        Multiple of the parameters added to the gradient.

    Returns
    -------
    ndarray, shape (n_epochs * ceil(n / batch_size) + 1, h * (p + 2) + 1)
        Parameters before the first step and after each. Overflow is not an error: entries may be infinite or
        NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo.problems.mlp import draw_weights, predict_labels, train
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((64, 2))
    >>> y = (X[:, 0] > 0.5).astype(float)
    >>> order = rng.permuted(np.tile(np.arange(64), (40, 1)), axis=1)
    >>> theta = draw_weights(2, 4, rng)
    >>> path = train(theta, X, y, order, batch_size=16, learning_rate=0.02, weight_decay=0.0)
    >>> path.shape
    (161, 17)
    >>> bool(np.mean(predict_labels(path[-1], X) == y) > 0.9)
    True
    """
    p, n = X.shape[1], order.shape[1]
    features = np.hstack([X, np.ones((X.shape[0], 1))])  # the bias is the weight of a constant feature
    path = np.empty((order.shape[0] * -(-n // batch_size) + 1, theta.size))
    path[0] = theta

    current = theta.copy()
    h = unpack(current, p)[2].size
    first = h * (p + 1)
    W1, w2 = current[:first].reshape(p + 1, h), current[first:]  # with b1 as last row, b2 as last entry
    grad, square = np.empty_like(current), np.zeros_like(current)
    grad_W1, grad_w2 = grad[:first].reshape(p + 1, h), grad[first:]
    hidden_block = np.ones((min(batch_size, n), h + 1))  # last column: the constant unit of b2

    step = 0
    with np.errstate(all="ignore"):
        for rows in order:
            epoch_X, epoch_y = features[rows], y[rows]
            for start in range(0, n, batch_size):
                batch, labels = epoch_X[start : start + batch_size], epoch_y[start : start + batch_size]
                hidden = hidden_block[: labels.size]
                active = np.maximum(batch @ W1, 0.0, out=hidden[:, :h])
                slope = 1.0 / (1.0 + np.exp(-(hidden @ w2)))
                slope -= labels
                slope /= labels.size
                np.matmul(slope, hidden, out=grad_w2)
                np.matmul(batch.T, slope[:, None] * w2[:h] * (active > 0.0), out=grad_W1)
                grad += weight_decay * current
                square *= ALPHA
                square += (1.0 - ALPHA) * (grad * grad)
                current -= learning_rate * grad / (np.sqrt(square) + EPS)
                step += 1
                path[step] = current
    return path


def predict_labels(theta: FloatArray, X: FloatArray) -> npt.NDArray[np.int64]:
    """Predicted class of each row: 1 where the logit is positive.

    Parameters
    ----------
    theta : ndarray, shape (h * (p + 2) + 1,)
        Parameters.
    X : ndarray, shape (n, p)
        Features.

    Returns
    -------
    ndarray of int, shape (n,)
        Classes 0 or 1. A NaN logit, as a diverged network may give, counts as class 0.

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo.problems.mlp import predict_labels
    >>> theta = np.array([1.0, 0.0, 2.0, -1.0])  # one feature, one hidden unit
    >>> predict_labels(theta, np.array([[0.2], [0.8]]))
    array([0, 1])
    """
    W1, b1, w2, b2 = unpack(theta, X.shape[1])
    with np.errstate(all="ignore"):
        logits = np.maximum(X @ W1 + b1, 0.0) @ w2 + b2
        return (logits > 0.0).astype(np.int64)
