"""The simulated resource manager a test speaks through: the table of its verbs."""

from collections.abc import Callable
from contextlib import suppress

from siconform.expecting import checks
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.event_checks import EventChecks
from siconform.expecting.expectations import Expectations
from siconform.expecting.fencing import Fencing
from siconform.expecting.inbox import Inbox
from siconform.expecting.link import Link
from siconform.expecting.observations import Observations
from siconform.expecting.target_habits import TargetHabits
from siconform.protocol.timers import Timers
from siconform.recording.history import Exchange
from siconform.rm.composition import areas_of
from siconform.rm.endpoint import Endpoint
from siconform.rm.offered_verbs import OfferedVerbs
from siconform.rm.sender import Sender
from siconform.rm.verb import verb
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.application_ends import ApplicationEndVerbs
from siconform.rm.verbs.application_states import ApplicationStateVerbs
from siconform.rm.verbs.applications import ApplicationVerbs
from siconform.rm.verbs.confirmations import ConfirmationVerbs
from siconform.rm.verbs.draining import DrainingVerbs
from siconform.rm.verbs.foreign import ForeignVerbs
from siconform.rm.verbs.gang_styles import GangStyleVerbs
from siconform.rm.verbs.gang_timeouts import GangTimeoutVerbs
from siconform.rm.verbs.gangs import GangVerbs
from siconform.rm.verbs.nodes import NodeVerbs
from siconform.rm.verbs.older_words import OlderWordVerbs
from siconform.rm.verbs.order import OrderVerbs
from siconform.rm.verbs.placement_constraints import PlacementConstraintVerbs
from siconform.rm.verbs.preemption import PreemptionVerbs
from siconform.rm.verbs.prerequisites import PrerequisiteVerbs
from siconform.rm.verbs.recovery import RecoveryVerbs
from siconform.rm.verbs.timers import TimerVerbs
from siconform.rm.verbs.updates import UpdateVerbs
from siconform.rm.verbs.waiting_asks import WaitingAskVerbs
from siconform.targets.profile import TargetProfile
from siconform.targets.terms import Terms
from siconform.transport.connection import Connection


class ResourceManager(OfferedVerbs):
    """One test's view of a registered RM: its verbs, its expectations, its own ids.

    It confirms what the scheduler releases of its own accord, allocations and asks, with the same
    type, once for each; inside ``confirming_nothing`` only the asks.
    """

    def __init__(
        self,
        link: Link,
        exchange: Exchange,
        deadlines: Deadlines,
        alive: Callable[[], bool],
        *,
        prefix: str,
        profile: TargetProfile | None = None,
        observed: TargetHabits | None = None,
    ) -> None:
        self.profile = TargetProfile() if profile is None else profile
        self._endpoint = Endpoint(
            link, exchange, deadlines, alive, prefix=prefix, observed=observed
        )
        super().__init__(areas_of(self._endpoint, self.profile))
        self._confirmations = self.areas.of(ConfirmationVerbs)
        self.connection.listeners.append(self._confirmations.hears)

    @property
    def connection(self) -> Connection:
        """The streams it speaks on."""
        return self._endpoint.link.connection

    @property
    def exchange(self) -> Exchange:
        """What was said and told in its test."""
        return self._endpoint.exchange

    @property
    def deadlines(self) -> Deadlines:
        """How long it waits, by class of answer."""
        return self._endpoint.deadlines

    @property
    def observed(self) -> TargetHabits:
        """What was found out about the target so far."""
        return self._endpoint.observed

    @property
    def terms(self) -> Terms:
        """What the target was said to be like."""
        return self.profile.terms

    @property
    def timers(self) -> Timers:
        """How long the scheduler's own timers run, as far as that is known."""
        return self.areas.of(TimerVerbs).timers

    @property
    def is_confirming(self) -> bool:
        """Whether releases of allocations are confirmed as they come."""
        return self._confirmations.is_confirming

    def leaves(self) -> list[str]:
        """Clear up and stop listening; what could not be cleared up, in words."""
        try:
            return self._endpoint.clean_up.clears_up()
        finally:
            with suppress(ValueError):  # another listens in its place by now
                self.connection.listeners.remove(self._confirmations.hears)

    control = staticmethod(checks.control)
    premise = staticmethod(checks.premise)
    says_why = staticmethod(checks.says_why)
    agrees = staticmethod(checks.agrees)
    is_told_none_of = staticmethod(checks.is_told_none_of)
    agrees_if_repeated = staticmethod(checks.agrees_if_repeated)
    has_at_least = staticmethod(checks.has_at_least)
    needs_some = staticmethod(checks.needs_some)
    have_different_identities = staticmethod(checks.have_different_identities)
    come_in_order_of_time = staticmethod(checks.come_in_order_of_time)

    is_told = verb(Expectations, Expectations.is_told)
    is_told_one_of = verb(Expectations, Expectations.is_told_one_of)
    is_not_told = verb(Expectations, Expectations.is_not_told)
    stays_quiet = verb(Expectations, Expectations.stays_quiet)
    records = verb(Expectations, Expectations.records)

    hears = verb(Inbox, Inbox.hears)

    now = verb(Observations, Observations.now)
    came_before = verb(Observations, Observations.came_before)
    measured = verb(Observations, Observations.measured)
    is_told_when_due = verb(Observations, Observations.is_told_when_due)
    may_be_told = verb(Observations, Observations.may_be_told)
    is_told_between = verb(Observations, Observations.is_told_between)
    came_together = verb(Observations, Observations.came_together)
    settles = verb(Observations, Observations.settles)
    has_heard = verb(Observations, Observations.has_heard)
    passes_over = verb(Observations, Observations.passes_over)
    is_told_where_reported = verb(Observations, Observations.is_told_where_reported)
    collects = verb(Observations, Observations.collects)
    is_told_all_or_none = verb(Observations, Observations.is_told_all_or_none)
    is_told_at_most = verb(Observations, Observations.is_told_at_most)

    fences = verb(Fencing, Fencing.fences)
    fences_all = verb(Fencing, Fencing.fences_all)

    new_name = verb(Sender, Sender.new_name)
    says = verb(Sender, Sender.says)
    one_message = verb(Sender, Sender.one_message)
    unordered = verb(Sender, Sender.unordered)

    presupposes_some = verb(EventChecks, EventChecks.presupposes_some)
    only_tells = verb(EventChecks, EventChecks.only_tells)
    does_not_tell = verb(EventChecks, EventChecks.does_not_tell)
    never_tells = verb(EventChecks, EventChecks.never_tells)
    tells_as = verb(EventChecks, EventChecks.tells_as)
    tells_nothing_after = verb(EventChecks, EventChecks.tells_nothing_after)
    tells_amounts = verb(EventChecks, EventChecks.tells_amounts)
    tells_a_detail_of_its_type = verb(EventChecks, EventChecks.tells_a_detail_of_its_type)
    tells_a_life_as_reported = verb(EventChecks, EventChecks.tells_a_life_as_reported)
    tells_only_the_refusal = verb(EventChecks, EventChecks.tells_only_the_refusal)
    endings_of = verb(EventChecks, EventChecks.endings_of)
    told_of = verb(EventChecks, EventChecks.told_of)
    names_a_known_object = verb(EventChecks, EventChecks.names_a_known_object)
    tells_the_time_in_nanoseconds = verb(EventChecks, EventChecks.tells_the_time_in_nanoseconds)

    registers_node = verb(NodeVerbs, NodeVerbs.registers_node)
    has_node = verb(NodeVerbs, NodeVerbs.has_node)
    updates_node = verb(NodeVerbs, NodeVerbs.updates_node)
    drains = verb(NodeVerbs, NodeVerbs.drains)
    undrains = verb(NodeVerbs, NodeVerbs.undrains)
    decommissions = verb(NodeVerbs, NodeVerbs.decommissions)
    reports_use = verb(NodeVerbs, NodeVerbs.reports_use)
    presupposes_recommendation = verb(NodeVerbs, NodeVerbs.presupposes_recommendation)
    names_node_without_action = verb(NodeVerbs, NodeVerbs.names_node_without_action)
    names_node_with_undefined_action = verb(NodeVerbs, NodeVerbs.names_node_with_undefined_action)

    submits_application = verb(ApplicationVerbs, ApplicationVerbs.submits_application)
    has_rejected_application = verb(ApplicationVerbs, ApplicationVerbs.has_rejected_application)
    has_application = verb(ApplicationVerbs, ApplicationVerbs.has_application)
    has_application_without_queue = verb(
        ApplicationVerbs, ApplicationVerbs.has_application_without_queue
    )
    removes_application = verb(ApplicationVerbs, ApplicationVerbs.removes_application)

    asks = verb(AllocationVerbs, AllocationVerbs.asks)
    asks_again = verb(AllocationVerbs, AllocationVerbs.asks_again)
    has_allocation = verb(AllocationVerbs, AllocationVerbs.has_allocation)
    withdraws = verb(AllocationVerbs, AllocationVerbs.withdraws)
    withdraws_asks = verb(AllocationVerbs, AllocationVerbs.withdraws_asks)
    releases = verb(AllocationVerbs, AllocationVerbs.releases)
    has_released = verb(AllocationVerbs, AllocationVerbs.has_released)
    has_ask_withdrawn = verb(AllocationVerbs, AllocationVerbs.has_ask_withdrawn)
    names_its_partition = verb(AllocationVerbs, AllocationVerbs.names_its_partition)
    releases_all = verb(AllocationVerbs, AllocationVerbs.releases_all)
    is_told_all_released = verb(AllocationVerbs, AllocationVerbs.is_told_all_released)
    gives = verb(AllocationVerbs, AllocationVerbs.gives)
    repeats_tags = verb(AllocationVerbs, AllocationVerbs.repeats_tags)
    is_told_of_the_end_of = verb(AllocationVerbs, AllocationVerbs.is_told_of_the_end_of)
    still_holds = verb(AllocationVerbs, AllocationVerbs.still_holds)
    sees_nothing_given_away = verb(AllocationVerbs, AllocationVerbs.sees_nothing_given_away)

    updates_allocation = verb(UpdateVerbs, UpdateVerbs.updates_allocation)
    has_updated = verb(UpdateVerbs, UpdateVerbs.has_updated)
    is_refused = verb(UpdateVerbs, UpdateVerbs.is_refused)
    has_refused = verb(UpdateVerbs, UpdateVerbs.has_refused)
    places = verb(UpdateVerbs, UpdateVerbs.places)

    reports_foreign = verb(ForeignVerbs, ForeignVerbs.reports_foreign)
    has_foreign = verb(ForeignVerbs, ForeignVerbs.has_foreign)
    is_taken = verb(ForeignVerbs, ForeignVerbs.is_taken)
    releases_foreign = verb(ForeignVerbs, ForeignVerbs.releases_foreign)

    asks_in_older_words = verb(OlderWordVerbs, OlderWordVerbs.asks_in_older_words)
    withdraws_in_older_words = verb(OlderWordVerbs, OlderWordVerbs.withdraws_in_older_words)

    confirms = verb(ConfirmationVerbs, ConfirmationVerbs.confirms)
    confirms_ask = verb(ConfirmationVerbs, ConfirmationVerbs.confirms_ask)
    confirming_nothing = verb(ConfirmationVerbs, ConfirmationVerbs.confirming_nothing)
    stops_confirming = verb(ConfirmationVerbs, ConfirmationVerbs.stops_confirming)
    confirms_everything = verb(ConfirmationVerbs, ConfirmationVerbs.confirms_everything)

    has_waiting_ask = verb(WaitingAskVerbs, WaitingAskVerbs.has_waiting_ask)
    has_pending_ask = verb(WaitingAskVerbs, WaitingAskVerbs.has_pending_ask)
    has_asked_again = verb(WaitingAskVerbs, WaitingAskVerbs.has_asked_again)
    needs_updates_of = verb(WaitingAskVerbs, WaitingAskVerbs.needs_updates_of)
    is_pending = verb(WaitingAskVerbs, WaitingAskVerbs.is_pending)
    is_served = verb(WaitingAskVerbs, WaitingAskVerbs.is_served)
    is_not_served = verb(WaitingAskVerbs, WaitingAskVerbs.is_not_served)
    has_room_exactly_if_released = verb(
        WaitingAskVerbs, WaitingAskVerbs.has_room_exactly_if_released
    )

    has_full_node = verb(OrderVerbs, OrderVerbs.has_full_node)
    serves_higher_priority_first = verb(OrderVerbs, OrderVerbs.serves_higher_priority_first)

    needs = verb(PrerequisiteVerbs, PrerequisiteVerbs.needs)
    has_asks_apart = verb(PrerequisiteVerbs, PrerequisiteVerbs.has_asks_apart)
    has_occupied_resource = verb(PrerequisiteVerbs, PrerequisiteVerbs.has_occupied_resource)
    has_ask_left_alone = verb(PrerequisiteVerbs, PrerequisiteVerbs.has_ask_left_alone)
    has_accepted = verb(PrerequisiteVerbs, PrerequisiteVerbs.has_accepted)
    rejected = verb(PrerequisiteVerbs, PrerequisiteVerbs.rejected)
    has_constraints_heeded = verb(PrerequisiteVerbs, PrerequisiteVerbs.has_constraints_heeded)

    sees_draining = verb(DrainingVerbs, DrainingVerbs.sees_draining)

    has_operators_read = verb(PlacementConstraintVerbs, PlacementConstraintVerbs.has_operators_read)

    claims = verb(PreemptionVerbs, PreemptionVerbs.claims)
    sees_preemption_of = verb(PreemptionVerbs, PreemptionVerbs.sees_preemption_of)
    names_one_of = verb(PreemptionVerbs, PreemptionVerbs.names_one_of)
    may_see_preemption_for = verb(PreemptionVerbs, PreemptionVerbs.may_see_preemption_for)
    keeps_memory = verb(PreemptionVerbs, PreemptionVerbs.keeps_memory)
    sees_no_preemption_of = verb(PreemptionVerbs, PreemptionVerbs.sees_no_preemption_of)

    waiting_timeout = verb(TimerVerbs, TimerVerbs.waiting_timeout)
    long_enough_to_be_served = verb(TimerVerbs, TimerVerbs.long_enough_to_be_served)
    connection_loss_timeout = verb(TimerVerbs, TimerVerbs.connection_loss_timeout)
    placeholder_timeout = verb(TimerVerbs, TimerVerbs.placeholder_timeout)

    submits_gang = verb(GangVerbs, GangVerbs.submits_gang)
    submits_gang_again = verb(GangVerbs, GangVerbs.submits_gang_again)
    has_gang = verb(GangVerbs, GangVerbs.has_gang)
    asks_placeholder = verb(GangVerbs, GangVerbs.asks_placeholder)
    asks_placeholders = verb(GangVerbs, GangVerbs.asks_placeholders)
    asks_member = verb(GangVerbs, GangVerbs.asks_member)
    has_placeholder = verb(GangVerbs, GangVerbs.has_placeholder)
    has_placeholders = verb(GangVerbs, GangVerbs.has_placeholders)
    has_allocations_of_both_sorts = verb(GangVerbs, GangVerbs.has_allocations_of_both_sorts)
    has_complete_gang = verb(GangVerbs, GangVerbs.has_complete_gang)
    is_told_replacement = verb(GangVerbs, GangVerbs.is_told_replacement)
    has_room_for_the_rest_of = verb(GangVerbs, GangVerbs.has_room_for_the_rest_of)
    is_served_at_the_latest_when_repeated = verb(
        GangVerbs, GangVerbs.is_served_at_the_latest_when_repeated
    )
    has_open_replacement = verb(GangVerbs, GangVerbs.has_open_replacement)
    has_replaced = verb(GangVerbs, GangVerbs.has_replaced)
    queues_in_force = verb(GangVerbs, GangVerbs.queues_in_force)
    has_replacement_under_way = verb(GangVerbs, GangVerbs.has_replacement_under_way)
    is_open_unless_released = verb(GangVerbs, GangVerbs.is_open_unless_released)

    short_limit = verb(GangTimeoutVerbs, GangTimeoutVerbs.short_limit)
    limit_of_scheduler = verb(GangTimeoutVerbs, GangTimeoutVerbs.limit_of_scheduler)
    has_partial_gang = verb(GangTimeoutVerbs, GangTimeoutVerbs.has_partial_gang)
    has_time_left = verb(GangTimeoutVerbs, GangTimeoutVerbs.has_time_left)
    is_not_told_in_time = verb(GangTimeoutVerbs, GangTimeoutVerbs.is_not_told_in_time)
    is_told_in_time = verb(GangTimeoutVerbs, GangTimeoutVerbs.is_told_in_time)
    is_told_expiry = verb(GangTimeoutVerbs, GangTimeoutVerbs.is_told_expiry)
    has_expired = verb(GangTimeoutVerbs, GangTimeoutVerbs.has_expired)
    has_begun_to_expire = verb(GangTimeoutVerbs, GangTimeoutVerbs.has_begun_to_expire)
    has_release_of = verb(GangTimeoutVerbs, GangTimeoutVerbs.has_release_of)
    is_told_ask_released = verb(GangTimeoutVerbs, GangTimeoutVerbs.is_told_ask_released)
    has_confirmed = verb(GangTimeoutVerbs, GangTimeoutVerbs.has_confirmed)
    outwaits_gangs = verb(GangTimeoutVerbs, GangTimeoutVerbs.outwaits_gangs)
    has_waiting_gang = verb(GangTimeoutVerbs, GangTimeoutVerbs.has_waiting_gang)
    is_told_clean_up = verb(GangTimeoutVerbs, GangTimeoutVerbs.is_told_clean_up)
    has_begun_to_clean_up = verb(GangTimeoutVerbs, GangTimeoutVerbs.has_begun_to_clean_up)

    takes_gangs_spelled = verb(GangStyleVerbs, GangStyleVerbs.takes_gangs_spelled)

    is_told_waiting = verb(ApplicationEndVerbs, ApplicationEndVerbs.is_told_waiting)
    reported_waiting = verb(ApplicationEndVerbs, ApplicationEndVerbs.reported_waiting)
    reported_once_allocated = verb(ApplicationEndVerbs, ApplicationEndVerbs.reported_once_allocated)
    is_told_failure = verb(ApplicationEndVerbs, ApplicationEndVerbs.is_told_failure)
    failure = verb(ApplicationEndVerbs, ApplicationEndVerbs.failure)
    is_told_completed = verb(ApplicationEndVerbs, ApplicationEndVerbs.is_told_completed)
    waits_a_while = verb(ApplicationEndVerbs, ApplicationEndVerbs.waits_a_while)
    outlasts_waiting = verb(ApplicationEndVerbs, ApplicationEndVerbs.outlasts_waiting)

    presupposes_reports = verb(ApplicationStateVerbs, ApplicationStateVerbs.presupposes_reports)
    running = verb(ApplicationStateVerbs, ApplicationStateVerbs.running)
    has_reached = verb(ApplicationStateVerbs, ApplicationStateVerbs.has_reached)
    is_shown_in_where_shown = verb(
        ApplicationStateVerbs, ApplicationStateVerbs.is_shown_in_where_shown
    )
    is_not_seen_waiting = verb(ApplicationStateVerbs, ApplicationStateVerbs.is_not_seen_waiting)
    comes_to_wait = verb(ApplicationStateVerbs, ApplicationStateVerbs.comes_to_wait)
    has_waiting_application = verb(
        ApplicationStateVerbs, ApplicationStateVerbs.has_waiting_application
    )
    in_its_waiting_time = verb(ApplicationStateVerbs, ApplicationStateVerbs.in_its_waiting_time)
    is_completed_when_due = verb(ApplicationStateVerbs, ApplicationStateVerbs.is_completed_when_due)
    has_application_held_back = verb(
        ApplicationStateVerbs, ApplicationStateVerbs.has_application_held_back
    )
    is_let_in = verb(ApplicationStateVerbs, ApplicationStateVerbs.is_let_in)

    remembers_allocation = verb(RecoveryVerbs, RecoveryVerbs.remembers_allocation)
    remembers_placeholder = verb(RecoveryVerbs, RecoveryVerbs.remembers_placeholder)
    adds_existing = verb(RecoveryVerbs, RecoveryVerbs.adds_existing)
    has_recovered_node = verb(RecoveryVerbs, RecoveryVerbs.has_recovered_node)
    does_gang_scheduling = verb(RecoveryVerbs, RecoveryVerbs.does_gang_scheduling)
