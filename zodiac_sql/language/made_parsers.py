"""Parsers made from grammars, and kept on disk for the next process.

To make the tables of a parser takes 90 ms, a tenth of a short command; to read them takes 8. So
they stand where Python keeps what it has compiled of this package, and are as trusted as that: in a
folder that cannot be written, or where Python may keep nothing, they are made each time.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.util import cache_from_source
from pathlib import Path

import lark


@cache
def parser(package: str, *start: str, placeholders: bool) -> lark.Lark:
    """The parser of the grammar in a package, for texts of some kinds.

    With `placeholders`, what may be left out of a text is None in its tree; else it is not there.
    """
    grammar = (files(package) / "grammar.lark").read_text(encoding="utf-8")
    file = _file_of(grammar, str((start, placeholders)))
    with suppress(Exception), file.open("rb") as tables:  # if they are damaged: make others
        return lark.Lark.load(tables)
    made = lark.Lark(
        grammar,
        start=list(start),
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=placeholders,
    )
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            _keep(made, file)
    return made


def _file_of(*made_from: str) -> Path:
    """Where the tables are kept that one version of lark makes from something."""
    digest = sha256("\n".join((lark.__version__, *made_from)).encode()).hexdigest()[:16]
    return Path(cache_from_source(__file__)).with_suffix(f".{digest}.tables")


def _keep(made: lark.Lark, file: Path) -> None:
    """Write the tables to a file that is there as a whole or not at all."""
    part = file.with_suffix(f".{os.getpid()}")
    with part.open("xb") as tables:
        try:
            made.save(tables)
            tables.flush()
            os.fsync(tables.fileno())
            part.replace(file)
        except BaseException:
            part.unlink()
            raise
