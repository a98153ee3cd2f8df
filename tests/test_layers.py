"""The layer table of the architecture, held over the import graph.

Modules are read with `ast`, never imported, so an import inside a function or under ``TYPE_CHECKING``
counts like any other. The rule: a module imports from the layers that its own layer may see, modules of one
layer may import each other, and no chain of imports comes back to where it started.
"""

import ast
import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PACKAGE = "gssbo"
TOP = "__init__"

# Layer of each module, by its name below the package; a subpackage stands for everything in it.
LAYER = {
    "_core": 0,
    "_arithmetic": 1,
    "_keywords": 1,
    "_notes": 1,
    "_optional": 1,
    "_parallel": 1,
    "_text": 1,
    "_typing": 1,
    "_validation": 1,
    "_turns": 1,
    "_warning": 1,
    "exceptions": 1,
    "books": 2,
    "entry": 2,
    "history": 2,
    "kernels": 2,
    "observations": 2,
    "pending": 2,
    "machine": 2,
    "padded": 2,
    "columns": 2,
    "space": 2,
    "statement": 2,
    "_mle": 3,
    "factor": 3,
    "joint": 3,
    "pooled": 3,
    "projected": 3,
    "features": 3,
    "embedding": 3,
    "gp": 3,
    "precision": 3,
    "regressor": 3,
    "responses": 3,
    "standardized": 3,
    "surrogate": 3,
    "acquisition": 4,
    "admission": 4,
    "listing": 4,
    "buffer": 4,
    "choice": 4,
    "design": 4,
    "journal": 4,
    "diagnostics": 4,
    "evolution": 4,
    "fantasy": 4,
    "map_gp": 4,
    "prospector": 4,
    "resume": 4,
    "retention": 4,
    "selection": 4,
    "timings": 4,
    "walk": 4,
    "_dask": 5,
    "_executor": 5,
    "_flight": 5,
    "_minimize": 5,
    "_objective": 5,
    "_processes": 5,
    "_result": 5,
    "_run": 5,
    "_stops": 5,
    "_workers": 5,
    "box_strategy": 5,
    "default_method": 5,
    "ledger": 5,
    "methods": 5,
    "modelled": 5,
    "optimizer": 5,
    "portfolio": 5,
    "presets": 5,
    "progress": 5,
    "proposals": 5,
    "recorded": 5,
    "resumable": 5,
    "snapshots": 5,
    "strategy": 5,
    "baselines": 6,
    "integrations": 6,
    "plot": 6,
    "problems": 6,
    "cli": 7,
    "__main__": 8,
    TOP: 8,
}

# Lowest and highest layer that a layer may import from (its own included).
VISIBLE = {0: (0, 0), 1: (1, 1), 2: (0, 2), 3: (0, 3), 4: (0, 4), 5: (1, 5), 6: (1, 6), 7: (1, 7), 8: (1, 8)}

# Other than their layer: the problems know nothing of optimizers, the baselines have compiled surrogates of their own.
EXCEPTIONS = {"problems": (1, 2), "baselines": (0, 6)}

# The oracle shares no code with what it checks; only the package itself may hand it out.
ALONE = "reference"

# What compiled modules may import or cimport, and the one of them that knows BLAS and LAPACK.
CORE_MAY_IMPORT = {"cpython", "cython", "libc", "scipy"}
BLAS_MODULE = "_linalg"

Graph = dict[str, set[str]]


def package_root() -> Path:
    """Find the package's files without importing it (in an editable install only `origin` is a real path)."""
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def module_files(root: Path) -> dict[str, Path]:
    """Map each module's name below the package ('gp', 'selection.greedy', '__init__') to its file."""
    files = {}
    for path in sorted(root.rglob("*.py")):
        parts = list(path.relative_to(root).with_suffix("").parts)
        if parts[-1] == "__init__" and len(parts) > 1:
            parts.pop()
        files[".".join(parts)] = path
    return files


def unit(module: str) -> str:
    """Return the entry of the layer table that a module falls under."""
    return module.partition(".")[0]


def imported(name: str, path: Path, modules: set[str]) -> Iterator[str]:
    """Yield every module of the package that the file imports, wherever the statement stands."""

    def resolve(parts: list[str]) -> str:
        """Return the longest leading part that names a module (compiled ones have no file: their package)."""
        for stop in range(len(parts), 0, -1):
            if ".".join(parts[:stop]) in modules:
                return ".".join(parts[:stop])
        return TOP

    own = [] if name == TOP else name.split(".")
    package = own if path.name == "__init__.py" else own[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                head, *rest = alias.name.split(".")
                if head == PACKAGE:
                    yield resolve(rest)
        elif isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            if node.level:
                base = package[: len(package) - node.level + 1] + base
            elif base[0] == PACKAGE:
                base = base[1:]
            else:
                continue
            for alias in node.names:
                yield resolve([*base, alias.name])


def import_graph(root: Path) -> Graph:
    """Map each module of the package to the modules of the package that it imports."""
    files = module_files(root)
    return {name: set(imported(name, path, set(files))) - {name} for name, path in files.items()}


def unlisted(graph: Graph) -> list[str]:
    """Describe every module that the layer table does not know."""
    return [
        f"module '{module}' has no layer: add '{unit(module)}' to LAYER in {Path(__file__).name} "
        "and to the table in CONTRIBUTING.md"
        for module in sorted(graph)
        if unit(module) not in LAYER and unit(module) != ALONE
    ]


def forbidden(graph: Graph) -> list[str]:
    """Describe every import that the layer table does not allow."""
    problems = []
    for module in sorted(graph):
        mine = unit(module)
        for target in sorted(graph[module]):
            theirs = unit(target)
            if mine == theirs or mine not in LAYER or (mine == TOP and theirs == ALONE):
                continue
            if theirs == ALONE:
                problems.append(f"{module} imports {target}, which stands alone")
            elif theirs in LAYER:
                low, high = EXCEPTIONS.get(mine, VISIBLE[LAYER[mine]])
                if not low <= LAYER[theirs] <= high:
                    problems.append(
                        f"{module} (layer {LAYER[mine]}) imports {target} (layer {LAYER[theirs]}), "
                        f"but may import from layers {low} to {high} only"
                    )
        others = sorted(target for target in graph[module] if unit(target) != ALONE)
        if mine == ALONE and others:
            problems.append(f"{module} stands alone, but imports {', '.join(others)}")
    return problems


def cycles(graph: Graph) -> list[str]:
    """Describe one cycle for every import that closes one."""
    found = []
    done: set[str] = set()
    trail: list[str] = []

    def visit(module: str) -> None:
        if module in trail:
            found.append(" -> ".join([*trail[trail.index(module) :], module]))
        elif module not in done:
            trail.append(module)
            for target in sorted(graph.get(module, ())):
                visit(target)
            trail.pop()
            done.add(module)

    for module in sorted(graph):
        visit(module)
    return found


# The package


@pytest.mark.parametrize("check", [unlisted, forbidden, cycles])
def test_package(check: Callable[[Graph], list[str]]) -> None:
    graph = import_graph(package_root())
    assert len(graph) > 1
    complaints = check(graph)
    assert not complaints, "\n" + "\n".join(complaints)


def test_compiled_sources_import_scipy_only() -> None:
    core = Path(__file__).parents[1] / "src" / PACKAGE / "_core"
    sources = sorted([*core.glob("*.pyx"), *core.glob("*.pxd")])
    if not sources:
        pytest.skip("sources of the compiled modules are not here")
    statement = re.compile(r"^\s*(?:from\s+(\S+)\s+)?c?import\s+(\S+)", re.MULTILINE)
    siblings = {path.stem for path in sources}
    complaints = []
    for path in sources:
        for match in statement.finditer(path.read_text(encoding="utf-8")):
            target = match[1] or match[2].rstrip(",")
            inside = target.startswith((".", f"{PACKAGE}._core")) or target in siblings
            if not inside and target.partition(".")[0] not in CORE_MAY_IMPORT:
                complaints.append(f"{path.name} imports {target}")
            if target.startswith("scipy.linalg") and path.stem != BLAS_MODULE:
                complaints.append(f"{path.name} imports {target}: BLAS and LAPACK are {BLAS_MODULE}'s business")
    assert not complaints, "\n" + "\n".join(complaints)


# The checks themselves, on packages made to be wrong


@pytest.fixture
def graph_of(tmp_path: Path) -> Callable[[dict[str, str]], Graph]:
    def write(sources: dict[str, str]) -> Graph:
        for name, text in sources.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return import_graph(tmp_path)

    return write


def test_imports_are_resolved(graph_of: Callable[[dict[str, str]], Graph]) -> None:
    graph = graph_of(
        {
            "__init__.py": "from .gp import GP\nfrom gssbo import reference\nimport numpy.linalg\n",
            "gp.py": "from gssbo._core import _gp\nfrom . import kernels, __version__\nfrom math import pi\n",
            "kernels.py": "import gssbo._core._kernels as k\n",
            "reference.py": "import numpy\n",
            "_core/__init__.py": "",
            "selection/__init__.py": "from .greedy import pick\n",
            "selection/greedy.py": "def f():\n    from ..gp import GP\n    from . import base\n",
            "selection/base.py": "from gssbo.exceptions import X\n",
        }
    )
    assert graph == {
        "__init__": {"gp", "reference"},
        "gp": {"_core", "kernels", "__init__"},
        "kernels": {"_core"},
        "reference": set(),
        "_core": set(),
        "selection": {"selection.greedy"},
        "selection.greedy": {"gp", "selection.base"},
        "selection.base": {"__init__"},  # no such module here, so whatever it is comes from the package
    }


@pytest.mark.parametrize(
    ("module", "text", "target"),
    [
        ("kernels.py", "from .gp import GP", "gp.py"),
        ("kernels.py", "def f():\n    from .gp import GP", "gp.py"),
        ("kernels.py", "if TYPE_CHECKING:\n    from gssbo.gp import GP", "gp.py"),
        ("kernels.py", "import gssbo", "__init__.py"),
        ("optimizer.py", "from ._core import _gp", "_core/__init__.py"),
        ("exceptions.py", "from ._core import _gp", "_core/__init__.py"),
        ("problems/levy.py", "from ..optimizer import Optimizer", "optimizer.py"),
        ("problems/levy.py", "from ..gp import GP", "gp.py"),
        ("reference.py", "from .exceptions import E", "exceptions.py"),
        ("reference/loop.py", "from ..gp import GP", "gp.py"),
        ("optimizer.py", "from .reference import select", "reference.py"),
    ],
)
def test_forbidden_import_is_found(
    graph_of: Callable[[dict[str, str]], Graph], module: str, text: str, target: str
) -> None:
    (complaint,) = forbidden(graph_of({"__init__.py": "", target: "", module: text}))
    assert complaint.startswith(module.removesuffix(".py").replace("/", "."))


def test_allowed_imports_pass(graph_of: Callable[[dict[str, str]], Graph]) -> None:
    graph = graph_of(
        {
            "__init__.py": "from . import cli, optimizer, problems, reference",
            "cli.py": "from . import optimizer, problems",
            "optimizer.py": "from .selection import rules\nfrom .presets import paper",
            "presets.py": "",
            "problems/__init__.py": "from . import levy",
            "problems/levy.py": "from ..space import Space",
            "reference/__init__.py": "from . import loop",
            "reference/loop.py": "",
            "selection/__init__.py": "from .._core import _select",
            "space.py": "",
            "_core/__init__.py": "",
        }
    )
    assert unlisted(graph) == forbidden(graph) == cycles(graph) == []


def test_cycle_is_found(graph_of: Callable[[dict[str, str]], Graph]) -> None:
    graph = graph_of(
        {
            "gp.py": "from . import _mle",
            "_mle.py": "from .precision import P",
            "precision.py": "import gssbo.gp",
        }
    )
    assert forbidden(graph) == []
    assert cycles(graph) == ["_mle -> precision -> gp -> _mle"]


def test_unlisted_module_is_named_with_the_remedy(graph_of: Callable[[dict[str, str]], Graph]) -> None:
    (complaint,) = unlisted(graph_of({"gp.py": "", "novelty/part.py": ""}))
    assert "'novelty.part' has no layer" in complaint
    assert "add 'novelty' to LAYER in test_layers.py" in complaint
