"""Spaces of scikit-learn as candidates."""

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from scipy import stats  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import gssbo  # noqa: E402
from gssbo.integrations.sklearn.candidate_space import CandidateSpace  # noqa: E402
from tests.searches import IRIS, search  # noqa: E402

pytestmark = pytest.mark.usefixtures("single_thread")


def test_spellings_of_a_space():
    space = CandidateSpace(
        {
            "a": (0.5, 2),
            "b": (1, 5),
            "c": (1e-3, 1.0, "log-uniform"),
            "d": [1, 5],
            "e": np.array([0.5, 1.5]),
            "f": range(2, 9, 2),
            "g": stats.uniform(1.0, 2.0),
            "h": stats.loguniform(1e-4, 10.0),
            "i": stats.randint(3, 7),
            "j": gssbo.Integer(1, 9, log=True),
            "k": ("u", "v"),
            "l": stats.reciprocal(1.0, 4.0),
            "m": (2, 32, "log-uniform"),
            "n": [2, 32, "uniform"],
            "o": [1e-3, 1, "log-uniform"],
            "p": (True, False),
            "q": bool,
            "r": (1, 2, 3),
            "s": (1, 9, int),
        }
    )
    assert [space.values({"r": code})["r"] for code in range(3)] == [1, 2, 3]
    assert space.parameters == {
        "a": gssbo.Real(0.5, 2.0),
        "b": gssbo.Integer(1, 5),
        "c": gssbo.Real(1e-3, 1.0, log=True),
        "d": gssbo.Categorical([0, 1]),
        "e": gssbo.Categorical([0, 1]),
        "f": gssbo.Integer(2, 8, step=2),
        "g": gssbo.Real(1.0, 3.0),
        "h": gssbo.Real(1e-4, 10.0, log=True),
        "i": gssbo.Integer(3, 6),
        "j": gssbo.Integer(1, 9, log=True),
        "k": gssbo.Categorical(["u", "v"]),
        "l": gssbo.Real(1.0, 4.0, log=True),
        "m": gssbo.Integer(2, 32, log=True),
        "n": gssbo.Integer(2, 32),
        "o": gssbo.Real(1e-3, 1.0, log=True),
        "p": gssbo.Categorical([True, False]),
        "q": gssbo.Categorical([False, True]),
        "r": gssbo.Integer(0, 2),
        "s": gssbo.Integer(1, 9),
    }
    chosen = space.values(dict.fromkeys(space.parameters, 1))
    assert (chosen["d"], chosen["e"], chosen["b"]) == (5, 1.5, 1)
    assert type(chosen["e"]) is float


def test_distributions_are_searched_in_their_quantiles():
    """Against the inverses of their distribution functions in closed form."""
    inverses = {
        "expon": (stats.expon(scale=2.0), lambda u: -2.0 * np.log1p(-u)),
        "logistic": (stats.logistic(1.0, 3.0), lambda u: 1.0 + 3.0 * np.log(u / (1.0 - u))),
        "cauchy": (stats.cauchy(), lambda u: np.tan(np.pi * (u - 0.5))),
        "shifted": (stats.loguniform(1, 10, loc=5), lambda u: 5.0 + 10.0**u),
        "power": (stats.powerlaw(3.0), lambda u: u ** (1.0 / 3.0)),
    }
    space = CandidateSpace({name: frozen for name, (frozen, _) in inverses.items()})
    assert set(space.parameters.values()) == {gssbo.Real(0.001, 0.999)}
    for share in [0.001, 0.2, 0.5, 0.999]:
        values = space.values(dict.fromkeys(inverses, share))
        for name, (_, inverse) in inverses.items():
            assert values[name] == pytest.approx(inverse(share), rel=1e-9)
            assert type(values[name]) is float
    found = search(Ridge(), {"alpha": stats.gamma(2.0, scale=0.5)}, cv=2).fit(*IRIS)
    shares = [point["alpha"] for point in found.optimizer_.X]
    assert list(found.cv_results_["param_alpha"]) == [stats.gamma(2.0, scale=0.5).ppf(share) for share in shares]


def test_numbers_of_a_list_are_searched_by_their_rank():
    given = {
        "sizes": [300, 50, 1.5],
        "rates": np.logspace(-4, 4, 10_000),
        "twice": [1, 1, 2],
        "two": [3, 1],
        "odd": [1, 2, None],
    }
    space = CandidateSpace(given)
    assert space.parameters["sizes"] == gssbo.Integer(0, 2)
    assert [space.values({"sizes": rank})["sizes"] for rank in range(3)] == [1.5, 50, 300]
    assert type(space.values({"sizes": 1})["sizes"]) is int
    assert space.parameters["rates"] == gssbo.Integer(0, 9_999)
    assert space.values({"rates": 9_999})["rates"] == 1e4
    for name in ("twice", "two", "odd"):
        assert space.parameters[name] == gssbo.Categorical(range(len(given[name])))


def test_choices_may_be_anything_and_come_as_they_are():
    weights, scaler = np.array([1.0, 2.0]), StandardScaler()
    space = CandidateSpace({"w": [None, weights, {1: 2.0}, float("nan")], "s": [scaler, "passthrough"]})
    assert space.values({"w": 1, "s": 0})["w"] is weights
    assert space.values({"w": 1, "s": 0})["s"] is scaler


def test_texts_are_categories_by_name():
    space = CandidateSpace({"kernel": np.array(["rbf", "poly"]), "weight": [None, "balanced"], "twice": ["a", "a"]})
    assert [space.parameters[name].values for name in space.parameters] == [("rbf", "poly"), (None, "balanced"), (0, 1)]
    point = {"kernel": "poly", "weight": None, "twice": 1}
    assert space.values(point) == {"kernel": "poly", "weight": None, "twice": "a"}


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (
            {"C": stats.poisson(3)},
            r"param_distributions\['C'\] must be .* the distribution 'poisson' is discrete: give",
        ),
        ({"C": stats.norm(0.0, -1.0)}, "the distribution 'norm' is none of one number, with parameters in range"),
        ({"C": stats.norm([0.0, 1.0], 1.0)}, "the distribution 'norm' is none of one number"),
        ({"C": stats.uniform([0.0, 1.0], 1.0)}, "the distribution 'uniform' is none of one number"),
        ({"C": 3.0}, "it is none of these"),
        ({"C": (2.0, 1.0)}, "low <= high"),
        (
            {"C": (1e-5, 0.1, "log_uniform")},
            r"with 'uniform' or 'log-uniform' behind it at most or as Real\(..., log=True\)",
        ),
        ({"C": ("1e-5", 0.1)}, "must be a range of numbers"),
        ({"C": []}, "values must not be empty"),
        ({}, "must be a dict of at least one parameter, got {}"),
        ({1: [1, 2]}, "^param_distributions must have text as names, got 1$"),
        (
            {"C": np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])},
            r"^param_distributions\['C'\] must have no masked entries, got ",
        ),
        ({"C": [1.0, np.ma.masked]}, r"^param_distributions\['C'\] must have no masked entries, got "),
        ([{"C": [1]}], r"must be a dict of at least one parameter, got \[{'C': \[1\]}\]"),
    ],
)
def test_a_wrong_space_is_named(space, message):
    with pytest.raises(ValueError, match=message):
        CandidateSpace(space)


@pytest.mark.parametrize(
    ("frozen", "low", "high"),
    [
        (stats.randint(2**53 + 1, 2**53 + 4), 2**53 + 1, 2**53 + 3),
        (stats.randint(2**60 + 1, 2**60 + 3), 2**60 + 1, 2**60 + 2),
        (stats.randint(0, 5, loc=3), 3, 7),
        (stats.randint(0, 5, -2), -2, 2),
        (stats.randint(low=1.0, high=4.0), 1, 3),
    ],
)
def test_the_ends_of_whole_numbers_are_those_of_the_distribution(frozen, low, high):
    assert CandidateSpace({"n": frozen}).parameters == {"n": gssbo.Integer(low, high)}


@pytest.mark.parametrize(
    "frozen", [stats.randint(0, 5, loc=0.5), stats.randint(0.5, 5.5), stats.randint(0, np.inf), stats.randint(5, 5)]
)
def test_a_randint_of_other_numbers_is_refused(frozen):
    with pytest.raises(ValueError, match=r"^param_distributions\['n'\] must be .*(whole numbers|low <= high)"):
        CandidateSpace({"n": frozen})
