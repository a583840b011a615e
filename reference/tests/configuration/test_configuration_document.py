"""YAML documents: invalid ones, pitfalls and costs."""

import pytest
import yaml
from sireference.configuration import document
from sireference.configuration.document import read_document
from sireference.configuration.nodes import Mapping, Series, Word
from sireference.configuration.parsing import parse_configuration
from sireference.configuration.problems import ConfigurationError
from tests.configuring import calls

GOOD = "partitions: [{queues: []}]"


def errors(text: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(text)
    return [str(problem) for problem in caught.value.errors]


@pytest.fixture(params=["libyaml", "python"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read with libyaml and with the parser PyYAML falls back to: places must not differ."""
    chosen = yaml.CBaseLoader if request.param == "libyaml" else yaml.BaseLoader
    monkeypatch.setattr(document, "_LOADER", chosen)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: b: c", "(1: 5)"),
        ("a: [b", "(2: 1)"),
        ('a: "b', "(1: 6)"),
        ("a: b\n- c", "(2: 1)"),
        ("a:\n\tb: c", "(2: 1)"),
        ("@", "(1: 1)"),
        ("%YAML 3.0\n---\na: b", "(1: 1)"),
    ],
)
def test_invalid_yaml_is_one_problem_with_its_place(text: str, place: str) -> None:
    [problem] = errors(text)

    assert problem.startswith("not YAML: ")
    # At the end of an unfinished text, the two parsers differ by an implicit line break.
    assert problem.endswith(place) or (place == "(2: 1)" and problem.endswith("(1: 6)"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: \x00", "the character U+0000 is not allowed in YAML (1: 4)"),
        ("a: b\nc: \x1b[1m", "the character U+001B is not allowed in YAML (2: 4)"),
        ("a: \ud800", "the character U+D800 is not allowed in YAML (1: 4)"),
    ],
)
def test_character_that_yaml_forbids_has_its_place(text: str, problem: str) -> None:
    assert errors(text) == [problem]


@pytest.mark.parametrize("text", ["# nothing", "---", "---\n...", "--- ~", "null"])
def test_empty_document_is_rejected(text: str) -> None:
    assert len(errors(text)) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("::not yaml::", "partitions: there must be a partition (1: 1)"),
        ("- a", "must be a mapping (1: 1)"),
        ("a", "must be a mapping (1: 1)"),
        ("? [a]\n: b", "a key must be a word (1: 3)"),
        ("? {a: b}\n: c", "a key must be a word (1: 3)"),
        ("partitions:\n- {[a]: b}", "partitions[0]: a key must be a word (2: 4)"),
        ("partitions: [{queues: [], name: !!binary x}]", "partitions[0].name: the tag"),
        ("partitions: [{queues: !!set []}]", "partitions[0].queues: the tag"),
        ("partitions: [{queues: [], <<: 5}]", "partitions[0].<<: must be a mapping (1: 31)"),
        (f"{GOOD}\n---\n{GOOD}", "a second document; one is read (2: 1)"),
        (f"partitions: !!python/name:os.system {GOOD[12:]}", "the tag"),
        ("partitions: *a", "partitions: *a refers to no anchor (1: 13)"),
        ("partitions: &a [*a]", "partitions[0]: *a refers to a node that contains it (1: 17)"),
        (f"{GOOD}\n{GOOD}", "partitions: written twice, first in line 1 (2: 1)"),
        (f"'partitions': []\n{GOOD}", "partitions: written twice, first in line 1 (2: 1)"),
    ],
)
def test_document_of_the_wrong_shape_is_refused(text: str, problem: str) -> None:
    assert any(problem in error for error in errors(text))


def test_tags_that_change_nothing_are_accepted() -> None:
    parse_configuration("partitions: !!seq [!!map {queues: [{name: !!str on}, {name: ! off}]}]")


def test_words_stay_words() -> None:
    node, problems = read_document("[on, 010, 12:30:00, 2001-01-01, 1e3, ~, '~']")

    assert not problems
    assert isinstance(node, Series)
    words = [item for item in node.items if isinstance(item, Word)]
    assert [word.text for word in words] == [
        *("on", "010", "12:30:00", "2001-01-01", "1e3", "~", "~")
    ]
    assert [word.states_nothing for word in words] == [False] * 5 + [True, False]
    assert [word.plain for word in words] == [True] * 6 + [False]


def test_aliases_and_merges_repeat_what_is_written() -> None:
    configuration = parse_configuration(
        "partitions:\n"
        "  - queues:\n"
        "      - &a {name: a, properties: &p {x: y}, maxapplications: 3}\n"
        "      - {<<: *a, name: b, maxapplications: 4}\n"
        "      - {name: c, properties: *p}\n"
        "      - {<<: [{parent: true}, *a], name: d}\n"
    )

    a, b, c, d = configuration.partitions[0].root.queues
    assert (b.name, b.max_applications, b.properties) == ("b", 4, a.properties)
    assert c.properties.others == {"x": "y"}
    assert (d.name, d.is_parent, d.max_applications) == ("d", True, 3)


def test_merging_what_is_no_mapping_is_refused() -> None:
    assert errors("<<: [a]\npartitions: [{queues: []}]") == ["<<: must be a mapping (1: 6)"]


def ten_times_as_many(lines: int) -> str:
    """Return a text in which each line stands for ten times as many nodes as the one before."""
    first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"
    more = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, lines))
    return "\n".join([first, *more])


def test_aliases_cannot_blow_a_text_up() -> None:
    problems = errors(ten_times_as_many(12))

    assert "aliases repeat more than 100000 nodes" in problems[0]
    assert calls(ten_times_as_many(12)) < 4 * calls(ten_times_as_many(6))


@pytest.mark.parametrize("text", ["[" * 5_000, "{a: " * 5_000, "- " * 5_000])
def test_nesting_is_bounded(text: str) -> None:
    assert errors(text)[0].startswith("nested more than 128 levels deep (1: ")
    assert calls(text) < 2 * calls(text[: len(text) // 4])


def test_the_deepest_queue_that_nests_is_read() -> None:
    """A queue takes two levels of 128, and the partition three above the first."""
    text = "{name: leaf}"
    for _ in range(61):
        text = f"{{name: q, queues: [{text}]}}"

    parse_configuration(f"partitions: [{{queues: [{text}]}}]")
    [problem] = errors(f"partitions: [{{queues: [{{queues: [{text}]}}]}}]")
    assert problem.startswith("nested more than 128 levels deep")


def test_sizes_count_what_aliases_repeat() -> None:
    node, _ = read_document("{a: &a [x, y], b: *a}")

    assert isinstance(node, Mapping)
    assert node.size == 9
