"""The target of a worker: opened once, passed to the tests, given up when it is lost."""

from siconform.catalogue import Side
from siconform.config.open_target import open_target, prepare
from siconform.config.options import Settings
from siconform.targets import Target, TargetUnavailable
from siconform.targets.attached import check_listens
from siconform.targets.process import ProcessTarget
from siconform.targets.rm_target import RmTarget

_LOSSES_AT_START = 2  # consecutive, before the target is given up
_DEATH_TIMEOUT = 0.5  # seconds for a process to end after its connection broke


class TargetLease:
    """The target of a worker; ``given_up`` is why it is no longer tried, or ""."""

    def __init__(self, settings: Settings, worker: str, *, prepares: bool = False) -> None:
        self._settings = settings
        self._worker = worker
        self._prepared = not prepares  # else prepared on first open
        self._targets: dict[bool, Target] = {}  # by whether it runs on the real clock
        self._losses_at_start = 0
        self.given_up = ""

    def open(self, *, real_clock: bool = False) -> Target:
        """Return the target, opening it on the first call; a process may still be starting.

        With ``real_clock``, return a second instance without virtual time.
        """
        if real_clock not in self._targets:
            self._prepare()
            self._targets[real_clock] = open_target(
                self._settings, self._worker, real_clock=real_clock
            )
        return self._targets[real_clock]

    def address(self) -> str:
        """Return the address of the process started for this worker, or ""."""
        ours = (t for t in self._targets.values() if isinstance(t, ProcessTarget))
        return next((target.known_address for target in ours), "")

    def _prepare(self) -> None:
        if self._prepared:
            return
        try:
            prepare(self._settings)
        except TargetUnavailable as error:
            self.given_up = str(error)  # the next test would wait in vain, too
            raise
        self._prepared = True

    def gone(self, broken: str) -> str:
        """Return why the target is gone, or "".

        ``broken`` is how a connection to it broke, if one did: our process may be about to end
        then, and an attached address may belong to another process by now.
        """
        timeout = _DEATH_TIMEOUT if broken else 0.0
        for target in self._targets.values():
            if isinstance(target, ProcessTarget):
                ended = target.ended(timeout)
                if ended or not target.alive():
                    return f"the target died: {ended}"
                if not target.listens():
                    return "the target died: nothing listens at its address any more"
            elif isinstance(target, RmTarget) and not target.alive():
                return f"the target died: {target.ended(_DEATH_TIMEOUT)}"
        if self._settings.address and self._targets and self._settings.side is Side.SCHEDULER:
            if broken:
                return f"the connection to the target broke: {broken}"
            return self._gone()
        return ""

    def how_it_ended(self) -> str:
        """Return exit status and last output, as far as known; "" while it runs."""
        ours = [t for t in self._targets.values() if isinstance(t, ProcessTarget | RmTarget)]
        dead = next((target for target in ours if not target.alive()), None)
        chosen = dead or next(iter(ours), None)
        return chosen.ended(_DEATH_TIMEOUT) if chosen is not None else ""

    def answered(self) -> None:
        """Record that a test reached the target."""
        self._losses_at_start = 0

    def lost(self, message: str, *, at_start: bool) -> str:
        """Record a lost target, ``at_start`` if before the test; return the sentence to report.

        Stop our process, so that the next test gets a fresh one. Give the target up if consecutive
        tests lose it at their start, or if nothing listens any more.
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
        """Stop the started processes."""
        for target in self._targets.values():
            target.stop()

    def _gone(self) -> str:
        if self._settings.side is Side.RM:
            return ""  # it may connect again
        try:
            check_listens(self._settings.address)
        except TargetUnavailable as error:
            return f"the target is gone: {error}"
        return ""
