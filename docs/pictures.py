"""Draw the pictures of the documentation into docs/images: ``python docs/pictures.py``, under a minute."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import gssbo
from gssbo import plot
from gssbo.problems import get_problem

SEEDS = range(5)


def convergence() -> Any:
    """Regret of three methods on Hartmann6."""
    problem = get_problem("hartmann6")
    runs = {
        method: [
            gssbo.minimize(problem, problem.bounds, n_evals=100, method=method, n_init=10, rng=seed) for seed in SEEDS
        ]
        for method in ("portfolio", "box", "rssbo")
    }
    return plot.plot_convergence(runs, optimum=problem.optimum, value_name="Hartmann6")


def branin_optimizer() -> gssbo.Optimizer:
    """200 evaluations of the paper's method, 60 of them retained."""
    problem = get_problem("branin2")
    optimizer = gssbo.Optimizer(problem.bounds, method="gssbo", subset_size=60, rng=0)
    for _ in range(200):
        x = optimizer.ask()
        optimizer.tell(x, problem(x))
    optimizer.ask()
    return optimizer


def gap() -> Any:
    """Posterior of all data, and those of subsets of the vector and the residual rule, in one dimension."""
    rng = np.random.default_rng(3)
    X = np.sort(rng.random(60))[:, None]
    y = np.sin(12 * X[:, 0]) * (1 + X[:, 0]) + 0.05 * rng.standard_normal(60)
    settings = {"lengthscale": [0.12], "variance": 1.0, "noise": 0.004, "fit_hyperparameters": False}
    full = gssbo.GaussianProcess(**settings).fit(X, y)
    at = np.linspace(0.0, 1.0, 400)[:, None]
    figure = plot.canvas.new_figure(8.0, 3.4)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, rule in zip(panels, ("vector", "residual"), strict=True):
        kept = gssbo.select_subset(full, X, 14, rule=rule, forced=[0, 59], y=y if rule == "residual" else None)
        mean, std = gssbo.GaussianProcess(**settings).fit(X[kept], y[kept]).predict(at, return_std=True)
        axes.fill_between(at[:, 0], mean - 2 * std, mean + 2 * std, color="#56b4e9", alpha=0.3, linewidth=0)
        axes.plot(at, full.predict(at), color="#777777", linestyle="--", label="mean, all 60 observations")
        axes.plot(at, mean, color="#0072b2", label="mean, 14 retained; band of 2 std")
        axes.plot(X[:, 0], y, ".", color="#777777", markersize=4, label="observed")
        axes.plot(X[kept, 0], y[kept], "o", color="#d55e00", markersize=5, label="retained")
        axes.set(title=f'rule="{rule}"', xlabel="x")
        plot.canvas.tidy(axes)
    panels[0].set_ylabel("y")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="small", frameon=False
    )
    return figure


def main() -> int:
    """Draw them all."""
    images = Path(__file__).parent / "images"
    optimizer = branin_optimizer()
    figures = {
        "convergence": convergence(),
        "gap": gap(),
        "retained": plot.plot_retained(optimizer),
        "slices": plot.plot_slices(optimizer),
    }
    for name, figure in figures.items():
        # Without the version of matplotlib in it, a picture changes only where what it shows does.
        figure.savefig(images / f"{name}.png", dpi=110, metadata={"Software": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
