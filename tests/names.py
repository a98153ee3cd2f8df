"""Names of tests that are the same in every process, so that several can share the suite."""

import re


def without_address(value):
    """What an object looks like, but for where it is."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
