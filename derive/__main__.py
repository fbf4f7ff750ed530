"""Entry point of the ``derive`` command."""

from derive.cli import main

if __name__ == "__main__":
    main()
