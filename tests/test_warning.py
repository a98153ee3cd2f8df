"""Where a warning points."""

import warnings

from gssbo import _warning


def test_code_beside_the_package_is_the_users(tmp_path):
    name = f"{_warning.PACKAGE.rstrip('/' + chr(92))}_scripts/mine.py"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile("def mine(): warn('late', UserWarning)\nmine()", name, "exec"), {"warn": _warning.warn})
    assert (caught[0].filename, caught[0].lineno) == (name, 1)
