"""The documentation keeps its word: every Python block runs, a page at a time, and what the pages name is there."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from gssbo import Optimizer
from gssbo.methods import METHODS

DOCS = Path(__file__).parents[1] / "docs"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the documentation is not here")

PAGES = sorted(DOCS.rglob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_blocks_of_a_page_run_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "docs"}
    for number, block in enumerate(blocks(page), start=1):
        exec(compile(block, f"{page.name}, Python block {number}", "exec"), namespace)


def test_every_page_is_in_a_table_of_contents() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = {line for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL) for line in tree.splitlines()}
    names = {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES} - {"index"}
    assert names == {line for line in listed if line and not line.startswith(":")}


def test_links_have_a_text() -> None:
    """Sphinx fills in the title of a page; where a page is read as it is, a link without a text cannot be seen."""
    bare = [page.name for page in PAGES if re.search(r"\[\]\(", page.read_text(encoding="utf-8"))]
    assert bare == []


def test_pictures_are_there() -> None:
    targets = [
        (page, target) for page in PAGES for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text("utf-8"))
    ]
    assert targets
    assert [target for page, target in targets if not (page.parent / target).exists()] == []


NAMES = re.compile(r"`((?:gssbo|bench|docs)[./][\w./]+)`")
NEED_TORCH = {"gssbo.baselines.deep_kernel", "gssbo.baselines.bnn"}


def resolve(name: str) -> object:
    """What a dotted name stands for: the longest prefix that is a module, and attributes of it."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        module = ".".join(parts[:size])
        try:
            found: object = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
                raise
            continue
        for part in parts[size:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def test_resolve_refuses_what_is_not_there() -> None:
    with pytest.raises(AttributeError):
        resolve("gssbo.reference.nothing_of_the_kind")
    with pytest.raises(AttributeError):
        resolve("gssbo.nothing.of_the_kind")


def test_every_name_in_the_map_of_the_paper_resolves() -> None:
    names = sorted(set(NAMES.findall((DOCS / "paper.md").read_text(encoding="utf-8"))))
    assert len(names) > 50
    for name in names:
        if name.startswith("gssbo.") and name not in NEED_TORCH:
            resolve(name)
        else:  # benches, scripts, and what needs PyTorch: the files are there
            root = DOCS.parent / "src" if name in NEED_TORCH else DOCS.parent
            path = root / (name if "/" in name else name.replace(".", "/"))
            assert any(each.exists() for each in (path, path.with_suffix(".py"))), name


def test_options_the_map_names_are_the_optimizers() -> None:
    rows = [line for line in (DOCS / "paper.md").read_text(encoding="utf-8").splitlines() if "| option" in line]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named >= {"rule", "pool", "refit", "dynamic_factor"}
    assert named <= set(inspect.signature(Optimizer).parameters)


def test_every_method_is_on_the_page_of_methods() -> None:
    text = (DOCS / "howto" / "methods.md").read_text(encoding="utf-8")
    assert [name for name in METHODS if f"`{name}`" not in text] == []
