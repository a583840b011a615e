"""Messages of failures without what differs between runs."""

import re
from typing import Final

_DIFFERS: Final = (
    (re.compile(r"\bsiconform-\w[\w-]*-\d+"), "<rm>"),
    (re.compile(r"\b(?:gw\d+|master)-\d+(?:-|(?=[a-z]+-))(?=\w)"), ""),  # fixture short_name
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-\d+)?"), "<id>"),
    (re.compile(r"\b[0-9a-f]{12,}(?:-\d+)?\b"), "<id>"),
)


def stable(message: str) -> str:
    """Remove from a message what differs between runs: our names and the target's ids."""
    for pattern, stand_in in _DIFFERS:
        message = pattern.sub(stand_in, message)
    return message
