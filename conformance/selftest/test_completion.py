"""Shell completion offers requirements, targets, revisions and options."""

import os
from collections.abc import Sequence

import pytest
from click.shell_completion import BashComplete, CompletionItem
from siconform.catalogue import catalogue
from siconform.cli import main
from siconform.config.option_list import OPTIONS
from siconform.protocol.queue_configurations import conformance_queues
from siconform.targets.named import all_named

from .commands import invoke, siconform


def offered(words: str, incomplete: str) -> Sequence[CompletionItem]:
    shell = BashComplete(main, {}, "siconform", "_SICONFORM_COMPLETE")
    return shell.get_completions(words.split(), incomplete)


def values(words: str, incomplete: str) -> list[str]:
    return [item.value for item in offered(words, incomplete)]


@pytest.mark.parametrize("words", ["explain", "explain SI-NODE-001", "run", "run -k", "run -x"])
def test_ids_are_offered_with_their_titles(words: str) -> None:
    nodes = [i for i in catalogue() if i.startswith("SI-NODE-0")]

    found = offered(words, "si-node-0")

    assert [item.value for item in found] == nodes
    assert found[0].help == catalogue()[nodes[0]].title


def test_known_rms_are_offered() -> None:
    assert values("run --rm", "") == ["k8shim@1.8.0"]


@pytest.mark.parametrize("words", ["run --target", "run -n 2 --target", "explore --target"])
def test_targets_are_offered_by_name_and_version(words: str) -> None:
    assert values(words, "") == [target.full_name for target in all_named()]
    assert values(words, "yunikorn-core@1.9") == ["yunikorn-core@1.9.0"]


@pytest.mark.parametrize(
    ("words", "incomplete", "wanted"),
    [
        ("run --revision", "2024", "2024-10"),
        ("replay --revision", "2024", "2024-10"),
        ("run --without", "gang", "gang"),
        ("run --baseline", "no", "none"),
        ("queues", "limited", "limited-user"),
    ],
)
def test_known_values_are_completed(words: str, incomplete: str, wanted: str) -> None:
    assert wanted in values(words, incomplete)


def test_file_options_complete_files() -> None:
    assert [item.type for item in offered("run --baseline", "dir/")] == ["file"]
    assert [item.type for item in offered("run --results", "")] == ["dir"]


def test_run_offers_every_option_of_the_kit() -> None:
    assert values("run", "--") == [option.flag for option in OPTIONS]


def test_shell_completion_end_to_end() -> None:
    asks = {
        "_SICONFORM_COMPLETE": "bash_complete",
        "COMP_WORDS": "siconform explain SI-NODE-00",
        "COMP_CWORD": "2",
    }

    done = siconform(env={**os.environ, **asks})

    assert done.stdout.splitlines()[0] == "plain,SI-NODE-001"


def test_targets_and_queue_configurations_are_listed() -> None:
    assert "yunikorn-core@1.9.0   SI 2026-04" in invoke("targets").output
    assert "limited-user" in invoke("queues").output
    assert invoke("queues", "conformance").output == conformance_queues()


def test_unknown_queue_configuration_lists_known_ones() -> None:
    done = invoke("queues", "mine")

    assert done.exit_code == 4
    assert 'unknown queue configuration "mine"; known: conformance,' in done.output
