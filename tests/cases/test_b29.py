"""B29: a journal of another space."""

import pytest

import gssbo
from gssbo.exceptions import JournalError
from gssbo.journal import read_journal

SPACE = {"x": (1.0, 10.0), "c": ["u", "v"]}
OTHERS = {
    "other bounds": ({"x": (11.0, 20.0), "c": ["u", "v"]}, "'x'.*low=1.0, high=10.0.*low=11.0, high=20.0"),
    "another category": ({"x": (1.0, 10.0), "c": ["u", "w"]}, r"'c'.*values=\['u', 'v'\].*values=\['u', 'w'\]"),
    "another order": ({"x": (1.0, 10.0), "c": ["v", "u"]}, r"'c'.*values=\['u', 'v'\].*values=\['v', 'u'\]"),
    "renamed": ({"z": (1.0, 10.0), "c": ["u", "v"]}, "'x'.*x: Real.*z: Real"),
    "wider": ({"x": (0.0, 20.0), "c": ["u", "v"]}, "'x'.*low=1.0.*low=0.0"),
    "logarithmic": ({"x": gssbo.Real(1.0, 10.0, log=True), "c": ["u", "v"]}, "'x'.*log=False.*log=True"),
    "whole numbers": ({"x": gssbo.Integer(1, 10), "c": ["u", "v"]}, "'x'.*Real.*Integer"),
    "one more": ({**SPACE, "n": range(3)}, "2 parameters, got 3"),
}


@pytest.mark.parametrize(("space", "message"), OTHERS.values(), ids=OTHERS)
def test_it_is_refused_before_any_evaluation(tmp_path, space, message):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(SPACE, rng=0, journal=path) as opt:
        for k in range(8):
            opt.tell({"x": 1.0 + k, "c": "uv"[k % 2]}, float(k))
    before = path.read_bytes()
    calls = []
    with pytest.raises(JournalError, match=message):
        gssbo.minimize(calls.append, space, n_evals=10, rng=0, journal=path)
    assert calls == [] and path.read_bytes() == before
    record = read_journal(path)
    told = [record.space.show(entry.rows)[0] for entry in record.entries]
    assert told == [{"x": 1.0 + k, "c": "uv"[k % 2]} for k in range(8)]
