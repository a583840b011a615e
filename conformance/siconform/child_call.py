"""A function called in a process of its own, which never outlives this one."""

import json
import pickle
import pkgutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from siconform import child_processes


@contextmanager
def child_call(function: str, *arguments: Any) -> Iterator[Callable[[], Any]]:
    """Call ``function``, "module:name", in another process that ends with the block.

    The arguments can be written as JSON. What is yielded waits for the result; it raises the
    ValueError of the function, or RuntimeError with the last line of the process's errors if it
    ended without a result. multiprocessing's resource tracker would end only after this process.
    """
    command = (sys.executable, "-P", "-m", __name__, function, json.dumps(arguments))
    with tempfile.TemporaryFile() as errors:
        process = child_processes.start(command, stderr=errors)

        def result() -> Any:
            try:
                found = pickle.load(process.stdout)  # type: ignore[arg-type]  # noqa: S301  # ours
            except EOFError:
                errors.seek(0)
                last = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
                raise RuntimeError(f"a process that should help has ended: {last}") from None
            if isinstance(found, ValueError):
                raise found
            return found

        try:
            yield result
        finally:
            child_processes.end(process)
            if process.stdout is not None:
                process.stdout.close()


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
