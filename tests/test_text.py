"""Messages stay readable, whatever they are about."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo
from gssbo import Categorical, Optimizer
from gssbo._text import brief, listed
from gssbo.space import Space

MANY = list(range(100_000))
WORDS = [f"word {i}" for i in MANY]
LONG = "x" * 100_000
TABLE = np.full((50, 100), np.nan)
BOX = dict.fromkeys(WORDS[:100], (0, 1))


class Speechless:
    def __repr__(self):
        raise RuntimeError("nothing to say")


def test_a_value_is_on_one_line_and_cut_short():
    assert brief("a") == "'a'"
    assert brief(np.eye(2)) == "array([[1., 0.], [0., 1.]])"
    assert brief(LONG) == "'" + "x" * 76 + "..."
    assert brief(10**10_000).startswith("<int object at ")  # more digits than Python prints
    assert "Speechless object at" in brief(Speechless())


def test_of_many_values_the_first_are_listed():
    assert listed([1, "b"]) == "1, 'b'"
    assert listed(WORDS[:10]).endswith("'word 9'")
    assert listed(MANY) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (100,000)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gssbo.minimize(lambda x: MANY, [(0, 1)], n_evals=2), "fun must return one real number"),
        (lambda: gssbo.minimize(lambda x: Speechless(), [(0, 1)], n_evals=2), "fun must return one real number"),
        (
            lambda: gssbo.minimize(
                lambda x: 0.0, [(0, 1)], n_evals=2, constraints=NonlinearConstraint(lambda x: WORDS, 0, 1)
            ),
            r"constraints\[0\] must return numbers",
        ),
        (lambda: Optimizer([(0, 1)], constraints=[LinearConstraint([1], 0, 1), WORDS]), r"constraints\[1\] must be a"),
        (lambda: Optimizer({"c": WORDS[:500]}).tell({"c": LONG}, 1.0), "x must be one of the values"),
        (lambda: Optimizer({"c": WORDS[:500]}).tell({"c": Speechless()}, 1.0), "x must be one of the values"),
        (lambda: Optimizer(dict.fromkeys(WORDS[:1000], (0, 1))).tell({"a": 1}, 1.0), "x must have the keys"),
        (lambda: Optimizer([(0, 1), bool]).tell(dict.fromkeys(WORDS), 1.0), "x must be a list of 2 values"),
        (lambda: Optimizer({"a": set(WORDS)}), r"bounds\['a'\] must be"),
        (lambda: Optimizer({"a": tuple(MANY)}), r"bounds\['a'\] must be"),
        (lambda: Optimizer(LONG), "bounds must have an entry a parameter"),
        (lambda: Categorical(set(MANY)), "values must be a list"),
        (lambda: Categorical([LONG, LONG]), "values must be distinct"),
        (lambda: gssbo.Integer(0, 10**10_000), "Integer must have bounds"),
        (
            lambda: Optimizer([(0, 1)] * 100, constraints=LinearConstraint(TABLE, ub=1.0)),
            r"constraints\[0\] must have finite coefficients",
        ),
        (lambda: Optimizer([(0, 1)], method="box", pool=TABLE), "pool must be"),
        (lambda: Optimizer([(0, 1)], strategy=TABLE), "strategy must be"),
        (lambda: gssbo.minimize(sum, [(0, 1)], n_evals=2, progress=TABLE), "progress must be"),
        (lambda: Optimizer([(0, 1)], journal=TABLE), "journal must be"),
        (lambda: Optimizer([(0, 1)] * 100).forget(np.zeros(100)), "x or id must be"),
        (lambda: Space(BOX).read_many("X", dict.fromkeys(BOX, 0.5)), "X must be a list of points, got one point"),
    ],
)
def test_messages_are_short_however_much_they_are_about(call, message):
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        call()
    assert len(str(caught.value)) < 500
    assert len(str(caught.value).splitlines()) == 1
