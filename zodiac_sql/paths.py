"""Paths that no file can have, in words: each door that takes a path refuses them by its error."""

from __future__ import annotations

import os
from errno import ENAMETOOLONG
from pathlib import Path


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
