"""The order of tests over several workers."""

import pytest
from siconform.running.worker_order import spread

TESTS = ["a", "b", "Slow", "c", "Sloth", "Snail", "d", "e", "f"]


def spread_over(workers: int, tests: list[str]) -> list[str]:
    return spread(tests, str.istitle, workers)


def test_workers_begin_with_waiting_tests() -> None:
    assert spread_over(3, TESTS) == ["Slow", "a", "b", "Sloth", "c", "d", "Snail", "e", "f"]


def test_one_worker_keeps_the_order() -> None:
    assert spread_over(1, TESTS) == TESTS


@pytest.mark.parametrize("workers", range(1, 12))
@pytest.mark.parametrize("tests", [TESTS, ["A"], ["A", "B", "C"], ["a", "b"], []])
def test_order_keeps_every_test_once(workers: int, tests: list[str]) -> None:
    assert sorted(spread_over(workers, tests)) == sorted(tests)


@pytest.mark.parametrize("workers", range(1, 12))
def test_the_others_keep_their_order(workers: int) -> None:
    assert [t for t in spread_over(workers, TESTS) if t.islower()] == ["a", "b", "c", "d", "e", "f"]


def test_xdist_deals_the_shares_that_the_order_is_made_for(pytester: pytest.Pytester) -> None:
    """If this does not hold, a run against a real core takes a third longer, or more."""
    pytester.makeconftest(
        "from siconform.running.worker_order import spread\n"
        "def pytest_collection_modifyitems(config, items):\n"
        "    workers = getattr(config, 'workerinput', {}).get('workercount', 1)\n"
        "    items[:] = spread(items, lambda item: 'waits' in item.name, workers)\n"
    )
    pytester.makepyfile(
        "import pathlib, pytest\n"
        "@pytest.mark.parametrize('name', [*'abcdefghijkl', 'waits-1', 'waits-2', 'waits-3'])\n"
        "def test_it(name, worker_id):\n"
        "    with pathlib.Path(f'{worker_id}.ran').open('a') as ran: print(name, file=ran)\n"
    )

    pytester.runpytest_subprocess("-p", "xdist", "-n", "3", "--dist", "worksteal")

    first = {path.read_text("utf-8").split()[0] for path in pytester.path.glob("*.ran")}
    assert first == {"waits-1", "waits-2", "waits-3"}
