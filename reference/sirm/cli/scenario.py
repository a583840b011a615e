"""A workload as it is run: its actions in time, and whether everything ended as stated."""

import asyncio
from collections.abc import Callable

from sirm.cli.workload_file import InstanceAction, WorkloadFile
from sirm.core.model import Action, RefusedError
from sirm.shell.machine import Machine


class Scenario:
    """The run of one workload file; ``print_line`` gets what is not in the RM's own lines."""

    def __init__(
        self, file: WorkloadFile, machine: Machine, print_line: Callable[[str], None]
    ) -> None:
        self._file = file
        self._machine = machine
        self._print = print_line
        self._has_failed = False

    async def run(self) -> bool:
        """Return whether everything ended as the file states."""
        begin = asyncio.get_running_loop().time()
        for after, action in self._file.actions():
            await asyncio.sleep(begin + after - asyncio.get_running_loop().time())
            await self._do(action)
        has_ended = await self._ends(begin + self._file.within)
        if not has_ended and not self._machine.instance.rm.has_given_up:
            self._print(f"not ended within {self._file.within:g} s")
        return not self.problems() and not self._has_failed

    def problems(self) -> list[str]:
        """Return what is not as the file states, one sentence each."""
        found = self._machine.cluster.applications
        return [
            f"application {entry.id} is {_state(self._machine, entry.id)}, stated: {entry.ends}"
            for entry in self._file.applications
            if entry.id not in found or found[entry.id].outcome != entry.ends
        ]

    async def _do(self, action: Action | InstanceAction) -> None:
        try:
            match action:
                case InstanceAction.RESTART:
                    await self._machine.restart()
                case InstanceAction.CUT:
                    self._machine.instance.cut()
                case _:
                    self._machine.act(action)
        except RefusedError as refused:
            self._has_failed = True
            self._print(f"refused: {refused}")

    async def _ends(self, deadline: float) -> bool:
        """Return whether all applications are over before the deadline."""
        loop = asyncio.get_running_loop()
        while not self._machine.is_idle:
            if loop.time() >= deadline or self._machine.instance.rm.has_given_up:
                return False
            await self._machine.changed(deadline - loop.time())
        return True


def _state(machine: Machine, application_id: str) -> str:
    application = machine.cluster.applications.get(application_id)
    return application.outcome or application.state.value if application else "not submitted"
