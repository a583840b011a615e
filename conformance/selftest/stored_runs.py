"""Results folders as runs leave them, made by hand, to test their readers without a run."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from siconform import digests
from siconform.catalogue import Side, catalogue, find_requirement
from siconform.verdicts import Verdict

Document = dict[str, Any]
ENVIRONMENT: Document = {
    "platform": "Linux", "python": "3.13.0", "processors": 2, "packages": {},
}  # fmt: skip
OF_SCHEDULERS: Final = [
    one
    for one in catalogue().values()
    if "2024-10" in one.revisions and Side.SCHEDULER in one.sides
]
"""The requirements of a run in the default revision."""
OF_ALL: Final = f"of {len(OF_SCHEDULERS)} requirements tested"
"""What the sentence about a partial run contains."""
CONDITIONS: Document = {"time_scale": 1.0, "seed": 0, "workers": 4, "virtual_time": True}


def requirement(identifier: str, verdict: str, **more: Any) -> Document:
    """Return an entry of results.json for a requirement, with one test as evidence."""
    known = find_requirement(identifier)
    test = {
        "id": f"suite/test_x.py::test_{identifier[-3:]}", "verdict": verdict, "says": "why",
        "seconds": 0.1, "monitor": "", "recorded": [], "history": "",
    }  # fmt: skip
    return {
        "id": identifier, "title": known.title, "area": known.area, "level": known.level.value,
        "authority": known.authority.value, "sides": sorted(s.value for s in known.sides),
        "verdict": verdict, "reason": "" if verdict == "pass" else "why", "tests": [test],
        "cited_by": [], "known": [], **more,
    }  # fmt: skip


def document(*requirements: Document, **more: Any) -> Document:
    """Return the results of a whole run with these requirements."""
    found = Counter(one["verdict"] for one in requirements)
    failed = found["fail"] + found["late"]
    verdict = "NON-CONFORMANT" if failed or found["baselined"] else "CONFORMANT"
    return {
        "schema": 2, "kit": "0.1.0", "revision": "2024-10", "command": "siconform run",
        "argv": ["siconform", "run"], "judged_by": digests.of_the_kit(),
        "target": {
            "name": "mine", "address": "", "version": "1.0", "without": [], "observed": {},
        },
        "started": "2026-11-01T10:00:00+00:00", "seconds": 1.0, "verdict": verdict,
        "exit_code": int(bool(failed)), "sentence": f"{verdict}: a sentence",
        "counts": {verdict.value: found[verdict.value] for verdict in Verdict},
        "requirements": list(requirements), "baseline": {"file": "", "stale": []},
        "selection": None, "left_out": [], "kit_errors": [],
        "notes": [], "failures": [], "deadlines": [],
        "environment": ENVIRONMENT, "conditions": CONDITIONS, "ended_early": "", **more,
    }  # fmt: skip


def latency(deadline: str, median: float, count: int = 50, allowed: float = 2.0) -> Document:
    """Return the measured latency of one class of answers."""
    return {
        "class": deadline, "allowed": allowed, "count": count, "median": median,
        "slowest": median * 3, "test": "suite/test_x.py::test_slow",
    }  # fmt: skip


def folder_of(document: Document, folder: Path) -> Path:
    """Write a results folder of this run, with one history."""
    (folder / "histories").mkdir(parents=True)
    (folder / "histories" / "test_a.jsonl").write_text("{}\n", "utf-8")
    (folder / "results.json").write_text(json.dumps(document), "utf-8")
    return folder
