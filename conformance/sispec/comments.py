"""Comments of a compiled schema by declaration: those above and next to it."""

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto, SourceCodeInfo

from sispec.compiling import declared_paths
from sispec.naming import Rename, rename_of

_MOSTLY_EQUAL: Final = 0.75  # comments less similar than this are different
_FEW: Final = 2  # extra words that a comment may have
_NAME: Final = re.compile(r"\b(?:[a-z]+(?:[A-Z]+[a-z]*)+|(?:[A-Z][a-z]+){2,}|[A-Z]{2,})\b")
"""Identifiers: `allocationID`, `AllocationAsk`, `UUID`."""
_STOP_WORDS: Final = frozenset(
    {"a", "an", "and", "any", "at", "be", "been", "by", "for", "from", "has", "have", "in", "is"}
    | {"it", "its", "of", "on", "or", "other", "that", "the", "this", "to", "was", "which", "with"}
)
_TURNING: Final = frozenset(
    {"not", "no", "never", "only", "if", "when", "unless", "until", "without", "except"}
)
"""Words whose addition changes the meaning of a comment."""
_DECIDING: Final = re.compile(
    r"\b(?:\d+|true|false|first|last|lower|higher|smaller|larger|less|more|(?:max|min)(?:imum)?"
    r"|before|after|old|new|positive|negative|(?:nano|micro|milli)?seconds?|minutes?|hours?"
    r"|accepted|rejected|added|removed|rm|scheduler|shim|core|(?:in|ex)clu(?:ded|ding|sive))\b"
)
"""Words whose replacement by another of them changes the role of a field."""


def comments_of(file: FileDescriptorProto) -> dict[str, str]:
    """Map declarations inside the package to their comments; empty without source info."""
    prefix = f"{file.package}." if file.package else ""
    names = {path: name.removeprefix(prefix) for name, path in declared_paths(file)}
    found: dict[str, str] = {}
    for location in file.source_code_info.location:
        name = names.get(tuple(location.path))
        comment = _words_of(location)
        if name and comment:
            found[name] = comment
    return found


def states_otherwise(one: str, other: str) -> bool:
    """Whether two comments of a field may give it different roles.

    True if most words differ, if a name or a word such as `higher` was replaced by another, or if a
    condition or a negation was added or removed. One or two extra words do not change the role.
    """
    less, more = sorted((_content_words(one), _content_words(other)), key=len)
    if (less ^ more) & _TURNING:
        return True
    if _decides_otherwise(one, other) and less == more:
        return True
    if _alike(one, other) >= _MOSTLY_EQUAL:
        return _has_another_name(one, other) or _decides_otherwise(one, other)
    return not less <= more or len(more - less) > _FEW


def _alike(one: str, other: str) -> float:
    """Return the share of equal words in two comments, 0 to 1, ignoring case."""
    return SequenceMatcher(None, one.lower().split(), other.lower().split(), autojunk=False).ratio()


def _has_another_name(one: str, other: str) -> bool:
    """Whether a schema name, `allocationID`, was replaced and not only respelled."""
    before, after = Counter(_NAME.findall(one)), Counter(_NAME.findall(other))
    gone, come = list((before - after).elements()), list((after - before).elements())
    if len(gone) != len(come):
        return bool(gone and come)
    return any(
        rename_of(*pair) not in (Rename.SPELLING, Rename.TYPO)
        for pair in zip(gone, come, strict=True)
    )


def _decides_otherwise(one: str, other: str) -> bool:
    """Whether deciding words were replaced or swapped."""
    before, after = (_DECIDING.findall(comment.lower()) for comment in (one, other))
    gone, come = Counter(before) - Counter(after), Counter(after) - Counter(before)
    return bool(gone and come) or (before != after and not (gone or come))


def _content_words(comment: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w']+", comment.lower())) - _STOP_WORDS


def _words_of(location: SourceCodeInfo.Location) -> str:
    return " ".join(f"{location.leading_comments} {location.trailing_comments}".split())
