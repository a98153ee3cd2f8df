"""Algorithm 1: the loop, what is forced and pooled in it, and when retention begins."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import qmc

from gssbo.reference.acquisition import ACQUISITIONS
from gssbo.reference.gp import Array, fit_theta, posterior, standardise
from gssbo.reference.selection import Indices, select


def to_unit(x: Array, bounds: Array) -> Array:
    """User units to the unit cube, clipped; bounds (d, 2)."""
    return np.clip((x - bounds[:, 0]) / (bounds[:, 1] - bounds[:, 0]), 0, 1)


def to_user(u: Array, bounds: Array) -> Array:
    """Unit cube to user units, clipped to the bounds (d, 2)."""
    return np.clip(bounds[:, 0] + u * (bounds[:, 1] - bounds[:, 0]), bounds[:, 0], bounds[:, 1])


def forced_indices(n: int, n_init: int, retain_initial: bool = True, retain_newest: bool = True) -> Indices:
    """F_t (line 12): the initial design, then the newest observation unless it is there already."""
    initial = list(range(min(n_init, n))) if retain_initial else []
    return np.array(initial + [n - 1] * (retain_newest and n - 1 not in initial), dtype=np.intp)


def pool_indices(n: int, pool: int | str, forced: Indices) -> Indices:
    """P_t (line 12), ascending: the "full" history, or the newest `pool` observations and the forced ones."""
    return np.union1d(np.arange(0 if pool == "full" else max(0, n - int(pool)), n), forced)


def bulk_indices(n: int, size: int, forced: Indices) -> Indices:
    """Observations of the first fit when n > M already (ours): the forced ones and evenly spaced others."""
    others = np.setdiff1d(np.arange(n), forced)
    spaced = np.linspace(0, len(others) - 1, size - len(forced)).round().astype(np.intp)
    return np.sort(np.append(forced, others[spaced]))


def switch_now(seconds: Sequence[float], factor: float) -> bool:
    """Line 7, steadied (ours): median of the last three seconds above Z times the mean of the first five."""
    return len(seconds) >= 5 and bool(np.median(seconds[-3:]) > factor * np.mean(seconds[:5]))


class Run(NamedTuple):
    """X (n, d), y (n,) in user units; for each model iteration the retained indices, theta and seconds."""

    X: Array
    y: Array
    retained: list[Indices]
    theta: list[Array]
    seconds: list[float]
    M: int | None  # None until retention begins
    switched_at: int | None  # observations held when it began


def reference_loop(
    fun: Callable[[Array], float],
    bounds: ArrayLike,  # (d, 2)
    n_evals: int,  # the initial design included
    *,
    n_init: int = 20,
    subset_size: int = 100,
    dynamic_factor: float | None = None,  # Z: sets M when given, in place of subset_size
    rule: str = "vector",
    retain_initial: bool = True,
    retain_newest: bool = True,
    pool: int | str = "full",
    theta: ArrayLike | None = None,  # fixed hyperparameters; fitted when None
    refit: int | str = 1,  # every iteration; every k-th; "frozen": no longer after the switch
    n_restarts: int = 2,
    theta_bounds: ArrayLike | None = None,
    kernel: str = "matern52",
    acquisition: str = "ucb",  # the incumbent of the others is the best response told
    n_candidates: int | None = None,
    maximize: bool = False,
    rng: Any = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Run:
    """Algorithm 1. The model update, lines 6 to 19, opens the turn that uses it, not closes the last one."""
    box = np.asarray(bounds, dtype=float)
    d, sign = len(box), 1.0 if maximize else -1.0
    m = n_candidates or (10_000 if d <= 10 else 5_000 if d <= 50 else 2_000)  # Appendix C.5
    design_rng, selection_rng, fit_rng, candidate_rng = np.random.default_rng(rng).spawn(4)
    current: Any = None if theta is None else np.asarray(theta, dtype=float)
    M, switched_at = None if dynamic_factor else subset_size, None
    retained_log: list[Indices] = []
    theta_log: list[Array] = []
    seconds: list[float] = []
    points = list(to_user(qmc.LatinHypercube(d, rng=design_rng).random(n_init), box)[:n_evals])  # line 1
    values = [float(fun(x)) for x in points]
    while len(values) < n_evals:  # line 2
        began = clock()
        X, y = to_unit(np.array(points), box), sign * np.array(values)
        n = len(y)
        forced = forced_indices(n, n_init, retain_initial, retain_newest)
        if M is None and dynamic_factor and switch_now(seconds, dynamic_factor) and n > len(forced):
            M = n  # line 8; retention begins with the next observation
        retained = np.arange(n)
        if M is not None and n > M:
            switched_at = switched_at or n
            if current is None:
                first = bulk_indices(n, M, forced)
                z = standardise(y[first])[0]
                current = fit_theta(X[first], z, None, fit_rng, kernel, n_restarts, theta_bounds)
            ids = pool_indices(n, pool, forced)  # lines 12 to 15
            places = np.searchsorted(ids, forced)
            kept = select(rule, X[ids], y[ids], current, M, places, selection_rng, kernel)
            retained = np.sort(ids[kept])
        z, mean, std = standardise(y[retained])
        due = switched_at is None if refit == "frozen" else len(seconds) % int(refit) == 0
        if theta is None and (current is None or due):  # lines 16 and 18
            current = fit_theta(X[retained], z, current, fit_rng, kernel, n_restarts, theta_bounds)
        candidates = candidate_rng.random((m, d))
        moments = posterior(X[retained], z, candidates, current, kernel)
        scores = ACQUISITIONS[acquisition](*moments, (float(np.max(y)) - mean) / std)
        points.append(to_user(candidates[np.argmax(scores)], box))  # line 3
        retained_log.append(retained)
        theta_log.append(current)
        seconds.append(clock() - began)
        values.append(float(fun(points[-1])))  # line 4
    M = M if switched_at else None
    return Run(np.array(points), np.array(values), retained_log, theta_log, seconds, M, switched_at)
