"""A function called in a process of its own, which never outlives this one."""

import json
import pickle
import pkgutil
import sys
import tempfile
from types import TracebackType
from typing import Any, Self

from siconform import child_processes


class ChildCall:
    """A call that runs in another process until the end of the block.

    It is none of multiprocessing's, whose resource tracker ends only after this process.
    """

    def __init__(self, function: str, *arguments: Any) -> None:
        """``function`` is "module:name"; the arguments can be written as JSON."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed at the end of the block
        command = (sys.executable, "-P", "-m", __name__, function, json.dumps(arguments))
        self._process = child_processes.start(command, stderr=self._errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        child_processes.end(self._process)
        for output in (self._process.stdout, self._errors):
            if output is not None:
                output.close()

    def result(self) -> Any:
        """Return what the function returned; raise the ValueError that it raised.

        Raise RuntimeError, with the last line of its errors, if it came to no end.
        """
        try:
            found = pickle.load(self._process.stdout)  # type: ignore[arg-type]  # noqa: S301  # ours
        except EOFError:
            self._errors.seek(0)
            last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise RuntimeError(f"a process that should help has ended: {last}") from None
        if isinstance(found, ValueError):
            raise found
        return found


def main() -> None:
    """Call the function and write the pickled result to standard output."""
    found: object
    try:
        found = pkgutil.resolve_name(sys.argv[1])(*json.loads(sys.argv[2]))
    except ValueError as error:
        found = error
    pickle.dump(found, sys.stdout.buffer)


if __name__ == "__main__":
    main()
