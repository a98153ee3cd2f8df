"""Suggestions that come back from single precision, the usual one of PyTorch."""

import numpy as np

import gssbo
from gssbo.pending import Pending

BOUNDS = [(0.0, 0.3), (0.9, 1.7), (-1.0, 1.0)]


def test_what_comes_back_in_single_precision_answers_its_suggestion():
    opt = gssbo.Optimizer(BOUNDS, n_init=4, rng=0, threads=1)
    first, second = opt.ask(2)
    single = second.astype(np.float32).astype(float)
    opt.tell(single, 1.0)
    assert [each.x.tolist() for each in opt.pending] == [first.tolist()]
    assert opt.X.tolist() == [single.tolist()]  # where it was evaluated
    opt.tell(single, 2.0)  # a second observation, which nobody asked for
    opt.tell(np.nextafter(first, 1.0), 3.0)
    assert [each.id for each in opt.pending] == [0] and opt.n_told == 3
    opt.tell([first.astype(np.float32), first.astype(np.float32), first], [1.0, 2.0, 3.0])
    assert opt.pending == [] and opt.n_told == 6


def test_what_is_the_same_in_single_precision_need_not_be_near():
    low = 1e9  # where a step is 64
    opt = gssbo.Optimizer([(low, low + 1.0)], n_init=4, rng=0)
    (x,) = opt.ask()
    assert np.float32(x) == low and 0.1 < x - low < 0.9
    opt.tell([low], 1.0)
    assert len(opt.pending) == 1 and opt.n_told == 1
    opt.tell([x], 2.0)
    assert opt.pending == []


def test_exact_answers_are_not_compared_with_what_is_pending(monkeypatch):
    compared, rounded = [], Pending.rounded
    monkeypatch.setattr(
        Pending, "rounded", lambda pending, rows, unit: compared.append(len(rows)) or rounded(pending, rows, unit)
    )
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=50, rng=0)
    points = opt.ask(40)
    opt.tell([*points[:39], [0.5]], np.ones(40))
    assert compared == [1] and [each.id for each in opt.pending] == [39]


def test_reals_beside_other_parameters_may_come_back_in_single_precision():
    opt = gssbo.Optimizer({"a": (0.0, 0.3), "n": gssbo.Integer(0, 2**60), "c": ["u", "v"]}, rng=0, threads=1)
    suggestion = opt.ask(ids=True)
    x = suggestion.x | {"a": np.float32(suggestion.x["a"])}
    opt.tell(x | {"n": x["n"] + 1}, 1.0)  # another one, though not in double precision
    assert [each.id for each in opt.pending] == [suggestion.id]
    opt.tell(x, 2.0)
    assert opt.pending == [] and opt.n_told == 2


def test_what_comes_back_in_single_precision_is_forgotten():
    opt = gssbo.Optimizer(BOUNDS, n_init=4, rng=0, threads=1)
    first, second = opt.ask(2)
    opt.forget(second.astype(np.float32))
    assert [each.x.tolist() for each in opt.pending] == [first.tolist()]


def test_a_loop_in_single_precision_leaves_nothing_pending(tmp_path):
    def cost(x):
        return float((x[0] - 0.5) ** 2 + (x[1] - 2.0) ** 2 + x[2] ** 2)  # the best is at two bounds

    path = tmp_path / "run.jsonl"
    for n in (12, 24):
        with gssbo.Optimizer(BOUNDS, n_init=4, rng=0, threads=1, journal=path) as opt:
            while opt.n_told < n:
                x = np.float32(opt.ask())
                opt.tell(x, cost(x))
                assert opt.pending == []
    assert opt.best_x[:2].tolist() == [0.3, 1.7]
