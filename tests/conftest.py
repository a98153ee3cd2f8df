"""Fixtures that several test modules use."""

import pytest
from hypothesis import settings

from gssbo import admission, snapshots

settings.register_profile("unhurried", settings(), deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")


@pytest.fixture(scope="module")
def single_thread():
    """One BLAS thread, for all of a module: small products crawl on several, on a busy machine most of all."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture
def soon(monkeypatch):
    """Snapshots from the tenth suggestion on, and at the end of any run."""
    monkeypatch.setattr(snapshots, "LEAST", 10)
    monkeypatch.setattr(snapshots, "SHARE", 0.0)
    monkeypatch.setattr(snapshots, "LEAST_AT_END", 1)


@pytest.fixture
def hasty(monkeypatch):
    """Fewer points are tried before others are looked for: none would be found in any case."""
    monkeypatch.setattr(admission, "EFFORT", 1_000)
