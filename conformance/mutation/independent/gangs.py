"""Gangs: when one may start, how its placeholders are replaced, and its timeouts."""

from siwire.r2023_12 import si_pb2

from mutation.independent.amounts import fits, minus, plus, read
from mutation.independent.lifecycle import end, has_ended, release_asks, request_release, settle
from mutation.independent.placing import allowed, find_node, grant, usable
from mutation.independent.state import Application, ApplicationState, Ask, Grant, RMState


def served_now(rm: RMState) -> set[Application]:
    """Return the gangs to serve now: in a FIFO queue only the first that is not complete."""
    chosen: set[Application] = set()
    taken: set[str] = set()
    for application in sorted(rm.applications.values(), key=lambda a: a.number):
        if not any(a.placeholder for a in application.pending):
            continue
        queue = application.queue
        one_by_one = rm.has("gang-queue") and queue.policy in {"", "fifo", "stateaware"}
        if application.complete or application.placeholders or queue.name not in taken:
            chosen.add(application)
        if one_by_one and not application.complete:
            taken.add(queue.name)
    return chosen


def may_start(rm: RMState, application: Application) -> bool:
    """Return whether there is capacity for the whole gang, or the gang has started."""
    if application.complete or application.placeholders:
        return True
    if rm.has("whole-gangs") and not fits_whole(rm, application):
        return False
    return application.queue.has_capacity(read(application.request.placeholderAsk))


def fits_whole(rm: RMState, application: Application) -> bool:
    """Return whether nodes have room for all pending placeholders; first fit, largest first."""
    free = {node.name: node.free for node in rm.nodes.values()}
    pending = [ask for ask in application.pending if ask.placeholder for _ in range(ask.left)]
    for ask in sorted(pending, key=lambda ask: -sum(ask.amount.values())):
        chosen = next((n for n in allowed(rm, ask) if fits(ask.amount, free[n.name])), None)
        if chosen is None:
            return False
        free[chosen.name] = minus(free[chosen.name], ask.amount)
    return True


def held_back(ask: Ask) -> bool:
    """Return whether a real ask has to wait until its gang is complete."""
    early = ask.application.state in {ApplicationState.NEW, ApplicationState.ACCEPTED}
    return early and not ask.placeholder and not ask.application.complete


def note_start(rm: RMState, ask: Ask) -> None:
    """Start the timer of a gang with its first placeholder."""
    if ask.placeholder and ask.application.gang_began is None:
        ask.application.gang_began = rm.now


def candidates(rm: RMState, ask: Ask) -> list[Grant]:
    """Return the placeholders an ask can replace, the best first."""
    if ask.placeholder or not ask.group:
        return []
    found = [
        held
        for held in ask.application.placeholders
        if held.ask.group == ask.group and held.leaving is None
    ]
    return sorted(
        found,
        key=lambda held: (
            held.node is None or not usable(rm, held.node),
            not fits(ask.amount, held.amount),
        ),
    )


def swap(rm: RMState, ask: Ask, held: Grant) -> bool:
    """Begin to replace a placeholder; false if another has to be confirmed first."""
    if rm.has("serial") and any(g.asked_to_leave for g in ask.application.placeholders):
        return False
    ask.swapping += 1
    held.capacity_for = ask
    request_release(rm, held, si_pb2.PLACEHOLDER_REPLACED, f"replaced for {ask.key}")
    return True


def confirm_swap(rm: RMState, held: Grant) -> None:
    """Allocate the replacement of a placeholder that the RM released."""
    ask, node = held.capacity_for, held.node
    application = held.ask.application
    application.replaced = plus(application.replaced, held.amount)
    rm.vacate(held)
    if ask is not None:
        ask.swapping -= 1
        if ask.left > 0 and application.ending is None:
            found = find_node(rm, ask, first=node)
            if found is not None:
                grant(rm, ask, found)
    has_ended(rm, held)


def abandon_swap(held: Grant) -> None:
    """Make the replacement of a placeholder that ended otherwise an ordinary ask again."""
    if held.capacity_for is not None:
        held.capacity_for.swapping -= 1
        held.capacity_for = None


def check_time(rm: RMState, application: Application) -> None:
    """At the timeout, end an incomplete gang or release its placeholders."""
    if (
        application.gang_began is None
        or application.complete
        or application.ending is not None
        or application.state is not ApplicationState.ACCEPTED
        or not application.pending
        or not application.placeholders
        or rm.now - application.gang_began < rm.timers["placeholder"]
    ):
        return
    if application.request.gangSchedulingStyle.lower() == "hard":
        end(rm, application, ApplicationState.KILLED)
        return
    application.complete = True
    release_asks(rm, application, placeholders_only=True)
    for held in application.placeholders:
        request_release(rm, held, si_pb2.TIMEOUT, "timed out")
    settle(rm, application)
