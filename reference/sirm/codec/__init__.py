"""Codecs: one for every revision of the SI."""

from typing import Final

from siwire import Revision

from sirm.codec import r2021_02, r2023_04, r2023_08, r2023_12, r2024_10, r2026_04
from sirm.codec.codec import Codec

_CODECS: Final[tuple[Codec, ...]] = (
    r2021_02.CODEC,
    r2023_04.CODEC,
    r2023_08.CODEC,
    r2023_12.CODEC,
    r2024_10.CODEC,
    r2026_04.CODEC,
)


def codec_for(revision: Revision) -> Codec:
    """Return the codec of a revision."""
    return next(codec for codec in _CODECS if codec.revision == revision)


__all__ = ["Codec", "codec_for"]
