"""The order of tests with several workers: tests that wait long run first."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def spread(tests: Sequence[T], waits: Callable[[T], bool], workers: int) -> list[T]:
    """Order the tests so that each worker's share begins with tests that wait.

    Shares are those of ``--dist worksteal``: consecutive and of nearly equal size. Other tests keep
    their order; with one worker all do.
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
