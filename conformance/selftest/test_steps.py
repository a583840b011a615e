"""The steps of an RM: one object has them all, so each name belongs to one class."""

import dis
from collections import Counter
from types import SimpleNamespace

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.endpoint import Steps
from siconform.protocol.notifications import NodeRejected
from siconform.recording.history import History
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM

from .resource_managers import rm_on

OVERRIDDEN = {"spelled", "leaves"}
"""Of these one class says what another, which inherits from it, does."""


def test_each_name_belongs_to_one_class() -> None:
    """Two classes of an RM that use a name for different things would break each other."""
    classes = [kind for kind in UnregisteredRM.__mro__ if issubclass(kind, Steps)]
    names = Counter(name for kind in classes for name in _names(kind))

    assert len(names) > 300
    assert {name for name, times in names.items() if times > 1} == OVERRIDDEN


def test_a_registered_rm_has_no_steps_of_registration() -> None:
    rm = rm_on(SimpleNamespace(rm_id="rm", history=History()), Deadlines())

    assert not hasattr(rm, "registers")


def test_checks_of_what_was_reported_need_no_rm() -> None:
    ResourceManager.states_reason(NodeRejected("n", "known"))


def _names(kind: type[Steps]) -> set[str]:
    """Return its methods, and the attributes that its own constructor sets."""
    names = {name for name in vars(kind) if not name.startswith(("__", "_abc_"))}
    if "__init__" in vars(kind):
        steps = dis.get_instructions(kind.__init__)
        names |= {step.argval for step in steps if step.opname == "STORE_ATTR"}
    return names
