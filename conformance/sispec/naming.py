"""Distinguishes respelled names from names with another meaning."""

import re
from difflib import SequenceMatcher
from enum import Enum

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_STOP_WORDS = frozenset({"id", "name", "key", "info", "value", "type", "the", "of"})
_A_TYPO = 0.85  # applicartionID and applicationID have 0.97, tragetExpressions 0.94
_SAME_COMMENT = 0.8
_SHORTEST_FOR_A_TYPO = 5


class Rename(Enum):
    """Relation between two names of one number."""

    SPELLING = "another spelling"  # upper and lower case, underscores
    TYPO = "a typo"
    NAME = "another name"
    MEANING = "another meaning"


def words(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words: `RejectedNode` is rejected, node."""
    return tuple(word.lower() for word in _WORD.findall(name))


def rename_of(old: str, new: str, old_comment: str = "", new_comment: str = "") -> Rename:
    """Return how `new` is related to `old`, which had the same number and type.

    A name that only gained or lost words, or whose comment is unchanged, is another name for the
    same; everything else has another meaning.
    """
    if _squeezed(old) == _squeezed(new):
        return Rename.SPELLING
    opposite = _opposite(set(words(old)) ^ set(words(new)))
    old_words, new_words = _content_words(old), _content_words(new)
    subset = old_words <= new_words or new_words <= old_words
    if old_words and new_words and subset and not opposite:
        return Rename.NAME
    alike = SequenceMatcher(None, old.lower(), new.lower(), autojunk=False).ratio()
    if alike >= _A_TYPO and len(old) >= _SHORTEST_FOR_A_TYPO and not opposite:
        return Rename.TYPO
    if old_comment and new_comment:
        same = SequenceMatcher(None, old_comment.lower(), new_comment.lower(), autojunk=False)
        if same.ratio() >= _SAME_COMMENT:
            return Rename.NAME
    return Rename.MEANING


def _squeezed(name: str) -> str:
    return name.replace("_", "").lower()


def _content_words(name: str) -> set[str]:
    return {word for word in words(name) if word not in _STOP_WORDS}


def _opposite(differing: set[str]) -> bool:
    """Whether the differing words are a known pair of opposites, such as min and max."""
    pairs = ({"min", "max"}, {"accepted", "rejected"}, {"old", "new"}, {"user", "group"})
    return any(pair <= differing for pair in pairs) or bool(differing & {"not", "un", "no"})
