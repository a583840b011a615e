"""Names given by an RM, and their maximum length.

Messages to an RM repeat its names many times, such as a node id in each of four thousand
allocations. So an id, a key and the name of a queue or of a resource type have a maximum length.
"""

from collections.abc import Iterator

from sireference.core.model import quoted


def too_long(longest: int, *names: str) -> Iterator[str]:
    """Return why these cannot be names, empty if they can; ``longest`` is in characters."""
    longer = [name for name in names if len(name) > longest]
    if longer:
        name = max(longer, key=len)
        yield f"the name {quoted(name)} has {len(name)} characters, more than {longest}"
