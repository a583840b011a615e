"""Cost of reading large or pathological configurations: linear in the size of the document.

Work is counted in calls and memory, so the tests do not depend on the machine.
"""

import tracemalloc
from collections.abc import Callable

import pytest
from sireference.configuration.parsing import parse_configuration
from sireference.configuration.problems import ConfigurationError
from tests.configuring import calls, read

HEAD = """\
partitions:
  - name: default
    placementrules: [RULES]
    limits: [LIMITS]
    queues:
      - name: root
        queues:
"""


def text_of(queues: str, rules: str = "", limits: str = "") -> str:
    return HEAD.replace("RULES", rules).replace("LIMITS", limits) + queues


def many(what: str, count: int, between: str = ", ") -> str:
    return between.join(what.replace("#", str(number)) for number in range(count))


def below_a_queue_with(what: str, child: str, count: int) -> str:
    children = many(f"              - {{name: q#{child}}}", count, "\n")
    return f"          - name: p\n            {what}\n            queues:\n{children}\n"


def properties(count: int) -> str:
    above = f"properties: {{{many('k#: 1', count)}}}"
    return text_of(below_a_queue_with(above, ", properties: {x: 1}", count))


def names_and_amounts(count: int) -> str:
    names = f"users: [{many('u#', count)}]"
    amounts = f"maxresources: {{{many('k#: 1', count)}}}"
    limit = f"limits: [{{limit: l, {names}, {amounts}}}]"
    return text_of(below_a_queue_with(limit, f", {limit}", 1))


def rules(count: int) -> str:
    queues = many("          - name: q#", count, "\n") + "\n"
    return text_of(queues, many("{name: fixed, value: root.q#}", count))


def peak(text: str) -> int:
    """Return the peak memory of reading the document in bytes."""
    tracemalloc.start()
    try:
        read(text)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", [properties, names_and_amounts])
def test_memory_grows_linearly_with_document_size(shape: Callable[[int], str]) -> None:
    small, large = shape(250), shape(1000)

    assert peak(large) < 6 * peak(small)


TWISTED = {
    "a key with many dots": text_of(
        "          - name: q\n            resources:\n              max:\n"
        f"                ? {'a.' * 5000}\n                : x\n"
    ),
    "many keys with many dots": text_of(
        "          - {name: q, resources: {max: {" + many(f"#{'.a' * 400}: x", 100) + "}}}\n"
    ),
    "long keys above many that are written twice": (
        many("{" + "a" * 900 + ": ", 100, "") + "{" + many("x: 1", 2000) + "}" + "}" * 100
    ),
}


@pytest.mark.parametrize("text", TWISTED.values(), ids=TWISTED)
def test_pathological_documents_take_no_more_memory_than_plain_ones(text: str) -> None:
    assert peak(text) < 250 * len(text)


def test_placement_rule_check_does_not_scan_all_queues() -> None:
    assert calls(rules(400)) < 6 * calls(rules(100))


def test_too_many_resource_types_are_one_problem() -> None:
    text = "          - {name: q, resources: {max: {@}}}\n"
    parse_configuration(text_of(text.replace("@", many("k#: 1", 256))))

    with pytest.raises(ConfigurationError) as refused:
        parse_configuration(text_of(text.replace("@", many("k#: 1", 257))))

    (problem,) = refused.value.errors
    assert problem.problem == "has more than 256 resource types"


def test_overlong_key_is_one_problem() -> None:
    with pytest.raises(ConfigurationError, match="a key has more than 1024 characters"):
        parse_configuration(f"? {'a' * 1025}\n: x\n")


def test_reading_stops_after_many_duplicate_keys() -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse_configuration("{" + many("x: 1", 5000) + "}")

    assert len(refused.value.errors) == 1000
