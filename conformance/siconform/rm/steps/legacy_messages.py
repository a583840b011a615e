"""Legacy messages, in fields that are reserved from 2024-10 on."""

from siconform.protocol.handles import Ask
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.requests import AskReleaseRequest, AskRequest, LegacyRequest
from siconform.protocol.subjects import OneAsk
from siconform.rm.sender import DEFAULT_PARTITION, Sender


class LegacyMessageSteps(Sender):
    """Asks and their withdrawal, encoded exactly as in 2023-12."""

    def send_legacy_request(self, application: str, *, memory: int) -> Ask:
        """Send an ask as in 2023-12; return once it is processed."""
        ask = Ask(
            AskRequest(
                key=self.new_name("older-ask"),
                application=str(application),
                partition=DEFAULT_PARTITION,
                resource={"memory": memory, "vcore": 1},
            )
        )
        self._sends_legacy(ask.sent)
        return ask

    def withdraw_legacy_request(self, ask: Ask) -> None:
        """Withdraw an ask as in 2023-12; return once that is processed."""
        subject = OneAsk(ask.sent.application, ask.sent.key)
        self._sends_legacy(AskReleaseRequest(subject, ask.sent.partition))

    def _sends_legacy(self, sent: AskRequest | AskReleaseRequest) -> None:
        self.send(LegacyRequest(sent))
        self.barriers(UpdateKind.ALLOCATIONS)
