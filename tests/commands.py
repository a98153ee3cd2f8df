"""What tests run as commands."""

import sys

PYTHON = f"'{sys.executable}'"


def python(code):
    return f'{PYTHON} -c "{code}"'


SPACE = """
[lr]
low = 1e-5
high = 0.1
log = true
[n]
low = 1
high = 8
[act]
values = ["relu", "gelu"]
"""
PROGRAM = """
import math, sys
lr, n, act = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if n == 7:
    sys.exit("seven is bad")
print("training")
print("loss", (math.log10(lr) + 3) ** 2 + 0.1 * (n - 3) ** 2 + (act == "relu"))
"""
COMMAND = f"{PYTHON} program.py {{lr}} {{n}} {{act}}"
TUNE = ["tune", COMMAND, "--space", "space.toml", "--quiet", "--seed", "1", "--n-init", "4"]
