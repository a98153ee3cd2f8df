"""The README keeps its word: every Python block runs as printed, its commands and pictures are there."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"

pytestmark = pytest.mark.skipif(not README.exists(), reason="the README is not here")

TEXT = README.read_text(encoding="utf-8") if README.exists() else ""
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(1, len(BLOCKS)))  # the first has a test of its own
def test_python_block_runs_as_printed(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # what a block writes goes there
    exec(compile(BLOCKS[number], f"README.md, Python block {number + 1}", "exec"), {"__name__": "readme"})


def test_first_python_block_is_short_and_finds_the_minimum(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in BLOCKS[0].splitlines() if line.strip()]
    assert len(lines) <= 10
    exec(BLOCKS[0], {"__name__": "readme"})
    assert float(capsys.readouterr().out.split()[0]) < 0.5


@pytest.mark.parametrize(
    ("marker", "ends_with"), [("main-job", "gssbo run diabetes"), ("test-command", "python -m pytest")]
)
def test_command_follows_its_marker(marker: str, ends_with: str) -> None:
    found = re.findall(rf"^<!-- {marker} -->\n```bash\n(.+)\n```$", TEXT, re.MULTILINE)
    assert len(found) == 1
    assert found[0].endswith(ends_with)


def test_no_two_runs_share_a_journal() -> None:
    """Whoever tries one after the other would be told that the journal is that of another run."""
    python = set(re.findall(r'journal="([^"]+)"', TEXT))
    shell = set(re.findall(r"--journal (\S+)", TEXT))
    assert python and shell and not python & shell


def test_links_lead_somewhere() -> None:
    targets = [each for each in re.findall(r"\]\(([^)#]+)\)", TEXT) if "://" not in each]
    assert targets
    assert [each for each in targets if not (README.parent / each).exists()] == []
