"""``python -m mutation.independent_rm --scheduler HOST:PORT --driver HOST:PORT [--switch ...]``."""

import asyncio
import copyreg
import os
import pickle
import sys
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import click
import grpc
from siwire import rpc
from siwire.ext import extension_pb2 as ext

from mutation.independent_rm.driver import Driver
from mutation.independent_rm.rm import Rm
from mutation.independent_rm.switches import KNOWN
from mutation.independent_rm.world import World


def _restored(name: str, data: bytes) -> Any:
    kinds: dict[str, Any] = {"Workload": ext.Workload, "Group": ext.Workload.Group}
    return kinds[name].FromString(data)


for _kind in (ext.Workload, ext.Workload.Group):  # of a pool of their own, which pickle ignores
    copyreg.pickle(_kind, lambda one: (_restored, (one.DESCRIPTOR.name, one.SerializeToString())))


@click.command(help=__doc__)
@click.option("--scheduler", required=True)
@click.option("--driver", required=True)
@click.option("--switch", "switches", multiple=True, type=click.Choice(list(KNOWN)))
@click.option("--world", type=click.Path(path_type=Path), help="State from before a restart.")
def main(scheduler: str, driver: str, switches: tuple[str, ...], world: Path | None) -> None:
    """Run until SIGTERM; replace the process where a restart is one."""
    known = World()
    if world is not None:
        known = pickle.loads(world.read_bytes())  # noqa: S301  # its own file
        world.unlink()
    asyncio.run(_serve(Rm(scheduler, frozenset(switches), known), driver))
    handle, name = mkstemp()
    with os.fdopen(handle, "wb") as file:
        pickle.dump(known, file)
    options = [f"--scheduler={scheduler}", f"--driver={driver}", f"--world={name}"]
    options += [f"--switch={one}" for one in switches]
    command = [sys.executable, "-m", "mutation.independent_rm", *options]
    os.execv(sys.executable, command)  # noqa: S606  # its own interpreter


async def _serve(rm: Rm, address: str) -> None:
    """Return when the process is to be replaced."""
    driver = Driver(rm)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    service = ext.DESCRIPTOR.services_by_name["RmDriver"]

    async def drive(command: ext.DriveCommand, _: Any) -> ext.DriveOutcome:
        return driver.drive(command)

    server.add_generic_rpc_handlers((rpc.handlers(service, {"Drive": drive}),))
    server.add_insecure_port(address)
    await server.start()
    rm.start()
    await driver.replaced.wait()
    await asyncio.sleep(0.05)
    await server.stop(0)


if __name__ == "__main__":
    main()
