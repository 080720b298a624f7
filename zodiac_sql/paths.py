"""The files that a path, a pattern or a list means, and paths that no file can have, in words.

Each door that takes a path refuses those by its error.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from errno import ENAMETOOLONG
from pathlib import Path

from zodiac_sql.errors import DataError

STDIN = "-"
"""The path that means standard input."""

Files = str | Path | Iterable[str | Path]
"""A file, a pattern such as "raw/*.csv", or several of them."""


def impossible(path: str | Path) -> str:
    """Why no file can have a path; empty if one can."""
    try:
        os.lstat(path)
    except UnicodeEncodeError:
        return "is no path: it holds half of a surrogate pair, which is no character"
    except ValueError:
        return "is no path: it holds a NUL character"
    except OSError as error:
        if error.errno == ENAMETOOLONG:
            return "is no path: it is too long, or a name in it is"
    return ""


def is_there(path: str | Path) -> bool:
    """Whether there is something at a path, which may be one that no file can have."""
    return not impossible(path) and Path(path).exists()


def files_of(given: Files) -> list[Path]:
    """The files that a path, a pattern or a list of both means, those of a pattern by their names.

    What exists is a path, whatever its name. Raises DataError for a pattern that no file matches,
    and for an empty list.
    """
    if not isinstance(given, str | Path):
        several = [file for one in given for file in files_of(one)]
        if not several:
            raise DataError("the list of files is empty: name a file. Nothing was loaded.")
        return several
    if is_there(given) or impossible(given) or not glob.has_magic(str(given)):
        return [Path(given)]
    found = sorted(filter(os.path.isfile, glob.glob(str(given), recursive=True)))
    if not found:
        raise DataError(f"{given}: no file matches this pattern. Nothing was loaded.")
    return [Path(one) for one in found]
