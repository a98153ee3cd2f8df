"""A control task: hold three coupled pendulums upright with two motors, by linear state feedback in twelve gains.

Notation
--------
=====  ================================================================  =========
x      state: three angles (rad) and their rates (rad/s)                 (6,)
u      torques of the motors at the first and the last pendulum (N m)    (2,)
A, B   one time step of the free motion, and of a torque held over it    (6, 6), (6, 2)
K      gains: u = -K x; a point of the problem is K, row after row       (2, 6)
Q, R   weights of state and torque in the cost of a step                 (6, 6), (2, 2)
P      cost-to-go matrix: solution of the discrete Riccati equation      (6, 6)
T      number of steps                                                   scalar
=====  ================================================================  =========

The pendulums stand in a row, tied to their neighbours by springs; the middle one has no motor and is held by the
springs alone. The motion is that of small angles, exact between steps with the torques held. An attempt begins in one
of eight fixed states and costs

    sum_{t < T} (x_t' Q x_t + u_t' R u_t)  +  x_T' P x_T

unless an angle leaves +/- 0.5 rad: then the pendulums have fallen, and it costs what the steps so far have cost, plus
1, plus 10 times the share of the steps that are left. The value is the mean over the attempts. Most gains let all
fall.

The optimum is known exactly. With P as the price of the final state, no control, of this form or another, makes an
attempt from x_0 cheaper than x_0' P x_0, and the gains that the Riccati equation gives attain it [1]; a fall costs more
than any of the eight such values; and under those gains nothing falls.

References
----------
1. B. D. O. Anderson, J. B. Moore. Optimal Control: Linear Quadratic Methods. Prentice Hall, 1990, chapter 2.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import expm, solve_discrete_are

from gssbo._parallel import blocks
from gssbo._typing import FloatArray
from gssbo.problems._dimension import fixed_dimension
from gssbo.problems.problem import Normalizer, Problem

__all__ = ["Plant", "pendulums", "pendulums_problem", "plant"]

STEP = 0.04  # s
N_STEPS = 125
LIMIT = 0.5  # rad
FALL, REST = 1.0, 10.0  # cost of falling, and of a whole run spent fallen

_GRAVITY = 9.81  # m/s^2
_LENGTHS = np.array([1.0, 0.8, 1.25])  # m
_MASSES = np.array([1.0, 1.5, 0.8])  # kg
_SPRINGS = np.array([12.0, 9.0])  # N m/rad, between neighbours
_FRICTION = 0.1  # N m s
_STATE_WEIGHTS = np.array([10.0, 10.0, 10.0, 1.0, 1.0, 1.0])
_TORQUE_WEIGHT = 0.02
_ANGLE_GAINS, _RATE_GAINS = (-25.0, 75.0), (-5.0, 20.0)
_BLOCK = 64  # points simulated at once: their trajectories take 4 MB

# Eight states, the columns angles and rates, chosen once.
_STARTS = np.array(
    [
        [0.12, 0.03, -0.05, 0.10, -0.20, 0.25],
        [-0.08, 0.11, 0.06, -0.25, 0.05, 0.15],
        [0.02, -0.12, 0.10, 0.30, 0.20, -0.10],
        [-0.11, -0.06, 0.01, -0.05, 0.30, -0.30],
        [0.07, 0.09, 0.12, 0.15, -0.10, 0.05],
        [-0.03, 0.05, -0.12, 0.20, -0.30, -0.15],
        [0.10, -0.09, 0.08, -0.15, 0.10, 0.30],
        [-0.05, -0.02, -0.09, -0.30, -0.15, -0.20],
    ]
)

_SCALES = Normalizer(  # what `normalizer(40_000)` computes
    mean_regret=13.964474,
    mean_regret_error=0.027453,
    std=5.490648,
    std_error=0.057428,
    n_samples=40_000,
)


class Plant(NamedTuple):
    """The pendulums and what is known about controlling them; symbols as in the module's docstring."""

    A: FloatArray
    B: FloatArray
    Q: FloatArray
    R: FloatArray
    P: FloatArray
    K: FloatArray


@lru_cache(maxsize=1)
def plant() -> Plant:
    """Matrices of the task, always the same; `K` are the optimal gains.

    Returns
    -------
    Plant
        A (6, 6), B (6, 2), Q (6, 6), R (2, 2), P (6, 6), K (2, 6).

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo.problems.pendulums import plant
    >>> A, B, _, _, _, K = plant()
    >>> bool(max(abs(np.linalg.eigvals(A))) > 1.1), bool(max(abs(np.linalg.eigvals(A - B @ K))) < 0.94)
    (True, True)
    """
    inertia = _MASSES * _LENGTHS**2
    springs = np.zeros((3, 3))
    for i, stiffness in enumerate(_SPRINGS):
        springs[i : i + 2, i : i + 2] += stiffness * np.array([[1.0, -1.0], [-1.0, 1.0]])
    motion = np.zeros((8, 8))  # of the state and of torques that stay as they are
    motion[:3, 3:6] = np.eye(3)
    motion[3:6, :3] = (np.diag(_MASSES * _GRAVITY * _LENGTHS) - springs) / inertia[:, None]
    motion[3:6, 3:6] = -np.diag(_FRICTION / inertia)
    motion[3, 6], motion[5, 7] = 1.0 / inertia[0], 1.0 / inertia[2]
    step = expm(STEP * motion)
    A, B = step[:6, :6], step[:6, 6:]
    Q, R = STEP * np.diag(_STATE_WEIGHTS), STEP * _TORQUE_WEIGHT * np.eye(2)
    P = solve_discrete_are(A, B, Q, R)
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    return Plant(A, B, Q, R, P, K)


def pendulums(x: npt.ArrayLike) -> FloatArray:
    """Mean cost of eight attempts to hold the pendulums with given gains.

    Parameters
    ----------
    x : array_like, shape (..., 12)
        Gains: those of the first motor on three angles (N m/rad) and three rates (N m s/rad), then the second motor's.

    Returns
    -------
    ndarray, shape (...)
        Costs; where all attempts end in a fall, mostly 10 to 20.

    Examples
    --------
    >>> from gssbo.problems.pendulums import pendulums, plant
    >>> round(float(pendulums([0.0] * 12)), 2), bool(pendulums(plant().K.ravel()) < 0.35)
    (11.09, True)
    """
    points = np.asarray(x, dtype=np.float64)
    gains = points.reshape(-1, 2, 6)
    costs = np.empty(len(gains))
    for here in blocks(len(gains), _BLOCK):
        costs[here] = _mean_costs(gains[here])
    return costs.reshape(points.shape[:-1])


def _mean_costs(gains: FloatArray) -> FloatArray:
    """Mean costs (n,) of gains (n, 2, 6). Attempts that have fallen run on, unused, until they overflow."""
    A, B, Q, R, P, _ = plant()
    closed = A - B @ gains
    states = np.empty((N_STEPS + 1, len(gains), 6, len(_STARTS)))
    states[0] = _STARTS.T
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(N_STEPS):
            np.matmul(closed, states[t], out=states[t + 1])
        torques = np.matmul(gains, states[:-1])  # but for their sign
        stages = np.einsum("i,tnis->tns", Q.diagonal(), states[:-1] ** 2)
        stages += np.einsum("a,tnas->tns", R.diagonal(), torques**2)
        last = (states[-1] * np.matmul(P, states[-1])).sum(axis=1)
        down = ~(np.abs(states[1:, :, :3]).max(axis=2) <= LIMIT)  # true for NaN
    fallen = down.any(axis=0)
    steps = np.where(fallen, down.argmax(axis=0) + 1, N_STEPS)  # until the fall, its own step included
    running = np.arange(N_STEPS)[:, None, None] < steps
    spent = np.where(running, stages, 0.0).sum(axis=0)
    costs = spent + np.where(fallen, FALL + REST * (1.0 - steps / N_STEPS), last)
    mean: FloatArray = costs.mean(axis=1)
    return mean


def pendulums_problem(dim: int | None = None, rng: object = None) -> Problem:
    """Control problem: gains on angles within [-25, 75] N m/rad, on rates within [-5, 20] N m s/rad.

    Parameters
    ----------
    dim : int, optional
        Only 12.
    rng : optional
        Not used: the eight starts are fixed.

    Returns
    -------
    Problem
        The problem `pendulums12`, with the exact optimum.

    Raises
    ------
    ValueError
        If `dim` is not 12.

    Examples
    --------
    >>> from gssbo.problems.pendulums import pendulums_problem
    >>> problem = pendulums_problem()
    >>> problem.dim, abs(problem(problem.x_optimum) - problem.optimum) < 1e-12
    (12, True)
    """
    fixed_dimension("pendulums", dim, 12)
    _, _, _, _, P, K = plant()
    return Problem(
        name="pendulums12",
        bounds=np.array(2 * (3 * [_ANGLE_GAINS] + 3 * [_RATE_GAINS])),
        function=pendulums,
        optimum=float(np.einsum("si,ij,sj->s", _STARTS, P, _STARTS).mean()),
        x_optimum=K.ravel(),
        source="a linear-quadratic regulator, whose optimum the Riccati equation gives",
        default_samples=_SCALES.n_samples,
        precomputed=_SCALES,
    )
