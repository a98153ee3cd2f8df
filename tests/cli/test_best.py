"""`gssbo best`: the best point in a journal."""

import json
from fractions import Fraction

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo
from gssbo.cli import main
from gssbo.journal import read_journal
from gssbo.recorded import read_ledger


def test_the_best_by_a_model_is_not_the_luckiest(here, capsys):
    rng = np.random.default_rng(4)
    X = rng.random(60)
    y = -4.0 * (X - 0.3) ** 2 + rng.normal(scale=0.5, size=60)
    points = [{"x": x, "c": "u" if k % 2 else ("v", 1)} for k, x in enumerate(X)]
    with gssbo.Optimizer({"x": (0.0, 1.0), "c": ["u", ("v", 1)]}, maximize=True, journal="run.jsonl") as opt:
        opt.tell_prior(points[:20], y[:20])
        opt.tell(points[20:59], y[20:59])
        opt.tell(points[59], y[59], noise_std=0.1)
        opt.tell({"x": 0.5, "c": "u"}, failed=True)
        opt.ask()
    before = (here / "run.jsonl").read_bytes()
    outputs = []
    for options in ([], ["--by", "observed"], ["--by", "model"], ["--by", "model"]):
        assert main(["best", "run.jsonl", "--json", *options]) == 0
        outputs.append(json.loads(capsys.readouterr().out))
    assert outputs[0] == outputs[1] and outputs[2] == outputs[3]
    observed, found = outputs[0], outputs[2]
    assert observed["value"] == y.max() and "std" not in observed
    assert abs(found["best"]["x"] - 0.3) < 0.15 and abs(found["value"]) < 0.3 and 0.0 < found["std"] < 0.5
    assert abs(observed["best"]["x"] - 0.3) > 0.15
    assert (found["n_told"], found["n_failed"], len(found["pending"])) == (61, 1, 1)
    assert main(["best", "run.jsonl", "--by", "model"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"best mean {found['value']:.10g} (+/- {found['std']:.2g}), by a model of 61 told, 1 of them")
    assert f"\n  x = {found['best']['x']}\n" in out
    assert (here / "run.jsonl").read_bytes() == before


def test_a_model_is_told_everything_at_once(here, monkeypatch):
    with gssbo.Optimizer([(0.0, 1.0)], journal="run.jsonl") as opt:
        for k in range(9):
            opt.tell([k / 9], float(k), noise_std=0.1 if k == 3 else None)
    told, tell = [], gssbo.Optimizer.tell

    def noted(optimizer, x, y, *, noise_std):
        told.append((y.tolist(), noise_std.tolist()))
        tell(optimizer, x, y, noise_std=noise_std)

    monkeypatch.setattr(gssbo.Optimizer, "tell", noted)
    assert main(["best", "run.jsonl", "--by", "model"]) == 0
    assert told == [([float(k) for k in range(9)], [0.1 if k == 3 else 0.0 for k in range(9)])]


def test_the_best_by_a_model_before_there_is_a_value(here, capsys):
    with gssbo.Optimizer([(0.0, 1.0)], journal="run.jsonl") as opt:
        opt.tell([0.5], failed=True)
    assert main(["best", "run.jsonl", "--by", "model"]) == 0
    assert capsys.readouterr().out == "no value yet: 1 told, 1 of them failed\n"


def test_the_best_in_a_journal_meets_the_linear_constraints(here, capsys):
    space = {"a": (0.0, 1.0), "b": (0.0, 1.0), "act": ["u", "v"]}
    linear = LinearConstraint([1.0, 1.0, 0.0], ub=0.9)
    for constraints in (linear, [NonlinearConstraint(len, 3, 3), linear]):
        path = here / f"{type(constraints).__name__}.jsonl"
        with gssbo.Optimizer(space, constraints=constraints, rng=0, journal=path) as opt:
            opt.tell({"a": 0.5, "b": 0.5, "act": "u"}, -5.0)
            opt.tell({"a": 0.25, "b": 0.5, "act": "v"}, 1.0)
        assert main(["best", str(path), "--json"]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out)["value"] == 1.0
        assert ("a constraint is not in the journal" in err) == (constraints is not linear)
    with gssbo.Optimizer(read_journal(here / "LinearConstraint.jsonl").space, journal="LinearConstraint.jsonl") as opt:
        assert opt.best_y == 1.0 and opt.space.constrained


def test_a_constraint_on_numbers_that_json_does_not_have_leaves_a_journal_readable(here):
    space = [gssbo.Categorical([Fraction(1, 3), Fraction(2, 3)]), (0.0, 1.0)]
    with gssbo.Optimizer(space, constraints=LinearConstraint([1.0, 1.0], ub=1.0), rng=0, journal="run.jsonl") as opt:
        opt.tell(opt.ask(), 1.0)
    assert read_ledger("run.jsonl").best_y == 1.0
