"""What the length of the history costs: asks after telling in bulk, and telling itself."""

import pytest

from bench.workloads import loop


@pytest.mark.parametrize("options", [{}, {"method": "box"}], ids=["defaults", "box"])
@pytest.mark.parametrize("n", [1_000, 10_000, 100_000])
def bench_bulk_ask(measure, n, options):
    measure(loop.bulk_ask, n, **options)


@pytest.mark.parametrize("chunks", [1, 100])
def bench_tell(measure, chunks):
    measure(loop.tell, 100_000, 20, chunks)
