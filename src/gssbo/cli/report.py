"""The summary of a run as text."""

from __future__ import annotations

import textwrap
from typing import Any

from gssbo._text import number
from gssbo.cli.text import WIDTH, heading, paragraph, table

__all__ = ["VALUE_NAMES", "report"]

VALUE_NAMES = {"diabetes": "validation error (fraction)"}
MOST_ROWS = 12  # parameters shown one a line; more are written as a vector


# What a reader must know to judge the figures of a problem.
REMARKS = {
    "diabetes": "Declaring everybody healthy gives 0.349, and about 99 % of this box, linear as in the paper, does "
    "that or its opposite (0.651): what learns is a sliver of small weight decays, where 0.273 is reached on average.",
}


def report(summary: dict[str, Any]) -> str:
    """Return the report, sections parted by blank lines."""
    if summary["best"] is None:
        return "Nothing was evaluated."
    parts = [_title(summary), _result(summary), _regret(summary), _time(summary), _subset(summary)]
    return "\n\n".join(part for part in parts if part)


def _title(summary: dict[str, Any]) -> str:
    done, asked = summary["n_evals"], summary["n_evals_asked"]
    count = f"{done:,} evaluations" if done == asked else f"{done:,} of {asked:,} evaluations"
    ended = ", interrupted" if summary["interrupted"] else ""
    return heading(f"{summary['problem']['name']}: {count}{ended}, method {summary['method']}, seed {summary['seed']}")


def _result(summary: dict[str, Any]) -> str:
    best, other, problem = summary["best"], summary["model_best"], summary["problem"]
    columns = [best] if other is None else [best, other]
    header = ["", "best observed"] if other is None else ["", "best observed", "best by the model"]
    rows = [[VALUE_NAMES.get(problem["name"], "value"), *(number(c["value"], 6) for c in columns)]]
    if problem["stochastic"]:
        rows.append([f"mean of {best['fresh_evaluations']} fresh evaluations", *map(_fresh, columns)])
        rows.append(["posterior mean", *(_posterior(c) for c in columns)])
    rows.append(["at evaluation", *(number(c["evaluation"]) for c in columns)])
    names = list(best["configuration"])
    if len(names) <= MOST_ROWS:
        rows += [[name, *(number(c["configuration"][name], 6) for c in columns)] for name in names]
        text = table(rows, header=header)
    else:
        vector = ", ".join(number(value) for value in best["x"])
        text = table(rows, header=header) + "\n" + textwrap.fill(f"x = [{vector}]", WIDTH, subsequent_indent="     ")
    if problem["stochastic"]:
        text += "\n\n" + paragraph(
            f"The objective is noisy: the best observed value is the luckiest of {summary['n_evals']:,} and flatters "
            "its configuration. The best by the model is the evaluated point with the lowest posterior mean. The fresh "
            "evaluations were made after the run, beyond its budget, and judge both without that luck."
        )
    if problem["name"] in REMARKS:
        text += "\n\n" + paragraph(REMARKS[problem["name"]])
    return text


def _fresh(point: dict[str, Any]) -> str:
    return f"{number(point['fresh_mean'])} +/- {number(point['fresh_error'], 2)}"


def _posterior(point: dict[str, Any]) -> str:
    return f"{number(point['posterior_mean'])} +/- {number(point['posterior_std'], 2)}"


def _regret(summary: dict[str, Any]) -> str:
    regret, problem = summary["regret"], summary["problem"]
    if regret is None:
        return "Regret is not reported: no iteration came after the initial design."
    scales = regret["scales"]
    lines = (
        ("raw, in units of the objective", "raw"),
        (f"in standard deviations over the box (one is {number(scales['std'])})", "in_std"),
        (
            f"as a fraction of uniform random search's (a step: {number(scales['random_search_step'])})",
            "of_random_search",
        ),
    )
    kinds = ["cumulative"] if problem["stochastic"] else ["cumulative", "simple"]
    rows = [[label, *(number(regret[key][kind]) for kind in kinds)] for label, key in lines]
    text = f"Regret, {regret['protocol']}\n\n" + table(rows, header=["", *kinds])
    error = f" +/- {number(problem['optimum_error'], 2)}, an estimate" if problem["optimum_error"] else ""
    note = f"The optimum is {number(problem['optimum'], 6)}{error}."
    if not problem["stochastic"]:
        note += " Simple regret is that of the best value; its fraction is of one random step."
    else:
        note += " Noise cancels in the sum, up to its standard error."
    return text + "\n\n" + paragraph(note)


def _time(summary: dict[str, Any]) -> str:
    timings = summary["timings"]
    rows = [
        [part, f"{seconds:.2f}", f"{timings['shares_percent'][part]:.1f} %"]
        for part, seconds in timings["seconds"].items()
    ]
    rows.append(["total", f"{timings['total_seconds']:.2f}", ""])
    rows.append(["objective, beside it", f"{timings['objective_seconds']:.2f}", ""])
    text = table(rows, header=("optimizer's time", "seconds", "share"))
    return text + f"\n\nThe median of the latest suggestions took {timings['recent_ask_ms']:.1f} ms."


def _subset(summary: dict[str, Any]) -> str:
    subset = summary["subset"]
    if subset["asked"] == "all":
        return f"No subset of size M: at the last suggestion the surrogate saw {subset['retained']} observations."
    if subset["M"] is None:
        return "M was not fixed: no iteration was slow enough for the dynamic rule, the surrogate saw all observations."
    if subset["began_at"] is None:
        return f"M = {subset['M']}: not reached, the surrogate saw all observations."
    return f"M = {subset['M']}: retention began when {subset['began_at']} observations were held."
