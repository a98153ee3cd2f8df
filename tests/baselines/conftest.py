"""PyTorch in tests: on one thread, and under settings that nothing may depend on or change."""

import contextlib

import pytest


@pytest.fixture(scope="module")
def one_torch_thread():
    """One thread of PyTorch's, for all of a module."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def other_torch_settings():
    """A context of two threads, doubles by default and a seed, which must be as they are when it ends."""
    torch = pytest.importorskip("torch")

    @contextlib.contextmanager
    def context():
        threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
        try:
            torch.set_num_threads(2)
            torch.set_default_dtype(torch.float64)
            torch.manual_seed(1)
            state = torch.get_rng_state()
            yield
            assert (torch.get_num_threads(), torch.get_default_dtype()) == (2, torch.float64)
            assert torch.equal(torch.get_rng_state(), state)
        finally:
            torch.set_num_threads(threads)
            torch.set_default_dtype(dtype)

    return context
