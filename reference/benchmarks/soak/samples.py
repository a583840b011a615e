"""Samples of a process, and whether they grow after warm-up."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MIB: Final = 1 << 20
WARM_UP: Final = 0.25  # of all samples: until then caches and pools fill up
WINDOW: Final = 0.25  # of all samples: the first and the last after warm-up are compared
FEWEST: Final = 8  # samples needed for a verdict


@dataclass(frozen=True)
class Bound:
    """Growth that is tolerated: a share, plus an absolute amount."""

    share: float
    on_top: float


@dataclass(frozen=True)
class Growth:
    """The maximum just after warm-up, and at the end."""

    what: str
    first: float
    last: float
    bound: Bound

    @property
    def most(self) -> float:
        """Return the allowed maximum at the end."""
        return self.first * (1 + self.bound.share) + self.bound.on_top

    @property
    def is_flat(self) -> bool:
        """Return whether it stayed within the bound."""
        return self.last <= self.most

    def __str__(self) -> str:
        verdict = "flat" if self.is_flat else "GROWS"
        return (
            f"{verdict}: {self.what} from {self.first:,.0f} after the warm-up"
            f" to {self.last:,.0f} at the end (at most {self.most:,.0f})"
        )


def growth(what: str, values: Sequence[float], bound: Bound) -> Growth:
    """Return the growth of ``values`` after warm-up. Raises ValueError for too few."""
    if len(values) < FEWEST:
        raise ValueError(f"{len(values)} samples are too few, {FEWEST} are needed")
    size = max(1, round(len(values) * WINDOW))
    begin = round(len(values) * WARM_UP)
    return Growth(what, max(values[begin : begin + size]), max(values[-size:]), bound)


def print_line(line: str) -> None:
    """Print one line of the result."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def verdict(all_growth: Sequence[Growth]) -> int:
    """Print the verdict for each; return the exit code, 1 if something grows."""
    for one in all_growth:
        print_line(str(one))
    return 0 if all(one.is_flat for one in all_growth) else 1
