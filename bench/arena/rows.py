"""The problems of the arena, and when a run is looked at.

The paper's five functions come as they are. Where the textbook optimum sits at the centre of the box, on an axis or on
the diagonal, the function is shifted; where its valleys lie along the axes, it is rotated too. What that means, and
what holds outside the textbook box, is in `gssbo.problems.moved`. (Styblinski-Tang's optimum lies on the diagonal, but
far from the centre: it stays. Three of the paper's five come in shifted form as well.)
"""

from __future__ import annotations

__all__ = ["CHECKPOINTS", "LONG", "PAPER", "PROBLEMS", "SHAPES"]

PAPER = ("hartmann6", "eggholder2", "levy20", "powell50", "rastrigin100")
"""The paper's functions; of Powell's 50 coordinates 48 matter."""

SHAPES = (
    "branin2",
    "shekel4-shifted",
    "noisyhartmann6",
    "griewank10-shifted",
    "michalewicz10",
    "styblinskitang10",
    "rosenbrock10-shifted",
    "ellipsoid10-shifted-rotated",
    "discus10-shifted-rotated",
    "bentcigar10-shifted-rotated",
    "sharpridge10-shifted-rotated",
    "pendulums12",
    "ackley20-shifted",
    "levy20-shifted",
    "powell50-shifted",
    "rosenbrock50-shifted",
    "ackley100-shifted",
    "rastrigin100-shifted",
)
"""Other shapes: 2 to 100 dimensions, one noisy, one control task."""

PROBLEMS = PAPER + SHAPES

LONG = ("hartmann6", "levy20-shifted", "rastrigin100-shifted")
"""The problems that are also run for 5,000 evaluations."""

CHECKPOINTS = (20, 100, 200, 300, 500, 1_000, 2_000, 5_000)
"""Evaluations after which a run is looked at; its end is one more."""
