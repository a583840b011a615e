"""Windows of revisions: their notation in the catalogue, and for people.

A requirement, or one of its sources, applies from a revision on (`since`) up to and including
another (`until`). A new revision of the SI is in every window without an `until`.
"""

from collections.abc import Collection, Sequence

from siwire import REVISIONS

KNOWN: tuple[str, ...] = tuple(REVISIONS)
"""The names of the revisions, oldest first."""


class WindowError(ValueError):
    """An unreadable window; the message is a sentence that ends with the field's path."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(f"{sentence} - at `{field}`")


def window(
    since: str | None, until: str | None, *, within: Sequence[str] = KNOWN, at: str = "$"
) -> tuple[str, ...]:
    """Return the revisions from ``since`` through ``until``, oldest first; never empty.

    ``within`` is the enclosing window, oldest first; its ends replace a bound that is None. ``at``
    is the place of both in an entry. Raises WindowError if a bound is not a revision or not in
    ``within``, or if ``since`` is later than ``until``.
    """
    oldest, newest = within[0], within[-1]
    for field, bound in (("since", since), ("until", until)):
        if bound is not None and bound not in within:
            sentence = f'"{bound}" is not a revision of the SI; known are {", ".join(KNOWN)}'
            if bound in KNOWN:
                sentence = f"{bound} is not in the requirement's own window, {in_words(within)}"
            raise WindowError(sentence, f"{at}.{field}")
    first, last = within.index(since or oldest), within.index(until or newest)
    if first > last:
        sentence = f"{since} is later than until, {until}, so the window is empty"
        raise WindowError(sentence, f"{at}.since")
    return tuple(within[first : last + 1])


def in_words(revisions: Collection[str]) -> str:
    """Format as ``all revisions``, ``from 2023-04 on``, ``up to 2023-08``, ``2023-04 to 2023-08``.

    A single revision is its name; a set that is not one window lists all names.
    """
    first, last = _ends(revisions)
    if set(window(first, last)) != set(revisions):
        return ", ".join(sorted(revisions))
    if last == KNOWN[-1]:
        return "all revisions" if first == KNOWN[0] else f"from {first} on"
    if first == last:
        return first
    return f"up to {last}" if first == KNOWN[0] else f"{first} to {last}"


def in_short(revisions: Collection[str]) -> str:
    """Format in at most ten characters: ``all``, ``2023-04+``, ``..2023-08``, ``2023-04/08``."""
    first, last = _ends(revisions)
    if last == KNOWN[-1]:
        return "all" if first == KNOWN[0] else f"{first}+"
    if first == last:
        return first
    return f"..{last}" if first == KNOWN[0] else f"{first}/{last[-2:]}"


def _ends(revisions: Collection[str]) -> tuple[str, str]:
    """Return the oldest and the newest of them."""
    found = [name for name in KNOWN if name in revisions]
    return found[0], found[-1]
