"""PyTorch, imported when a method needs it, and used without a trace.

All is double precision, on one thread and without PyTorch's own random numbers: the same numbers come out whatever its
number of threads, its default type and its generator are, and these are as they were afterwards.

References
----------
1. Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from gssbo._optional import import_optional
from gssbo._typing import FloatArray

__all__ = ["alone", "array", "covariances", "descend", "inverse_softplus", "pytorch", "require", "tensor"]

DECAYS, EPSILON = (0.9, 0.999), 1e-8  # of Adam
LOCK = threading.RLock()  # the number of threads is the process's


def require(method: str) -> None:
    """Import PyTorch for a method.

    Raises
    ------
    MissingDependencyError
        If it is not installed; the message names the extra that brings it.
    """
    import_optional("torch", extra="torch", purpose=f"the method {method!r}")


def pytorch() -> ModuleType:
    """PyTorch, for a surrogate that was made with it."""
    return import_optional("torch", extra="torch", purpose="this surrogate")


@contextmanager
def alone() -> Iterator[ModuleType]:
    """PyTorch on one thread, recording gradients; both are put back in the end."""
    torch = pytorch()
    with LOCK:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.enable_grad():
                yield torch
        finally:
            torch.set_num_threads(threads)


def tensor(values: FloatArray, *, learned: bool = False) -> Any:
    """A tensor of its own with these values; learned ones record gradients."""
    torch = pytorch()
    return torch.tensor(values, dtype=torch.float64, requires_grad=learned)


def array(values: Any) -> FloatArray:
    """An array of its own with a tensor's values."""
    return np.array(values.detach().numpy(), dtype=np.float64)


def inverse_softplus(values: FloatArray) -> FloatArray:
    """What the softplus log(1 + exp(.)) of is `values`, all positive.

    Examples
    --------
    >>> np.logaddexp(0.0, inverse_softplus(np.array([1e-9, 1.0, 1e9])))
    array([1.e-09, 1.e+00, 1.e+09])
    """
    raw: FloatArray = values + np.log(-np.expm1(-values))
    return raw


def covariances(kernel: str, A: Any, B: Any, lengthscale: Any, variance: Any) -> Any:
    """Covariances (n, m) of tensors A (n, d), B (m, d), with the gradient that is right where points coincide."""
    torch = pytorch()
    r = torch.cdist(A / lengthscale, B / lengthscale, compute_mode="donot_use_mm_for_euclid_dist")
    if kernel == "rbf":
        return variance * torch.exp(-0.5 * r * r)
    if kernel == "matern32":
        s = 3.0**0.5 * r
        return variance * (1.0 + s) * torch.exp(-s)
    s = 5.0**0.5 * r
    return variance * (1.0 + s + s * s / 3.0) * torch.exp(-s)


def descend(loss: Callable[[], Any], parameters: list[Any], *, epochs: int, rate: float) -> int:
    """Take up to `epochs` steps of Adam [1] down a loss; return how many were taken.

    It stops where a factorization fails or the loss or its gradient is not finite, before the step that would follow.
    The steps are those of `torch.optim.Adam`, whose first one takes seconds to import what it then does not use.
    """
    torch = pytorch()
    first = [torch.zeros_like(each) for each in parameters]
    second = [torch.zeros_like(each) for each in parameters]
    for epoch in range(epochs):
        try:
            value = loss()
            gradients = torch.autograd.grad(value, parameters)
        except torch.linalg.LinAlgError:
            return epoch
        if not all(bool(torch.isfinite(each).all()) for each in (value, *gradients)):
            return epoch
        step = rate / (1.0 - DECAYS[0] ** (epoch + 1))
        scale = (1.0 - DECAYS[1] ** (epoch + 1)) ** 0.5
        with torch.no_grad():
            for parameter, gradient, m, v in zip(parameters, gradients, first, second, strict=True):
                m.lerp_(gradient, 1.0 - DECAYS[0])
                v.mul_(DECAYS[1]).addcmul_(gradient, gradient, value=1.0 - DECAYS[1])
                parameter.addcdiv_(m, v.sqrt().div_(scale).add_(EPSILON), value=-step)
    return epochs
