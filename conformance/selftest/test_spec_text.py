"""Parsing a specification: blocks, constants, Go API and sentences, each with its line."""

import pytest
from selftest.spec_texts import SMALL, line_of, without_barriers
from siconform.catalogue.texts import normalised, read_text
from sispec.model import UnreadableSpec
from sispec.prose import modal_words
from sispec.text import LARGEST_TEXT, SpecText, decode, read_spec_text


def read(text: str) -> SpecText:
    return read_spec_text("the text", decode("the text", text.encode()))


def errors(text: str | bytes) -> list[str]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(UnreadableSpec) as caught:
        read_spec_text("the text", decode("the text", data))
    return [str(error) for error in caught.value.errors]


def test_protobuf_lines_match_text() -> None:
    source = read(SMALL).source

    assert line_of(source, "string nodeID") == line_of(SMALL, "string nodeID")
    assert line_of(source, "service Scheduler") == line_of(SMALL, "service Scheduler")
    assert "Nodes must be known" not in source
    assert "HostName" not in source


def test_schema_is_separate_file() -> None:
    schema = read(SMALL).schema

    assert schema.startswith('syntax = "proto3";\npackage si.v1;')
    assert "\n\n\n" not in schema
    assert schema.endswith("message NodeResponse {}\n")


def test_constants_have_value_line_and_comment() -> None:
    constants = read(SMALL).constants

    assert {name: constant.value for name, constant in constants.items()} == {
        "HostName": "si/hostname",
        "Domain": "example.org/",
    }
    assert constants["HostName"].line == line_of(SMALL, "HostName")
    assert constants["HostName"].comment == "its name"


def test_methods_of_the_go_api_have_signature_line_and_comment() -> None:
    api = read(SMALL).api

    assert list(api) == [
        "SchedulerAPI.UpdateNode",
        "SchedulerAPI.Register",
        "SchedulerAPI.Stop",
        "Callback.Told",
    ]
    update = api["SchedulerAPI.UpdateNode"]
    assert update.signature == "(request *si.NodeRequest) error"
    assert update.comment == "Nodes that are told, one by one."
    assert update.line == line_of(SMALL, "UpdateNode(request")
    register = api["SchedulerAPI.Register"].signature
    assert register == "(request *si.Request, callback Callback) (*si.Response, error)"


def test_rules_have_their_line_section_place_and_words() -> None:
    rules = {
        sentence.text: (sentence.line, sentence.section, sentence.place, sentence.words)
        for sentence in read(SMALL).sentences
        if sentence.is_rule
    }

    section, api = "Scheduler Interface Spec", "API Interface"
    received = 'section "API Interface"'
    assert rules == {
        "Nodes must be known.": (5, section, f'section "{section}"', ("must",)),
        "The scheduler will reject what it does not know.": (
            line_of(SMALL, "The scheduler will"),
            *(api, received, ("will", "reject")),
        ),
        "A node should be told once:": (
            line_of(SMALL, "what it does not know."),
            *(api, received, ("should",)),
        ),
        "nodes of others are ignored": (
            line_of(SMALL, "- nodes of"),
            *(api, received, ("ignored",)),
        ),
        "an unknown one may not be updated": (
            line_of(SMALL, "- an unknown"),
            *(api, received, ("may not",)),
        ),
        "Stands apart and must be read.": (
            line_of(SMALL, "// Stands apart"),
            *(api, "NodeRequest", ("must",)),
        ),
        "The id, which must be set;": (
            line_of(SMALL, "// The id"),
            *(api, "NodeRequest.nodeID", ("must",)),
        ),
        "an empty one is an error.": (
            line_of(SMALL, "// an empty"),
            *(api, "NodeRequest.nodeID", ("error",)),
        ),
        "ignored on updates": (
            line_of(SMALL, "Action action"),
            *(api, "NodeRequest.action", ("ignored",)),
        ),
    }


def test_licence_drawings_and_targets_of_links_are_no_sentences() -> None:
    text = " ".join(sentence.text for sentence in read(SMALL).sentences)

    assert "licence" not in text
    assert "drains" not in text
    assert "See the guide for more." in text


def test_sentences_of_a_section_are_the_passages_of_the_catalogue() -> None:
    found = read(SMALL).sentences

    for section, passages in read_text(SMALL).sections.items():
        mine = [s.text for s in found if section and s.place == f'section "{section}"']
        plain = [passage.replace("(https://example.org/must)", "") for passage in passages]
        assert list(map(normalised, mine)) == [normalised(passage) for passage in plain if section]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The RM MUST NOT send it", ("must not",)),
        ("it will be rejected with errors", ("will", "reject", "error")),
        ("rejection; ignores it", ("reject", "ignored")),
        ("the willing mayor is mustered", ()),
    ],
)
def test_forms_of_a_modal_word_are_one_and_its_negation_another(
    sentence: str, words: tuple[str, ...]
) -> None:
    assert modal_words(sentence) == words


def test_text_without_fences_is_read_with_notes() -> None:
    text = without_barriers(SMALL)

    found, whole = read(text), read(SMALL)

    assert [line for line in found.schema.split("\n") if line] == [
        line for line in whole.schema.split("\n") if line
    ]
    assert {name: c.value for name, c in found.constants.items()} == {
        name: c.value for name, c in whole.constants.items()
    }
    assert list(found.api) == list(whole.api)
    assert [(s.text, s.section, s.place) for s in found.sentences if s.is_rule] == [
        (s.text, s.section, s.place) for s in whole.sentences if s.is_rule
    ]
    assert line_of(found.source, "string nodeID") == line_of(text, "string nodeID")
    assert [guess.split(":")[0] for guess in found.guesses][:1] == ["The fences are lost"]
    assert found.guesses[-1] == ("Lines 1 to 4 are ignored as the header of a web page")
    assert whole.guesses == ()


def test_entities_and_unbreakable_spaces_of_a_web_page_are_read_and_sent() -> None:
    text = without_barriers(SMALL).replace(
        "  string nodeID = 1;", "\xa0 map&lt;string, string&gt; of = 1;"
    )

    found = read(text)

    assert "  map<string, string> of = 1;" in found.schema
    assert [guess for guess in found.guesses if "read as" in guess] == [
        "In declarations, spaces that never break a line are read as spaces",
        "&lt; and &gt; in declarations are read as < and >",
    ]


def test_windows_line_ends() -> None:
    found, windows = read(SMALL), read("\ufeff" + SMALL.replace("\n", "\r\n"))

    assert windows.source == found.source
    assert windows.sentences == found.sentences


def test_unlabelled_protobuf_block_is_skipped_and_reported() -> None:
    text = SMALL + "\n```\nmessage Sketch { Unknown what = 1; }\n```\n"

    found = read(text)

    assert "Sketch" not in found.source
    assert found.guesses == (
        (
            f"line {line_of(text, 'message Sketch') - 1}: a block looks like protobuf but has no "
            "label; it is left out"
        ),
    )


def test_unlabelled_blocks_are_taken_where_none_has_a_label() -> None:
    found = read('```\nsyntax = "proto3";\nmessage A {}\n```\n')

    assert "message A" in found.source
    assert found.guesses == (
        ("line 1: no block is labelled protobuf; this one looks like protobuf and is read as such"),
    )


def test_block_labelled_proto_is_protobuf_with_note() -> None:
    found = read("```proto\nmessage A {}\n```\n")

    assert found.guesses == ("line 1: a block is labelled proto, not protobuf; it is read as that",)


LOST = without_barriers(SMALL)
NODE = "```protobuf\n// A node, {as told}."


_WRONG_TEXTS = [
    ("", "the file is empty: give one with protobuf blocks"),
    (
        "# Only prose\n\nwhere nodes must be known\n",
        "there is no protobuf in the file: put it between ```protobuf and ```",
    ),
    (
        "x" * (LARGEST_TEXT + 1),
        "the file has 1.0 MB, more than the limit of 1 MB",
    ),
    (b"a\nb\xff\xfe", "line 2: the file is not UTF-8 here: save it as UTF-8, or give the "),
    (
        SMALL.replace(NODE, NODE[12:]),
        (
            f"line {line_of(SMALL, 'message NodeRequest') - 1}: `message NodeRequest {{` "
            "is outside of any block: put a fence ```protobuf above it"
        ),
    ),
    (
        SMALL.replace("message NodeResponse {}\n```", "message NodeResponse {}\n"),
        (
            f"line {line_of(SMALL, '```constants')}: a block starts inside the one of line "
            f"{line_of(SMALL, '// A node') - 1}: a closing fence is missing"
        ),
    ),
    (
        SMALL[: SMALL.rindex("```")],
        (
            f"line {line_of(SMALL, '```constants')}: the block that starts here is never "
            "closed: end it with ```"
        ),
    ),
    (
        SMALL.replace(NODE, NODE[12:]).replace("message NodeResponse {}\n```", ""),
        (
            f"line {line_of(SMALL, 'message NodeRequest') - 1}: `message NodeRequest {{` "
            "is outside of any block: put a fence ```protobuf above it"
        ),
    ),
    (
        SMALL.replace('  reserved "rack";\n}', '  reserved "rack";'),
        (
            f"line {line_of(SMALL, 'message NodeRequest')}: `message NodeRequest {{` is "
            "not closed in its block: add the missing brace"
        ),
    ),
    (
        SMALL.replace("message NodeResponse {}", "message NodeResponse {}\n}"),
        (
            f"line {line_of(SMALL, 'message NodeResponse') + 1}: this brace closes "
            "nothing: remove it"
        ),
    ),
    (
        SMALL.replace("Domain   =", "HostName ="),
        (
            f"line {line_of(SMALL, 'Domain')}: constant HostName is already on line "
            f"{line_of(SMALL, 'HostName')}: rename or remove one"
        ),
    ),
    (
        SMALL.replace('"example.org/"', '"example.org/'),
        (
            f'line {line_of(SMALL, "Domain")}: `Domain   = "example.org/` is not a constant: '
            'write it as Name = "value"'
        ),
    ),
    (
        LOST.replace('  reserved "rack";\n}', '  reserved "rack";'),
        (
            f"line {line_of(LOST, 'message NodeRequest')}: `message NodeRequest {{` is not "
            f"closed before line {line_of(LOST, 'message NodeResponse') - 1}: add the "
            "missing }"
        ),
    ),
]


@pytest.mark.parametrize(("text", "message"), _WRONG_TEXTS)
def test_invalid_text_is_one_sentence_with_line(text: str | bytes, message: str) -> None:
    (sentence,) = errors(text)

    assert sentence.startswith(message)


def test_merge_conflict_is_reported_once_by_its_first_line() -> None:
    field = "  string nodeID = 1;\n"
    left = f"<<<<<<< HEAD\n{field}=======\n  string hostID = 1;\n>>>>>>> other\n"
    merged = SMALL.replace(field, left) + f"\n{left}"
    first, second = line_of(merged, "<<<<<<< HEAD"), merged.count("\n") - 4
    with pytest.raises(UnreadableSpec) as caught:
        decode("text", merged.encode())
    assert [(error.line, "keep one side" in error.message) for error in caught.value.errors] == [
        (first, True),
        (second, True),
    ]


def test_similar_marks_are_not_conflicts() -> None:
    quoted = SMALL.replace("Nodes must", "<<<<<<< a mark alone\n\nNodes must")
    assert decode("text", quoted.encode()) == quoted
