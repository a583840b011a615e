"""Requirements are selected by id, area, level, authority, feature, text, lists and profiles."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from siconform.catalogue import adopt, catalogue, find_requirement
from siconform.filters import FilterError, find_meant, ids_meant, read_filters

NEWEST = "2024-10"
LAST_OF_NODES = [r.id for r in catalogue().values() if r.area == "NODE"][-1]


def chosen(*words: str, **given: list[str]) -> set[str]:
    flags = {f"--{name}": values for name, values in given.items()}
    return set(read_filters(words, flags, NEWEST).chosen(NEWEST))


def mutant(*words: str, **given: list[str]) -> str:
    with pytest.raises(FilterError) as raised:
        chosen(*words, **given)
    return str(raised.value)


@pytest.mark.parametrize("word", ["SI-NODE-002", "si-node-2", "node-2", "NODE-0002", "node_02"])
def test_id_in_short_form(word: str) -> None:
    assert ids_meant(word) == {"SI-NODE-002"}
    assert find_meant(word).id == "SI-NODE-002"


@pytest.mark.parametrize("word", ["REL", "rel", "SI-REL"])
def test_area_name_selects_all_of_it(word: str) -> None:
    assert ids_meant(word) == {r.id for r in catalogue().values() if r.area == "REL"}


@pytest.mark.parametrize(
    ("word", "received"),
    [
        ("nod-3", 'unknown requirement "nod-3"; did you mean SI-NODE-003?'),
        ("SI-GNAG-21", "did you mean SI-GANG-021?"),
        ("release-3", "did you mean SI-REL-003?"),
        ("nodes", 'unknown requirement "nodes"; did you mean NODE?'),
        ("node-99", f"the last of NODE is {LAST_OF_NODES}"),
        ("xyz", "('siconform list' lists them)"),
    ],
)
def test_unknown_requirement_suggests_nearest(word: str, received: str) -> None:
    assert received in mutant(word)


@pytest.fixture
def _own() -> Iterator[None]:
    adopt([replace(find_meant("node-1"), id="ACME-NODE-001")])
    yield
    adopt(())


@pytest.mark.usefixtures("_own")
def test_unknown_requirement_suggests_the_users_own() -> None:
    assert "did you mean ACME-NODE-001?" in mutant("ACME-NODE-0001")
    assert "did you mean SI-NODE-003?" in mutant("nod-3")
    with pytest.raises(LookupError, match=r"did you mean ACME-NODE-001\?"):
        find_requirement("ACME-NODE-009")


def test_filters_combine_with_or_within_and_between_kinds() -> None:
    everything = [r for r in catalogue().values() if NEWEST in r.revisions]
    assert chosen("RES", "rel-1") == ids_meant("RES") | {"SI-REL-001"}
    assert chosen(area=["node", "REL"], level=["must,MAY"]) == {
        r.id for r in everything if r.area in ("NODE", "REL") and r.level in ("MUST", "MAY")
    }
    assert chosen(authority=["core"], feature=["gang,queues"]) == {
        r.id for r in everything if r.authority == "core" and {"gang", "queues"} & r.features
    }
    assert chosen("node-2", area=["REL"]) == set()


def test_text_filter_ignores_case_and_line_breaks() -> None:
    assert "SI-NODE-002" in chosen(text=["KNOWN already"])
    assert chosen(text=["known already", "no such words"]) == chosen(text=["known already"])
    assert chosen(text=["no such words"]) == set()


def test_lists_from_files(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("# ours\nnode-2, node-3  # both\n\nRES\n")
    (tmp_path / "out.txt").write_text("SI-NODE-003\n")
    files = {"include": [str(tmp_path / "in.txt")], "skip": [str(tmp_path / "out.txt")]}

    assert chosen(**files) == ids_meant("RES") | {"SI-NODE-002"}
    assert chosen(skip=files["skip"], area=["NODE"]) == (chosen(area=["NODE"]) - {"SI-NODE-003"})


def test_all_errors_in_lists_have_lines(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("node-2\nnod-3\n\nnode-99 # gone\n")
    (tmp_path / "empty.txt").write_text("# nothing\n")
    received = mutant(
        include=[str(tmp_path / "in.txt"), str(tmp_path / "empty.txt")],
        skip=[str(tmp_path / "none.txt")],
        level=["perhaps"],
    ).splitlines()

    assert len(received) == 5
    assert received[0].startswith(f'{tmp_path}/in.txt:2: unknown requirement "nod-3";')
    assert received[1].startswith(f'{tmp_path}/in.txt:4: unknown requirement "node-99"')
    assert received[2] == f"{tmp_path}/empty.txt: lists no requirement"
    assert 'unknown level "perhaps"; known: MUST, SHOULD, MAY' in received
    assert f"{tmp_path}/none.txt: the list cannot be read: No such file or directory" in received


def test_profile_combined_with_filters() -> None:
    base = chosen(profile=["base"])
    assert base == chosen(profile=[f"{NEWEST}/base.1"]) == chosen(profile=["base.1"])
    assert chosen(profile=["base"], area=["NODE"]) == base & chosen(area=["NODE"])
    assert "may be given only once" in mutant(profile=["base", "gang"])
    assert "give --revision 2021-02" in mutant(profile=["2021-02/base"])


def test_filters_report_what_was_given() -> None:
    filters = read_filters(["node-2"], {"--level": ["must"], "--text": []}, NEWEST)

    assert filters.words == "node-2, level must"
    assert filters.selects
    assert not read_filters([], {}, NEWEST).selects
