"""Regular expressions of a configuration, in the syntax and with the meaning of Go's `regexp`.

RE2, which that package was made after, takes a time linear in the length of what it searches,
whatever the expression. So an RM cannot hold up the scheduler with one; in exchange there are no
backreferences and no lookaround.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import re2  # type: ignore[import-untyped]  # it has no types

from sireference.configuration.problems import quoted

# A word with one of these is an expression, not a name.
_SPECIAL = re.compile(r"[\^$*+?()\[{}|]")
# Bytes for what is made of one expression: bounds how large it can be, and so what a search costs.
_MOST_MEMORY = 1 << 20


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, compiled; two of the same text are equal."""

    text: str
    _compiled: Any = field(repr=False, compare=False)  # Any: a pattern of re2, which has no types

    def is_in(self, name: str) -> bool:
        """Tell whether the expression matches somewhere in the name."""
        return self._compiled.search(name.encode(errors="replace")) is not None


def is_expression(text: str) -> bool:
    """Tell whether the text is meant as a regular expression."""
    return _SPECIAL.search(text) is not None


def read_expression(text: str) -> Expression:
    """Read a regular expression; ValueError says what is wrong, as a clause."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MOST_MEMORY
    try:
        return Expression(text, re2.compile(text.encode(), options))
    except re2.error as error:
        reason, _, fragment = error.args[0].decode(errors="replace").partition(": ")
        where = f", as in {quoted(fragment)}" if fragment else ""
        problem = f"{quoted(text)} is not a regular expression: {reason}{where}"
        raise ValueError(problem) from error
