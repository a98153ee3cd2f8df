"""The command line as a module: `python -m gssbo`."""

from __future__ import annotations

import sys

from gssbo.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
