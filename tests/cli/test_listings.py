"""What the command line lists: problems, methods, versions, extras."""

import importlib.metadata
import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import gssbo
from gssbo.cli import main
from gssbo.cli.text import WIDTH
from gssbo.machine import extras
from gssbo.methods import METHODS, OWN
from gssbo.problems import PROBLEMS, get_problem


def test_problems_lists_every_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["problems"]) == 0
    out = capsys.readouterr().out
    for name in PROBLEMS:
        assert re.search(rf"^{name} +{get_problem(name).dim} ", out, re.MULTILINE)
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= WIDTH


def test_methods_lists_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name} " in out and method.description in out for name, method in METHODS.items())
    assert all(f"{name} " in out and description in out for name, description in OWN.items())


def test_info_names_versions_and_instructions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    facts = dict(re.split(r"  +", each, maxsplit=1) for each in capsys.readouterr().out.splitlines())
    assert facts["gssbo"] == gssbo.__version__
    assert facts["NumPy"] == np.__version__
    assert facts["core's instructions"]
    assert facts["cores"].startswith(str(os.cpu_count()))
    assert "BLAS of numpy" in facts
    assert "BLAS of scipy" in facts


def test_info_names_the_extra_of_each_optional_package(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.metadata.version
    absent = ("torch", "optuna")

    def version(package: str) -> str:
        if package in absent:
            raise importlib.metadata.PackageNotFoundError(package)
        return found(package)

    monkeypatch.setattr("importlib.metadata.version", version)
    assert main(["info"]) == 0
    facts = dict(re.split(r"  +", each, maxsplit=1) for each in capsys.readouterr().out.splitlines())
    optional = list(facts)[-6:]
    assert optional == ["rich", "distributed", "optuna", "matplotlib", "scikit-learn", "torch"]
    assert facts["torch"] == "not installed: pip install 'gssbo[torch]'"
    assert facts["optuna"] == "not installed: pip install 'gssbo[optuna]'"
    for package, extra in (("scikit-learn", "sklearn"), ("matplotlib", "plot"), ("rich", "cli")):
        assert facts[package] == f"{found(package)} (extra {extra})"


def test_the_extras_are_those_of_the_project() -> None:
    file = Path(__file__).parents[2] / "pyproject.toml"
    listed = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    development = ("lint", "test", "docs", "bench")
    names = {extra: re.match(r"[\w-]+", found[0]) for extra, found in listed.items() if extra not in development}
    assert extras() == {name[0]: extra for extra, name in names.items() if name}
    assert extras()["distributed"] == "dask"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"gssbo {gssbo.__version__}\n")


def test_help_of_run_lists_problems_and_methods(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run", "--help"])
    out = capsys.readouterr().out
    assert end.value.code == 0
    assert all(name in out for name in [*PROBLEMS, *METHODS, *OWN])
