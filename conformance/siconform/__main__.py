"""The program ``siconform``, also as ``python -m siconform``."""

from siconform import shutdown


def main() -> None:
    """Run the command line; the process ends with the command's exit code."""
    with shutdown.guard():
        from siconform.cli import main as command  # noqa: PLC0415  # signals are handled from before

        command(prog_name="siconform")


if __name__ == "__main__":
    main()
