"""`import gssbo` in a fresh interpreter, whose start counts here; `bench.report` leaves it out."""

import pytest

from bench.workloads import process


@pytest.mark.parametrize("path", ["gssbo", "NumPy and SciPy parts"])
def bench_import(measure, path):
    measure(process.import_time, path=path)
