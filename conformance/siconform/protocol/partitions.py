"""A partition by the name the RM gave it, however the scheduler writes it in full."""


class PartitionNamed(str):
    """Equal to the name itself and to a normalised form that contains it, like [rm]default."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.__str__(self).casefold() in other.casefold()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str.__str__(self))
