"""A document of LaTeX set by the TeX engine that is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from derive.errors import InputError

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
