"""Wire messages of every SI revision, typed, each in a separate descriptor pool."""

from siwire.revisions import (
    DEFAULT_REVISION,
    NEAR_LINES,
    REVISIONS,
    Capability,
    NearLine,
    Revision,
    find_revision,
    note_on,
)

__all__ = [
    "DEFAULT_REVISION",
    "NEAR_LINES",
    "REVISIONS",
    "Capability",
    "NearLine",
    "Revision",
    "find_revision",
    "note_on",
]
