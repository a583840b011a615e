"""Stash keys by which a test passes data to the hooks that evaluate it.

They are in a separate module so that the modules of their values need not import pytest.
"""

from typing import Final

import pytest

from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.recording.history import Exchange

HISTORY: Final = pytest.StashKey[Exchange]()
"""The messages that the test sent and received."""

PROBED_BEHAVIOUR: Final = pytest.StashKey[ProbedBehaviour]()
"""The behaviour of the target that its worker has probed so far."""
