"""Tasks of engineering: controllers, differential equations, designs with limits, schedules, switches.

References
----------
1. Sandgren, Nonlinear integer and discrete programming in mechanical design optimization, Journal of Mechanical Design
   112(2), 1990 (the pressure vessel).
"""

from __future__ import annotations

import numpy as np

from gssbo.space import Categorical, Integer, Real

from .task import Point, Task

__all__ = ["TASKS"]


def vessel(x: Point) -> float:
    """Cost of a pressure vessel; 1e6 where it breaks a rule [1], which is nearly everywhere."""
    shell, head, radius, length = x.values()
    volume = np.pi * radius**2 * length + 4.0 / 3.0 * np.pi * radius**3
    if shell < 0.0193 * radius or head < 0.00954 * radius or volume < 1_296_000.0:
        return 1e6
    cost = 0.6224 * shell * radius * length + 1.7781 * head * radius**2
    return float(cost + 3.1661 * shell**2 * length + 19.84 * shell**2 * radius)


def vessel_or_nothing(x: Point) -> float:
    """The same, and NaN where it breaks a rule."""
    cost = vessel(x)
    return cost if cost < 1e6 else float("nan")


def predators(x: Point) -> float:
    """Squared error of a predator-prey model beside twenty measurements of it; NaN where the solution is lost."""
    return _misfit(np.array(list(x.values())))


def _populations(rates: np.ndarray) -> np.ndarray:
    """Logarithms of both populations at times 1 to 20: the classical Runge-Kutta method in steps of 0.1."""
    a, b, c, d = rates
    state, step, found = np.log([10.0, 5.0]), 0.1, []

    def slope(logs: np.ndarray) -> np.ndarray:
        prey, hunters = np.exp(np.minimum(logs, 50.0))
        return np.array([a - b * hunters, d * prey - c])

    for i in range(1, 201):
        k1 = slope(state)
        k2 = slope(state + 0.5 * step * k1)
        k3 = slope(state + 0.5 * step * k2)
        k4 = slope(state + step * k3)
        state = state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        if not np.abs(state).max() < 1e3:
            return np.full((20, 2), np.nan)
        if i % 10 == 0:
            found.append(state)
    return np.array(found)


MEASURED = _populations(np.array([0.55, 0.028, 0.8, 0.024])) + 0.05 * np.random.default_rng(2).standard_normal((20, 2))


def _misfit(rates: np.ndarray) -> float:
    return float(((np.exp(np.clip(_populations(rates), -50.0, 15.0)) - np.exp(MEASURED)) ** 2).sum())


def controller(x: Point) -> float:
    """Error of a controller that turns a heavy pendulum on a delayed, limited motor up and over; chaotic in parts."""
    angle, speed, total, cost, step = 0.1, 0.0, 0.0, 0.0, 0.02
    delayed = [0.0] * 5
    for i in range(400):
        target = np.pi if i < 200 else 0.5 * np.pi
        error = target - angle
        total = float(np.clip(total + step * error, -x["windup"], x["windup"]))
        wanted = x["p"] * error + x["i"] * total - x["d"] * speed + x["lift"] * np.sin(angle)
        delayed.append(float(np.clip(wanted, -7.0, 7.0)))
        speed += step * (delayed.pop(0) - 9.81 * np.sin(angle) - 0.05 * speed)
        angle += step * speed
        cost += step * min(error * error, 20.0) + 1e-4 * wanted * wanted * step
    return float(cost)


JOBS = np.random.default_rng(5).integers(1, 60, (14, 5))


def schedule(x: Point) -> float:
    """Makespan of fourteen jobs on five machines, in the order of their keys."""
    done = np.zeros(5)
    for job in np.argsort(list(x.values()), kind="stable"):
        before = 0.0
        for machine in range(5):
            before = done[machine] = max(done[machine], before) + JOBS[job, machine]
    return float(done[-1])


_switches = np.random.default_rng(11)
ALONE = np.where(
    _switches.random(40) < 0.4, 0.03 * _switches.standard_normal(40), 0.002 * _switches.standard_normal(40)
)
TOGETHER = np.triu(np.where(_switches.random((40, 40)) < 0.08, 0.04 * _switches.standard_normal((40, 40)), 0.0), 1)


def flags(x: Point) -> float:
    """Run time of a program, in seconds, by forty switches of its compiler, some of which act in pairs."""
    on = np.array(list(x.values()), dtype=float)
    return float(10.0 * np.exp(ALONE @ on + on @ TOGETHER @ on))


SOLVENTS = {"water": (0.6, 0.0), "ethanol": (1.0, 0.3), "toluene": (0.4, 1.2), "acetone": (1.3, -0.2)}
CATALYSTS = {"none": (0.05, 0.2), "acid": (1.0, 1.0), "base": (0.7, 0.5), "metal": (1.6, 1.8)}


def reaction(x: Point) -> float:
    """Minus the yield of the middle of three substances: rates by temperature, catalyst, solvent; it saturates."""
    speed, shift = SOLVENTS[x["solvent"]]
    fast, waste = CATALYSTS[x["catalyst"]]
    heat = 1.0 / (273.15 + x["celsius"]) - 1.0 / 330.0
    load = x["load"] / (x["load"] + 2.0)
    first = 0.02 * speed * fast * load * np.exp(-6_000.0 * heat) + 1e-9
    second = 0.003 * waste * np.exp(-11_000.0 * heat + shift)
    excess = x["excess"] / (x["excess"] + 0.5)
    t = x["minutes"]
    middle = first / (second - first + 1e-12) * (np.exp(-first * t) - np.exp(-second * t))
    return -100.0 * float(middle * excess * np.exp(-0.05 * x["excess"]))


GRID = np.linspace(0.0, 10.0, 120)


def _spectrum(p: np.ndarray) -> np.ndarray:
    place, width, height = p[:4], p[4:8], p[8:12]
    return np.asarray((height / (1.0 + ((GRID[:, None] - place) / width) ** 2)).sum(axis=1))


LINES = _spectrum(np.array([2.1, 3.0, 6.4, 7.1, 0.3, 0.2, 0.5, 0.15, 1.0, 0.6, 0.8, 1.2]))
LINES = LINES + 0.01 * np.random.default_rng(4).standard_normal(len(GRID))


def spectrum(x: Point) -> float:
    """Root mean square misfit of four lines to a spectrum."""
    return float(np.sqrt(np.mean((_spectrum(np.array(list(x.values()))) - LINES) ** 2)))


VESSEL = {
    "shell": Real(0.0625, 6.1875),
    "head": Real(0.0625, 6.1875),
    "radius": Real(10.0, 200.0),
    "length": Real(10.0, 200.0),
}
TASKS = {
    "vessel, penalty of 1e6": Task(vessel, VESSEL, 200),
    "vessel, failing": Task(vessel_or_nothing, VESSEL, 200),
    "predators": Task(predators, {name: Real(1e-3, 10.0, log=True) for name in ("a", "b", "c", "d")}, 300),
    "controller": Task(
        controller,
        {
            "p": Real(0.0, 50.0),
            "i": Real(0.0, 50.0),
            "d": Real(0.0, 20.0),
            "lift": Real(-10.0, 20.0),
            "windup": Real(0.01, 10.0, log=True),
        },
        200,
    ),
    "schedule": Task(schedule, {f"job{i}": Integer(0, 99) for i in range(14)}, 300),
    "flags, noisy": Task(
        flags,
        {f"f{i}": Categorical([False, True]) for i in range(40)},
        300,
        lambda value, rng: value * (1.0 + 0.02 * abs(float(rng.standard_normal()))),
    ),
    "reaction, noisy": Task(
        reaction,
        {
            "celsius": Real(10.0, 140.0),
            "minutes": Real(1.0, 600.0, log=True),
            "load": Real(0.1, 20.0, log=True),
            "excess": Real(0.1, 10.0),
            "solvent": Categorical(list(SOLVENTS)),
            "catalyst": Categorical(list(CATALYSTS)),
        },
        150,
        lambda value, rng: value + float(rng.standard_normal()),
    ),
    "spectrum, 3,000 evaluations": Task(
        spectrum,
        {
            **{f"place{i}": Real(0.0, 10.0) for i in range(4)},
            **{f"width{i}": Real(0.05, 2.0, log=True) for i in range(4)},
            **{f"height{i}": Real(0.0, 2.0) for i in range(4)},
        },
        3_000,
    ),
}
