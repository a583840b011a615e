"""Registration: first after a start, a restart and a lost connection."""

from sirm.core.knowledge import Knowledge, complete_report
from sirm.core.model import Disconnect, Effect, Notice, Register
from sirm.core.state import State
from sirm.core.states import ConnectionState, ConnectionTrigger


def register(state: State) -> list[Effect]:
    """Register; nothing else is sent before the scheduler has answered (SI-REG-011)."""
    state.register_at = None
    state.move(ConnectionTrigger.REGISTER)
    return [Register()]


def registered(state: State) -> list[Effect]:
    """Begin with the complete report (SI-REG-009)."""
    state.move(ConnectionTrigger.REGISTERED)
    state.knowledge = complete_report(state.cluster)
    return [Notice("registered")]


def lost(state: State, reason: str, now: float) -> list[Effect]:
    """Take an aborted stream as the wish to register again (SI-CONN-013, C-05).

    What was known of the scheduler is void. The delay doubles with every failure, and after too
    many failures in a row the RM gives up.
    """
    if state.connection not in (ConnectionState.REGISTERING, ConnectionState.REGISTERED):
        return []
    state.move(ConnectionTrigger.LOST)
    state.knowledge = Knowledge()
    state.failures += 1
    notice = Notice(f"connection lost: {reason}")
    if state.failures >= state.settings.attempts:
        state.move(ConnectionTrigger.GIVE_UP)
        return [Disconnect(), notice, Notice("gave up the scheduler")]
    state.register_at = now + delay(state)
    return [Disconnect(), notice]


def delay(state: State) -> float:
    """Return the seconds until the next registration."""
    doubled = state.settings.first_delay * 2.0 ** (state.failures - 1)
    return min(doubled, state.settings.longest_delay)


def resync(state: State, now: float) -> list[Effect]:
    """Stop, register again and report everything (2021-02, SI-CONN-011)."""
    return lost(state, "the scheduler asked for a resync", now)
