"""B39, the half of the adapters: without its package an adapter says what to install, and the rest works."""

import subprocess
import sys

import pytest

CODE = """
import sys
sys.modules[{package!r}] = None  # as if it were not installed
import gssbo, gssbo.integrations
result = gssbo.minimize(lambda x: x[0] ** 2, [(-1.0, 1.0)], n_evals=12, rng=0)
assert result.nfev == 12
try:
    import gssbo.integrations.{adapter}
except gssbo.exceptions.MissingDependencyError as error:
    print(error)
"""


@pytest.mark.parametrize(("package", "adapter"), [("optuna", "optuna"), ("sklearn", "sklearn")])
def test_a_missing_extra_is_named(package, adapter, tmp_path):
    code = CODE.format(package=package, adapter=adapter)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == (
        f"gssbo.integrations.{adapter} needs the package {package!r}: pip install 'gssbo[{adapter}]'\n"
    )
