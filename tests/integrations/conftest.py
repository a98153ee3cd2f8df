"""Fixtures that tests of several integrations use."""

import pytest


@pytest.fixture
def quiet():
    """Optuna says nothing but errors."""
    from optuna import logging

    before = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    yield
    logging.set_verbosity(before)
