"""The verbs of an RM are those of its areas, with their signatures and their words."""

import inspect
from types import SimpleNamespace

import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.protocol.notifications import NodeRejected
from siconform.recording.history import History
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM
from siconform.rm.verb import Areas, Composed, verb
from siconform.rm.verbs.registration import RegistrationVerbs

from .resource_managers import rm_on


class Counting:
    """An area that counts."""

    def __init__(self) -> None:
        self.count = 0

    def counts(self, *, by: int = 1) -> int:
        """Count on, and how far it is."""
        self.count += by
        return self.count


class Whole(Composed):
    counts = verb(Counting, Counting.counts)


def test_a_verb_is_said_to_the_area_it_belongs_to() -> None:
    areas = Areas()
    area = areas.add(Counting())
    whole = Whole(areas)

    assert whole.counts() == 1
    assert whole.counts(by=2) == 3
    assert area.count == 3


def test_a_verb_has_the_signature_and_the_words_of_its_method() -> None:
    assert inspect.signature(Whole.counts) == inspect.signature(Counting.counts)
    assert inspect.getdoc(Whole.counts) == "Count on, and how far it is."


def test_an_area_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        Whole(Areas()).counts()


@pytest.mark.parametrize("kind", [ResourceManager, UnregisteredRM])
def test_every_verb_of_an_rm_has_its_area_and_says_what_it_does(
    kind: type[ResourceManager],
) -> None:
    connection = SimpleNamespace(rm_id="rm", history=History())
    areas = rm_on(connection, Deadlines(), kind=kind).areas
    table = {name: member for one in kind.__mro__ for name, member in vars(one).items()}
    verbs = {name: member for name, member in table.items() if hasattr(member, "__wrapped__")}
    verbs = {n: v for n, v in verbs.items() if not isinstance(v, staticmethod)}

    assert len(verbs) > 150
    for name, member in verbs.items():
        area = inspect.getclosurevars(member).nonlocals["area"]
        assert isinstance(areas.of(area), area)
        assert inspect.getdoc(member), name
        assert name == member.__wrapped__.__name__


def test_a_registered_rm_has_no_verbs_of_registration() -> None:
    rm = rm_on(SimpleNamespace(rm_id="rm", history=History()), Deadlines())

    assert not hasattr(rm, "registers")
    with pytest.raises(KeyError):
        rm.areas.of(RegistrationVerbs)


def test_checks_of_what_was_told_need_no_rm() -> None:
    ResourceManager.says_why(NodeRejected("n", "known"))
