"""One round of scheduling: every ask that may be served is, as far as there is room."""

from proof.independent import gangs
from proof.independent.books import Application, Ask, World
from proof.independent.lives import settle
from proof.independent.placing import find_node, grant, hopeless


def run(world: World) -> None:
    """Serve what can be served."""
    in_turn = gangs.next_in_turn(world)
    for ask in _in_order(world):
        application = ask.application
        if not _may_run(application) or gangs.held_back(ask):
            continue
        if ask.placeholder and not (application in in_turn and gangs.may_start(application)):
            continue
        while ask.left > 0 and _serve_one(world, ask):
            settle(world, application)
        if ask.fresh and _is_refused(world, ask):
            world.drop(ask)
            world.outbox.ask_rejected(ask.wish, "there is no room for it")
            settle(world, application)
        ask.fresh = False


def _in_order(world: World) -> list[Ask]:
    asks = [
        ask
        for application in world.applications.values()
        if application.ending is None
        for ask in application.pending
    ]
    return sorted(asks, key=_rank)


def _rank(ask: Ask) -> tuple[int, int, int, int]:
    application = ask.application
    turns = len(application.grants) if application.queue.policy == "fair" else 0
    return (-ask.wish.priority, turns, application.turn, ask.turn)


def _may_run(application: Application) -> bool:
    queues = list(application.queue.path())
    if any(application.name in queue.running for queue in queues):
        return True
    if any(0 < queue.most_running <= len(queue.running) for queue in queues):
        return False
    for queue in queues:
        queue.running.add(application.name)
    return True


def _serve_one(world: World, ask: Ask) -> bool:
    places = gangs.candidates(world, ask)
    if places:
        return gangs.swap(world, ask, places[0])
    node = find_node(world, ask)
    if node is None:
        return False
    grant(world, ask, node)
    gangs.note_start(world, ask)
    return True


def _is_refused(world: World, ask: Ask) -> bool:
    if ask.left == 0 or ask.made > 0 or ask.swapping > 0 or ask.placeholder:
        return False
    if gangs.candidates(world, ask):
        return False
    return world.has("rejects-now") or (world.has("rejects-hopeless") and hopeless(world, ask))
