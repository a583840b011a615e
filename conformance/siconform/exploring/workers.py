"""Where the seeds of a run are explored: processes of this machine, or a Dask cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from siconform.config.option_values import BadOption
from siconform.exploring.processes import explore_in_processes
from siconform.exploring.shard import NoWorkers, Shard, ShardResult

_DASK: Final = "dask:"


@dataclass(frozen=True, slots=True)
class Workers:
    """The value of ``--workers``: a number of processes, or the address of a Dask scheduler."""

    processes: int = 1
    dask: str = ""

    @classmethod
    def read(cls, text: str, seeds: int) -> "Workers":
        """Read the value of the option; raise BadOption for one that is invalid for the seeds."""
        if text == "1":
            return cls()
        if seeds == 1:
            raise BadOption("--workers shares seeds among workers: give --seeds 2 or more")
        if text.isdecimal() and int(text):
            return cls(int(text))
        address = text.removeprefix(_DASK)
        if address == text or not address.rpartition(":")[2].isdecimal():
            raise BadOption(
                f'--workers "{text}" is neither a number of processes nor {_DASK}HOST:PORT, the '
                "address of a Dask scheduler"
            )
        return cls(0, address)

    @property
    def here(self) -> bool:
        """Whether this process explores, without others."""
        return self.processes == 1

    def __str__(self) -> str:
        return f"Dask at {self.dask}" if self.dask else f"{self.processes} processes"

    def explore(self, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Yield the results as they come; close it to end what still runs.

        Raises NoWorkers if there is no worker that can be used.
        """
        if not self.dask:
            return explore_in_processes(shards, self.processes)
        try:
            from siconform.exploring import dask_cluster  # noqa: PLC0415  # an extra
        except ImportError as error:
            raise NoWorkers(
                f"--workers {_DASK}{self.dask} needs the package distributed "
                f"({error}): install the kit with it, in a checkout by pip install '.[dask]'"
            ) from None
        return dask_cluster.explore_on(self.dask, shards)
