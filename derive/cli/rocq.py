"""The command ``derive rocq``: the library with which the files of ``--rocq`` are compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from derive.cli.output import check_writable, deliver
from derive.errors import InputError
from derive.rocq.library import library as library_files

Library = Annotated[bool, typer.Option("--library", help="Write the library.")]
Folder = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write the files to DIR.", metavar="DIR")
]


def rocq(*, library: Library = False, output: Folder = None) -> None:
    """Write the library that files of derive regularizer --rocq are compiled with.

    DIR then holds Mirror.v, a _CoqProject, and REFEREE.md, which says which seven definitions one
    has to read to know what a theorem claims.

    Exit status: 0 the files are written; 2 bad input.

    \b
    Examples:
      derive rocq --library -o proofs
      derive regularizer "a*b" --rocq -o proofs/product.v
    """
    if not library or output is None:
        raise InputError("write the library to a folder, as derive rocq --library -o DIR")
    if output.exists() and not output.is_dir():
        raise InputError(f"-o: {output} is a file; give a folder")
    try:
        output.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"-o: {output}: {error.strerror}") from None
    for name, text in library_files().items():
        check_writable(output / name)
        deliver(text.rstrip("\n"), output / name)
    deliver(f"3 files: cd {output} && coqc Mirror.v", None)
