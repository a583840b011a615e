"""The verbs of an RM about what a target may offer beside the updates of the SI."""

from siconform.rm.verb import Composed, verb
from siconform.rm.verbs.callbacks import CallbackVerbs
from siconform.rm.verbs.configuration import ConfigurationVerbs
from siconform.rm.verbs.events import EventVerbs
from siconform.rm.verbs.metrics import MetricsVerbs
from siconform.rm.verbs.service import ServiceVerbs
from siconform.rm.verbs.snapshots import SnapshotVerbs


class OfferedVerbs(Composed):
    """Snapshots, metrics, configuration, callbacks, events, and the service itself."""

    snapshot = verb(SnapshotVerbs, SnapshotVerbs.snapshot)
    sees = verb(SnapshotVerbs, SnapshotVerbs.sees)
    sees_one_of = verb(SnapshotVerbs, SnapshotVerbs.sees_one_of)
    shows = verb(SnapshotVerbs, SnapshotVerbs.shows)
    does_not_see = verb(SnapshotVerbs, SnapshotVerbs.does_not_see)
    comes_to = verb(SnapshotVerbs, SnapshotVerbs.comes_to)
    sees_where_shown = verb(SnapshotVerbs, SnapshotVerbs.sees_where_shown)

    sees_outstanding = verb(MetricsVerbs, MetricsVerbs.sees_outstanding)
    does_not_see_outstanding = verb(MetricsVerbs, MetricsVerbs.does_not_see_outstanding)

    is_reconfigured = verb(ConfigurationVerbs, ConfigurationVerbs.is_reconfigured)
    has_been_reconfigured = verb(ConfigurationVerbs, ConfigurationVerbs.has_been_reconfigured)
    is_refused_configuration = verb(ConfigurationVerbs, ConfigurationVerbs.is_refused_configuration)

    takes_callbacks = verb(CallbackVerbs, CallbackVerbs.takes_callbacks)
    refuses = verb(CallbackVerbs, CallbackVerbs.refuses)
    refuses_evictions = verb(CallbackVerbs, CallbackVerbs.refuses_evictions)
    welcomes_evictions = verb(CallbackVerbs, CallbackVerbs.welcomes_evictions)
    every_check_names = verb(CallbackVerbs, CallbackVerbs.every_check_names)
    sees_eviction_check = verb(CallbackVerbs, CallbackVerbs.sees_eviction_check)
    sees_a_report = verb(CallbackVerbs, CallbackVerbs.sees_a_report)
    every_report_names_an_ask = verb(CallbackVerbs, CallbackVerbs.every_report_names_an_ask)
    names_victims = verb(CallbackVerbs, CallbackVerbs.names_victims)
    evicts_no_more_than = verb(CallbackVerbs, CallbackVerbs.evicts_no_more_than)

    hears_events = verb(EventVerbs, EventVerbs.hears_events)
    events_so_far = verb(EventVerbs, EventVerbs.events_so_far)
    details_defined = verb(EventVerbs, EventVerbs.details_defined)
    events_of_this_step = verb(EventVerbs, EventVerbs.events_of_this_step)

    is_answered_at = verb(ServiceVerbs, ServiceVerbs.is_answered_at)
    finds_other_generation_unimplemented = verb(
        ServiceVerbs, ServiceVerbs.finds_other_generation_unimplemented
    )
    has_description = verb(ServiceVerbs, ServiceVerbs.has_description)
