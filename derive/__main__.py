"""Entry point of the ``derive`` command."""

import os
import signal
import sys

FAULT = 70


def main() -> None:
    """Run the command line, with streams that can be written to, whatever they are.

    An interrupt, or a fault, while it is being imported is answered as later ones are.
    """
    if hasattr(signal, "SIGPIPE"):
        # A reader that has left ends this as every other program.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        from derive.cli.main import main as run
    except KeyboardInterrupt:
        print("derive: interrupted", file=sys.stderr)
        sys.exit(130)
    except Exception as fault:
        line = " ".join(f"{type(fault).__name__}: {fault}".split())
        print(f"derive: a package that is needed does not work ({line})", file=sys.stderr)
        sys.exit(FAULT)
    run()


if __name__ == "__main__":
    main()
