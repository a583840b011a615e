"""The revision in which schedulers are made of which it is known what has to be said of them."""

from typing import Final

from siwire.r2024_10 import si_pb2 as si

__all__ = ["NAME", "si"]

NAME: Final = "2024-10"
