"""B32: neither memory nor the time of an ask grows with the history."""

import time
import tracemalloc

import numpy as np
import pytest

import gssbo


@pytest.mark.slow
@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_three_thousand_tells(method):
    rng = np.random.default_rng(0)
    opt = gssbo.Optimizer([(0.0, 1.0)] * 10, subset_size=100, rng=0, method=method, threads=1, n_init=20)
    asks, tells, sizes = {}, {}, {}
    tracemalloc.start()
    for n in range(1, 3_001):
        modelled = n % 50 == 0 or 580 <= n <= 700 or n > 2_880
        begin = time.process_time()
        x = opt.ask() if modelled else rng.random(10)
        asked = time.process_time()
        opt.tell(x, float(((x - 0.3) ** 2).sum()))
        if modelled:
            asks[n] = asked - begin
        else:
            tells[n] = time.process_time() - asked
        if n in (1_500, 3_000):
            sizes[n] = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    early = np.median([seconds for n, seconds in asks.items() if 600 < n <= 700])
    late = np.median([seconds for n, seconds in asks.items() if n > 2_900])
    assert late <= 1.5 * early + 2e-3
    assert sizes[3_000] - sizes[1_500] < 20e6
    first = np.median([seconds for n, seconds in tells.items() if 250 < n < 350])
    last = np.median([seconds for n, seconds in tells.items() if 2_750 < n < 2_880])
    assert last <= 2.0 * first + 5e-5
