"""What `import gssbo` does to the process: nothing but define names, each of them documented.

Every check of a side effect runs in an interpreter of its own, started outside the source folder.
"""

import importlib.metadata
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gssbo

EXTRAS = [
    "dask",
    "hypothesis",
    "joblib",
    "matplotlib",
    "optuna",
    "pandas",
    "pytest",
    "rich",
    "sklearn",
    "torch",
]

# Imports of NumPy and SciPy have effects of their own (SciPy adds warnings filters), so they come first.
OBSERVE = """
import json, logging, os, sys, warnings
import numpy as np
import scipy.linalg, scipy.optimize, scipy.special, scipy.stats

def observe():
    kind, keys, position, has_gauss, gauss = np.random.get_state()
    return {
        "NumPy's global generator": [kind, keys.tolist(), position, has_gauss, gauss],
        "NumPy's error handling": np.geterr(),
        "NumPy's print options": {key: repr(value) for key, value in np.get_printoptions().items()},
        "warnings filters": [repr(each) for each in warnings.filters],
        "root logger": [logging.root.level, logging.root.disabled, repr(logging.root.handlers)],
        "logging.disable": logging.root.manager.disable,
        "environment": dict(os.environ),
        "recursion limit": sys.getrecursionlimit(),
    }
"""


def run(code: str, directory: Path) -> Any:
    """Run code in a fresh interpreter and return what it prints, read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=directory, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_import_takes_numpy_and_scipy_only(tmp_path: Path) -> None:
    loaded = run("import json, sys, gssbo; print(json.dumps(sorted(sys.modules)))", tmp_path)
    assert "gssbo" in loaded
    assert sorted({name.partition(".")[0] for name in loaded} & set(EXTRAS)) == []


@pytest.mark.parametrize("name", ["baselines", "machine", "plot", "problems", "reference"])
def test_subpackages_of_the_documentation_need_no_import_of_their_own(tmp_path: Path, name: str) -> None:
    code = (
        "import json, sys, gssbo; before = 'gssbo.{0}' in sys.modules, '{0}' in dir(gssbo); "
        "print(json.dumps([*before, gssbo.{0}.__name__, sorted(sys.modules)]))"
    )
    early, listed, found, loaded = run(code.format(name), tmp_path)
    assert (early, listed, found) == (False, True, f"gssbo.{name}")
    assert sorted({each.partition(".")[0] for each in loaded} & set(EXTRAS)) == []


def test_a_misspelt_attribute_is_none() -> None:
    with pytest.raises(AttributeError, match="module 'gssbo' has no attribute 'plots'"):
        gssbo.plots  # noqa: B018


def test_import_leaves_global_state_alone(tmp_path: Path) -> None:
    before, after = run(OBSERVE + "before = observe()\nimport gssbo\nprint(json.dumps([before, observe()]))", tmp_path)
    changed = [name for name in before if before[name] != after[name]]
    assert changed == []


def test_import_prints_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import gssbo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_version_is_the_metadata_version() -> None:
    assert gssbo.__version__ == importlib.metadata.version("gssbo")


def test_core_requires_numpy_and_scipy_only() -> None:
    requirements = importlib.metadata.requires("gssbo") or []
    core = [each for each in requirements if "extra ==" not in each]
    assert sorted(each.partition(">")[0].strip() for each in core) == ["numpy", "scipy"]


def public_names() -> list[str]:
    """Return the public names, without data about the package such as `__version__`."""
    return [name for name in gssbo.__all__ if not name.startswith("_")]


def test_public_names_are_unique_and_there() -> None:
    assert len(gssbo.__all__) == len(set(gssbo.__all__))
    assert [name for name in gssbo.__all__ if not hasattr(gssbo, name)] == []


@pytest.mark.parametrize("name", public_names())
def test_public_name_is_documented(name: str) -> None:
    public = getattr(gssbo, name)
    assert (public.__doc__ or "").strip(), f"gssbo.{name} has no docstring"
    if inspect.isclass(public):
        members = [member for member in vars(public) if not member.startswith("_")]
        silent = [
            member
            for member in members
            if (callable(getattr(public, member)) or isinstance(vars(public)[member], property))
            and not inspect.getdoc(getattr(public, member))
        ]
        assert silent == [], f"gssbo.{name} has members without a docstring"
