"""Problems of a configuration text, each with its place."""

import json
from dataclasses import dataclass

_LONGEST_QUOTE = 40


@dataclass(frozen=True, slots=True)
class ConfigurationProblem:
    """One problem.

    `path` leads to it from the top (`partitions[0].queues[0].resources.max.memory`; empty for the
    text as a whole); `line` and `column` count from 1; `problem` is one clause without period.
    """

    path: str
    line: int
    column: int
    problem: str

    def __str__(self) -> str:
        place = f"({self.line}: {self.column})"
        return f"{self.path}: {self.problem} {place}" if self.path else f"{self.problem} {place}"


class ConfigurationError(ValueError):
    """An unusable configuration text; `errors` holds all problems in text order."""

    def __init__(self, errors: tuple[ConfigurationProblem, ...]) -> None:
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        return self.listing()

    def listing(self, most: int | None = None) -> str:
        """Return the number of errors and a list, one per line, at most the first `most`.

        For places with limited length, such as the status message of a call.
        """
        count = len(self.errors)
        shown = self.errors[:most]
        lines = ["1 error" if count == 1 else f"{count} errors"]
        lines += [f"  {problem}" for problem in shown]
        if len(shown) < count:
            lines.append(f"  ... and {count - len(shown)} more")
        return "\n".join(lines)


def quoted(text: str) -> str:
    """Quote a piece of text on one line of limited length."""
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 3] + "..."
    return json.dumps(text, ensure_ascii=False)
