"""Names given by an RM, and their maximum length.

Messages to an RM repeat its names many times, such as a node id in each of four thousand
allocations. So an id, a key and the name of a queue or of a resource type have a maximum length.
"""

from sireference.core.model import quoted


def too_long(longest: int, *names: str) -> tuple[str, ...]:
    """Return why these cannot be names, empty if they can; ``longest`` is in characters."""
    for name in names:
        if len(name) > longest:
            return (_why(max(names, key=len), longest),)
    return ()


def _why(name: str, longest: int) -> str:
    return f"the name {quoted(name)} has {len(name)} characters, more than {longest}"
