"""The registry: names, families, dimensions, errors."""

import pytest

from gssbo.problems import PROBLEMS, Problem, get_problem


def test_names():
    assert list(PROBLEMS) == [
        "eggholder2", "hartmann6", "levy20", "powell50", "rastrigin100", "ackley20", "griewank10", "michalewicz10",
        "styblinskitang10", "branin2", "shekel4", "rosenbrock10", "ellipsoid10", "discus10", "bentcigar10",
        "sharpridge10", "noisyhartmann6", "pendulums12", "diabetes",
    ]  # fmt: skip
    assert len(set(PROBLEMS.values())) == len(PROBLEMS)


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_name_builds_the_problem_of_that_name(name):
    problem = get_problem(name)
    assert isinstance(problem, Problem)
    assert problem.name == name
    assert PROBLEMS[name]().name == name


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("Eggholder2", "eggholder2"), ("EGGHOLDER", "eggholder2"), (" hartmann ", "hartmann6"),
        ("Hart6", "hartmann6"), ("levy", "levy20"), ("Levy7", "levy7"), ("powell", "powell50"),
        ("powell8", "powell8"), ("RASTRIGIN", "rastrigin100"), ("Diabetes", "diabetes"), ("Branin", "branin2"),
        ("styblinskitang3", "styblinskitang3"), ("noisyhartmann", "noisyhartmann6"),
        ("Ackley-Shifted", "ackley20-shifted"),
        ("discus-rotated3-shifted", "discus10-rotated3-shifted"), ("levy7-shifted0", "levy7-shifted"),
    ],
)  # fmt: skip
def test_aliases(alias, name):
    assert get_problem(alias).name == name


@pytest.mark.parametrize(
    "name", ["eggholder-shifted", "noisyhartmann6-rotated", "diabetes-shifted", "michalewicz-rotated"]
)
def test_what_cannot_be_moved(name):
    with pytest.raises(ValueError, match="optimum that holds on all"):
        get_problem(name)


def test_dim_takes_precedence_over_the_name():
    assert get_problem("levy", dim=7).name == "levy7"
    assert get_problem("levy20", dim=7).dim == 7
    assert get_problem("rastrigin5", dim=3).dim == 3
    assert get_problem("powell50", dim=12).dim == 12
    assert get_problem("hartmann6", dim=6).dim == 6
    assert get_problem("diabetes", dim=4).dim == 4
    assert get_problem("ackley20-shifted", dim=3).name == "ackley3-shifted"


@pytest.mark.parametrize(
    "name", ["nowhere", "", "levy-20", "20levy", "diabetes4", None, 3, "levy-shifted-1", "levy20-turned", "-shifted"]
)
def test_unknown_names_list_the_valid_ones(name):
    with pytest.raises(ValueError, match="name must be one of") as caught:
        get_problem(name)
    assert all(valid in str(caught.value) for valid in PROBLEMS)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "dim"),
    [
        ("eggholder2", 3), ("hartmann", 3), ("diabetes", 5), ("levy", 0), ("levy", -1), ("levy", 2.5),
        ("levy", "3"), ("powell", 3), ("rastrigin", 0), ("rastrigin", True), ("eggholder3", None),
        ("levy0", None), ("diabetes", 4.0), ("branin", 3), ("shekel5", None), ("pendulums", 6), ("ellipsoid", 1),
        ("rosenbrock1", None), ("noisyhartmann", 5), ("levy0-shifted", None),
    ],
)  # fmt: skip
def test_dimensions_that_do_not_exist(name, dim):
    with pytest.raises(ValueError, match="dim must be"):
        get_problem(name, dim=dim)
