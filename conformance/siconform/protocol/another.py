"""Any string but the one given: to say that something else must not come."""


class AnotherThan(str):
    """Equal to every string that differs from this one."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.__ne__(self, str(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("another than", str.__str__(self)))

    def __str__(self) -> str:
        return f"anything but {str.__str__(self)}"
