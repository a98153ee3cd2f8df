"""What a retained subset loses: the numbers of `bench.gap` against the identities of theorem 5.1, and its tables."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("threadpoolctl")
sys.path.insert(0, str(Path(__file__).parents[1]))  # `bench` is no part of the package

from bench import gap
from gssbo import reference
from gssbo.selection.rules import DRAWING, RULES

pytestmark = pytest.mark.usefixtures("single_thread")


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    z = reference.standardise(np.sin(7 * X[:, 0]) + X[:, 1] ** 2)[0]
    return gap.Case(X, z, np.log([0.3, 0.5, 1.2, 1e-3]), np.vstack([rng.random((200, 2)), X]))


def test_quantities_are_those_of_the_theorem(case):
    U = np.array([*range(20), 25, 31, 47, 59])
    R = np.setdiff1d(np.arange(60), U)
    found = gap.Gap(case)(U)
    K_y = reference.noisy_covariance(case.X, case.theta)
    k = reference.kernel_matrix(case.X, case.points, case.theta)
    AB = np.linalg.solve(K_y[np.ix_(U, U)], K_y[np.ix_(U, R)])
    S = K_y[np.ix_(R, R)] - K_y[np.ix_(R, U)] @ AB
    r, c = case.z[R] - AB.T @ case.z[U], k[R] - AB.T @ k[U]
    means = c.T @ np.linalg.solve(S, r)
    variances = [1.2 - np.sum(k[V] * np.linalg.solve(K_y[np.ix_(V, V)], k[V]), axis=0) for V in (np.arange(60), U)]
    spreads = np.sqrt(variances[0]) - np.sqrt(variances[1])
    expected = {
        "r": np.linalg.norm(r),
        "rho": np.linalg.norm(c, axis=0).max(),
        "s": np.linalg.norm(np.linalg.solve(S, r)),  # proposition 5.3
        "S": np.linalg.norm(np.linalg.inv(S), 2),
        "mean": np.abs(means).max(),
        "std": np.abs(spreads).max(),
        "ucb": np.abs(means + np.sqrt(2.0) * spreads).max(),
    }
    assert list(found) == list(gap.QUANTITIES)
    assert found == pytest.approx(expected, rel=1e-6)
    everything = gap.Gap(case)(np.arange(59))
    assert everything["mean"] < found["mean"]


def test_every_rule_keeps_the_forced_and_drawn_ones_are_averaged(case):
    for rule in RULES:
        U = gap.retained(case, rule, 30, case.theta)
        assert len(set(U.tolist())) == 30
        assert {*range(20), 59} <= set(U.tolist())
    found = gap.measured(case, 30)
    assert list(found) == list(RULES)
    one = gap.Gap(case)
    for rule in DRAWING:
        draws = [one(gap.retained(case, rule, 30, case.theta, seed))["mean"] for seed in range(10)]
        assert found[rule]["mean"] == pytest.approx(np.mean(draws))
        assert np.std(draws) > 0
    assert found["vector"] == one(gap.retained(case, "vector", 30, case.theta))


def test_refitting_on_everything_moves_nothing(case):
    """From a maximum of the likelihood on all data, with all of them retained, there is nowhere to go."""
    settled = case._replace(theta=gap.fitted(case.X, case.z, np.random.default_rng(0)).theta_)
    found = gap.refitted(settled, "residual", 60, 1)
    assert found["mean gap"] < 1e-2
    assert found["lengthscale"] == pytest.approx(1.0, rel=0.05)
    moved = gap.refitted(settled, "residual", 30, 1)
    assert abs(np.log(moved["lengthscale"])) > 1e-3


@pytest.mark.parametrize("source", ["variance", gap.SPREAD])
def test_refitted_hyperparameters_are_in_the_units_of_all_data(case, monkeypatch, source):
    """The subset is standardised by itself; what it says of variance and noise is brought back."""
    monkeypatch.setattr(gap, "ROUNDS", 1)
    found = gap.refitted(case, source, 30, 0)
    U = gap.retained(case, "variance", 30, case.theta)
    if source == gap.SPREAD:
        U = np.array([*range(21), 25, 30, 34, 39, 44, 48, 53, 58, 59])
    gp = gap.fitted(case.X[U], case.z[U], np.random.default_rng(0), case.theta)
    assert abs(np.std(case.z[U]) - 1.0) > 1e-2
    scales, variance, noise = reference.unpack(case.theta)
    assert found["noise"] == pytest.approx(gp.noise_ * np.var(case.z[U]) / noise)
    assert found["variance"] == pytest.approx(gp.variance_ * np.var(case.z[U]) / variance)
    assert found["lengthscale"] == pytest.approx(np.sqrt(np.prod(gp.lengthscale_ / scales)))
    W = gap.retained(case, "residual", 30, gp.theta_)
    gp.condition(case.X[W], case.z[W], optimize=False)  # its mean does not depend on the units
    truth = reference.posterior(case.X, case.z, case.points, case.theta)[0]
    assert found["mean gap"] == pytest.approx(np.abs(gp.predict(case.points) - truth).max(), rel=1e-6)


def test_tables_are_geometric_means_of_paired_ratios():
    def seed(vector, residual):
        values = dict.fromkeys(RULES, 1.0) | {"vector": vector, "residual": residual}
        return {rule: dict.fromkeys(gap.QUANTITIES, value) for rule, value in values.items()}

    text, ratios = gap.gap_tables([seed(2.0, 0.5), seed(8.0, 0.125)])
    assert ratios["residual"]["mean"] == pytest.approx(0.0625)  # sqrt(1/4 * 1/64)
    assert ratios["vector"]["ucb"] == pytest.approx(1.0)
    assert "| residual | 0.25 |" in text
    assert "| residual | 0.0625 |" in text
    bias = [{"vector": {"noise": 2.0}}, {"vector": {"noise": 8.0}}]
    assert "| vector | 4 (2 to 8) |" in gap.refit_table(bias)


def test_the_command_prints_the_tables_and_keeps_histories(tmp_path, capsys):
    arguments = ["--problems", "hartmann6", "--seeds", "2", "--n", "34", "--size", "28", "--refitted", "1"]
    files = ["--cache", str(tmp_path / "kept"), "--json", str(tmp_path / "numbers.json")]
    assert gap.main([*arguments, *files]) == 0
    first = capsys.readouterr()
    assert "hartmann6, seed 1: history and fit" in first.err
    assert "## hartmann6, n = 34, M = 28, 2 seeds" in first.out
    assert all(f"| {rule} | " in first.out for rule in RULES)
    assert "| 0.1 | 34 (34 to 34) | 0 (0 to 0) |" in first.out  # the whole of a pool that small
    assert "over vector" not in first.out  # targets are of the paper's sizes
    again = "python -m bench.gap --problems hartmann6 --seeds 2 --n 34 --size 28 --refit 1 --refitted 1"
    assert f"again: `{again}`" in first.out
    records = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert records["hartmann6"]["gaps"].keys() == {"0", "1"}
    assert records["hartmann6"]["refitted"].keys() == {"0"}
    assert gap.main([*arguments, *files]) == 0
    second = capsys.readouterr()
    assert second.err == ""  # nothing was made again
    assert second.out == first.out
