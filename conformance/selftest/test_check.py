"""The first contact: what is printed about a scheduler, how long it takes, and what it leaves."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import grpc
import psutil
import pytest
from click.testing import Result
from patience import patient, wait_for
from siconform.commands.first_contact import LIMIT, FirstContact
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.session import Session
from siwire import DEFAULT_REVISION

from .commands import invoke, serving_reference
from .serving import scheduler

QUICK: Final = patient(0.25)  # time scale
REFUSAL: Final = "this scheduler takes one RM only: " + "siconform is not on its list " * 10


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(*options: str) -> Result:
    return invoke("check", *options)


def steps(result: Result) -> list[tuple[str, str]]:
    """Return the mark and name of each step."""
    lines = [line.split() for line in result.output.splitlines() if line[:1].strip()]
    return [(words[0], words[1]) for words in lines if words[0] in ("ok", "-", "FAILED")]


def passed(*names: str) -> list[tuple[str, str]]:
    return [("ok", name) for name in names]


def text(result: Result) -> str:
    return " ".join(result.output.split())


class Small:
    """A scheduler that allocates every ask at once; parts of it can be missing."""

    def __init__(
        self,
        *,
        queues: tuple[str, ...] | None = None,
        refusal: str = "",
        silent: tuple[str, ...] = (),
        latency: float = 0.0,
    ) -> None:
        self.nodes: set[str] = set()
        self.applications: set[str] = set()
        self._queues = queues
        self._refusal = refusal
        self._silent = silent
        self._latency = latency
        self._si: Any = DEFAULT_REVISION.si

    @contextmanager
    def serves(self) -> Iterator[str]:
        answers = {
            "UpdateNode": self._to_nodes,
            "UpdateApplication": self._to_applications,
            "UpdateAllocation": self._to_allocations,
        }
        behaviours: dict[str, Callable[..., Any]] = {
            name: self._stream(name, answer) for name, answer in answers.items()
        }
        with scheduler(
            {"RegisterResourceManager": self._registers, **behaviours}, workers=20
        ) as address:
            yield address

    def _registers(self, _: Any, context: Any) -> Any:
        if "RegisterResourceManager" in self._silent:
            time.sleep(patient(2))
        if self._refusal:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, self._refusal)
        return self._si.RegisterResourceManagerResponse()

    def _stream(self, name: str, answer: Callable[[Any], Iterator[Any]]) -> Callable[..., Any]:
        def converses(requests: Iterator[Any], _: Any) -> Iterator[Any]:
            for request in requests:
                for response in answer(request):
                    if name not in self._silent:
                        yield response

        return converses

    def _to_nodes(self, request: Any) -> Iterator[Any]:
        for node in request.nodes:
            is_creation = "CREATE" in self._si.NodeInfo.ActionFromRM.Name(node.action)
            if is_creation and node.attributes.get("si/node-partition", "default") == "default":
                self.nodes.add(node.nodeID)
                yield self._si.NodeResponse(accepted=[{"nodeID": node.nodeID}])
            elif is_creation:
                yield self._si.NodeResponse(rejected=[{"nodeID": node.nodeID, "reason": "where?"}])
            else:
                self.nodes.discard(node.nodeID)

    def _to_applications(self, request: Any) -> Iterator[Any]:
        for new in request.new:
            named = {"applicationID": new.applicationID}
            known = self._queues is None or new.queueName in self._queues
            if new.partitionName == "default" and known:
                self.applications.add(new.applicationID)
                yield self._si.ApplicationResponse(accepted=[named])
            else:
                rejected = [{**named, "reason": f"no queue {new.queueName}"}]
                yield self._si.ApplicationResponse(rejected=rejected)
        for gone in request.remove:
            self.applications.discard(gone.applicationID)

    def _to_allocations(self, request: Any) -> Iterator[Any]:
        for ask in request.allocations:
            named = {"allocationKey": ask.allocationKey, "applicationID": ask.applicationID}
            if ask.applicationID in self.applications:
                time.sleep(self._latency)
                node = next(iter(self.nodes))
                resource = ask.resourcePerAlloc
                yield self._si.AllocationResponse(
                    new=[{**named, "nodeID": node, "resourcePerAlloc": resource}]
                )
            else:
                rejected = [{**named, "reason": "unknown application"}]
                yield self._si.AllocationResponse(rejectedAllocations=rejected)
        for release in request.releases.allocationsToRelease:
            yield self._si.AllocationResponse(released=[release])


@pytest.fixture(scope="module")
def reference() -> Iterator[str]:
    with serving_reference() as reference:
        yield reference.address


def test_a_scheduler_that_is_ready(reference: str) -> None:
    result = check("--target", reference)

    assert result.exit_code == 0, result.output
    assert steps(result) == passed(
        *("reachable", "revision", "registration", "queues", "node", "allocation", "clean-up"),
        *("timers", "features", "features"),
    )
    assert "as its extension states" in result.output
    assert "the quota of a queue: enforced" in text(result)
    assert result.output.endswith(f"Ready for a run.\nNext:  siconform run --target {reference}\n")


@pytest.mark.slow("starts a scheduler")
def test_a_small_scheduler_that_the_kit_starts_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)
    command = f"{sys.executable} -m mutation.independent --listen {{address}} --interval 0.05"
    before = set(psutil.Process().children(recursive=True))

    result = check("--target-command", command, "--revision", "2023-12")

    assert result.exit_code == 0, result.output
    assert "SI 2023-12, as given; the scheduler does not describe itself" in text(result)
    assert "placeholder timeout 3 s (proposed)" in text(result)
    assert "Not tested unless you state --placeholder-timeout, --waiting-timeout" in text(result)
    assert f"Next:  siconform run --target-command '{command}' --revision 2023-12" in result.output
    assert set(psutil.Process().children(recursive=True)) == before


def test_another_revision_is_named(reference: str) -> None:
    result = check("--target", reference, "--revision", "2023-12")

    assert result.exit_code == 1
    assert "SI 2024-10, as its extension states, not 2023-12" in text(result)
    assert f"Next:  siconform check --target {reference} --revision 2024-10" in result.output


@pytest.mark.slow("starts a scheduler")
def test_stated_revision_is_named_although_reflection_describes_it() -> None:
    command = f"{sys.executable} -m sireference serve --listen {{address}} --revision 2023-12"
    result = check("--target-command", command, "--revision", "2024-10")

    assert result.exit_code == 1
    assert "SI 2023-12, as its extension states, not 2024-10" in text(result)


def test_closed_port(closed_address: str) -> None:
    result = check("--target", closed_address)

    assert result.exit_code == 12
    assert steps(result) == [("FAILED", "reachable")]
    assert f"nothing listens on {closed_address}" in text(result)
    assert "Not ready. First: start the scheduler" in text(result)


def test_missing_queues_are_named() -> None:
    small = Small(queues=("root.plain", "root.fifo"))
    with small.serves() as address:
        result = check("--target", address)

        assert result.exit_code == 1
        assert "is rejected in 15 of 17: root.other, root.quota, root.parent.left," in text(result)
        assert "(reason: no queue root.other)" in text(result)
        assert ("ok", "allocation") in steps(result)
        assert "Next:  siconform queues conformance > queues.yaml" in result.output

        without = check("--target", address, "--without", "queues")

    assert ("ok", "queues") in steps(without)
    assert without.exit_code == 0, without.output


def test_without_its_default_queue_nothing_else_is_tried() -> None:
    with Small(queues=()).serves() as address:
        result = check("--target", address)

    assert result.exit_code == 1
    assert [name for _, name in steps(result)][-2:] == ["queues", "clean-up"]


def test_a_refused_registration_is_shown_in_full() -> None:
    with Small(refusal=REFUSAL).serves() as address:
        result = check("--target", address)

    assert result.exit_code == 1
    assert f"PERMISSION_DENIED {REFUSAL.strip()}" in text(result)


@pytest.mark.parametrize(
    ("silent", "step"),
    [
        ("RegisterResourceManager", "registration"),
        ("UpdateApplication", "queues"),
        ("UpdateNode", "node"),
        ("UpdateAllocation", "allocation"),
    ],
)
def test_silence_is_bounded_and_nothing_stays(silent: str, step: str) -> None:
    small = Small(silent=(silent,))
    with small.serves() as address:
        begun = time.monotonic()
        result = check("--target", address, "--time-scale", f"{QUICK:g}")
        took = time.monotonic() - begun

        assert result.exit_code == 1
        assert ("FAILED", step) == next(one for one in steps(result) if one[0] == "FAILED")
        assert took < QUICK * LIMIT + patient(20)
        wait_for(lambda: not small.nodes and not small.applications)


def test_a_slow_scheduler_is_not_probed() -> None:
    with Small(latency=patient(0.35)).serves() as address:
        result = check("--target", address, "--time-scale", f"{2 * QUICK:g}")

    assert result.exit_code == 0, result.output
    assert "others: probed by a run, as an allocation takes" in text(result)


def test_nothing_stays_of_a_contact_that_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def probes_for_ever(_: FirstContact, __: Session, rm: ResourceManager) -> None:
        rm.has_node()
        over.wait()

    monkeypatch.setattr(FirstContact, "_features", probes_for_ever)
    small = Small()
    with small.serves() as address:
        result = check("--target", address, "--time-scale", f"{QUICK:g}")

        assert result.exit_code == 0
        assert steps(result)[-1] == ("-", "features")
        assert f"not all known within {QUICK * LIMIT:g} s" in text(result)
        wait_for(lambda: not small.nodes and not small.applications)
    over.set()


def test_a_command_that_starts_nothing() -> None:
    result = check("--target-command", f"{sys.executable} -c 'raise SystemExit(3)'")

    assert result.exit_code == 12
    assert "it ended with exit status 3" in text(result)


def test_usage_errors() -> None:
    assert check("--revision", "1066").exit_code == 4
    assert check("--target", "a:1", "--target-command", "b").exit_code == 4
