"""Snapshots in journals that others wrote to: what is wrong in them changes nothing."""

import json

import numpy as np
import pytest

import gssbo
from gssbo import snapshots
from gssbo.entry import Entry
from gssbo.journal import Journal
from gssbo.journal.generators import state_of
from tests.journals import BOX, run


def places(value):
    """Every place in nested lists and dicts, as a container and a key."""
    for key in range(len(value)) if isinstance(value, list) else list(value):
        yield value, key
        if isinstance(value[key], list | dict):
            yield from places(value[key])


OTHERS = (None, True, -1, 10**11, "x", [], {}, {"float": "nan"}, {"again": 99}, [[]])


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_edited_ones_are_passed_over(tmp_path, soon, method):
    path, options = tmp_path / "run.jsonl", {"method": method, "n_init": 5, "rng": 0}
    with gssbo.Optimizer(BOX, journal=path, **options) as opt, gssbo.Optimizer(BOX, **options) as whole:
        run(opt, 16)
        run(whole, 16)
        expected = whole.ask()
    lines = path.read_bytes().splitlines(keepends=True)
    last = max(k for k, line in enumerate(lines) if b'"snapshot"' in line)
    rng = np.random.default_rng(0)
    for _ in range(25):
        entry = json.loads(lines[last])
        found = list(places(entry["state"]))
        container, key = found[rng.integers(len(found))]
        container[key] = OTHERS[rng.integers(len(OTHERS))]
        path.write_bytes(b"".join([*lines[:last], json.dumps(entry).encode() + b"\n"]))
        with gssbo.Optimizer(BOX, journal=path, **options) as opt:
            assert opt.n_told == 16
            np.testing.assert_array_equal(opt.ask(), expected)


@pytest.mark.parametrize("removed", [0, 7])
def test_those_behind_a_line_that_is_left_out_are_passed_over(tmp_path, soon, removed):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        run(opt, 26)
    lines = path.read_bytes().splitlines(keepends=True)
    tells = [k for k, line in enumerate(lines) if line.startswith(b'{"tell"')]
    lines[tells[removed]] = b"XX\n"
    asked = []
    for kept in (lines, [line for line in lines if not line.startswith(b'{"snapshot"')]):
        path.write_bytes(b"".join(kept))
        with (
            pytest.warns(gssbo.exceptions.JournalWarning),
            gssbo.Optimizer(BOX, n_init=5, rng=0, journal=Journal(path, skip_damaged=True)) as opt,
        ):
            assert opt.n_told == 25
            asked.append(opt.ask())
    np.testing.assert_array_equal(*asked)


def changed(state, part, value):
    state["parts"]["dict"] = [[name, value if name == part else each] for name, each in state["parts"]["dict"]]


def more_children(state):
    state["generators"][0]["n_spawned"] += 3
    state["generators"][1]["state"] = {}


def fewer_children(state):
    state["generators"][3]["n_spawned"] = -1


def many_children(state):
    state["generators"][0]["n_spawned"] = 10**11


def of_another_seed(state):
    state["generators"][0]["entropy"] = 1


@pytest.mark.parametrize(
    "spoil",
    [
        more_children,
        fewer_children,
        many_children,
        of_another_seed,
        lambda state: state["generators"].pop(),
        lambda state: changed(state, "extra", None),
        lambda state: changed(state, "extra", {"tuple": ["x", None]}),
        lambda state: changed(state, "counts", {"tuple": ["a", None, -1]}),
        lambda state: changed(state, "counts", {"tuple": [1, 2]}),
        lambda state: changed(state, "strategy", {"dict": []}),
        lambda state: changed(
            state, "strategy", {"dict": [[name, 1] for name in vars(gssbo.Optimizer(BOX, rng=0)._strategy)]}
        ),
    ],
)
def test_what_is_wrong_under_a_right_seal_changes_nothing(spoil):
    opt, other = (gssbo.Optimizer(BOX, n_init=5, rng=0) for _ in range(2))
    run(opt, 12)
    run(other, 12)
    state = json.loads(json.dumps(other._snapshots.take((0.0, None)).state))
    del state["digest"]
    spoil(state)
    entry = Entry("snapshot", state={"digest": snapshots._sealed(b"", state), **state})
    before = [state_of(generator) for generator in opt._generators]
    held, counts = dict(vars(opt._strategy)), opt._proposals.counts
    assert opt._snapshots.restore([entry]) is None
    assert [state_of(generator) for generator in opt._generators] == before
    assert opt._proposals.counts == counts
    assert vars(opt._strategy).keys() == held.keys()
    assert all(vars(opt._strategy)[name] is each for name, each in held.items())
    np.testing.assert_array_equal(opt.ask(), other.ask())


def test_a_state_that_cannot_be_taken_in_changes_nothing(soon):
    opt, other = (gssbo.Optimizer(BOX, n_init=5, rng=0) for _ in range(2))
    run(opt, 12)
    run(other, 12)
    taken = other._snapshots.take((0.0, None))
    state = {key: value for key, value in taken.state.items() if key != "digest"}
    state["parts"]["dict"] = [pair for pair in state["parts"]["dict"] if pair[0] != "counts"]
    entry = Entry("snapshot", state={"digest": snapshots._sealed(b"", state), **state})
    assert opt._snapshots.restore([entry]) is None  # whose seal is right
    np.testing.assert_array_equal(opt.ask(), other.ask())
