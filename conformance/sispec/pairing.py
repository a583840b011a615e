"""Pairs messages, enums and fields of the old specification with those of the new one."""

from collections.abc import Collection, Iterable, Mapping
from difflib import SequenceMatcher

from sispec.model import Constant
from sispec.naming import Rename, rename_of, words
from sispec.schema import Enumeration, Message, Schema

_MOSTLY_EQUAL = 0.7  # share of the members, for a declaration with another name
_MOVED = 0.5  # share of the members, if it moved or its name gained words
_SIMILAR_NAME = 0.6


def paired(before: Schema, after: Schema) -> dict[str, str]:
    """Map messages and enums of `before` to their names in `after`."""
    return {
        **_pairs(
            {name: _members(message) for name, message in before.messages.items()},
            {name: _members(message) for name, message in after.messages.items()},
        ),
        **_pairs(
            {name: _names(enum) for name, enum in before.enums.items()},
            {name: _names(enum) for name, enum in after.enums.items()},
        ),
    }


def field_partners(was: Message, message: Message) -> dict[str, str]:
    """Map fields of `was` to their names in `message`.

    A field keeps its name; or it has another name with the same number, if both have no other
    partner; or it is respelled and renumbered at once. A number whose new field has another type
    and another meaning has a partner too: its bytes are read as that field. A field whose name
    is reserved now is gone.
    """
    partners = {name: name for name in was.fields if name in message.fields}
    come = only(message.fields, was.fields)
    gone = only(was.fields, message.fields)
    for name in gone:
        taker = message.owner(was.fields[name].number)
        if taker is not None and taker.name in come:
            partners[name] = taker.name
            come.remove(taker.name)
    for name in gone:
        if name in partners or name in message.reserved.names:
            continue
        for other in come:
            if rename_of(name, other) in (Rename.SPELLING, Rename.TYPO):
                partners[name] = other
                come.remove(other)
                break
    return partners


def constant_partners(
    before: Mapping[str, Constant], after: Mapping[str, Constant]
) -> dict[str, str]:
    """Map constants of the new specification to their names in the old one.

    A constant keeps its name; or it has another name for the same value; or it is respelled, with
    any value. A new constant has no partner.
    """
    partners = {name: name for name in after if name in before}
    gone = only(before, after)
    for is_same in (_has_its_value, _is_respelled):
        for name in only(after, partners):
            former = next((n for n in gone if is_same(before[n], after[name])), "")
            if former:
                partners[name] = former
                gone.remove(former)
    return partners


def interface_partners(before: Iterable[str], after: Iterable[str]) -> dict[str, str]:
    """Map old Go API interfaces that are only respelled to their new names."""
    old, new = (list(dict.fromkeys(n.partition(".")[0] for n in api)) for api in (before, after))
    come = only(new, old)
    partners: dict[str, str] = {}
    for name in only(old, new):
        respelled = (n for n in come if rename_of(name, n) in (Rename.SPELLING, Rename.TYPO))
        other = next(respelled, "")
        if other:
            partners[name] = other
            come.remove(other)
    return partners


def in_interface(method: str, partners: Mapping[str, str]) -> str:
    """Return a method of the old Go API, `Interface.Method`, with the new name of its interface."""
    interface, _, name = method.partition(".")
    return f"{partners.get(interface, interface)}.{name}"


def only(these: Iterable[str], those: Collection[str]) -> list[str]:
    """Return what is in `these` and not in `those`, in order."""
    return [name for name in these if name not in those]


def translated(type_: str, pairs: Mapping[str, str]) -> str:
    """Return the type of a field by its new name."""
    if type_.startswith("map<"):
        key, value = type_.removeprefix("map<").removesuffix(">").split(", ")
        return f"map<{key}, {pairs.get(value, value)}>"
    return pairs.get(type_, type_)


def _has_its_value(old: Constant, new: Constant) -> bool:
    return old.value == new.value


def _is_respelled(old: Constant, new: Constant) -> bool:
    return rename_of(old.name, new.name) is Rename.SPELLING


def _members(message: Message) -> frozenset[str]:
    return frozenset(f"{f.name} {f.number}" for f in message.fields.values())


def _names(enum: Enumeration) -> frozenset[str]:
    return frozenset(enum.values)


def _pairs(
    before: Mapping[str, frozenset[str]], after: Mapping[str, frozenset[str]]
) -> dict[str, str]:
    pairs = {name: name for name in before if name in after}
    come = only(after, before)
    for name in only(before, after):
        best = max(come, key=lambda other: _likeness(name, other, before, after), default="")
        if best and _is_renamed(name, best, before[name], after[best]):
            pairs[name] = best
            come.remove(best)
    return pairs


def _likeness(
    name: str,
    other: str,
    before: Mapping[str, frozenset[str]],
    after: Mapping[str, frozenset[str]],
) -> tuple[float, float]:
    return _overlap(before[name], after[other]), _similar(name, other)


def _is_renamed(name: str, other: str, old: frozenset[str], new: frozenset[str]) -> bool:
    if _simple(name) == _simple(other):
        return _overlap(old, new) >= _MOVED
    if _is_cut_or_grown(name, other) and _overlap(old, new) >= _MOVED:
        return True
    if len(old) > 1:
        return _overlap(old, new) >= _MOSTLY_EQUAL
    return _overlap(old, new) >= _MOSTLY_EQUAL and _similar(name, other) >= _SIMILAR_NAME


def _is_cut_or_grown(name: str, other: str) -> bool:
    """Whether one name extends the other one with words, as `NodeInfoRequest` does."""
    ours, theirs = words(_simple(name)), words(_simple(other))
    least = min(len(ours), len(theirs))
    return least > 1 and ours[:least] == theirs[:least]


def _overlap(old: frozenset[str], new: frozenset[str]) -> float:
    return len(old & new) / len(old | new) if old | new else 1.0


def _simple(name: str) -> str:
    return name.rpartition(".")[2]


def _similar(name: str, other: str) -> float:
    return SequenceMatcher(None, name.lower(), other.lower(), autojunk=False).ratio()
