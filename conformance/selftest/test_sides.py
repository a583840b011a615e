"""Runs against a resource manager: options, what they select, and how results name the side."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from siconform.catalogue import Side, find_requirement
from siconform.catalogue.features import Feature
from siconform.commands.launching import arguments, preloaded, run
from siconform.config.open_target import artifacts, describe, open_target
from siconform.config.option_values import BadOption
from siconform.config.options import Settings, settings_from
from siconform.config.target_file import read_target_file
from siconform.config.target_file_options import fill_in, with_target_file
from siconform.policy import RunStatus
from siconform.reporting.certificate import evaluated_in
from siconform.reporting.certifying import certify
from siconform.running.evidence_store import EvidenceStore
from siconform.running.index import cited, suite_folder
from siconform.running.naming import NothingChosen, check_chosen
from siconform.targets.rm_target import RmTarget
from siconform.verdicts import Verdict

from .commands import invoke
from .stored_runs import document, folder_of, requirement

AN_RM = "rm {address} {driver}"
KNOWN_RM = "k8shim@1.8.0"


def settings(given: Mapping[str, Any]) -> Settings:
    return settings_from(given.get)


@pytest.mark.parametrize(
    ("given", "side", "command", "address"),
    [
        ({}, Side.SCHEDULER, "", ""),
        ({"--side": "scheduler", "--target": "h:1"}, Side.SCHEDULER, "", "h:1"),
        ({"--side": "RM"}, Side.RM, "", ""),
        ({"--rm-command": AN_RM}, Side.RM, AN_RM, ""),
        ({"--side": "rm", "--rm-command": AN_RM}, Side.RM, AN_RM, ""),
        ({"--listen": "127.0.0.1:9080"}, Side.RM, "", "127.0.0.1:9080"),
        ({"--rm": KNOWN_RM}, Side.RM, "", ""),
    ],
)
def test_options_name_side_and_target(
    given: dict[str, str], side: Side, command: str, address: str
) -> None:
    found = settings(given)
    assert (found.side, found.command, found.address) == (side, command, address)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"--rm-command": AN_RM, "--target": "h:1"},
            "--target and --rm-command are mutually exclusive: give one",
        ),
        ({"--rm-command": AN_RM, "--listen": "h:1"}, "--rm-command and --listen are mutually"),
        ({"--rm": KNOWN_RM, "--listen": "h:1"}, "--rm and --listen are mutually exclusive"),
        ({"--wait": "3"}, "--wait waits for an address: give --target or --listen"),
        ({"--side": "rm", "--target-command": "x"}, "--target-command does not name a resource"),
        ({"--side": "scheduler", "--listen": "h:1"}, "--listen does not name a scheduler: omit"),
        (
            {"--rm": "k8sshim"},
            'unknown resource manager "k8sshim": give NAME@VERSION. Did you mean k8shim? Known: ',
        ),
        ({"--target": KNOWN_RM}, f'unknown target "{KNOWN_RM}": give HOST:PORT or NAME@VERSION.'),
        ({"--side": "r"}, '--side "r" must be scheduler or rm; did you mean rm?'),
        ({"--listen": "here"}, '--listen "here" has no port: give here:PORT'),
        ({"--rm-command": AN_RM, "--rm-driver": "h:1"}, "--rm-driver needs --listen: the driver"),
        ({"--side": "rm", "--tls": True}, "--tls does not apply to resource managers: omit it"),
        ({"--side": "rm", "--profile": ["base"]}, "--profile does not apply to resource managers"),
    ],
)
def test_options_that_exclude_each_other_are_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        settings(given)
    assert str(refused.value).startswith(sentence)


def test_known_rm_is_started_as_its_file_states(tmp_path: Path) -> None:
    found = settings({"--rm": KNOWN_RM, "--results": str(tmp_path), "--start-timeout": "7"})

    (tmp_path / "logs").mkdir()
    target = open_target(found, "gw0")

    assert isinstance(target, RmTarget)
    assert (target.name, target.patience) == (f"rm: {KNOWN_RM}", 7.0)
    assert target.driver
    assert target.launch is not None
    assert {"{address}", "{driver}"} <= {*target.launch.command}
    assert found.terms.without == {Feature.RM_INSTANCES}


def test_listening_needs_one_worker() -> None:
    with pytest.raises(BadOption, match="--listen serves one RM, so it needs one worker: omit -n"):
        run(["--listen", "127.0.0.1:9080", "-n", "2", "--target-file", "none"])
    assert "-n" not in arguments(["--listen", "127.0.0.1:9080"])


def test_side_selects_suite() -> None:
    assert str(suite_folder(Side.RM)) in arguments(["--side", "rm"])
    assert str(suite_folder(Side.RM)) in arguments(["--rm-command", AN_RM])
    assert str(suite_folder()) in arguments([])
    assert preloaded(["--side=rm"]) == ["siconform.commands.launching:collect_once_for_rms"]


def test_target_is_named_with_its_side() -> None:
    assert describe(settings({"--side": "rm"}))[0] == "rm: sirm"
    assert describe(settings({"--rm-command": AN_RM}))[0] == f"rm: {AN_RM}"
    assert describe(settings({"--listen": "127.0.0.1:9080"}))[0] == "rm: 127.0.0.1:9080"
    assert describe(settings({"--rm": KNOWN_RM})) == (f"rm: {KNOWN_RM}", "1.8.0")
    assert artifacts(settings({"--listen": "127.0.0.1:9080"})) == {}


def test_requirements_of_the_other_side_have_their_verdict() -> None:
    results = EvidenceStore(settings({"--side": "rm"})).requirements()
    verdicts = {result.requirement.id: result.verdict for result in results}
    assert verdicts["SI-NODE-002"] is Verdict.OF_THE_SCHEDULER
    assert verdicts["SI-CB-010"] in (Verdict.NO_TEST_YET, Verdict.NOT_SELECTED)
    assert Verdict.OF_THE_RM not in verdicts.values()

    results = EvidenceStore(settings({})).requirements()
    verdicts = {result.requirement.id: result.verdict for result in results}
    assert verdicts["SI-REL-008"] is Verdict.OF_THE_RM
    assert Verdict.OF_THE_SCHEDULER not in verdicts.values()


@pytest.mark.parametrize(
    ("given", "identifier", "reason"),
    [
        (
            {},
            "SI-REL-008",
            "applies to resource managers, not to schedulers; --side rm tests a resource manager",
        ),
        ({"--side": "rm"}, "SI-NODE-002", "applies to schedulers, not to resource managers; "),
    ],
)
def test_selection_of_the_other_side_is_refused(
    given: dict[str, Any], identifier: str, reason: str
) -> None:
    own = {**given, "--meant": [identifier], "--started-as": '[["siconform", "run"], []]'}
    with pytest.raises(NothingChosen, match=f"nothing to run: {identifier} {reason}"):
        check_chosen(settings(own))


def test_each_side_has_tests_of_its_own() -> None:
    assert all(name.startswith(("suite/", "monitor ")) for name in names(Side.SCHEDULER))
    assert all(name.startswith(("suite_rm/", "monitor ")) for name in names(Side.RM))
    of_rms = {find_requirement(i) for i in cited(Side.RM)}
    assert [one.id for one in of_rms if Side.RM not in one.sides] == []


def names(side: Side) -> list[str]:
    return [name for tests in cited(side).values() for name in tests]


def file_with(text: str, folder: Path) -> Path:
    file = folder / "siconform.toml"
    file.write_text(text, "utf-8")
    return file


RM_FILE = """
[target]
rm_command = ["./rm", "{address}"]
start_timeout = 5

[targets.old]
listen = "127.0.0.1:9080"

[targets.known]
rm = "k8shim@1.8.0"

[run]
explore = 3
workers = 2
"""


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ([], {"--rm-command": "./rm '{address}'", "--start-timeout": "5", "-n": "2"}),
        (["--rm-command", "x"], {"--start-timeout": "5", "-n": "2"}),
        (["--target", "known"], {"--rm": KNOWN_RM, "-n": "2"}),
        (["--rm", KNOWN_RM], {"-n": "2"}),
        (["--target", "old"], {"--listen": "127.0.0.1:9080", "-n": "2"}),
        (["--target", "127.0.0.1:1"], {"--explore": "3", "-n": "2"}),
        (["--side", "scheduler"], {"--explore": "3", "-n": "2"}),
    ],
)
def test_target_file_describes_rm(given: list[str], added: dict[str, str], tmp_path: Path) -> None:
    file = file_with(RM_FILE, tmp_path)
    words = with_target_file([*given, "--target-file", str(file)])
    found = dict(zip(words[::2], words[1::2], strict=True))
    expected = dict(zip(given[::2], given[1::2], strict=True)) | added
    expected.pop("--target" if given[1:] in (["old"], ["known"]) else "", None)
    folder = {"--target-folder": str(tmp_path)} if expected.get("--rm-command", "x") != "x" else {}
    assert found == {**expected, **folder, "--target-file": str(file)}


def test_target_has_one_way_to_it(tmp_path: Path) -> None:
    file = file_with('[target]\naddress = "h:1"\nlisten = "h:2"\n', tmp_path)
    with pytest.raises(LookupError, match=r"target.listen: conflicts with address"):
        read_target_file(file)


def test_commands_for_schedulers_refuse_target_file_of_rm(tmp_path: Path) -> None:
    values: dict[str, Any] = {"--target": None, "--target-command": None}
    values["--target-file"] = str(file_with(RM_FILE, tmp_path))
    with pytest.raises(LookupError, match="describes a resource manager"):
        fill_in(values)


def rm_results(folder: Path) -> Path:
    apart = requirement("SI-NODE-002", "of-the-scheduler")
    return folder_of(document(requirement("SI-REL-008", "pass"), apart, side="rm"), folder)


def test_certificate_states_side(tmp_path: Path) -> None:
    made = certify(rm_results(tmp_path / "rm"))
    assert made.part.side is Side.RM
    assert made.part.counts["of-the-scheduler"] == 1
    assert made.part.coverage is not None
    assert str(made.part.coverage) == "1 of 1"


def test_runs_of_different_sides_are_not_compared(tmp_path: Path) -> None:
    theirs = folder_of(document(requirement("SI-NODE-002", "pass")), tmp_path / "scheduler")
    ours = rm_results(tmp_path / "rm")
    assert (evaluated_in(theirs).side, evaluated_in(ours).side) == (Side.SCHEDULER, Side.RM)

    done = invoke("compare", str(theirs), str(ours))

    assert done.exit_code == 4
    assert done.stderr == (
        f"siconform: {theirs} tests a scheduler and {ours} tests a resource manager: compare runs "
        "of the same side\n"
    )


def test_run_status_is_of_a_scheduler_by_default() -> None:
    assert RunStatus("2024-10").side is Side.SCHEDULER
