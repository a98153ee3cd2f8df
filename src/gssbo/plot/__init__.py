"""Pictures of runs and models, as matplotlib figures (the extra "plot"); nothing global is touched, nothing is shown.

Each function returns a `matplotlib.figure.Figure`: ``figure.savefig("run.png")``; in a notebook it displays itself.
Of more than 5,000 observations, whose points would cover one another, so many are drawn, and those that matter; the
legend says so.
"""

from __future__ import annotations

from gssbo.plot.convergence import plot_convergence
from gssbo.plot.importance import plot_importance
from gssbo.plot.retained import plot_retained
from gssbo.plot.run import plot_run
from gssbo.plot.slices import plot_slices
from gssbo.plot.times import plot_times
from gssbo.plot.trust import plot_trust

__all__ = [
    "plot_convergence",
    "plot_importance",
    "plot_retained",
    "plot_run",
    "plot_slices",
    "plot_times",
    "plot_trust",
]
