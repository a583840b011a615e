"""Check that memory stays flat under very many short lifecycles next to waiting asks.

``core`` runs them in this process, ``grpc`` against ``sireference serve``. Both print a table and
exit with 1 where memory grew beyond the printed bound.
"""

import argparse

from benchmarks.soak import in_process, over_grpc


def main() -> int:
    """Run the soak test; return the exit code."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__.partition("\n")[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    core = modes.add_parser("core", help="in this process, no wire")
    core.add_argument("--lifecycles", type=int, default=1_000_000)
    grpc = modes.add_parser("grpc", help="against sireference serve, started and stopped for it")
    grpc.add_argument("--minutes", type=float, default=5.0)
    grpc.add_argument("--rms", type=int, default=4, help="resource managers")
    sent = parser.parse_args()
    if sent.mode == "core":
        return in_process.soak(sent.lifecycles)
    return over_grpc.soak(sent.minutes * 60, sent.rms)


if __name__ == "__main__":
    raise SystemExit(main())
