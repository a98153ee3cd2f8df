"""Objects as JSON and back."""

import json
import os
from collections import deque
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gssbo
from gssbo.gp import GaussianProcess
from gssbo.journal.generators import state_of
from gssbo.journal.graph import decode, encode
from gssbo.kernels import Kernel
from tests.names import without_address


def through_text(value, known=()):
    return decode(json.loads(json.dumps(encode(value, known), allow_nan=False)), known)


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
    "value",
    [Foreign(), ForeignTuple(1), Foreign, len, lambda: 0, Kernel, np.array([None]), object()],
    ids=without_address,
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
