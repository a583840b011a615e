"""``python -m mutation.independent --listen HOST:PORT [--strategy NAME ...]``."""

import asyncio
import ipaddress
import signal

import click
import grpc

from mutation.independent.service import Service
from mutation.independent.strategies import STRATEGIES, chosen

_USUAL_INTERVAL = 0.5
_SLOW_INTERVAL = 1.2


def _known() -> str:
    return "\n".join(
        f"{name}{' (default)' if strategy.usual else ''}: {strategy.summary}\n"
        for name, strategy in STRATEGIES.items()
    )


@click.command(help=__doc__, epilog="Strategies:\n\n" + _known())
@click.option("--listen", required=True, help="Loopback address, HOST:PORT; 0 picks a port.")
@click.option(
    "--strategy",
    "words",
    multiple=True,
    help="A strategy, or no-NAME; comma-separated.",
)
@click.option("--interval", type=float, default=None, help="Seconds between scheduling passes.")
def main(listen: str, words: tuple[str, ...], interval: float | None) -> None:
    """Serve until SIGTERM."""
    host, _, port = listen.rpartition(":")
    try:
        in_force = chosen(name for word in words for name in word.split(",") if name)
        is_loopback = host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if not is_loopback:
        raise click.UsageError(f"{host} is not a loopback address")
    seconds = interval or (_SLOW_INTERVAL if "slow" in in_force else _USUAL_INTERVAL)
    asyncio.run(_serve(host, int(port), Service(in_force, seconds)))


async def _serve(host: str, port: int, service: Service) -> None:
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((service.handler(),))
    bound = server.add_insecure_port(f"{host}:{port}")
    await server.start()
    going = asyncio.create_task(service.go_on())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, going.cancel)
    click.echo(f"listening on {host}:{bound}")
    try:
        await going
    except asyncio.CancelledError:
        await server.stop(0)


if __name__ == "__main__":
    main()
