"""The target a worker holds: opened once, handed to the tests, and given up when it is no use."""

from siconform.running.open_target import open_target, prepare
from siconform.running.options import Settings
from siconform.targets import Target, TargetUnavailable
from siconform.targets.attached import check_listens
from siconform.targets.process import ProcessTarget

_LOSSES_AT_START = 2  # in a row, before the rest of the tests are spared the wait
_DEATH_TIMEOUT = 0.5  # seconds to see a process end after its connection broke


class TargetLease:
    """One target for one worker; ``given_up`` is why nothing more is tried, or ""."""

    def __init__(self, settings: Settings, worker: str, *, prepares: bool = False) -> None:
        self._settings = settings
        self._worker = worker
        self._prepared = not prepares  # else when it is opened first
        self._targets: dict[bool, Target] = {}  # by whether it runs on the real clock
        self._losses_at_start = 0
        self.given_up = ""

    def open(self, *, real_clock: bool = False) -> Target:
        """The target, opened the first time; a process may still be starting.

        With ``real_clock`` the same once more, without a clock that the kit can move on.
        """
        if real_clock not in self._targets:
            self._prepare()
            self._targets[real_clock] = open_target(
                self._settings, self._worker, real_clock=real_clock
            )
        return self._targets[real_clock]

    def address(self) -> str:
        """Where the target listens that was started for this worker, "" where none is known to."""
        ours = (t for t in self._targets.values() if isinstance(t, ProcessTarget))
        return next((target.known_address for target in ours), "")

    def _prepare(self) -> None:
        if self._prepared:
            return
        try:
            prepare(self._settings)
        except TargetUnavailable as error:
            self.given_up = str(error)  # the next test would wait for nothing, too
            raise
        self._prepared = True

    def gone(self, broken: str) -> str:
        """Why nothing can be said of the target any more, or "".

        ``broken`` is how a connection to it broke, if one did: what is ours may be about to end
        then, and what is not may be somebody else's process by now.
        """
        timeout = _DEATH_TIMEOUT if broken else 0.0
        for target in self._targets.values():
            if isinstance(target, ProcessTarget):
                ended = target.ended(timeout)
                if ended or not target.alive():
                    return f"the target died: {ended}"
                if not target.listens():
                    return "the target died: nothing listens there any more"
        if self._settings.address and self._targets:
            if broken:
                return f"the connection to the target broke: {broken}"
            return self._gone()
        return ""

    def how_it_ended(self) -> str:
        """For people: exit status and last words, as far as known; "" while it runs."""
        ours = [t for t in self._targets.values() if isinstance(t, ProcessTarget)]
        dead = next((target for target in ours if not target.alive()), None)
        chosen = dead or next(iter(ours), None)
        return chosen.ended(_DEATH_TIMEOUT) if chosen is not None else ""

    def answered(self) -> None:
        """A test got through to the target."""
        self._losses_at_start = 0

    def lost(self, message: str, *, at_start: bool) -> str:
        """A test lost the target; ``at_start`` before it could even begin. The sentence to report.

        What is ours is stopped, so that the next test gets a fresh process. When a target is lost
        at the start of one test after another, or nothing listens any more, it is given up.
        """
        if self.given_up:
            return self.given_up
        restartable = self.open().restartable
        ended = self.how_it_ended()
        sentence = f"{message} ({ended})" if ended and ended not in message else message
        self._losses_at_start += at_start
        if self._losses_at_start >= _LOSSES_AT_START:
            self.given_up = sentence
        elif not restartable:
            self.given_up = self._gone()
        self.close()
        return sentence

    def close(self) -> None:
        """Stop what is ours."""
        for target in self._targets.values():
            target.stop()

    def _gone(self) -> str:
        try:
            check_listens(self._settings.address)
        except TargetUnavailable as error:
            return f"the target is gone: {error}"
        return ""
