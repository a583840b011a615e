"""Names an RM gives: how long they may be.

What an RM is told repeats its names, again and again: for each of four thousand allocations the id
of their node. So an id, a key or the name of a queue or of a type of resource has a limit.
"""

from collections.abc import Iterator

from sireference.core.model import quoted


def too_long(longest: int, *names: str) -> Iterator[str]:
    """Why these cannot be names, nothing if they can; ``longest`` is in characters."""
    if max(map(len, names), default=0) > longest:
        name = max(names, key=len)
        yield f"the name {quoted(name)} has {len(name)} characters, more than {longest}"
