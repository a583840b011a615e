"""Regular expressions of a configuration, with the syntax and meaning of Go's `regexp`.

RE2, the model of that package, takes time linear in the length of the searched text, whatever the
expression. So an RM cannot block the scheduler with one; the price is no backreferences and no
lookaround.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import re2  # type: ignore[import-untyped]  # it has no types

from sireference.configuration.problems import quoted

# A word with one of these is an expression, not a name.
_SPECIAL = re.compile(r"[\^$*+?()\[{}|]")
# Memory limit in bytes of a compiled expression; bounds its size and thus the cost of a search.
_MOST_MEMORY = 1 << 20


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression; equal if the text is equal."""

    text: str
    _compiled: Any = field(repr=False, compare=False)  # Any: a pattern of re2, which has no types

    def is_in(self, name: str) -> bool:
        """Return whether the expression matches anywhere in the name."""
        return self._compiled.search(name.encode(errors="replace")) is not None


def is_expression(text: str) -> bool:
    """Return whether the text is meant as a regular expression."""
    return _SPECIAL.search(text) is not None


def read_expression(text: str) -> Expression:
    """Read a regular expression. Raises ValueError with a clause as reason."""
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
