"""Lookups shared by several monitors are computed once per history entry."""

from siconform.monitors.latest import of_the_latest


def test_lookup_runs_once_per_object() -> None:
    asked: list[list[int]] = []

    @of_the_latest
    def length(of: list[int]) -> int:
        asked.append(of)
        return len(of)

    one, equal = [1, 2], [1, 2]
    assert [length(one), length(one), length(equal), length(one)] == [2, 2, 2, 2]
    assert [id(of) for of in asked] == [id(one), id(equal), id(one)]
