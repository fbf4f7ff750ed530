"""Entry point of the ``derive`` command."""

import sys


def main() -> None:
    """Run the command line; an interrupt while it is being imported is answered as later ones."""
    try:
        from derive.cli.main import main as run

        run()
    except KeyboardInterrupt:
        print("derive: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
