"""Snapshots in a journal: objects as JSON and back, when they are taken, when they are of use; compaction."""

import copy
import json
import os
import warnings
from collections import deque
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gssbo
from gssbo import snapshots
from gssbo.entry import Entry
from gssbo.exceptions import JournalError
from gssbo.gp import GaussianProcess
from gssbo.journal import Journal, compact, read_journal
from gssbo.journal.generators import state_of
from gssbo.journal.graph import decode, encode
from gssbo.kernels import Kernel

BOX = [(0.0, 1.0)] * 2


def bowl(x):
    return float(((np.asarray(x) - 0.3) ** 2).sum())


def through_text(value, known=()):
    return decode(json.loads(json.dumps(encode(value, known), allow_nan=False)), known)


def run(opt, n):
    for _ in range(n):
        x = opt.ask()
        opt.tell(x, bowl(x))


def kinds(path):
    return [entry.kind for entry in read_journal(path).entries]


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(snapshots, "LEAST", 10)
    monkeypatch.setattr(snapshots, "SHARE", 0.0)
    monkeypatch.setattr(snapshots, "LEAST_AT_END", 1)


# ---- objects


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inside: (
        st.lists(inside)
        | st.tuples(inside, inside)
        | st.dictionaries(st.text() | st.integers() | st.binary(), inside)
        | st.builds(deque, st.lists(inside))
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_values_survive(value):
    again = through_text(value)
    assert again == value and type(again) is type(value)


@given(
    arrays.arrays(
        st.sampled_from([np.float64, np.int64, np.bool_, np.intp, np.float32]), arrays.array_shapes(min_dims=0)
    )
)
def test_arrays_survive_to_the_bit(array):
    for each in (array, array.T):
        again = through_text(each)
        assert again.dtype == each.dtype and again.shape == each.shape and again.tobytes() == each.tobytes()
        assert again.flags.f_contiguous == each.flags.f_contiguous and again.flags.writeable


def test_what_is_no_json_survives():
    values = [np.nan, -np.inf, np.float64(0.1), np.int32(7), slice(2, None), np.dtype([("a", "<f8"), ("n", "<i8")])]
    again = through_text(values)
    assert np.isnan(again[0]) and again[1:] == values[1:]
    assert [type(each) for each in again] == [type(each) for each in values]
    rows = np.array([(0.5, 3)], dtype=values[-1])
    assert through_text(rows) == rows


def test_what_is_shared_stays_shared():
    array, generator = np.arange(3.0), np.random.default_rng(0)
    loop = [array, {"in": array}, generator, (generator,)]
    loop.append(gssbo.timings.Timings())
    again = through_text(loop)
    assert again[0] is again[1]["in"] and again[2] is again[3][0] and again[2] is not generator
    assert again[2].random() == generator.random()
    known = through_text({"here": [array]}, known=[array])
    assert known["here"][0] is array


def test_a_model_survives():
    X = np.random.default_rng(0).random((30, 3))
    gp = GaussianProcess(rng=0).fit(X, np.sin(X.sum(axis=1)))
    again = through_text(gp)
    np.testing.assert_array_equal(gp.predict(X, return_std=True), again.predict(X, return_std=True))
    np.testing.assert_array_equal(gp.fit(X, X[:, 0]).lengthscale_, again.fit(X, X[:, 0]).lengthscale_)


class Foreign:
    pass


class ForeignTuple(NamedTuple):
    x: int


@pytest.mark.parametrize(
    "value", [Foreign(), ForeignTuple(1), Foreign, len, lambda: 0, Kernel, np.array([None]), object()], ids=repr
)
def test_what_is_not_ours_is_refused(value):
    with pytest.raises(TypeError, match="a journal cannot keep"):
        encode({"a": [value]})


PAST_ITS_TABLE = {"bit_generator": "MT19937", "state": {"key": [0] * 624, "pos": 10**6}}


@pytest.mark.parametrize(
    "written",
    [
        {"object": "os:system", "state": {}},
        {"object": "builtins:object", "state": {}},
        {"object": "gssbo.journal.graph:base64.b64decode", "state": {}},
        {"object": "gssbo.journal.journal:Path", "state": {}},
        {"named": "gssbo.journal.graph:encode", "fields": [1]},
        {"named": "gssbo.journal.lock:Lock", "fields": ["no.jsonl"]},
        {"object": "gssbo.journal.lock:Lock", "state": {"dict": []}},
        {"object": "gssbo.optimizer:Optimizer", "state": {"dict": []}},
        {"object": "gssbo.cli.loop:Loop", "state": {"dict": []}},
        {"named": "gssbo.journal.record:Record", "fields": [1, 2, 3]},
        {"named": "gssbo.buffer:Buffer", "fields": [3]},
        {"generator": state_of(np.random.Generator(np.random.MT19937(0))) | {"state": PAST_ITS_TABLE}},
        {"generator": {"bit_generator": "seed", "entropy": 0, "spawn_key": [], "pool_size": 4}},
        {"unknown": 1},
    ],
    ids=str,
)
def test_nothing_else_is_made(written):
    with pytest.raises((ValueError, AttributeError)):
        decode(written)
    assert not os.path.exists("no.jsonl.lock")


# ---- when they are taken, and of use


def test_they_are_taken_now_and_then_and_at_the_end(tmp_path, soon):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        run(opt, 27)
    found = kinds(path)
    assert [found[: k + 1].count("ask") for k, kind in enumerate(found) if kind == "snapshot"] == [15, 25, 27]
    before = path.read_bytes()
    gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path).close()
    assert path.read_bytes() == before  # nothing was asked


def test_they_need_not_be_taken(tmp_path, soon):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=Journal(path, snapshots=False)) as opt:
        run(opt, 20)
    assert "snapshot" not in kinds(path)


def test_a_few_suggestions_are_no_reason(tmp_path):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        run(opt, 5 + snapshots.LEAST_AT_END - 1)
    assert "snapshot" not in kinds(path)


@pytest.mark.parametrize("spoil", ["other build", "torn", "damaged"])
def test_those_of_no_use_are_passed_over(tmp_path, soon, monkeypatch, spoil):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=0) as opt:
        run(opt, 26)
        expected = opt.ask()
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        run(opt, 26)
    text = path.read_text()
    if spoil == "other build":
        monkeypatch.setattr(snapshots, "build", lambda: "another")
    elif spoil == "torn":
        path.write_text(text[:-100])
    else:
        path.write_text(text.replace('"gssbo.portfolio', '"gssbo.portfolios'))
    context = pytest.warns(gssbo.exceptions.JournalWarning) if spoil == "torn" else pytest.MonkeyPatch.context()
    with context, gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        assert opt.n_told == 26
        np.testing.assert_array_equal(opt.ask(), expected)


def test_what_cannot_be_kept_is_asked_again(tmp_path, soon):
    class Own(GaussianProcess):
        pass

    path = tmp_path / "run.jsonl"
    options = {"method": "box", "n_init": 5, "rng": 0}
    with gssbo.Optimizer(BOX, surrogate=Own(), **options) as opt:
        run(opt, 20)
        expected = opt.ask()
    with gssbo.Optimizer(BOX, surrogate=Own(), journal=path, **options) as opt:
        run(opt, 20)
    assert "snapshot" not in kinds(path)
    with gssbo.Optimizer(BOX, surrogate=Own(), journal=path, **options) as opt:
        np.testing.assert_array_equal(opt.ask(), expected)


def test_a_full_disk_costs_the_snapshot_alone(tmp_path, soon, monkeypatch):
    path = tmp_path / "run.jsonl"
    append = Journal.append

    def refuse(self, entry):
        if entry.kind == "snapshot":
            raise JournalError("no space left")
        append(self, entry)

    monkeypatch.setattr(Journal, "append", refuse)
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        run(opt, 30)
    assert kinds(path).count("tell") == 30


@pytest.mark.parametrize("method", ["portfolio", "box", "gssbo-residual"])
@pytest.mark.parametrize("trouble", [KeyboardInterrupt, JournalError, MemoryError])
def test_a_suggestion_that_was_broken_off_is_no_break(tmp_path, monkeypatch, method, trouble):
    """What it had drawn is in no record of a suggestion: the next snapshot has it."""
    path = tmp_path / "run.jsonl"
    append = Journal.append

    def refuse(self, entry):
        if entry.kind == "ask":
            raise trouble
        append(self, entry)

    with gssbo.Optimizer(BOX, method=method, rng=0, journal=path) as opt:
        run(opt, 30)
        for _ in range(2):
            with monkeypatch.context() as full, pytest.raises(trouble):
                full.setattr(Journal, "append", refuse)
                opt.ask()
            run(opt, 3)
        assert kinds(path).count("snapshot") == 2
        twin = copy.deepcopy(opt)
        expected = [twin.ask() for _ in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gssbo.Optimizer(BOX, method=method, rng=0, journal=path) as opt:
            assert opt.n_told == 36
            np.testing.assert_array_equal([opt.ask() for _ in range(3)], expected)


def test_one_that_gave_something_else_warns_once(tmp_path):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=1, journal=Journal(path, snapshots=False)) as opt:
        run(opt, 20)
    path.write_text(path.read_text().replace('"entropy":1,', '"entropy":2,'))
    with pytest.warns(gssbo.exceptions.JournalWarning, match="other suggestions"):
        opt = gssbo.Optimizer(BOX, n_init=5, journal=path)
    with opt:
        run(opt, 3)
        twin = copy.deepcopy(opt)
        expected = twin.ask()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gssbo.Optimizer(BOX, n_init=5, journal=path) as opt:
            assert opt.n_told == 23
            np.testing.assert_array_equal(opt.ask(), expected)


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


@pytest.mark.parametrize(
    "options",
    [
        *(
            {"method": name}
            for name in ("box", "portfolio", "lr-first", "mini-meta", "vecchia", "rembo", "hesbo", "turbo")
        ),
        *({"subset_size": 8, "rule": "residual", "posterior": posterior} for posterior in ("projected", "pooled")),
    ],
    ids=lambda options: options.get("method") or options["posterior"],
)
def test_all_methods_are_brought_back_without_asking(tmp_path, soon, monkeypatch, options):
    path, options = tmp_path / "run.jsonl", {**options, "n_init": 5, "rng": 0}
    with gssbo.Optimizer(BOX, journal=path, **options) as opt, gssbo.Optimizer(BOX, **options) as whole:
        run(opt, 12)
        run(whole, 12)
        expected = whole.ask()
    with monkeypatch.context() as patch:
        patch.setattr(gssbo.Optimizer, "_repeats", lambda self, entry: pytest.fail("asked again"))
        opt = gssbo.Optimizer(BOX, journal=path, **options)
    with opt:
        np.testing.assert_array_equal(opt.ask(), expected)


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


# ---- compaction


@pytest.fixture
def journal(tmp_path, soon):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        run(opt, 46)
    return path


def test_compaction_leaves_the_last_snapshot(journal):
    entries = [entry for entry in read_journal(journal).entries if entry.kind != "snapshot"]
    size = journal.stat().st_size
    with journal.open("ab") as file:
        file.write(b'{"tell":[[0.5')
    with pytest.warns(gssbo.exceptions.JournalWarning, match="half a line"):
        before, after = compact(journal, skip_damaged=True)
    assert before == size + 13 and after == journal.stat().st_size < size / 2
    assert kinds(journal).count("snapshot") == 1
    for ours, theirs in zip(
        (entry for entry in read_journal(journal).entries if entry.kind != "snapshot"), entries, strict=True
    ):
        assert (ours.kind, ours.ids, ours.seconds) == (theirs.kind, theirs.ids, theirs.seconds)
        assert ours.rows.tobytes() == theirs.rows.tobytes()
    with gssbo.Optimizer(BOX, n_init=5, rng=0) as whole, gssbo.Optimizer(BOX, n_init=5, rng=0, journal=journal) as opt:
        run(whole, 46)
        np.testing.assert_array_equal(opt.ask(), whole.ask())
    assert os.listdir(journal.parent) == ["run.jsonl"]


def test_after_compactions_nothing_is_asked_again(journal, monkeypatch):
    with gssbo.Optimizer(BOX, n_init=5, rng=0) as whole:
        run(whole, 46)
        expected = whole.ask()
    for _ in range(2):
        compact(journal)
    asked = []
    ask = gssbo.Optimizer._ask
    with monkeypatch.context() as patch:
        patch.setattr(gssbo.Optimizer, "_ask", lambda self, n, **given: asked.append(given) or ask(self, n, **given))
        with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=journal) as opt:
            assert asked == []
            np.testing.assert_array_equal(opt.ask(), expected)


def test_a_journal_in_use_is_left_alone(journal):
    with (
        gssbo.Optimizer(BOX, n_init=5, rng=0, journal=journal),
        pytest.raises(JournalError, match="is being written by this very process"),
    ):
        compact(journal)


@pytest.mark.parametrize(("text", "message"), [("", "is empty"), ("{}\n", "no header"), (None, "No such file")])
def test_what_is_no_journal_is_refused(tmp_path, text, message):
    path = tmp_path / "run.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(JournalError, match=message):
        compact(path)
    assert sorted(os.listdir(tmp_path)) == ([] if text is None else ["run.jsonl"])


def test_a_damaged_journal_is_left_as_it_is(journal):
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([*lines[:3], "x\n", *lines[3:]]))
    before = journal.read_bytes()
    with pytest.raises(JournalError, match="damaged in line 4"):
        compact(journal)
    assert journal.read_bytes() == before
    with pytest.warns(gssbo.exceptions.JournalWarning, match="line 4 is damaged"):
        compact(journal, skip_damaged=True)
    assert len(read_journal(journal).entries) == 2 * 46 + 1


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_compaction_that_fails_changes_nothing(journal, monkeypatch, step):
    before = journal.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(JournalError, match="it is as it was"):
        compact(journal)
    monkeypatch.undo()
    assert journal.read_bytes() == before and os.listdir(journal.parent) == ["run.jsonl"]


def broken_off(opt, monkeypatch):
    """Have the optimizer draw for a suggestion that is not to be."""
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(opt, "_write", raising(KeyboardInterrupt))
        opt.ask()


def raising(error):
    def raises(*arguments, **options):
        raise error

    return raises


@pytest.mark.parametrize("trouble", ["encoding", "writing", "before", "closing"])
@pytest.mark.parametrize("more", [0, 2])
def test_one_that_a_suggestion_needs_is_owed_until_it_is_on_the_disk(tmp_path, monkeypatch, trouble, more):
    path = tmp_path / "run.jsonl"
    append, written = Journal.append, snapshots.encode

    def refuse(self, entry):
        if entry.kind == "snapshot":
            raise JournalError("no space left")
        append(self, entry)

    def interrupted(*arguments):
        monkeypatch.setattr(snapshots, "encode", written)  # once
        raise KeyboardInterrupt

    opt = gssbo.Optimizer(BOX, method="box", rng=0, journal=path)
    run(opt, 30)
    broken_off(opt, monkeypatch)
    with monkeypatch.context() as patch:
        if trouble == "encoding":
            monkeypatch.setattr(snapshots, "encode", interrupted)
        elif trouble == "before":  # when the suggestion is on the disk already
            patch.setattr(opt, "_keep", raising(KeyboardInterrupt))
        else:
            patch.setattr(Journal, "append", refuse)
        if trouble in ("encoding", "before"):
            with pytest.raises(KeyboardInterrupt):
                opt.ask()
        else:
            opt.ask()
    assert "snapshot" not in kinds(path)
    run(opt, more)
    twin = copy.deepcopy(opt)
    expected = [twin.ask() for _ in range(3)]
    if trouble == "closing" and more == 0:
        monkeypatch.setattr(snapshots, "encode", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opt.close()
    opt.close()
    assert kinds(path).count("snapshot") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gssbo.Optimizer(BOX, method="box", rng=0, journal=path) as opt:
            np.testing.assert_array_equal([opt.ask() for _ in range(3)], expected)


def test_a_suggestion_that_was_broken_off_before_the_end_needs_none(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, method="box", rng=0, journal=path) as opt:
        run(opt, 30)
        expected = copy.deepcopy(opt).ask()
        broken_off(opt, monkeypatch)
    assert "snapshot" not in kinds(path)
    with gssbo.Optimizer(BOX, method="box", rng=0, journal=path) as opt:
        np.testing.assert_array_equal(opt.ask(), expected)


def test_ctrl_c_while_the_last_is_taken_closes_the_journal(tmp_path, soon, monkeypatch):
    path = tmp_path / "run.jsonl"
    opt = gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path)
    run(opt, 8)
    monkeypatch.setattr(snapshots, "encode", raising(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        opt.close()
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:  # nobody has it
        assert opt.n_told == 8


@pytest.mark.parametrize("method", ["portfolio", "box"])
def test_fewer_than_were_asked_for_are_no_break(tmp_path, method):
    path, options = tmp_path / "run.jsonl", {"method": method, "n_init": 4, "rng": 0}
    space = {"a": range(4), "b": range(5)}
    with gssbo.Optimizer(space, journal=path, **options) as opt:
        for x in opt.ask(6):
            opt.tell(x, bowl(list(x.values())))
        assert len(opt.ask(50)) == 14
        opt.forget()
        twin = copy.deepcopy(opt)
        expected = [twin.ask() for _ in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gssbo.Optimizer(space, journal=path, **options) as opt:
            assert [opt.ask() for _ in range(3)] == expected
