"""B39: packaging. Oldest and newest NumPy and SciPy, and what the wheel holds, are the business of `.ci/run`."""

import subprocess
import sys
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


@pytest.mark.skipif(not (SOURCE / "gssbo" / "__init__.py").exists(), reason="no source folder here")
def test_from_the_source_folder_it_works_or_says_what_to_do():
    done = subprocess.run([sys.executable, "-c", "import gssbo"], cwd=SOURCE, capture_output=True, text=True)
    compiled = any((SOURCE / "gssbo" / "_core").glob("_linalg*.so")) or any(SOURCE.glob("gssbo/_core/_linalg*.pyd"))
    if compiled:
        assert done.returncode == 0, done.stderr
    else:
        last = done.stderr.strip().splitlines()[-1]
        assert last.startswith("ImportError: gssbo is imported from its source folder") and "pip install ." in last


def test_numpy_and_scipy_are_all_it_needs():
    needed = [line for line in requires("gssbo") or [] if "extra ==" not in line]
    assert sorted(line.split(">")[0].strip() for line in needed) == ["numpy", "scipy"]
    code = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in {'optuna', 'sklearn', 'matplotlib', 'rich', 'torch', 'distributed'}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "import gssbo\n"
        "r = gssbo.minimize(lambda x: (x[0] - 1) ** 2 + x[1] ** 2, [(-5, 10), (0, 15)], n_evals=12, n_init=6, rng=0)\n"
        "assert r.nfev == 12\n"
        "for module in ('optuna', 'sklearn'):\n"
        "    try:\n"
        "        __import__(f'gssbo.integrations.{module}')\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    assert "gssbo[optuna]" in first and "gssbo[sklearn]" in second


def test_nothing_installed_names_where_it_was_built():
    files = [file for file in distribution("gssbo").files or [] if file.suffix == ".py" and "gssbo" in file.parts]
    assert len(files) > 100
    for file in files:
        text = Path(file.locate()).read_text(encoding="utf-8")
        assert str(SOURCE) not in text
