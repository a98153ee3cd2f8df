"""A folder to run commands in."""

import pytest

from tests.commands import PROGRAM, SPACE


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a space and a program."""
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path
