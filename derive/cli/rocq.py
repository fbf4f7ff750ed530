"""The command ``derive rocq``: the library with which the files of ``--rocq`` are compiled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from derive.cli.options import Program
from derive.cli.output import deliver, deliver_to_folder
from derive.cli.running import YES
from derive.errors import InputError
from derive.option import option
from derive.rocq.library import library


@dataclass(frozen=True, kw_only=True)
class Rocq(Program):
    """Write the library that files of derive regularizer --rocq are compiled with.

    DIR then holds Mirror.v, a _CoqProject, and REFEREE.md, which says which seven definitions one
    has to read to know what a theorem claims.

    Exit status: 0 the files are written; 2 bad input.

    \b
    Examples:
      derive rocq --library -o proofs
      derive regularizer "a*b" --rocq -o proofs/product.v
    """

    library: bool = option(False, "Write the library.")
    output: Path | None = option(None, "Write the files to DIR.", "DIR", "-o", "--output")

    def run(self) -> int:
        """Write the files."""
        if not self.library or self.output is None:
            raise InputError("write the library to a folder, as derive rocq --library -o DIR")
        if self.output.exists() and not self.output.is_dir():
            raise InputError(f"-o: {self.output} is a file; give a folder")
        deliver_to_folder({n: text.rstrip("\n") for n, text in library().items()}, self.output)
        deliver(f"3 files: cd {self.output} && coqc Mirror.v", None)
        return YES
