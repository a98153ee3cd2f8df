"""A run that was broken off goes on as if it had not been."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo
from gssbo import snapshots
from gssbo.buffer import Buffer
from gssbo.exceptions import JournalError, JournalWarning, OtherOption
from gssbo.journal import Journal
from gssbo.recorded import continue_ledger
from tests.objectives import bowl

MIXED = {"a": (0.0, 1.0), "n": range(8), "c": ["u", "v", "w"], "l": gssbo.Real(1e-3, 1.0, log=True)}


@pytest.fixture(params=[False, True], ids=["asked-again", "snapshots"])
def often(request, monkeypatch):
    """Whether snapshots are taken all the time, or never."""
    monkeypatch.setattr(snapshots, "LEAST", 4 if request.param else 10**9)
    monkeypatch.setattr(snapshots, "SHARE", 0.0)
    monkeypatch.setattr(snapshots, "LEAST_AT_END", 1 if request.param else 10**9)
    return request.param


@pytest.fixture
def repeated(monkeypatch):
    """Suggestions that were made once more, by taking up a run."""
    counts = [0]
    ask = gssbo.Optimizer._ask

    def counted(self, n, *, recorded=None):
        counts[0] += n if recorded is not None else 0
        return ask(self, n, recorded=recorded)

    monkeypatch.setattr(gssbo.Optimizer, "_ask", counted)
    return counts


def value(x):
    return (x["a"] - 0.3) ** 2 + 0.1 * (x["n"] - 3) ** 2 + (x["c"] == "v") + abs(np.log10(x["l"]) + 1.0)


def drive(opt, n):
    """Two at a time, told in the other order, and one of three fails."""
    seen = []
    for _ in range(n):
        first, second = opt.ask(2, ids=True)
        seen += [first.x, second.x]
        opt.tell(second, np.nan if opt.n_told % 3 == 0 else value(second.x))
        opt.tell(first, value(first.x))
    return seen


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "portfolio"},
        {"rule": "residual", "subset_size": 17},
        {"rule": "random", "subset_size": 17},
        {"refit": 5, "subset_size": 17},
        {"refit": "frozen", "subset_size": 17, "acquisition": "log_ei"},
        {"subset_size": 17, "acquisition": "thompson", "n_candidates": 200},
        {"method": "turbo"},
        {"method": "hesbo"},
        {"method": "mini-meta", "duplicates": "allow"},
        {"constraints": LinearConstraint([[1.0, 0.1, 0.0, 0.0]], -np.inf, 1.0)},
    ],
    ids=lambda options: "-".join(map(str, options.values()))[:40] or "default",
)
def test_a_broken_off_run_goes_on_as_if_it_had_not_been(tmp_path, often, repeated, options):
    space = {**MIXED, "c": [0.0, 1.0, 2.0]} if "constraints" in options else MIXED
    with gssbo.Optimizer(space, n_init=8, rng=3, **options) as opt:
        whole = drive(opt, 15)
    path = tmp_path / "run.jsonl"
    seen = []
    for seed, part in ((3, 2), (None, 6), (3, 7)):  # within the design, before and after the subset is full
        with gssbo.Optimizer(space, n_init=8, rng=seed, journal=path, **options) as opt:
            seen += drive(opt, part)
            mean, std = opt.predict(seen[:5], return_std=True)
        with gssbo.Optimizer(space, n_init=8, journal=path, **options) as opt:
            again = opt.predict(seen[:5], return_std=True)
        np.testing.assert_array_equal([mean, std], again)
    assert seen == whole
    # Taken up five times, with 4, 4, 16, 16 and 30 suggestions; those of a design are no reason for a snapshot.
    assert repeated[0] == (4 + 4 if often else 4 + 4 + 16 + 16 + 30)


def test_the_dynamic_size_goes_by_the_recorded_times(tmp_path):
    path = tmp_path / "run.jsonl"
    options = {"n_init": 5, "subset_size": "dynamic", "dynamic_factor": 50.0, "journal": path}
    with gssbo.Optimizer(MIXED, rng=0, **options) as opt:
        for _ in range(40):
            x = opt.ask()
            opt.tell(x, value(x))
        assert opt.M is None
    lines = path.read_text().splitlines()
    asked = [k for k, line in enumerate(lines) if line.startswith('{"ask"')]
    for k in asked[30:]:
        head, _, _ = lines[k].rpartition('"seconds":')
        lines[k] = head + '"seconds":1000.0}'  # as if these had taken long
    rule = Buffer("dynamic", n_init=5, factor=50.0)
    for n, k in enumerate(asked[:-1], start=1):
        if n > 5:  # the design is no iteration of the model
            rule.record(json.loads(lines[k])["seconds"], n)
    assert 31 < rule.size < 38
    path.write_text("\n".join(lines[: asked[rule.size + 1]]) + "\n")  # what was asked with fewer is something else
    with pytest.warns(JournalWarning, match="are made once more, in about"), gssbo.Optimizer(MIXED, **options) as opt:
        assert (opt.n_told, opt.M) == (rule.size + 1, rule.size)


def fails_or_breaks_off(breaks_at):
    """An objective that fails now and then, and raises Ctrl-C at one of its calls."""
    calls = itertools.count(1)

    def fun(x):
        if next(calls) == breaks_at:
            raise KeyboardInterrupt
        if x["n"] == 3:
            raise ArithmeticError("three \ud800")
        return np.inf if x["c"] == "v" else value(x)

    return fun


def test_a_run_taken_up_reports_what_an_unbroken_one_does(tmp_path, often):
    options = {"n_evals": 40, "n_init": 6, "catch": ArithmeticError, "rng": 2}
    whole = gssbo.minimize(fails_or_breaks_off(None), MIXED, **options)
    options["journal"] = tmp_path / "run.jsonl"
    broken = gssbo.minimize(fails_or_breaks_off(8), MIXED, **options)
    resumed = gssbo.minimize(fails_or_breaks_off(None), MIXED, **options)
    assert {failure.reason for failure in whole.failures} == {"ArithmeticError: three \ud800", "returned inf"}
    assert len(whole.failures) == whole.n_failed > len(broken.failures) > 0
    assert resumed.keys() == whole.keys()
    for name in resumed.keys() - {"timings"}:
        np.testing.assert_equal(resumed[name], whole[name], err_msg=name)
    assert resumed.timings.keys() == whole.timings.keys()


NUMBERS = itertools.count()
ACTIONS = st.lists(
    st.sampled_from(["ask", "ask2", "tell", "tell-last", "foreign", "fail", "forget", "enqueue", "announce", "reseed"]),
    min_size=4,
    max_size=24,
)


def act(opt, action, k):
    """Carry an action out, and return what is seen of it."""
    pending = opt.pending
    if action in ("ask", "ask2"):
        return opt.ask(2 if action == "ask2" else 1, ids=True)
    if action == "tell" and pending:
        opt.tell(id=pending[0].id, y=value(pending[0].x))
    elif action == "tell-last" and pending:
        opt.tell(pending[-1], value(pending[-1].x), noise_std=0.1)
    elif action == "fail" and pending:
        opt.tell(pending[0], failed=True)
    elif action == "forget" and pending:
        opt.forget(id=pending[0].id)
    else:
        point = {"a": (k % 10) / 10, "n": k % 8, "c": "uvw"[k % 3], "l": 0.1}
        if action == "foreign":
            opt.tell(point, value(point))
        elif action == "enqueue":
            opt.enqueue(point)
        elif action == "announce":
            return opt.announce(point)
        elif action == "reseed":
            opt.reseed(k)
    return None


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=ACTIONS, cut=st.integers(0, 24), method=st.sampled_from(["box", "portfolio"]))
def test_any_run_may_be_cut_anywhere(tmp_path, often, actions, cut, method):
    path = tmp_path / f"{next(NUMBERS)}.jsonl"
    options = {"n_init": 3, "method": method}
    whole = gssbo.Optimizer(MIXED, rng=7, **options)
    opt = gssbo.Optimizer(MIXED, rng=7, journal=Journal(path, sync=False), **options)
    for k, action in enumerate(actions):
        if k == cut:
            opt.close()
            opt = gssbo.Optimizer(MIXED, rng=7, journal=Journal(path, sync=False), **options)
            assert opt.pending == whole.pending and opt.queue == whole.queue and opt.X == whole.X
        assert act(opt, action, k) == act(whole, action, k)
    opt.close()
    with gssbo.Optimizer(MIXED, rng=7, journal=path, **options) as opt:
        assert opt.pending == whole.pending and opt.n_told == whole.n_told
        assert opt.ask(3) == whole.ask(3)


def test_where_asking_again_gives_something_else_the_record_stands(tmp_path):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=4, rng=1, journal=path) as opt:
        for _ in range(8):
            x = opt.ask()
            opt.tell(x, float(x.sum()))
        waiting = opt.ask(ids=True)
    text = path.read_text().replace('"entropy":1,', '"entropy":2,')  # as if the generators were others
    path.write_text(text)
    with (
        pytest.warns(JournalWarning, match="other suggestions") as record,
        gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=4, journal=path) as opt,
    ):
        assert opt.n_told == 8
        assert [(each.id, each.x.tolist()) for each in opt.pending] == [(waiting.id, waiting.x.tolist())]
        opt.tell(waiting, 1.0)
        x = opt.ask()
        assert x.min() >= 0.0 and x.max() <= 1.0
    assert len(record) == 1 and record[0].filename == __file__


@pytest.mark.parametrize("begun", [None, LinearConstraint([[1.0, 1.0]], lb=1.0)])
def test_a_run_goes_on_under_its_constraints_only(tmp_path, begun):
    path, bounds = tmp_path / "run.jsonl", [(0.0, 1.0)] * 2
    with gssbo.Optimizer(bounds, constraints=begun, rng=0, journal=path) as opt:
        opt.tell(opt.ask(), 1.0)
    before = path.read_bytes()
    others = [None, LinearConstraint([[1.0, 1.0]], lb=1.0), LinearConstraint([[1.0, 1.0]], lb=0.5)]
    others.append(NonlinearConstraint(np.sum, 1.0, np.inf))
    for i, other in enumerate(others):
        if i == (begun is not None):
            with gssbo.Optimizer(bounds, constraints=other, rng=0, journal=path) as opt:
                assert opt.n_told == 1
        else:
            number = int(begun is not None)
            number = f"{number} constraints, got" if (other is None) != (begun is None) else r"another constraints\[0\]"
            with pytest.raises(JournalError, match=f"was begun with {number}"):
                gssbo.Optimizer(bounds, constraints=other, rng=0, journal=path)
    assert path.read_bytes() == before
    header, rest = before.split(b"\n", 1)
    older = {key: value for key, value in json.loads(header).items() if key != "constraints"}
    path.write_bytes(json.dumps(older).encode() + b"\n" + rest)  # of a version that did not write them down
    with gssbo.Optimizer(bounds, constraints=others[2], rng=0, journal=path) as opt:
        assert opt.n_told == 1
    with continue_ledger(path) as ledger:
        ledger.tell([1.0, 1.0], 2.0)
        assert ledger.n_told == 2


@pytest.mark.parametrize("bound", [2.0, [2.0], np.array([[2.0]])])
def test_the_same_function_is_the_same_constraint(tmp_path, bound):
    for n in (1, 2):
        constraints = [NonlinearConstraint(lambda x: 0.0, -np.inf, np.ravel(bound) + 9.0)]
        with gssbo.Optimizer([(0.0, 1.0)], constraints=constraints, rng=0, journal=tmp_path / "run.jsonl") as opt:
            opt.tell(opt.ask(), 1.0)
            assert opt.n_told == n


# ---- minimize


def test_minimize_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "run.jsonl"
    bounds, x0 = [(0.0, 1.0)] * 2, [[0.5, 0.5], [0.1, 0.9]]
    calls = []

    def counted(x):
        calls.append(x.copy())
        if len(calls) == 12:
            raise RuntimeError("gone")
        return bowl(x)

    whole = gssbo.minimize(bowl, bounds, n_evals=20, n_init=5, x0=x0, rng=2)
    with pytest.raises(RuntimeError):
        gssbo.minimize(counted, bounds, n_evals=20, n_init=5, x0=x0, rng=2, journal=path)
    result = gssbo.minimize(counted, bounds, n_evals=20, n_init=5, x0=x0, rng=2, journal=path)
    assert len(calls) == 21  # the one that was lost is evaluated again
    np.testing.assert_array_equal(result.x_iters, whole.x_iters)
    assert (result.nfev, result.fun) == (20, whole.fun)
    again = gssbo.minimize(counted, bounds, n_evals=20, n_init=5, journal=path)  # nothing is left to do
    assert (len(calls), again.nfev, again.fun) == (21, 20, whole.fun)


def test_prior_data_are_told_once(tmp_path):
    path = tmp_path / "run.jsonl"
    prior = {"x0": np.array([[0.2, 0.2], [0.8, 0.8]]), "y0": [1.0, 2.0]}
    for n_evals in (3, 6):
        result = gssbo.minimize(bowl, [(0.0, 1.0)] * 2, n_evals=n_evals, n_init=4, rng=0, journal=path, **prior)
    assert (result.nfev, len(result.x_iters)) == (6, 8)


@pytest.mark.parametrize(
    ("seed", "entropy"),
    [(np.int64(7), 7), (np.uint8(7), 7), (True, 1), ([7, 8], [7, 8]), ([[7], np.array([8, 9])], [7, 8, 9])],
)
def test_a_seed_may_be_any_that_numpy_takes(tmp_path, seed, entropy):
    def run(**options):
        return gssbo.minimize(bowl, [(0.0, 1.0)] * 2, n_evals=8, n_init=4, rng=seed, **options).x_iters

    path = tmp_path / "run.jsonl"
    for _ in range(2):
        np.testing.assert_array_equal(run(journal=path), run())
    header = json.loads(path.read_text().split("\n", 1)[0])
    assert [each["entropy"] for each in header["rng"]] == [entropy] * 4


def test_a_number_is_the_same_however_it_is_written(tmp_path):
    path, bounds = tmp_path / "run.jsonl", [(0.0, 1.0)]
    begun = {"acquisition": "ucb", "acquisition_options": {"beta": 2.0}, "dynamic_factor": 4.0, "n_init": 3}
    with gssbo.Optimizer(bounds, **begun, rng=0, journal=path) as opt:
        opt.tell(opt.ask(), 1.0)
    again = {"acquisition_options": {"beta": np.int8(2)}, "dynamic_factor": 4, "n_init": np.uint16(3)}
    with gssbo.Optimizer(bounds, acquisition="ucb", **again, journal=path) as opt:
        assert opt.n_told == 1
    for other in ({"acquisition_options": {"beta": 3}}, {"dynamic_factor": 4.5}, {"retain_initial": False}):
        with pytest.raises(OtherOption, match=f"was begun with {next(iter(other))}="):
            gssbo.Optimizer(bounds, **begun | other, journal=path)


def test_another_seed_is_another_run(tmp_path):
    path = tmp_path / "run.jsonl"
    gssbo.minimize(bowl, [(0.0, 1.0)], n_evals=3, rng=0, journal=path)
    before = path.read_bytes()
    with pytest.raises(JournalError, match="another rng"):
        gssbo.minimize(bowl, [(0.0, 1.0)], n_evals=5, rng=1, journal=path)
    with pytest.raises(OtherOption, match="n_init=None, got 7") as error:
        gssbo.minimize(bowl, [(0.0, 1.0)], n_evals=5, rng=0, n_init=7, journal=path)
    assert (error.value.name, error.value.then) == ("n_init", None)
    with pytest.raises(JournalError, match="maximize=False, got True"):
        gssbo.minimize(bowl, [(0.0, 1.0)], n_evals=5, rng=0, maximize=True, journal=path)
    assert path.read_bytes() == before


def test_what_is_new_among_earlier_observations_is_told_when_a_run_is_taken_up(tmp_path):
    path, bounds = tmp_path / "run.jsonl", [(0.0, 1.0)] * 2

    def go_on(n_evals, x0, y0):
        return gssbo.minimize(bowl, bounds, n_evals=n_evals, x0=x0, y0=y0, rng=3, journal=path)

    x0, y0 = [[0.1, 0.2], [0.1, 0.2], [0.4, 0.4]], [1.0, 1.0, np.nan]
    assert go_on(4, x0, y0).nfev == 4
    assert len(go_on(4, x0, y0).func_vals) == 7  # all of it is known
    more = go_on(6, [*x0, [0.9, 0.9], [0.1, 0.2]], [*y0, 5.0, 2.0])  # a new point, and another value at an old one
    assert more.nfev == 6 and more.func_vals[7:9].tolist() == [5.0, 2.0]
    assert len(go_on(6, [[0.9, 0.9]], [5.0]).func_vals) == 11


def test_what_is_new_in_x0_is_evaluated_when_a_run_is_taken_up(tmp_path):
    path, bounds, seen = tmp_path / "run.jsonl", [(0.0, 1.0)] * 2, []

    def noted(x):
        seen.append(x.tolist())
        return bowl(x)

    gssbo.minimize(noted, bounds, n_evals=1, x0=[[0.5, 0.5], [0.6, 0.6]], rng=3, journal=path)
    gssbo.minimize(noted, bounds, n_evals=4, x0=[[0.5, 0.5], [0.6, 0.6], [0.7, 0.7]], rng=3, journal=path)
    assert seen[:3] == [[0.5, 0.5], [0.6, 0.6], [0.7, 0.7]] and len(seen) == 4


@pytest.mark.parametrize("edited", [1, 9])
def test_suggestions_that_were_edited_are_counted_once(tmp_path, edited):
    path = tmp_path / "run.jsonl"
    options = {"method": "box", "n_init": 6, "rng": 0, "journal": path}
    with gssbo.Optimizer([(0.0, 1.0)] * 2, **options) as opt:
        for _ in range(14):
            x = opt.ask()
            opt.tell(x, bowl(x))
        counts = opt._proposals.counts
    lines = path.read_text().splitlines()
    where = [k for k, line in enumerate(lines) if line.startswith('{"ask"')][edited]
    entry = json.loads(lines[where])
    entry["ask"] = [[0.5, 0.25]]
    lines[where] = json.dumps(entry)
    path.write_text("\n".join(lines) + "\n")
    with pytest.warns(JournalWarning, match="other suggestions"), gssbo.Optimizer([(0.0, 1.0)] * 2, **options) as opt:
        assert opt.n_suggested == counts[2] == 8
        assert opt._proposals.counts[0] == counts[0] == 6
