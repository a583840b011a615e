"""Changes inside the reference: functions replaced wherever they are used, in a child process."""

import json
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sireference
import sirm
from mutation.known import load
from mutation.mutant import CHANGES
from mutation.patched import apply
from mutation.patching import Patch, function_of
from siconform.catalogue import Side
from siconform.running.fork_servers import REFERENCE

from .commands import finished
from .preloaded import preloaded_python

PREAMBLE = """
import json
from mutation.inside import Patch
patch = Patch()
"""


def _message(script: str) -> object:
    """Return the JSON in the last line of a script, which alters another process."""
    done = finished([*preloaded_python(REFERENCE), "-c", PREAMBLE + script])
    found: object = json.loads(done.stdout.splitlines()[-1])
    return found


def test_function_is_replaced_in_importing_modules() -> None:
    script = """
from sireference.core import nodes, applications
from sireference.core.model import quoted
patch.instead_of(quoted, lambda original, name: original(name).upper())
print(json.dumps([nodes.quoted("a"), applications.quoted("b")]))
"""

    assert _message(script) == ["'A'", "'B'"]


def test_function_is_replaced_in_dataclasses() -> None:
    script = """
from sireference.codec import codec_for, reading
from siwire import REVISIONS
patch.instead_of(reading.removal, lambda original, message: "another")
found = []
for name in ("2023-04", "2023-12"):
    si = REVISIONS[name].si
    request = si.ApplicationRequest(rmID="rm", remove=[si.RemoveApplicationRequest()])
    found += [one.remove for one in codec_for(REVISIONS[name]).events("UpdateApplication", request)]
print(json.dumps(found))
"""

    assert _message(script) == [["another"], ["another"]]


def test_function_of_the_rm_is_replaced_in_tables_and_partial_functions() -> None:
    script = """
import sirm
from sirm.codec import codec_for, parts, r2023_04
from sirm.core.model import Release, RemoveApplication, Termination
from siwire import REVISIONS
patch = Patch(sirm)
patch.instead_of(parts.removed, lambda original, update, request: None)
patch.instead_of(r2023_04.release, lambda original, identity, update, request: None)
codec = codec_for(REVISIONS["2023-12"])
updates = [RemoveApplication("app"), Release("app", "key", "id", Termination.STOPPED_BY_RM)]
found = [len(message.ListFields()) for _, message in codec.requests(updates, "rm")]
print(json.dumps(found))
"""

    assert _message(script) == [1, 1]  # only the rmID


def test_a_second_replacement_gets_the_first() -> None:
    script = """
from sireference.core import nodes
from sireference.core.model import quoted
patch.instead_of(quoted, lambda original, name: original(name) + "1")
patch.instead_of(quoted, lambda original, name: original(name) + "2")
print(json.dumps(nodes.quoted("a")))
"""

    assert _message(script) == "'a'12"


@pytest.mark.parametrize(
    ("target", "call"),
    [
        ("Timers.next_deadline", "Timers().next_deadline()"),
        (
            "Application.has_begun",
            "Application(NewApplication('a'), 1, None, ()).has_begun",
        ),
        ("Ask.is_placeholder", "Ask('k', 'a').is_placeholder"),
        ("Identities.next", "Identities('x').next()"),
    ],
)
def test_methods_and_properties_are_replaced_on_their_class(target: str, call: str) -> None:
    script = f"""
from sireference.core.state.application import Application
from sireference.core.state.identities import Identities
from sireference.core.state.timers import Timers
from sireference.core.model import Ask, NewApplication
patch.instead_of({target}, lambda original, self: ["instead of", original(self)])
patch.instead_of({target}, lambda original, self: original(self)[0])
print(json.dumps({call}))
"""

    assert _message(script) == "instead of"


def test_coroutine_replacement_is_coroutine() -> None:
    script = """
import asyncio, inspect
from sireference.shell.service import SchedulerService as Service
async def register(original, self, request, context):
    return [inspect.iscoroutinefunction(original), request]
patch.instead_of(Service.register, register)
print(json.dumps([inspect.iscoroutinefunction(Service.register),
                  *asyncio.run(Service.register(None, "request", None))]))
"""

    assert _message(script) == [True, True, "request"]


def test_constant_is_replaced_in_importing_modules() -> None:
    script = """
from sireference.core import scheduling_pass
patch.constant(scheduling_pass, "_MOST_STEPS", 7)
print(json.dumps(scheduling_pass._MOST_STEPS))
"""

    assert _message(script) == 7


def test_unnamed_function_cannot_be_replaced() -> None:
    script = """
def outer():
    def inner(): ...
    return inner
found = []
for what in (outer(), outer):
    try:
        patch.instead_of(what, print)
    except LookupError as error:
        found.append(str(error))
print(json.dumps(found))
"""

    assert _message(script) == [
        "outer.<locals>.inner has no name to replace it by",
        "nothing in sireference is called outer",
    ]


def test_additional_change_does_not_fire(tmp_path: Path) -> None:
    script = f"""
import os
from mutation import fired
from pathlib import Path
os.environ[fired.FOLDER] = {str(tmp_path)!r}
import importlib; importlib.reload(fired)
patch.quietly().fires()
before = fired.has_fired(Path({str(tmp_path)!r}))
patch.fires()
print(json.dumps([before, fired.has_fired(Path({str(tmp_path)!r}))]))
"""

    assert _message(script) == [False, True]


class Fitted(Patch):
    """Records replacements whose parameters do not match the calls."""

    def __init__(self, package: ModuleType = sireference) -> None:
        super().__init__(package)
        self.misfits: list[str] = []

    def instead_of(self, target: Any, replacement: Callable[..., Any]) -> None:
        plain = function_of(target)
        parameters = signature(plain).parameters.values()
        places = [
            one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL)
        ]
        names = {one.name: None for one in parameters if one.kind is one.KEYWORD_ONLY}
        try:
            signature(replacement).bind(plain, *places, **names)
        except TypeError as error:
            self.misfits.append(f"{plain.__qualname__}: {error}")


def test_replacements_accept_original_arguments() -> None:
    load()
    fitted = {Side.SCHEDULER: Fitted(), Side.RM: Fitted(sirm)}
    for change in CHANGES.values():
        change.alter(fitted[change.side])

    assert [one.misfits for one in fitted.values()] == [[], []]


def test_replacement_with_wrong_signature_is_found() -> None:
    fitted = Fitted()

    fitted.instead_of(function_of, lambda original: original)

    assert fitted.misfits == ["function_of: too many positional arguments"]


def test_a_change_of_messages_is_not_made_in_the_process() -> None:
    with pytest.raises(SystemExit, match=r"only: use python -m mutation\.proxy node-verdict-twice"):
        apply("node-verdict-twice", Side.SCHEDULER, Patch())
