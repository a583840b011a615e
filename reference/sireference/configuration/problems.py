"""What is wrong with a configuration text: every problem, each with its place."""

import json
from dataclasses import dataclass

_LONGEST_QUOTE = 40


@dataclass(frozen=True, slots=True)
class ConfigurationProblem:
    """One thing that is wrong.

    `path` leads to it from the top (`partitions[0].queues[0].resources.max.memory`; empty where the
    text as a whole is meant); `line` and `column` count from 1; `says` is one clause without a
    full stop.
    """

    path: str
    line: int
    column: int
    problem: str

    def __str__(self) -> str:
        place = f"({self.line}: {self.column})"
        return f"{self.path}: {self.problem} {place}" if self.path else f"{self.problem} {place}"


class ConfigurationError(ValueError):
    """A configuration text that cannot be used; `errors` holds all problems in the text's order."""

    def __init__(self, errors: tuple[ConfigurationProblem, ...]) -> None:
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        return self.listing()

    def listing(self, most: int | None = None) -> str:
        """Say how many errors there are and list them, one per line, at most the first `most`.

        For places where a long text does harm, such as the status message of a call.
        """
        count = len(self.errors)
        shown = self.errors[:most]
        lines = ["1 error" if count == 1 else f"{count} errors"]
        lines += [f"  {problem}" for problem in shown]
        if len(shown) < count:
            lines.append(f"  ... and {count - len(shown)} more")
        return "\n".join(lines)


def quoted(text: str) -> str:
    """Quote what a text said, on one line and not longer than a line can bear."""
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 3] + "..."
    return json.dumps(text, ensure_ascii=False)
