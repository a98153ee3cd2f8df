"""Acquisitions (Appendix B): mean, std (m,) and the incumbent share a scale; t = (mean - best) / std."""

from collections.abc import Callable

import numpy as np
from scipy.special import erfcx, ndtr

from gssbo.reference.gp import Array


def ucb(mean: Array, std: Array, best: float = 0.0, sqrt_beta: float = 2**0.5) -> Array:
    """Upper confidence bound mean + sqrt(beta) std, sqrt(beta) = sqrt(2) as in C.5; `best` is not used."""
    return np.asarray(mean + sqrt_beta * std)


def ei(mean: Array, std: Array, best: float) -> Array:
    """E[max(f - best, 0)] = (mean - best) Phi(t) + std phi(t); std is floored at 1e-100, here and below."""
    t = (mean - best) / np.maximum(std, 1e-100)
    return np.asarray((mean - best) * ndtr(t) + std * np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi))


def log_h(t: Array) -> Array:
    """Log of phi(t) + t Phi(t): as it stands; phi(t) times 1 + t Phi(t) / phi(t); that factor's series."""
    log_phi = -np.square(t) / 2 - np.log(2 * np.pi) / 2
    near, far, tail = np.maximum(t, -1), np.clip(t, -1e3, -1), np.minimum(t, -1e3)
    plain = np.log(np.exp(-(near**2) / 2) / np.sqrt(2 * np.pi) + near * ndtr(near))
    ratio = np.log1p(far * np.sqrt(np.pi / 2) * erfcx(-far / np.sqrt(2)))
    series = np.log1p(-3 * (1 / tail) ** 2 + 15 * (1 / tail) ** 4) - 2 * np.log(-tail)
    return np.asarray(np.where(t > -1, plain, log_phi + np.where(t > -1e3, ratio, series)))


def log_ei(mean: Array, std: Array, best: float) -> Array:
    """Log of EI, log std + log h(t): finite far below the point where EI underflows."""
    floored = np.maximum(std, 1e-100)
    return np.asarray(np.log(floored) + log_h((mean - best) / floored))


def pi(mean: Array, std: Array, best: float) -> Array:
    """P(f > best) = Phi(t); 0 or 1 where std is 0."""
    return np.where(std > 0, ndtr((mean - best) / np.maximum(std, 1e-100)), np.greater(mean, best))


ACQUISITIONS: dict[str, Callable[..., Array]] = {"ucb": ucb, "ei": ei, "log_ei": log_ei, "pi": pi}
