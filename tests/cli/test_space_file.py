"""Spaces in TOML files."""

import pytest

from gssbo import Categorical, Integer, Real
from gssbo.cli.space_file import read_space
from tests.commands import SPACE


def test_a_space_of_every_kind(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text(
        SPACE + "[f]\nlow = 0\nhigh = 1\ntype = 'real'\n[g]\nlow = 0\nhigh = 8\nstep = 4\n"
        "[h]\nlow = 0\nhigh = 1\nstep = 0.1\n[i]\nlow = 0\nhigh = 8\nstep = 2.0\n"
    )
    assert read_space(path) == {
        "lr": Real(1e-5, 0.1, log=True),
        "n": Integer(1, 8),
        "act": Categorical(("relu", "gelu")),
        "f": Real(0.0, 1.0),
        "g": Integer(0, 8, step=4),
        "h": Real(0, 1, step=0.1),
        "i": Integer(0, 8, step=2),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a table for each parameter"),
        ("x = 3", r"\[x\]: must be a table"),
        ("[x]\nlow = 1", "must have low and high"),
        ("[x]\nlow = 1\nhigh = 0", "low <= high"),
        ("[x]\nlow = 1\nhigh = 2\nscale = 'log'", "got scale"),
        ("[x]\nvalues = ['a']\nlow = 1", "values must come alone"),
        ("[x]\nlow = 1\nhigh = 2\ntype = 'float'", "one of real, integer"),
        ("[x]\nlow = '0'\nhigh = 5", r"\[x\]: low must be a real number, got '0'"),
        ("[x]\nlow = 0\nhigh = true", r"\[x\]: high must be a real number, got True"),
        ("[x]\nlow = 0\nhigh = 5\nstep = nan", r"\[x\]: step must be finite, got nan"),
        ("[x", "TOML file"),
        ("[x]\nvalues = 'ab'", "values must be a list, got 'ab'"),
        ("[x]\nvalues = [1979-05-27]", "true, false, or lists of them, got 1979-05-27"),
        ("[x]\nvalues = [[{a = 1}], 'b']", "true, false, or lists of them, got {'a': 1}"),
    ],
)
def test_a_wrong_space_is_refused(tmp_path, text, message):
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_space(path)


def test_a_space_as_editors_on_windows_write_it(tmp_path):
    path = tmp_path / "space.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SPACE.replace("\n", "\r\n").encode())
    assert list(read_space(path)) == ["lr", "n", "act"]


def test_a_space_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "space.toml"
    path.write_bytes(b"[x]\xff\n")
    with pytest.raises(ValueError, match=r"^the space must be a TOML file, got .*space.toml"):
        read_space(path)
