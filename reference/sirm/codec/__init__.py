"""Codecs: one for every revision of the SI."""

from typing import Final

from siwire import Revision

from sirm.codec import r2024_10, r2026_04
from sirm.codec.codec import Codec

_CODECS: Final = {codec.revision: codec for codec in (r2024_10.CODEC, r2026_04.CODEC)}


def codec_for(revision: Revision) -> Codec:
    """Return the codec of a revision."""
    return _CODECS[revision]


__all__ = ["Codec", "codec_for"]
