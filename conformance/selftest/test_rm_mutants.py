"""Mutants of RMs: each tested requirement has one, and their results are kept apart."""

from dataclasses import replace
from pathlib import Path

import pytest
import sirm
from mutation import choosing
from mutation.evaluating import ROOT, state_of_the_rest
from mutation.known import load
from mutation.main_revision import NAME, si
from mutation.mutant import CHANGES, Change, of_side, rm_mutant
from mutation.outcomes import outcome_of
from mutation.page import MutationReport, page
from mutation.patched import apply
from mutation.patching import Patch
from siconform.catalogue import Level, Side, catalogue
from siconform.running.index import cited

from .commands import python

load()


def test_tested_musts_and_shoulds_of_rms_have_a_mutant() -> None:
    broken = {one for change in of_side(Side.RM).values() for one in change.breaks}
    tested = {
        identifier
        for identifier in cited(Side.RM)
        if catalogue()[identifier].level is not Level.MAY and not catalogue()[identifier].no_mutant
    }

    assert tested - broken == set(), "add a mutant in conformance/mutation/rm"


def test_mutants_of_rms_break_tested_requirements() -> None:
    untested = {
        (change.name, identifier)
        for change in of_side(Side.RM).values()
        for identifier in change.breaks
        if identifier not in cited(Side.RM)
    }

    assert untested == set()


def test_rm_is_changed_inside_only() -> None:
    def nothing(response: si.NodeResponse) -> None:
        del response

    with pytest.raises(ValueError, match="change the codec of the RM instead"):
        rm_mutant("an-rm", "Wrong.", breaks=("SI-REG-011",), revision=NAME)(nothing)


def test_changed_rm_is_started_with_the_options_of_sirm() -> None:
    words = ("run", "--scheduler", "127.0.0.1:1", "--attempts", "1")

    done = python("-P", "-m", "mutation.patched_rm", "rm-releases-without-type+", *words)

    assert (done.returncode, done.stderr) == (1, "")
    assert "gave up the scheduler" in done.stdout


def test_change_of_a_scheduler_is_unknown_to_the_rm() -> None:
    with pytest.raises(SystemExit, match='unknown change of the resource manager: "drain-ignored"'):
        apply("drain-ignored", Side.RM, Patch(sirm))


@pytest.mark.parametrize(
    ("file", "affected"),
    [
        ("reference/sirm/core/rm.py", {Side.RM}),
        ("conformance/siconform/suite_rm/test_releases.py", {Side.RM}),
        ("conformance/siconform/scheduler/engine.py", {Side.RM}),
        ("conformance/siconform/monitors/rm_keys.py", {Side.RM}),
        ("conformance/siconform/running/rm_session.py", {Side.RM}),
        ("conformance/mutation/patched_rm.py", {Side.RM}),
        ("reference/sireference/core/nodes.py", {Side.SCHEDULER}),
        ("conformance/siconform/suite/test_nodes.py", {Side.SCHEDULER}),
        ("conformance/mutation/proxy.py", {Side.SCHEDULER}),
        ("proto/siwire/rpc.py", {Side.SCHEDULER, Side.RM}),
        ("conformance/siconform/recording/history.py", {Side.SCHEDULER, Side.RM}),
        ("conformance/mutation/patching.py", {Side.SCHEDULER, Side.RM}),
    ],
)
def test_cached_results_depend_on_files_of_their_side(
    file: str, affected: set[Side], monkeypatch: pytest.MonkeyPatch
) -> None:
    def states() -> dict[Side, str]:
        state_of_the_rest.cache_clear()
        return {side: state_of_the_rest(side) for side in Side}

    before, read = states(), Path.read_bytes
    changed = ROOT / file
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"x" * (path == changed))
    after = states()
    state_of_the_rest.cache_clear()

    assert changed.is_file()
    assert {side for side in Side if before[side] != after[side]} == affected


@pytest.mark.parametrize(
    ("file", "side"),
    [
        ("reference/sirm/shell/machine.py", Side.RM),
        ("conformance/siconform/scheduler/engine.py", Side.RM),
        ("conformance/siconform/suite_rm/conftest.py", Side.RM),
        ("reference/sireference/core/nodes.py", Side.SCHEDULER),
        ("conformance/siconform/suite/conftest.py", Side.SCHEDULER),
    ],
)
def test_sample_is_of_the_side_that_depends_on_changed_files(
    file: str, side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "changed_files", lambda _since: {ROOT / file})

    chosen = choosing.sample(CHANGES.values(), 12, "main")

    assert {change.side for change in chosen} == {side}


def test_page_shows_mutants_of_rms_in_their_own_section() -> None:
    scheduler = Change("a-mutant", "Wrong.", breaks=("SI-WIRE-006",))
    rm = replace(scheduler, name="an-rm", side=Side.RM)
    variant = Change("a-variant", "Free.", is_variant=True, side=Side.RM)
    mutation = MutationReport(
        {one.name: one for one in (scheduler, rm, variant)},
        {one.name: outcome_of(one) for one in (scheduler, rm, variant)},
        {NAME: ["SI-WIRE-006"]},
    )

    of_schedulers, _, of_rms = page(mutation).partition("## Resource managers\n")

    assert "| a-mutant | Wrong. | inside | killed by SI-WIRE-006 |" in of_schedulers
    assert "1 mutants; of the 1 MUSTs and SHOULDs the reference passes 1 kill" in of_schedulers
    assert "an-rm" not in of_schedulers
    assert "| an-rm | Wrong. | inside | killed by SI-WIRE-006 |" in of_rms
    assert "| a-variant | Free. |  | accepted |  |" in of_rms
    assert "SI-REG-011 MUST An RM registers before it sends any update: no mutant yet" in of_rms
    assert "a-mutant" not in of_rms
    assert "SI-CONN-011" not in of_rms  # of 2021-02
