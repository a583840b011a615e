"""Steps of registration: once, again, next to another RM, or refused."""

from collections.abc import Mapping
from typing import Final, TypedDict, Unpack

from siconform.expecting.checks import precondition
from siconform.expecting.endpoint import Endpoint
from siconform.outcomes import ConformanceFailure, NotForThisTarget, NotOffered
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.queue_configurations import POLICY_GROUP, QueueConfiguration
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import Registration
from siconform.rm.optional_extension import OptionalExtension

_SEVERAL: Final = 3.0  # multiple of a registration's time that another one may take


class RegistrationValues(TypedDict, total=False):
    """Values of a registration that differ from the defaults."""

    config: str | None
    version: str | None
    policy_group: str | None
    rm_id: str | None
    build_info: Mapping[str, str] | None
    extra_config: Mapping[str, str] | None


class RegistrationSteps(OptionalExtension):
    """Explicit registration; each value of the request can be replaced."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._took = 0.0  # seconds of the longest registration

    def registers(
        self,
        *,
        config: str | None = None,
        version: str | None = None,
        policy_group: str | None = None,
        rm_id: str | None = None,
        build_info: Mapping[str, str] | None = None,
        extra_config: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> RegistrationAnswered:
        """Call RegisterResourceManager and return its outcome; each value can be replaced.

        A configuration with a policy group is registered in that one. NotOffered for a
        configuration of the kit if the target takes another format or none.
        """
        queues = self.terms.queues() if config is None else self.in_format_of_target(config)
        own = queues.policy_group if isinstance(queues, QueueConfiguration) else POLICY_GROUP
        registration = Registration(
            rm=self.connection.rm_id if rm_id is None else rm_id,
            version=self._version() if version is None else version,
            policy_group=own if policy_group is None else policy_group,
            config=queues,
            build_info=build_info or {},
            extra_config={
                **self.terms.proposal(self.profile.stated, self.deadlines.scaled_by),
                **(extra_config or {}),
            },
        )
        history = self.exchange.history
        began = history.now()
        outcome = self.connection.registers(registration, timeout or self.deadlines.register)
        if outcome.status == "OK":
            self._took = max(self._took, history.now() - began)
        return outcome

    def is_registered(self, **request: Unpack[RegistrationValues]) -> None:
        """Register, and fail unless that succeeds."""
        outcome = self.registers(**request)
        if outcome.status != "OK":
            raise _failed(outcome)
        self.connection.opens_all()

    def was_answered_with_nothing(self) -> None:
        """Check that the response to the registration is the empty message."""
        for entry in self.exchange.entries():
            is_response = isinstance(entry.content, RegistrationAnswered)
            if is_response and entry.message is not None and entry.message.ByteSize():
                raise ConformanceFailure(
                    "the response has content",
                    expected="an empty RegisterResourceManagerResponse",
                    happened=entry.message.SerializeToString().hex(),
                )

    def has_registered(self, **request: Unpack[RegistrationValues]) -> None:
        """Given: a successful registration."""
        with precondition("the RM registers"):
            self.is_registered(**request)

    def has_registered_with_limits(self, config: str) -> None:
        """Given: a registration with limits of users or groups; NotOffered if it is refused.

        No revision has such limits, so a scheduler need not know them.
        """
        outcome = self.registers(config=config)
        if outcome.status != "OK":
            raise NotOffered("the target does not offer limits of users: it refuses them")
        self.connection.opens_all()

    def is_registered_again(self, **request: Unpack[RegistrationValues]) -> None:
        """Register once more, and fail unless that succeeds.

        The scheduler may end the streams of the earlier registration. Barriers ensure that later
        requests use streams that are served and that everything about the earlier registration was
        received. The limit is a multiple of the first call's time, not the full timeout, to detect
        a hanging scheduler early.
        """
        used = [kind for kind in UpdateKind if self.connection.is_open(kind)]
        least = max(self.deadlines.ack * (1 + self.deadlines.grace), _SEVERAL * self._took)
        limit = min(least, self.deadlines.register)
        outcome = self.registers(timeout=limit, **request)
        if outcome.status == "DEADLINE_EXCEEDED":
            raise ConformanceFailure(
                f"no answer to a second registration in {limit:g} s",
                expected="RegisterResourceManager succeeds for an RM that is already registered",
            )
        if outcome.status != "OK":
            raise _failed(outcome)
        for kind in used:
            self.barriers(kind)

    def has_registered_again(self, **request: Unpack[RegistrationValues]) -> None:
        """Given: a second registration that succeeded."""
        with precondition("the RM registers again"):
            self.is_registered_again(**request)

    def joins(self, **request: Unpack[RegistrationValues]) -> None:
        """Given: a registration next to another RM; NotForThisTarget if only one is served."""
        outcome = self.registers(**request)
        if outcome.status == "OK":
            self.connection.opens_all()
        if outcome.status != "OK":
            raise NotForThisTarget(
                f"the target serves one RM at a time: {outcome.status} {outcome.details}".strip()
            )

    def is_accepted_in_the_policy_group_of_another(self) -> None:
        """Register with the policy group and configuration of the RM already present.

        NotForThisTarget if a different group does not help either: only one RM is served.
        """
        outcome = self.registers()
        if outcome.status != "OK":
            self.joins(policy_group=f"{POLICY_GROUP}-of-its-own")
            raise ConformanceFailure(
                f"refused in a policy group another RM uses: {outcome.details or outcome.status}",
                expected="two RMs of the same configuration share a policy group",
                happened=f"{outcome}; accepted with a separate policy group",
            )

    def is_refused_registration(
        self, **request: Unpack[RegistrationValues]
    ) -> RegistrationAnswered:
        """Register, and fail unless that is refused with an error status in time."""
        outcome = self.registers(**request)
        if outcome.status == "OK":
            raise ConformanceFailure(
                "the registration succeeded", expected="RegisterResourceManager fails"
            )
        if outcome.status == "DEADLINE_EXCEEDED":
            raise ConformanceFailure(
                f"no answer to the registration in {self.deadlines.register:g} s",
                expected="RegisterResourceManager fails",
            )
        return outcome

    def _version(self) -> str:
        """Return the version of the revision, or the one the target requires."""
        required = self.terms.version
        return self.connection.revision.name if required is None else required


def _failed(outcome: RegistrationAnswered) -> ConformanceFailure:
    return ConformanceFailure(
        f"registration failed: {outcome.status} {outcome.details}".strip(),
        expected="RegisterResourceManager succeeds",
    )
