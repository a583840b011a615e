"""What an RM of an older revision still says, in fields that are reserved by now (2024-10 on)."""

from siconform.expecting.fencing import Fencing
from siconform.protocol.handles import Ask
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.requests import AskReleaseRequest, AskRequest, InOlderWords
from siconform.protocol.subjects import OneAsk
from siconform.rm.sender import DEFAULT_PARTITION, Sender


class OlderWordVerbs:
    """Asks and their withdrawal, as real bytes of 2023-12 and nothing beside them."""

    def __init__(self, *, fencing: Fencing, sender: Sender) -> None:
        self._fencing = fencing
        self._sender = sender

    def asks_in_older_words(self, application: str, *, memory: int) -> Ask:
        """Ask as 2023-12 does, and see that processed."""
        ask = Ask(
            AskRequest(
                key=self._sender.new_name("older-ask"),
                application=str(application),
                partition=DEFAULT_PARTITION,
                resource={"memory": memory, "vcore": 1},
            )
        )
        self._says(ask.said)
        return ask

    def withdraws_in_older_words(self, ask: Ask) -> None:
        """Withdraw an ask as 2023-12 does, and see that processed."""
        subject = OneAsk(ask.said.application, ask.said.key)
        self._says(AskReleaseRequest(subject, ask.said.partition))

    def _says(self, said: AskRequest | AskReleaseRequest) -> None:
        self._sender.says(InOlderWords(said))
        self._fencing.fences(UpdateKind.ALLOCATIONS)
