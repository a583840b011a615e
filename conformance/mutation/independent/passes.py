"""A scheduling pass: serve every ask that is allowed and fits."""

from mutation.independent import gangs
from mutation.independent.lifecycle import settle
from mutation.independent.placing import find_node, grant, hopeless
from mutation.independent.state import Application, Ask, RMState


def run(rm: RMState) -> None:
    """Run one scheduling pass."""
    served_now = gangs.served_now(rm)
    for ask in _in_order(rm):
        application = ask.application
        if not _may_run(application) or gangs.held_back(ask):
            continue
        if ask.placeholder and not (application in served_now and gangs.may_start(rm, application)):
            continue
        while ask.left > 0 and _serve_one(rm, ask):
            settle(rm, application)
        if ask.fresh and _is_refused(rm, ask):
            rm.drop(ask)
            rm.outbox.ask_rejected(ask.wish, "it does not fit now")
            settle(rm, application)
        ask.fresh = False


def _in_order(rm: RMState) -> list[Ask]:
    asks = [
        ask
        for application in rm.applications.values()
        if application.ending is None
        for ask in application.pending
    ]
    return sorted(asks, key=_rank)


def _rank(ask: Ask) -> tuple[int, int, int, int]:
    application = ask.application
    held = len(application.grants) if application.queue.policy == "fair" else 0
    return (-ask.wish.priority, held, application.number, ask.number)


def _may_run(application: Application) -> bool:
    queues = list(application.queue.path())
    if any(application.name in queue.running for queue in queues):
        return True
    if any(0 < queue.most_running <= len(queue.running) for queue in queues):
        return False
    for queue in queues:
        queue.running.add(application.name)
    return True


def _serve_one(rm: RMState, ask: Ask) -> bool:
    placeholders = gangs.candidates(rm, ask)
    if placeholders:
        return gangs.swap(rm, ask, placeholders[0])
    node = find_node(rm, ask)
    if node is None:
        return False
    grant(rm, ask, node)
    gangs.note_start(rm, ask)
    return True


def _is_refused(rm: RMState, ask: Ask) -> bool:
    if ask.left == 0 or ask.made > 0 or ask.swapping > 0 or ask.placeholder:
        return False
    if gangs.candidates(rm, ask):
        return False
    return rm.has("rejects-now") or (rm.has("rejects-hopeless") and hopeless(rm, ask))
