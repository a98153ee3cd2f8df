"""Sphinx's settings: ``python -m sphinx -W --keep-going -b html docs OUT`` builds the site from an installed gssbo."""

from __future__ import annotations

import re
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

project = "gssbo"
author = "the gssbo developers"
version = release = version_of("gssbo")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

# A single backtick is code, as in the docstrings.
default_role = "code"
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have types, with shapes
autodoc_inherit_docstrings = True

html_theme = "furo"
html_title = f"gssbo {release}"


def plain_links(app: Any, path: Path, docname: str, content: list[str]) -> None:
    """Leave of links in included files that lead to files of the repository their text alone."""
    content[0] = re.sub(r"\[([^\]]+)\]\((?!https?://)[^)]+\)", r"\1", content[0])


def escape_mathematics(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep reStructuredText from taking ``|r_U|`` for a substitution and ``mu_`` for a link; examples stay."""
    example = False
    for number, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            pieces = re.split(r"(`+[^`]*`+)", line)
            pieces[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", each) for each in pieces[::2]]
            lines[number] = "".join(pieces)


def setup(app: Any) -> None:
    """Connect the two to Sphinx's events."""
    app.connect("include-read", plain_links)
    app.connect("autodoc-process-docstring", escape_mathematics)
