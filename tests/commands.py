"""What tests run as commands."""

import sys

PYTHON = f"'{sys.executable}'"


def python(code):
    return f'{PYTHON} -c "{code}"'
