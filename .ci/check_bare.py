"""Use an installed gssbo where there is only NumPy and SciPy beside it.

Run it isolated (``python -I``), with a working directory outside the checkout.
"""

import importlib.metadata
import sys
from pathlib import Path

started_with = set(sys.modules)

import gssbo  # noqa: E402  (after the snapshot)

ALLOWED = {"gssbo", "numpy", "scipy"}
INSTALLERS = {"pip", "setuptools", "wheel"}  # what `venv` may put there

installed = {each.metadata["Name"].lower() for each in importlib.metadata.distributions()} - INSTALLERS
if installed != ALLOWED:
    sys.exit(f"the environment is not bare: {', '.join(sorted(installed))}")
if "site-packages" not in gssbo.__file__:
    sys.exit(f"gssbo is not the installed one: {gssbo.__file__}")


def bowl(x):
    """Return the squared distance to a point inside the box."""
    return float(((x - 0.3) ** 2).sum())


def run():
    """Minimise the bowl, retaining 25 observations, which needs the compiled core and the selection rule."""
    return gssbo.minimize(bowl, [(-1.0, 1.0), (-1.0, 1.0)], n_evals=30, subset_size=25, rng=0)


result = run()
problems = []
if result.x_iters.shape != (30, 2) or result.func_vals.shape != (30,):
    problems.append(f"30 evaluations were asked for: {result.x_iters.shape}, {result.func_vals.shape}")
if len(result.retained) != 25:
    problems.append(f"25 observations were to be retained: {len(result.retained)}")
if result.fun != min(result.func_vals) or result.fun > 0.05:
    problems.append(f"the minimum found is {result.fun}")
if (run().x_iters != result.x_iters).any():
    problems.append("the same seed gave another run")

site_packages = Path(gssbo.__file__).parents[1]
foreign = {
    name
    for name, module in sys.modules.items()
    if name not in started_with
    and site_packages in Path(getattr(module, "__file__", None) or "").parents
    and Path(module.__file__).relative_to(site_packages).parts[0] not in ALLOWED
}
if foreign:
    problems.append(f"imported: {', '.join(sorted(foreign))}")
if problems:
    sys.exit("\n".join(problems))

versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in sorted(ALLOWED))
print(f"{versions}: 30 evaluations, minimum {result.fun:.3g}")
