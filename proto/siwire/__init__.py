"""The wire: the messages of every SI revision, typed, one private descriptor pool each."""

from siwire.revisions import DEFAULT_REVISION, REVISIONS, Capability, Revision, find_revision

__all__ = ["DEFAULT_REVISION", "REVISIONS", "Capability", "Revision", "find_revision"]
