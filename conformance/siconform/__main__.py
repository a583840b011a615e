"""Entry point of ``siconform`` and ``python -m siconform``."""

from siconform import shutdown


def main() -> None:
    """Run the command line and exit with the command's code."""
    with shutdown.guard():
        from siconform.cli import main as command  # noqa: PLC0415  # import under the signal guard

        command(prog_name="siconform")


if __name__ == "__main__":
    main()
