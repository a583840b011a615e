"""Fixtures of the tests of the RM."""

import pytest
from rm_tests.driving import Driven


@pytest.fixture
def rm() -> Driven:
    """Return a registered RM without anything."""
    driven = Driven()
    driven.registers()
    return driven
