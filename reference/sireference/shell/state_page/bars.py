"""Usage bars of resources, with guarantee and scale."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

Amounts = Mapping[str, int]

_FIRST: Final = ("memory", "vcore")  # shown first
_EXACT_BELOW: Final = 100_000
_PREFIXES: Final = "kMGTPEZY"


@dataclass(frozen=True, slots=True)
class Bar:
    """One resource. Shares are per cent of ``scale``, which may be the capacity of a parent."""

    resource: str
    used: int
    others: int = 0  # on a node: usage outside the scheduler
    guaranteed: int | None = None
    most: int | None = None  # None: unlimited
    scale: int = 0

    @property
    def used_share(self) -> float:
        """Return the length of the bar."""
        return _share(self.used, self.scale)

    @property
    def others_share(self) -> float:
        """Return the length of usage by others, within the scale."""
        return min(_share(self.others, self.scale), 100 - self.used_share)

    @property
    def guaranteed_share(self) -> float:
        """Return where the guarantee ends."""
        return _share(self.guaranteed or 0, self.scale)


def bars(
    used: Amounts, most: Amounts, guaranteed: Amounts, capacity: Amounts
) -> tuple[tuple[Bar, ...], Amounts]:
    """Return the bars of a queue, and the scales for its children."""
    scales = {**capacity, **most}
    made = tuple(
        Bar(
            name,
            used.get(name, 0),
            guaranteed=guaranteed.get(name),
            most=most.get(name),
            scale=scales.get(name, max(used.get(name, 0), guaranteed.get(name, 0))),
        )
        for name in in_order({*used, *most, *guaranteed})
    )
    return made, scales


def node_bars(allocated: Amounts, others: Amounts, capacity: Amounts) -> tuple[Bar, ...]:
    """Return the bars of a node."""
    return tuple(
        Bar(
            name,
            allocated.get(name, 0),
            others=others.get(name, 0),
            most=capacity.get(name, 0),
            scale=capacity.get(name, 0),
        )
        for name in in_order({*allocated, *others, *capacity})
    )


def in_order(names: Iterable[str]) -> list[str]:
    """Sort resource types: familiar ones first, the others by name."""
    return sorted(names, key=lambda name: (_FIRST.index(name) if name in _FIRST else 9, name))


def short(amount: int) -> str:
    """Format ``amount`` for reading: exact while it is short, else with four digits."""
    if abs(amount) < _EXACT_BELOW:
        return f"{amount:,}"
    thousands = min((len(str(abs(amount))) - 1) // 3, len(_PREFIXES))
    return f"{amount / 1000**thousands:.4g} {_PREFIXES[thousands - 1]}"


def _share(amount: int, scale: int) -> float:
    if scale <= 0:
        return 100.0 if amount > 0 else 0.0
    return round(max(0.0, min(100.0, 100 * amount / scale)), 2)
