"""``python -m mutation.by_key --listen HOST:PORT [--strategy NAME ...]``."""

import ipaddress
import signal
import threading
from concurrent import futures

import click
import grpc

from mutation.by_key.service import Service
from mutation.by_key.strategies import STRATEGIES, chosen

_USUAL_INTERVAL = 0.3
_SLOW_INTERVAL = 2.0
_STREAMS = 300  # concurrent calls


def _known() -> str:
    return "\n".join(f"{name}: {summary}\n" for name, summary in STRATEGIES.items())


@click.command(help=__doc__, epilog="Strategies:\n\n" + _known())
@click.option("--listen", required=True, help="Loopback address, HOST:PORT; 0 picks a port.")
@click.option("--strategy", "words", multiple=True, help="A strategy; several separated by commas.")
@click.option("--interval", type=float, default=None, help="Seconds between scheduling rounds.")
def main(listen: str, words: tuple[str, ...], interval: float | None) -> None:
    """Serve until SIGTERM."""
    host, _, port = listen.rpartition(":")
    try:
        strategies = chosen(words)
        is_loopback = host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if not is_loopback:
        raise click.UsageError(f"{host} is not a loopback address")
    seconds = interval or (_SLOW_INTERVAL if "slow" in strategies else _USUAL_INTERVAL)
    service = Service(strategies, seconds)
    pool = futures.ThreadPoolExecutor(_STREAMS)
    server = grpc.server(pool, options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((service.handler(),))
    bound = server.add_insecure_port(f"{host}:{port}")
    server.start()
    ends = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ends.set())
    click.echo(f"listening on {host}:{bound}")
    service.go_on(ends)
    server.stop(0).wait()


if __name__ == "__main__":
    main()
