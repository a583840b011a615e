"""Results of a small run for report pages, with a target that sends hostile strings."""

import json
from pathlib import Path
from typing import Any

from selftest import stored_runs
from selftest.stored_runs import Document, document, latency

HOSTILE = "</script><script>alert('x')</script><b onclick=y>&"
HISTORY = "histories/test_gang.jsonl"


def line(at: float, sender: str, stream: str | None, message: str, **element: Any) -> Document:
    """Return a record of a history."""
    return {
        "at": at,
        "moment": at,
        "rm": "siconform-gw0-1-2-3",
        "from": sender,
        "stream": stream,
        "says": message,
        "brief": message.partition(", partition")[0],
        "fence": message == "fence",
        "number": 1,
        "element": element or None,
    }


def lines() -> list[Document]:
    """Return a node that is created, drained and removed, and an ask that is allocated."""
    node = {"is": "NodeRequest", "node": "gw0-7-node-1"}
    app = {"application": "gw0-7-app-1"}
    ask = {"key": "gw0-7-ask-1", **app}
    return [
        line(1.0, "rm", "nodes", "node gw0-7-node-1 create", **node, action="CREATE"),
        line(1.1, "scheduler", "nodes", "node accepted", **{**node, "is": "NodeAccepted"}),
        line(1.2, "rm", "nodes", "fence", **{**node, "node": "fence", "action": "CREATE"}),
        line(1.3, "rm", "applications", "application", **app, **{"is": "ApplicationRequest"}),
        line(1.4, "rm", "allocations", "ask gw0-7-ask-1", **ask, **{"is": "AskRequest"}),
        line(
            1.5,
            "scheduler",
            "applications",
            HOSTILE,
            **{**app, "is": "ApplicationUpdated", "state": "Accepted"},
        ),
        line(
            1.6,
            "scheduler",
            "allocations",
            "allocated gw0-7-ask-1, partition default",
            **{**ask, "is": "Allocated", "identity": "gw0-7-ask-1"},
        ),
        line(1.7, "rm", "nodes", "node drains", **node, action="DRAIN_NODE"),
        line(1.8, "rm", "nodes", "node goes", **node, action="DECOMISSION"),
    ]


def requirement(identifier: str, verdict: str, history: str = "") -> Document:
    """Return an entry of results.json for a requirement."""
    sent = HOSTILE if verdict == "fail" else ""
    test = {
        "id": f"suite/test_x.py::test_{identifier[-3:]}_is_kept", "verdict": verdict, "says": sent,
        "seconds": 0.25, "monitor": "", "history": history,
        "recorded": ["an ask without capacity: waits"] if verdict == "pass" else [],
    }  # fmt: skip
    tests = [test] if verdict in ("pass", "fail") else []
    return stored_runs.requirement(identifier, verdict, reason=sent, tests=tests)


def failure(failing: Document) -> Document:
    """Return a failure as shown to users."""
    return {
        "test": failing["tests"][0]["id"],
        "requirement": "SI-GANG-021",
        "verdict": "fail",
        "text": f"FAIL  SI-GANG-021 {HOSTILE}",
        "expected": "allocated gw0-7-ask-1 on node-1",
        "happened": "allocated gw0-7-ask-1, partition default, 100 ms after RM ask",
        "history": HISTORY,
        "golden": "reference/one.jsonl",
        "rows": [
            [0.0, "RM ask ask-1", "RM ask ask-1", False],
            [0.1, "allocated on node-2", "allocated on node-1", True],
            [None, None, HOSTILE, False],
            [0.6, "   allocated ask-1", "   allocated ask-1", False],
        ],
        "again": "siconform run SI-GANG-021 --target x",
    }


def results() -> Document:
    """Return the document of the run."""
    failing = requirement("SI-GANG-021", "fail", HISTORY)
    return document(
        requirement("SI-NODE-001", "pass"),
        requirement("SI-NODE-002", "of-the-rm"),
        failing,
        {**requirement("SI-GANG-022", "pass"), "level": "SHOULD"},
        requirement("SI-CB-012", "excluded"),
        target={
            "name": f"a scheduler {HOSTILE}", "address": "", "version": "1", "without": [],
            "observed": {},
        },
        failures=[failure(failing)],
        deadlines=[latency("place", 0.5)],  # at worst, three quarters of its time
    )  # fmt: skip


def write(folder: Path) -> Path:
    """Write a results folder of that run."""
    (folder / "histories").mkdir(parents=True)
    received = "".join(json.dumps(one) + "\n" for one in lines())
    (folder / HISTORY).write_text(received + '{"judged": {}}\n{"at": 2.0, "cut o', "utf-8")
    (folder / "results.json").write_text(json.dumps(results()), "utf-8")
    return folder
