"""The order of tests over several workers: those that wait long begin at once, side by side."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def spread(tests: Sequence[T], waits: Callable[[T], bool], workers: int) -> list[T]:
    """The tests in an order in which each worker's share begins with those of it that wait.

    The shares are as ``--dist worksteal`` deals them out: consecutive, as equal as can be. What
    does not wait keeps its order, and so does everything where there is one worker.
    """
    if workers == 1:
        return list(tests)
    waiting = [test for test in tests if waits(test)]
    others = iter([test for test in tests if not waits(test)])
    ordered: list[T] = []
    for worker in range(workers):
        size = (len(tests) - len(ordered)) // (workers - worker)
        share = waiting[worker::workers][:size]
        ordered += share
        ordered += [test for _, test in zip(range(size - len(share)), others, strict=False)]
    kept = set(map(id, ordered))
    return ordered + [test for test in tests if id(test) not in kept]
