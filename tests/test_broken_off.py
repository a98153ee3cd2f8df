"""An ask that ends without a suggestion leaves nothing behind: the journal does not know of it."""

import itertools
import math
import threading

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo
from gssbo import admission
from gssbo.box_strategy import BoxStrategy
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from tests.objectives import bowl

SCARCE = {  # bounds, constraints, a point that is told, and how many are left then
    "finite": ({"a": range(10), "b": range(10)}, LinearConstraint([[1, 1]], -np.inf, 3), {"a": 9, "b": 9}, 10),
    "infeasible": ([(0.0, 1.0)] * 2, LinearConstraint([[1.0, 1.0]], 3.0, np.inf), [0.5, 0.5], 0),
    "doubles": ([(0.3, 0.3 + 8 * math.ulp(0.3))], None, [0.3], 8),
}


@pytest.mark.parametrize("method", ["portfolio", "box"])
@pytest.mark.parametrize("name", SCARCE)
def test_an_ask_that_finds_nothing_leaves_nothing_behind(tmp_path, monkeypatch, name, method):
    """With nothing of it in the journal, a run that is closed after it would else go on as another one."""
    monkeypatch.setattr(admission, "EFFORT", 2_000)
    milliseconds = (0.001 * n for n in itertools.count())  # a dynamic size goes by them
    monkeypatch.setattr("time.perf_counter", milliseconds.__next__)
    bounds, constraints, elsewhere, n_left = SCARCE[name]
    options = {"constraints": constraints, "method": method, "n_init": 3, "rng": 0}
    if method == "box":
        options["subset_size"] = "dynamic"

    def outcome(path, *, fails=True, reopened=False):
        opt = gssbo.Optimizer(bounds, journal=path, **options)
        opt.tell([elsewhere] * 4, [9.0, 9.5, 8.0, 9.0])
        suggested = [opt.ask(ids=True) for _ in range(min(1, n_left))]
        while len(suggested) < n_left:
            opt.tell(suggested[-1], float(len(suggested) % 3))
            suggested.append(opt.ask(ids=True))
        opt.tell(elsewhere, 8.5)
        if fails:
            with pytest.raises((SpaceExhausted, InfeasibleError)):
                opt.ask()
        opt.forget()
        if reopened:
            opt.close()
            opt = gssbo.Optimizer(bounds, journal=path, **options)
        assert opt.n_suggested == n_left
        opt.tell(elsewhere, 7.0)
        asked = [opt.ask() for _ in suggested[:1]]
        states = [generator.bit_generator.state for generator in opt._generators]
        return asked, opt.predict([elsewhere] * 2).tolist(), states, opt._proposals.counts, opt.retained.tolist()

    never = outcome(tmp_path / "never.jsonl", fails=False)
    assert repr(outcome(tmp_path / "open.jsonl")) == repr(never)
    assert repr(outcome(tmp_path / "reopened.jsonl", reopened=True)) == repr(never)


def test_a_strategy_that_cannot_be_copied_asks_all_the_same():
    class Locked(BoxStrategy):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self.lock = threading.Lock()

    bounds, constraints, _, n_left = SCARCE["finite"]
    opt = gssbo.Optimizer(bounds, constraints=constraints, strategy=Locked, n_init=2, rng=0)
    for k in range(n_left):
        opt.tell(opt.ask(), float(k))
    with pytest.raises(SpaceExhausted):
        opt.ask()


@pytest.mark.parametrize("method", ["portfolio", "box"])
def test_an_ask_that_a_constraint_broke_off_leaves_nothing_behind(method):
    calls = itertools.count(1)
    broken = [0]

    def room(x):
        if next(calls) == broken[0]:
            raise OSError("the licence server is away")
        return x[0] + x[1]

    def outcome(last):
        opt = gssbo.Optimizer(
            [(0.0, 1.0)] * 2, constraints=NonlinearConstraint(room, -np.inf, 1.2), method=method, n_init=3, rng=0
        )
        opt.ask()
        seen, n_broken = [], 0
        for _ in range(8):
            broken[0] = next(calls) + last
            try:
                x = opt.ask()
            except OSError:
                n_broken += 1
                x = opt.ask()
            opt.tell(x, bowl(x))
            seen += x.tolist()
        return seen, n_broken

    never, _ = outcome(last=10**9)
    for last in (1, 3):
        seen, n_broken = outcome(last)
        assert seen == never and n_broken > 0
