"""What a person sees while and after a derivation: progress, and the result, whole.

A document of LaTeX set by the TeX engine that is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from derive.errors import InputError

MAXIMAL_RECORD = 20_000_000
"""Characters of a record that are read."""

PATIENCE = 0.5
"""Seconds before a stage is shown."""


class ReaderLeft(Exception):
    """Nobody reads the standard output any more, as in ``derive ... | head``."""


def source(file: str) -> str | int:
    """Return a file to be read, or for ``-`` a copy of the standard input, which no child has."""
    if file.strip() != "-":
        return file
    if sys.stdin is None:
        raise InputError("the standard input is closed: give a FILE")
    return os.dup(sys.stdin.fileno())


def contents(file: str | int | Path, option: str = "") -> str:
    """Return the text of a source; a pipe that nobody writes to keeps one waiting."""
    name = "the standard input" if isinstance(file, int) else f"{option}{file}"
    try:
        with open(file, encoding="utf-8-sig") as stream:
            return stream.read(MAXIMAL_RECORD)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    except ValueError:  # of bytes, or of a name with one that is 0
        raise InputError(f"{name} is no text") from None


def check_writable(path: Path | None, option: str = "-o") -> None:
    """Refuse an output file that cannot be written, before time is spent."""
    if path is None or str(path) == "-":
        return
    try:
        fault = _obstacle(path)
    except (OSError, RuntimeError) as error:  # a name that is too long, links in a circle
        fault = f"{path}: {getattr(error, 'strerror', None) or 'its links lead in a circle'}"
    if fault:
        raise InputError(f"{option}: {fault}")


def check_picture(path: Path | None, option: str) -> None:
    """Refuse a picture that cannot be written, or not be drawn."""
    if path is not None:
        from numerics.figures.display import require_matplotlib

        check_writable(path, option)
        require_matplotlib()


def _obstacle(path: Path) -> str:
    """Return why a file cannot be written, or nothing."""
    folder = path.resolve().parent
    if path.is_dir():
        return f"{path} is a folder; give a file name"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    writable = os.access(path if path.exists() else folder, os.W_OK)
    return "" if writable else f"{path} cannot be written"


def deliver(text: str, path: Path | None) -> None:
    """Print, or write whole: a reader of a file never sees half of it."""
    set_ = text.startswith(MARK)
    if set_ and (path is None or path.suffix != ".pdf"):
        raise InputError("--pdf: give a file for it, as -o FILE.pdf")
    if path is None or str(path) == "-":
        _print(text)
        return
    try:
        _write(to_pdf(text) if set_ else f"{text}\n".encode(), path.resolve())
    except OSError as error:
        # Nothing that was derived is lost.
        _print(text)
        raise InputError(f"-o: {path}: {error.strerror}; printed instead") from None


def deliver_to_folder(files: Mapping[str, str], folder: Path) -> None:
    """Write files to a folder, which is made where it is not there."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"-o: {folder}: {error.strerror}") from None
    for name in files:
        check_writable(folder / name)
    for name, text in files.items():
        deliver(text, folder / name)


def _print(text: str) -> None:
    if sys.stdout is None:
        raise InputError("the standard output is closed: give -o FILE")
    try:
        print(text, flush=True)
    except OSError as error:
        # What is left in the buffer would fail again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderLeft from None
        raise InputError(f"the standard output cannot be written: {error.strerror}") from None


def _write(text: bytes, path: Path) -> None:
    """Replace a regular file in one step; write to anything else, such as a pipe, in place."""
    if path.exists() and (not path.is_file() or path.stat().st_nlink > 1):
        # Of a pipe that nobody reads it is said so: one would wait for ever.
        handle = os.open(path, os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NONBLOCK", 0))
        os.set_blocking(handle, True)
        with os.fdopen(handle, "wb") as stream:
            stream.write(text)
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text)
        os.umask(mask := os.umask(0))
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


class Narrator:
    """One line on the terminal's stderr, if it is one, that says which stage is running."""

    def __init__(self) -> None:
        self.stage, self._begun, self._shown = "starting", time.monotonic(), False

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self._begun

    def __call__(self, stage: str) -> None:
        """Show the stage, and the seconds so far, once half a second has passed."""
        self.stage = stage
        if self.elapsed > PATIENCE and sys.stderr.isatty():
            self._shown = True
            sys.stderr.write(f"\r\033[K{stage} ({self.elapsed:.1f} s)")
            sys.stderr.flush()

    def close(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


MARK = "%!PDF\n"
"""What a document begins with that is to be set."""

ENGINES = {
    "tectonic": ("--untrusted", "paper.tex"),
    "pdflatex": ("-no-shell-escape", "-interaction=batchmode", "-halt-on-error", "paper.tex"),
    "lualatex": ("--no-shell-escape", "--interaction=batchmode", "--halt-on-error", "paper.tex"),
}
HOW = "install tectonic or texlive-latex-recommended, or print it by --latex --standalone"
SECONDS = 60


def to_pdf(document: str) -> bytes:
    """Return the PDF of a document.

    Raises:
        InputError: no engine is installed, or it fails.
    """
    engine = next((name for name in ENGINES if shutil.which(name)), None)
    if engine is None:
        raise InputError(f"--pdf: no TeX engine is installed: {HOW}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "paper.tex").write_text(document, encoding="utf-8")
        made = Path(folder) / "paper.pdf"
        for _ in range(2):  # the second time with the numbers of what is referred to
            command = (engine, *ENGINES[engine])
            try:
                subprocess.run(
                    command, cwd=folder, timeout=SECONDS, capture_output=True, check=True
                )
            except (subprocess.SubprocessError, OSError):
                raise InputError(f"--pdf: {engine} failed: {HOW}") from None
        return made.read_bytes()
