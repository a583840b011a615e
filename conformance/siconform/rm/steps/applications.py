"""Steps with applications."""

from collections.abc import Mapping
from typing import Unpack

from siconform.expecting.checks import needs_some, precondition
from siconform.outcomes import NotOffered
from siconform.protocol.handles import Application
from siconform.protocol.notifications import (
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
)
from siconform.protocol.requests import ApplicationFields, ApplicationRemoval, ApplicationRequest
from siconform.rm.clean_up import CleanUp
from siconform.rm.sender import DEFAULT_PARTITION, Sender

DEFAULT_QUEUE = "root.plain"
DEFAULT_USER = "tester"


class ApplicationSteps(CleanUp, Sender):
    """Submission and removal of applications."""

    def submits_application(
        self,
        application: str | None = None,
        *,
        queue: str | None = None,
        partition: str = DEFAULT_PARTITION,
        user: str | None = DEFAULT_USER,
        placeholders: Mapping[str, int] | None = None,
        **more: Unpack[ApplicationFields],
    ) -> Application:
        """Submit an application; ``user=None`` omits the user information."""
        known = application.queue if isinstance(application, Application) else DEFAULT_QUEUE
        name = self.new_name("app") if application is None else application
        handle = Application(name, known if queue is None else queue)
        if not isinstance(application, Application):
            self.compensates(lambda: self.removes_application(handle, partition=partition))
        self.send(
            ApplicationRequest(
                str(handle),
                queue=handle.queue,
                partition=partition,
                user=user,
                placeholder_ask=placeholders,
                **more,
            )
        )
        return handle

    def has_rejected_application(self) -> Application:
        """Given: a rejected application, in an unknown queue or partition.

        NotOffered if it is accepted: a scheduler with its own queues may place it in one of them.
        """
        for queue, partition in (("root.missing", DEFAULT_PARTITION), (None, "nope")):
            rejected = self.submits_application(queue=queue, partition=partition)
            received = self.expect_one_of(
                ApplicationRejected(rejected), ApplicationAccepted(rejected)
            )
            if isinstance(received, ApplicationRejected):
                return rejected
        raise NotOffered("the target does not offer the rejection of unknown queues or partitions")

    def has_application(
        self,
        application: str | None = None,
        *,
        queue: str | None = None,
        user: str = DEFAULT_USER,
        **more: Unpack[ApplicationFields],
    ) -> Application:
        """Given: an accepted application; NotOffered if its id was used and is not free again."""
        with precondition("an application is accepted"):
            handle = self.submits_application(application, queue=queue, user=user, **more)
            self.expect_accepted(handle, is_again=application is not None)
        return handle

    def expect_accepted(self, application: str, *, is_again: bool) -> None:
        """Expect the acceptance; NotOffered if the id was used before and is refused again."""
        accepted = ApplicationAccepted(application)
        if not is_again:
            self.expect(accepted)
            return
        received = self.expect_one_of(accepted, ApplicationRejected(application))
        needs_some([received] if accepted.matches(received) else [], of="ids that are free again")

    def has_application_without_queue(self, *, tags: Mapping[str, str]) -> Application:
        """Given: an accepted application that names no queue; NotOffered if it is rejected."""
        application = self.submits_application(queue="", tags=tags)
        accepted = ApplicationAccepted(application)
        with precondition("an application is accepted or rejected"):
            received = self.expect_one_of(accepted, ApplicationRejected(application))
        needs_some(
            [received] if received == accepted else [], of="queues for applications that name none"
        )
        return application

    def has_removed(self, application: str) -> None:
        """Given: an application that was removed; what was reported of it is consumed."""
        self.removes_application(application)
        self.settles()
        self.has_observed(ApplicationUpdated(application))

    def removes_application(self, application: str, *, partition: str = DEFAULT_PARTITION) -> None:
        """Remove an application with all its asks and allocations."""
        self.send(ApplicationRemoval(str(application), partition))
