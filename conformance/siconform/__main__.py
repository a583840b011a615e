"""Entry point of ``siconform`` and ``python -m siconform``."""

import _signal  # type: ignore[import-not-found]  # signal imports more, which may be interrupted


def main() -> None:
    """Run the command line and exit with the command's code."""
    signals = {_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP}
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, signals)  # until they are handled
    from siconform import garbage_collection, grpc_log, shutdown  # noqa: PLC0415  # imports are interrupted, too

    shutdown.on_interrupt("nothing was done")
    garbage_collection.rarely()
    with shutdown.guard(before):
        grpc_log.silence()
        from siconform.cli import main as command  # noqa: PLC0415  # import under the signal guard

        command(prog_name="siconform")


if __name__ == "__main__":
    main()
