"""The cycle collector of a server: old objects are left out, and their cycles still found."""

import gc
import weakref

import pytest
from sireference.shell import gc_tuning


class Record:
    """An object that may refer to itself."""

    def __init__(self) -> None:
        self.itself: Record | None = None


@pytest.fixture(autouse=True)
def tuned() -> None:
    """Tune the collector as a server does; the other fixture of every test undoes it."""
    gc_tuning.reduce_collections()


def test_survivors_are_left_out() -> None:
    kept = [Record() for _ in range(1000)]
    before = gc.get_freeze_count()

    gc.collect()

    assert gc.get_freeze_count() >= before + len(kept)


def test_cycles_of_old_objects_are_found_when_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = Record()
    gc.collect()  # it is left out from now on
    one.itself, old = one, weakref.ref(one)
    del one

    gc_tuning.collect_frozen()
    assert old() is not None
    monkeypatch.setattr(gc_tuning, "_MANY", 0)
    gc_tuning.collect_frozen()

    assert old() is None
    assert gc.get_freeze_count()


def test_nothing_is_examined_where_the_collector_is_not_tuned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gc_tuning.restore_collections()
    monkeypatch.setattr(gc_tuning, "_MANY", 0)
    gc.freeze()

    gc_tuning.collect_frozen()

    assert gc.get_freeze_count()
    gc.unfreeze()
