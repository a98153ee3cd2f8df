"""Objectives that other processes can import."""

import math
import os
import time
from pathlib import Path

import numpy as np


def bowl(x):
    return float(((np.asarray(x) - 0.3) ** 2).sum())


def with_noise(x):
    """A bowl and the noise of its value."""
    return bowl(x), 0.1


def who(x, folder):
    """A bowl that leaves the number of its process behind."""
    (Path(folder) / str(os.getpid())).touch()
    return bowl(x)


def dies(x, folder):
    """The third evaluation to begin kills its process."""
    place = Path(folder)
    for k in range(10_000):
        try:
            (place / f"begun-{k}").open("x").close()
        except FileExistsError:
            continue
        break
    if k == 2:
        os._exit(3)
    time.sleep(0.02)
    return bowl(x)


def sleeps(x, folder):
    """Three evaluations are quick, the others take ten minutes and leave the number of their process behind."""
    place = Path(folder)
    for k in range(3):
        try:
            (place / f"quick-{k}").open("x").close()
        except FileExistsError:
            continue
        return bowl(x)
    (place / f"asleep-{os.getpid()}").touch()
    time.sleep(600)


def fails(x):
    """Negative roots are errors."""
    return math.sqrt(x[0] - 0.5)


def setup(text):
    os.environ["GSSBO_TEST_SETUP"] = text


def needs_setup(x):
    return bowl(x) + (0.0 if os.environ.get("GSSBO_TEST_SETUP") == "yes" else 100.0)
