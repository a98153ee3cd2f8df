"""Fixtures that several test modules use."""

import pytest


@pytest.fixture(scope="module")
def single_thread():
    """One BLAS thread, for all of a module: small products crawl on several, on a busy machine most of all."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
