"""Timers proposed in extraConfig apply to the RM that proposes them."""

import pytest
from sireference.codec.extra_config import proposed_timers
from sireference.configuration.defaults import default_configuration
from sireference.core.model import ProposedTimers, Register, Settings
from sireference.core.model.events import ConnectionLost
from sireference.core.scheduler import Scheduler
from sireference.core.states import RMState

OWN = Settings(placeholder_timeout=900.0, completing_timeout=30.0, connection_loss_timeout=60.0)


def test_proposed_timer_overrides_the_operators() -> None:
    proposed = {
        "siconform.timers.placeholder": "1.5",
        "siconform.timers.waiting": "2",
        "siconform.timers.connection_loss": "0.25",
    }

    assert proposed_timers(proposed).in_place_of(OWN) == Settings(
        placeholder_timeout=1.5, completing_timeout=2.0, connection_loss_timeout=0.25
    )


# requirement: SI-REG-016
@pytest.mark.parametrize(
    "text", ["", "0", "-1", "nan", "inf", "1e999", "1e308", "9223372037", "soon", "1.5 s"]
)
def test_invalid_timer_is_ignored(text: str) -> None:
    proposed = proposed_timers({"siconform.timers.waiting": text, "other": "1"})

    assert proposed.in_place_of(OWN) is OWN


def test_proposed_timers_last_until_the_rm_registers_again() -> None:
    scheduler = Scheduler(OWN)
    proposed = ProposedTimers(connection_loss_timeout=5.0)
    for rm_id, timers in (("short", proposed), ("long", ProposedTimers())):
        scheduler.handle(Register(rm_id, default_configuration(), timers=timers), 0.0)
        scheduler.handle(ConnectionLost(rm_id), 0.0)

    scheduler.handle_timeout(5.0)

    states = [scheduler.snapshot(rm_id).state for rm_id in ("short", "long")]
    assert states == [RMState.STOPPED, RMState.PAUSED]
    scheduler.handle(Register("short", default_configuration()), 6.0)
    assert scheduler.rms.all()[0].settings == OWN
