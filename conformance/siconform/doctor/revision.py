"""The revision that the schedulers of the self-test implement."""

from typing import Final

from siwire.r2024_10 import si_pb2 as si

__all__ = ["NAME", "si"]

NAME: Final = "2024-10"
