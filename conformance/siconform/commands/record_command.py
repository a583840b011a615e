"""The command ``record``: a proxy that records what passes."""

import os
import re
import secrets
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from siconform import shutdown
from siconform.commands.errors import wrong
from siconform.commands.revision_option import REVISION, known_revision
from siconform.config.click_options import TargetCommand, by_flag, of_the_target
from siconform.config.option_list import BY_FLAG, OPTIONS, REACHING
from siconform.config.option_values import BadOption
from siconform.policy import ExitCode

if TYPE_CHECKING:
    from siconform.transport.recorder import Encryption, Target

_ANY_PORT: Final = ":0"  # of --listen: a free one, which is printed
_TLS: Final = frozenset(one.flag for one in REACHING if one.flag.startswith("--tls"))
_LISTEN_TLS: Final = {
    "--listen-tls-cert": "Certificate for resource managers, in PEM",
    "--listen-tls-key": "Unencrypted private key of --listen-tls-cert, in PEM",
    "--listen-tls-client-ca": "Require certificates of these CAs (PEM) from resource managers",
}
_OF_A_FOLDER: Final = ("max_size", "max_age", "keep")
_SIZE: Final = re.compile(r"(\d+)\s*(|k|M|G)B?", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3}
_MAX_SIZE: Final = 64 * 1000**2  # bytes, as of the tap in Go


class _Size(click.ParamType[int]):
    """A number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes."""
        found = _SIZE.fullmatch(str(value))
        size = int(found[1]) * _UNITS[found[2].lower()] if found else 0
        if not size:
            self.fail(f'"{value}" is not a size such as 500k, 64M or 1G', param, ctx)
        return size


def _listen_tls(command: Any) -> Any:
    for flag, text in reversed(_LISTEN_TLS.items()):
        file = click.Path(path_type=Path)
        command = click.option(flag, help=text, type=file, metavar="FILE")(command)
    return command


@click.command(
    cls=TargetCommand,
    epilog="Exit codes: 0 ended by Ctrl-C or SIGTERM, 4 usage error, 13 the record is incomplete "
    "because it could not be written.",
)
@click.option("--listen", required=True, metavar="HOST:PORT", help="Address for resource managers")
@click.option("--to", required=True, metavar="HOST:PORT", help="Address of the scheduler")
@REVISION
@click.option(
    "--output",
    required=True,
    metavar="FILE|DIR/",
    help="JSON lines: a file, which is replaced, or a folder for numbered files (an existing one, "
    "or with / at the end)",
)
@click.option(
    "--max-size",
    type=_Size(),
    metavar="SIZE",
    help="Size at which the next file of the folder begins, such as 500k or 1G (default: 64M)",
)
@click.option(
    "--max-age",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Age at which the next file of the folder begins (default: no limit)",
)
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    metavar="N",
    help="Remove the oldest files of the folder beyond this number (default: keep all)",
)
@click.option(
    "--hash-names",
    is_flag=True,
    help="Write hashes in place of the names of users and groups and the values of tags that the "
    "SI does not define, and leave out configurations; salt: environment variable "
    "SICONFORM_TAP_SALT (default: a random one)",
)
@_listen_tls
@of_the_target(without={one.flag for one in OPTIONS} - _TLS)
def record(*, listen: str, to: str, revision: str, output: str, **options: Any) -> None:
    """Record the messages between RMs and a scheduler, as a proxy.

    Resource managers (RMs) connect to --listen instead of the scheduler. Every call is forwarded
    unchanged. Callbacks are recorded as well;
    other calls of the extension, of health checking and of reflection are only forwarded. If
    messages pass faster than they can be written, some are not recorded, and the record states how
    many. Ctrl-C ends it.
    """
    from siconform.transport.recorder import Recorder  # noqa: PLC0415  # imports grpc

    known = known_revision(revision)
    if not listen.endswith(_ANY_PORT):
        _check_address("--listen", listen)
    _check_address("--to", to)
    target = _target(output, options)
    encryption = _encryption(by_flag(options))
    try:
        recorder = Recorder(listen, to, known, target, _report, encryption=encryption)
    except OSError as error:
        wrong(str(error) if error.strerror is None else f"{output}: {error.strerror}")
    try:
        click.echo(f"listening on {recorder.address}, forwarding to {to}")
        click.echo(f"recording to {output} (SI {known}); Ctrl-C ends it")
        while True:
            signal.pause()
    except KeyboardInterrupt:
        recorder.close()
        shutdown.settle(ExitCode.KIT_ERROR if recorder.problem else ExitCode.OK)
        lost = f", {recorder.dropped} messages dropped" if recorder.dropped else ""
        click.echo(f"{recorder.written} lines written to {output}{lost}")


def _target(output: str, options: dict[str, Any]) -> "Target":
    from siconform.recording.trace_outputs import Rotation  # noqa: PLC0415  # with the next
    from siconform.transport.recorder import Target  # noqa: PLC0415  # imports grpc

    path = Path(output)
    is_folder = output.endswith("/") or path.is_dir()
    given = [name for name in _OF_A_FOLDER if options[name] is not None]
    if given and not is_folder:
        flag = f"--{given[0].replace('_', '-')}"
        wrong(f"{flag} needs a folder: give --output {output}/")
    rotation = Rotation(options["max_size"] or _MAX_SIZE, options["max_age"], options["keep"])
    return Target(path, rotation if is_folder else None, _salt(options["hash_names"]))


def _salt(is_hashed: bool) -> bytes | None:  # noqa: FBT001  # an option
    from siconform.transport.name_hashing import SALT  # noqa: PLC0415  # imports protobuf

    if not is_hashed:
        return None
    return os.environ.get(SALT, "").encode() or secrets.token_bytes(32)


def _encryption(values: dict[str, Any]) -> "Encryption":
    from siconform.config.access_options import read_access  # noqa: PLC0415  # takes time
    from siconform.transport.recorder import Encryption  # noqa: PLC0415  # imports grpc
    from siconform.transport.server_tls import read_server_tls  # noqa: PLC0415  # the same

    try:
        for flag in _TLS:
            if isinstance(values[flag], str):
                BY_FLAG[flag].refuse_empty(values[flag])
        return Encryption(read_access(values.get).tls, read_server_tls(values.get))
    except (BadOption, LookupError) as error:
        wrong(str(error.args[0]))


def _check_address(flag: str, address: str) -> None:
    from siconform.targets.address import problem  # noqa: PLC0415  # imports grpc

    if why := problem(address):
        wrong(f'{flag} "{address}" {why}')


def _report(sentence: str) -> None:
    click.echo(f"siconform: {sentence}", err=True)
