"""`siconform list` and `siconform explain` show the catalogue within 100 columns of ASCII."""

from collections import Counter
from dataclasses import replace

import pytest
from siconform.catalogue import Level, Side, catalogue, find_requirement
from siconform.filters import Filters
from siconform.listing import WIDTH, render_explanation, render_list
from siconform.verdicts import Verdict

EXCLUDED, NO_TEST_YET = Verdict.EXCLUDED, Verdict.NO_TEST_YET
TESTS = {
    Side.SCHEDULER: {
        "SI-NODE-001": ("suite/test_nodes.py::test_a",),
        "SI-WIRE-001": ("suite/test_wire.py::test_b",),
        "SI-PRE-001": (),
    },
    Side.RM: {},
}


def listed(filters: Filters) -> list[str]:
    """Return the ids in a list, and its last two lines as one."""
    lines = render_list(catalogue().values(), TESTS, filters).splitlines()
    return [*(line.split()[0] for line in lines if line.startswith("SI-")), "; ".join(lines[-2:])]


def requirements(count: int) -> str:
    """Return how the last line of a list of this length begins."""
    return f"{count} requirements: "


def of_revision(name: str) -> str:
    return requirements(sum(name in one.revisions for one in catalogue().values()))


def test_list_has_every_requirement_and_count() -> None:
    *ids, counts = listed(Filters())
    assert ids == list(catalogue())
    levels = Counter(entry.level for entry in catalogue().values())
    received, tested = counts.split("; ")
    assert received == (
        f"{len(ids)} requirements: {levels[Level.MUST]} MUST, {levels[Level.SHOULD]} SHOULD, "
        f"{levels[Level.MAY]} MAY"
    )
    assert sum(int(part.split()[0]) for part in tested.split(", ")) == len(ids)
    assert tested.startswith("1 tested, ")


def test_list_row_columns() -> None:
    entry = find_requirement("SI-NODE-014")
    short = replace(entry, title="Short")
    rows = render_list([short], {}).splitlines()
    assert rows[0].split() == ["id", "level", "side", "revisions", "seen", "by", "title"]
    assert rows[1].split() == ["SI-NODE-014", "MUST", "rm", "all", "rm-driver", "Short"]
    assert rows[0].index("title") == rows[1].index("Short")


def test_long_title_wraps() -> None:
    entry = replace(find_requirement("SI-NODE-001"), title="word " * 15 + "end")
    first, second = render_list([entry], {}).splitlines()[1:3]
    assert second.strip().endswith("end")
    assert len(second) - len(second.lstrip()) == first.index("word")


@pytest.mark.parametrize(
    ("filters", "first", "counts"),
    [
        (
            Filters(areas=frozenset({"RES"})),
            "SI-RES-001",
            requirements(sum(one.area == "RES" for one in catalogue().values())),
        ),
        (
            Filters(levels=frozenset({Level.MAY})),
            "SI-REG-019",
            requirements(sum(one.level is Level.MAY for one in catalogue().values())),
        ),
        (
            Filters(side=Side.RM),
            "SI-WIRE-001",
            requirements(sum(Side.RM in one.sides for one in catalogue().values())),
        ),
        (Filters(revision="2021-02"), "SI-WIRE-001", of_revision("2021-02")),
        (Filters(revision="2026-04"), "SI-WIRE-001", of_revision("2026-04")),
        (Filters(untested=True), "SI-WIRE-001", requirements(len(catalogue()) - 1)),
        (Filters(untested=True, side=Side.SCHEDULER), "SI-WIRE-002", ""),
        (Filters(untested=True, side=Side.RM), "SI-WIRE-001", ""),
        (
            Filters(areas=frozenset({"NODE"}), untested=True),
            "SI-NODE-002",
            requirements(sum(one.area == "NODE" for one in catalogue().values()) - 1),
        ),
        (Filters(areas=frozenset({"AUTO"}), side=Side.RM), "0 requirements", "0 requirements"),
    ],
)
def test_list_filters(filters: Filters, first: str, counts: str) -> None:
    shown = listed(filters)
    assert shown[0].startswith(first)
    assert shown[-1].startswith(counts)


def test_explanation_is_complete() -> None:
    entry = find_requirement("SI-NODE-002")
    text = render_explanation(
        entry,
        {Side.SCHEDULER: ["suite/test_nodes.py::test_a", "suite/test_nodes.py::test_b"]},
        {"reference": "good", "yunikorn-core@1.5.1": "bad"},
    )
    lines = text.splitlines()
    assert lines[0].startswith("SI-NODE-002   MUST   source: the SI specification (section ")
    assert "  " + entry.text in lines
    for label, content in {
        "why MUST": entry.level_reason,
        "applies to": "schedulers, all revisions",
        "given": entry.given,
        "when": entry.when,
        "then": entry.then,
        "control": entry.control,
        "seen by": "the messages of si.v1.Scheduler; waits for a response",
        "tests": "suite/test_nodes.py::test_a",
        "": "suite/test_nodes.py::test_b",
        "schedulers": "reference: good",
    }.items():
        assert f"  {label:<11}{content}" in lines


def test_explanation_without_test_omits_empty_parts() -> None:
    text = render_explanation(find_requirement("SI-NODE-001"), {})
    assert f"  tests      {NO_TEST_YET.label}" in text.splitlines()
    assert not any(label in text for label in ("  schedulers", "  control", "  needs"))


def test_excluded_requirement_shows_reason() -> None:
    entry = replace(find_requirement("SI-NODE-001"), not_tested="nothing shows it")
    rows = render_list([entry], {}, Filters(untested=True)).splitlines()
    assert rows[2].split(maxsplit=1) == [f"{EXCLUDED.label}:", "nothing shows it"]
    assert rows[-1].startswith(f"0 tested, {EXCLUDED.counted(1)}, ")
    assert "  tests      none: nothing shows it" in render_explanation(entry, {}).splitlines()


def test_ended_requirement_shows_reason() -> None:
    lines = render_explanation(find_requirement("SI-AUTO-001"), {}).splitlines()
    place = lines.index("  applies to schedulers, 2021-02")
    assert lines[place + 1] == "  retired    From 2023-04 on there are no auto-scaling metrics."


def test_tests_of_rms_are_shown() -> None:
    test = "suite_rm/test_nodes.py::test_a"
    text = render_explanation(find_requirement("SI-NODE-014"), {Side.RM: [test]})
    assert f"  tests      {test}" in text.splitlines()


@pytest.mark.parametrize(
    ("reason", "shown"),
    [("", f"{NO_TEST_YET.label} on RMs"), ("nothing shows it", "none on RMs: nothing shows it")],
)
def test_side_without_test_is_shown(reason: str, shown: str) -> None:
    entry = replace(find_requirement("SI-WIRE-001"), not_tested_on_rms=reason)
    tests = {Side.SCHEDULER: ["suite/test_wire.py::test_a"]}
    lines = render_explanation(entry, tests).splitlines()
    place = lines.index("  tests      suite/test_wire.py::test_a")
    assert lines[place + 1] == f"{'':13}{shown}"


def test_requirement_of_both_sides_needs_a_test_on_each() -> None:
    excused = find_requirement("SI-WIRE-001")
    entry = replace(excused, not_tested_on_rms="")
    one_side = {Side.SCHEDULER: {entry.id: ("suite/test_wire.py::test_a",)}, Side.RM: {}}
    both = {**one_side, Side.RM: {entry.id: ("suite_rm/test_wire.py::test_a",)}}

    def counts(listed: str) -> str:
        return listed.splitlines()[-1]

    assert counts(render_list([entry], both)) == "1 tested, 0 excluded, 0 not tested yet"
    assert counts(render_list([entry], one_side)) == "0 tested, 0 excluded, 1 not tested yet"
    assert counts(render_list([excused], one_side)) == "0 tested, 1 excluded, 0 not tested yet"
    of_schedulers = render_list([entry], one_side, Filters(side=Side.SCHEDULER))
    assert counts(of_schedulers) == "1 tested, 0 excluded, 0 not tested yet"


def test_place_is_named_once_with_revisions() -> None:
    lines = render_explanation(find_requirement("SI-GANG-021"), {}).splitlines()
    assert [line for line in lines if "gang scheduling design)" in line] == [
        '  sources    section "Scheduler logic changes" (gang scheduling design)'
    ]


def test_output_fits_plain_terminal() -> None:
    explained = [
        render_explanation(entry, {Side.SCHEDULER: ["suite/x.py::test_y"]})
        for entry in catalogue().values()
    ]
    text = "\n".join([render_list(catalogue().values(), TESTS), *explained])
    assert text.isascii()
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
