"""Snapshots in a journal: when they are taken, and when they are of use."""

import copy
import itertools
import warnings

import numpy as np
import pytest

import gssbo
from gssbo import resumable, snapshots
from gssbo.exceptions import JournalError
from gssbo.gp import GaussianProcess
from gssbo.journal import Journal
from gssbo.journal.graph import PARTS
from tests.journals import BOX, kinds, run
from tests.objectives import bowl
from tests.test_layers import TOP, import_graph, package_root, unit

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


def test_however_long_a_run_is_no_more_than_so_many_are_asked_again(tmp_path, monkeypatch):
    for name, value in (("LEAST", 4), ("SHARE", 0.5), ("MOST", 10)):
        monkeypatch.setattr(snapshots, name, value)
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=tmp_path / "run.jsonl") as opt:
        run(opt, 65)
    found = kinds(tmp_path / "run.jsonl")
    taken = np.array([found[:k].count("ask") - 5 for k, kind in enumerate(found) if kind == "snapshot"])
    np.testing.assert_array_equal(taken, [4, 8, 12, 18, 27, 37, 47, 57])


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


def test_a_change_of_what_no_suggestion_comes_of_spoils_none(tmp_path):
    files = [tmp_path / name for name in ("gp.py", "cli/tune.py", "progress.py", "portfolio/ball.py", "_core/_gp.so")]
    digests = []
    for path in files:
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    digests.append(snapshots._digest(tmp_path))
    for path in files:
        path.write_text("changed")
        digests.append(snapshots._digest(tmp_path))
    changed = [before != after for before, after in itertools.pairwise(digests)]
    assert changed == [True, False, False, True, True]


def test_no_strategy_imports_what_may_change():
    graph = import_graph(package_root())
    assert {unit(module) for module in graph} >= snapshots.BESIDE
    found: set[str] = set()
    left = {module for module in graph if unit(module) in PARTS | {"proposals", "snapshots", "strategy"}}
    while left:
        found |= left
        left = set().union(*(graph[module] for module in left)) - found - {TOP}
    assert not {unit(module) for module in found} & snapshots.BESIDE


@pytest.mark.parametrize("usable", [True, False])
def test_asking_again_for_long_is_announced(tmp_path, soon, monkeypatch, usable):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        run(opt, 26)
    monkeypatch.setattr(resumable, "SILENT", 1e-9)
    if not usable:
        monkeypatch.setattr(snapshots, "build", lambda: "another")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))  # killed before the snapshot of the end
    with pytest.warns(gssbo.exceptions.JournalWarning) as caught:
        gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path).close()
    (said,) = [str(warning.message) for warning in caught]
    assert f": {1 if usable else 26} suggestions are made once more, in about " in said
    assert said.endswith("seconds" if usable else "it has no snapshot that this build of gssbo can go by")


append = Journal.append


def refuse(self, entry):
    """`Journal.append` where there is no room for a snapshot."""
    if entry.kind == "snapshot":
        raise JournalError("no space left")
    append(self, entry)


def test_a_full_disk_costs_the_snapshot_alone(tmp_path, soon, monkeypatch):
    path = tmp_path / "run.jsonl"
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


def test_what_is_said_of_failures_spoils_none(tmp_path, soon, monkeypatch):
    """A reason that is edited, added or lost changes no suggestion: the snapshot behind it stays of use."""
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        failed = opt.ask(ids=True)
        opt.tell(failed, failed=True, reason="it boiled over")
        opt.tell(failed, failed=True, reason="it was spilt")
        run(opt, 26)
        expected = copy.deepcopy(opt).ask()
    monkeypatch.setattr(gssbo.Optimizer, "_repeats", lambda self, entry: pytest.fail("asked once more"))
    text = path.read_text()
    (explained,) = (line for line in text.splitlines(keepends=True) if line.startswith('{"explain"'))
    for changed, reason in (
        (text, "it was spilt"),
        (text.replace("it was spilt", "it fell"), "it fell"),
        (text.replace("it boiled over", "it fell"), "it was spilt"),
        (text.replace(explained, ""), "it boiled over"),
    ):
        path.write_text(changed)
        with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
            assert [failure.reason for failure in opt.failures] == [reason]
            np.testing.assert_array_equal(opt.ask(), expected)
    path.write_text(
        text.replace('"y":[null]', '"y":[1.0]').replace(',"reason":"it boiled over"', "").replace(explained, "")
    )
    with pytest.raises(pytest.fail.Exception, match="asked once more"):  # a value is another matter
        gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path)


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


# ---- suggestions that were broken off


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
    written = snapshots.encode

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
