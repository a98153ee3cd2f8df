"""Every example in a docstring runs, and every public name has one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest
from threadpoolctl import threadpool_limits

import gssbo
from gssbo.exceptions import MissingDependencyError

SKIPPED = ("gssbo.cli",)  # its own tests run it
MODULES = [
    "gssbo",
    *sorted(
        module.name
        for module in pkgutil.walk_packages(gssbo.__path__, "gssbo.", onerror=lambda name: None)
        if not module.name.startswith(SKIPPED)
    ),
]


NEED_TORCH = [f"gssbo.baselines.{stem}" for stem in ("bnn", "deep_kernel", "ipa", "sparse_gp")]


def load(name):
    if name in NEED_TORCH:
        pytest.importorskip("torch")
    try:
        return importlib.import_module(name)
    except MissingDependencyError as error:
        pytest.skip(str(error))


def test_modules_are_found():
    assert {"gssbo.optimizer", "gssbo.selection.rules", "gssbo._core._select", "gssbo.reference"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = load(name)
    assert module.__doc__ or name.endswith("._core"), f"{name} has no docstring"
    report = []
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False)
    with threadpool_limits(1):  # small problems crawl on several
        for case in finder.find(module, name):
            runner.run(case, out=report.append)
    assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize("name", [n for n in gssbo.__all__ if not inspect.ismodule(getattr(gssbo, n))])
def test_public_names_have_an_example_and_sections(name):
    item = getattr(gssbo, name)
    text = inspect.getdoc(item)
    assert doctest.DocTestParser().get_examples(text), f"{name} has no example"
    assert "Parameters\n----------" in text
    for parameter in inspect.signature(item).parameters:
        assert parameter in text, f"{name} does not document {parameter}"
