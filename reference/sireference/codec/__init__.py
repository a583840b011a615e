"""Codecs between wire and core: messages of a revision to events, effects to messages."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from siwire import Revision

from sireference.codec import r2021_02, r2023_04, r2023_08, r2023_12, r2024_10, r2026_04
from sireference.codec.codec import Codec
from sireference.codec.policies import NoPolicyError, Policies

__all__ = ["Codec", "NoPolicyError", "Policies", "codec_for"]

_REVISIONS: Final = (r2021_02, r2023_04, r2023_08, r2023_12, r2024_10, r2026_04)
_CODECS: Final[Mapping[str, Codec]] = {
    module.CODEC.revision.name: module.CODEC for module in _REVISIONS
}


def codec_for(revision: Revision, policies: Policies | None = None) -> Codec:
    """Return the codec of ``revision``; ``policies`` are the operator's."""
    return replace(_CODECS[revision.name], policies=policies or Policies())
