"""Seeds explored on a Dask cluster; the seeds of a lost worker run again elsewhere.

Needs the extra ``siconform[dask]``. Each seed is one task, which explores in a process of its own
(``explore_apart``). Seeds without a result are counted here, whatever Dask does: a task that Dask
gives up is submitted again, up to ``_ATTEMPTS`` times.
"""

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import Any, Final

import msgspec
from distributed import Client, Event, Future, Security, get_worker
from distributed.comm import connect

from siconform.exploring.processes import explore_apart
from siconform.exploring.shard import Kit, NoWorkers, Shard, ShardResult, kit_here

_CONNECT: Final = 4.0  # seconds until the scheduler must have answered
_JOIN: Final = 10.0  # seconds for a first worker to join
_ALONE: Final = 30.0  # seconds without any worker, or without the scheduler, until the run ends
_RESULT: Final = 30.0  # seconds to fetch a result that exists
_CALL: Final = 3.0  # seconds for one call to the scheduler
_POLL_INTERVAL: Final = 0.2  # seconds
_ASKING: Final = 1.0  # seconds between two questions whether the run was cancelled
_RETRIES: Final = 2  # by Dask, of a task that raised
_ATTEMPTS: Final = 3  # submissions of a seed


def explore_on(address: str, shards: Sequence[Shard]) -> Iterator[ShardResult]:
    """Yield the results as they come; close it to cancel what still runs.

    Raises NoWorkers if the scheduler cannot be reached, if an installation there differs from this
    one, or if no worker is left.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are sentences of ours
    with _connected(address) as client:
        kit = kit_here()
        _check_workers(client, address, kit)
        run = _Run(client, address, kit)
        try:
            yield from run.results(shards)
        finally:
            run.cancel()


class _Run:
    """The tasks of one run."""

    def __init__(self, client: Client, address: str, kit: Kit) -> None:
        self._client = client
        self._address = address
        self._kit = msgspec.json.encode(kit)
        self._name = f"siconform-{token_hex(8)}"
        self._waiting: dict[int, Future[bytes]] = {}  # by seed
        self._submitted: Counter[int] = Counter()  # by seed
        self._begun: Counter[int] = Counter()  # by seed, as workers report
        self._last_seen = time.monotonic()  # any worker
        client.subscribe_topic(self._name, self._begins)

    def results(self, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Submit everything, and yield each result when it comes."""
        by_seed = {shard.seed: shard for shard in shards}
        for shard in shards:
            self._submit(shard)
        while self._waiting:
            ended = [seed for seed, future in self._waiting.items() if future.done()]
            for seed in ended:
                result = self._result(seed, self._waiting.pop(seed))
                if result is None:
                    self._submit(by_seed[seed])
                else:
                    yield result
            if not ended:
                self._check_alive()
                time.sleep(_POLL_INTERVAL)

    def cancel(self) -> None:
        """Cancel what was submitted and end the processes that explore, within a few seconds."""
        if self._waiting:
            _within(_CALL, Event(self._name, self._client).set)
            _within(_CALL, lambda: self._client.cancel(list(self._waiting.values()), force=True))

    def _submit(self, shard: Shard) -> None:
        self._submitted[shard.seed] += 1
        self._waiting[shard.seed] = self._client.submit(
            explore_on_worker,
            msgspec.json.encode(shard),
            self._kit,
            self._name,
            key=f"{self._name}-{shard.seed}-{self._submitted[shard.seed]}",
            pure=False,
            retries=_RETRIES,
        )

    def _result(self, seed: int, future: "Future[bytes]") -> ShardResult | None:
        """Return the result of a task that has ended, or None if it must run again."""
        try:
            result = msgspec.json.decode(future.result(timeout=_RESULT), type=ShardResult)
        except Exception as error:  # noqa: BLE001  # whatever Dask or the task raised
            attempts = self._submitted[seed]
            if attempts < _ATTEMPTS:
                return None
            why = f"no result after {attempts} submissions: {type(error).__name__}: {error}"
            return ShardResult(seed, problem=why)
        return msgspec.structs.replace(result, runs=max(1, self._begun[seed]))

    def _begins(self, event: tuple[float, dict[str, int]]) -> None:
        self._begun[event[1]["seed"]] += 1

    def _check_alive(self) -> None:
        """Raise NoWorkers if there has been no worker, or no scheduler, for too long."""
        now = time.monotonic()
        if self._client.status == "running" and _workers(self._client):
            self._last_seen = now
        elif now - self._last_seen > _ALONE:
            lost = "no worker is left" if self._client.status == "running" else "it was lost"
            raise NoWorkers(f"the Dask scheduler at {self._address}: {lost} for {_ALONE:g} s")


def explore_on_worker(shard: bytes, kit: bytes, run: str) -> bytes:
    """Explore a seed on a Dask worker: the task."""
    wanted = msgspec.json.decode(shard, type=Shard)
    worker = get_worker()
    worker.log_event(run, {"seed": wanted.seed})
    if difference := msgspec.json.decode(kit, type=Kit).differs_from(kit_here()):
        problem = f"the Dask worker {worker.address} has {difference}"
        return msgspec.json.encode(ShardResult(wanted.seed, problem=problem))
    return msgspec.json.encode(explore_apart(wanted, _Cancelled(run)))


class _Cancelled:
    """Whether the run was cancelled, asked now and then; true if the scheduler is lost."""

    def __init__(self, run: str) -> None:
        self._event = Event(run)
        self._next = 0.0

    def __call__(self) -> bool:
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + _ASKING
        try:
            return bool(self._event.is_set())
        except Exception:  # noqa: BLE001  # the scheduler is gone
            return True


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        asyncio.run(_shake_hands(address))
        client = Client(address, timeout=_CONNECT, set_as_default=False)
    except TimeoutError:
        raise NoWorkers(f"no Dask scheduler answers at {address} in {_CONNECT:g} s") from None
    except OSError as error:
        why = "refused" if isinstance(error, ConnectionRefusedError) else error.strerror or error
        raise NoWorkers(f"the Dask scheduler at {address} cannot be reached: {why}") from None
    except Exception as error:  # noqa: BLE001  # another protocol gives any, such as MemoryError
        name = type(error).__name__
        raise NoWorkers(f"what answers at {address} is not a Dask scheduler ({name})") from None
    try:
        yield client
    finally:
        _within(_CALL, lambda: client.close(timeout=_CALL))


async def _shake_hands(address: str) -> None:
    """Connect as a client does, and raise whatever happens: a Client would report it as well.

    Connect twice, as Dask repeats a refused attempt until its time is up.
    """
    async with asyncio.timeout(_CONNECT):
        host, _, port = address.rpartition("//")[2].rpartition(":")
        _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        writer.close()
        arguments = Security().get_connection_args("client")
        comm = await connect(address, timeout=_CONNECT, **arguments)
        await comm.close()


def _check_workers(client: Client, address: str, kit: Kit) -> None:
    """Raise NoWorkers unless there are workers, all of them with this kit."""
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=_JOIN)
    if not _workers(client):
        raise NoWorkers(f"no worker has joined the Dask scheduler at {address} in {_JOIN:g} s")
    versions: dict[str, Any] = client.get_versions()
    for worker, known in versions["workers"].items():
        python = ".".join(str(known["host"]["python"]).split(".")[:2])
        if python != kit.python:
            _refuse(worker, f"Python {python} instead of {kit.python}")
    for worker, answer in client.run(kit_here, on_error="return").items():
        if not isinstance(answer, Kit):
            _refuse(worker, f"no siconform {kit.version} that can be imported ({answer})")
        elif difference := kit.differs_from(answer):
            _refuse(worker, difference)


def _refuse(worker: str, difference: str) -> None:
    raise NoWorkers(
        f"the Dask worker {worker} has {difference}: install the same on all of them and here"
    )


def _workers(client: Client) -> list[str]:
    return list(client.scheduler_info(n_workers=-1)["workers"])


def _within(seconds: float, action: Callable[[], object]) -> None:
    """Do this, but wait for it no longer than so many seconds."""

    def acts() -> None:
        with suppress(Exception):
            action()

    thread = threading.Thread(target=acts, daemon=True, name="ends a Dask run")
    thread.start()
    thread.join(seconds)
