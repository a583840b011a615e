"""What a test leaves with pytest for the hooks that judge it.

The keys stand apart from what they lead to: nothing below knows pytest, which takes a while to
import.
"""

from typing import Final

import pytest

from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.recording.history import Exchange

HISTORY: Final = pytest.StashKey[Exchange]()
"""What it said and was told."""

PROBED_BEHAVIOUR: Final = pytest.StashKey[ProbedBehaviour]()
"""The habits of the target that its worker has seen so far."""
