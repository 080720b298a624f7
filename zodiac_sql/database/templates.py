"""Statements that differ only in their names: rendered once with places for the names, then filled.

Making and rendering the tree of a small statement takes as long as running it. A program of a
hundred predicates has a hundred views of three or four forms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLACE = re.compile(r'"\$(\d+)"')


def place_for(number: int) -> str:
    """What stands in a template for a name, as a quoted identifier. Templates have no texts."""
    return f"${number}"


def filled(template: str, names: Sequence[str]) -> str:
    """A statement with these names, each quoted as sqlglot does, so that none is read as SQL."""
    return _PLACE.sub(lambda found: _quoted(names[int(found[1])]), template)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
