"""Resource managers for tests of the core."""

import pytest
from tests.driving import RM


@pytest.fixture
def rm() -> RM:
    """Registered, with the default queues and nothing else."""
    return RM()


@pytest.fixture
def busy() -> RM:
    """Registered, with node n1 (memory 10, vcore 10) and the application a1."""
    rm = RM()
    rm.creates("n1", memory=10, vcore=10)
    rm.submits("a1")
    return rm
