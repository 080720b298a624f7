"""Other names for predicates, variables and labels, as long as texts mean the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from zodiac_sql.editor.documents import Document
from zodiac_sql.editor.navigate import occurrences
from zodiac_sql.editor.signatures import spelled
from zodiac_sql.errors import QueryError
from zodiac_sql.language.mentions import Kind, Mention, mentions
from zodiac_sql.names import why_not

Edit = tuple[Document, int, int, str]
"""A part of a document, and what is written instead."""

_RENAMED = (Kind.PREDICATE, Kind.VARIABLE, Kind.LABEL)


def can_be_renamed(name: Mention) -> bool:
    """Whether `rename` knows how to rename such a name."""
    return name.kind in _RENAMED


def rename(documents: Sequence[Document], name: Mention, new: str) -> list[Edit]:
    """What is to be written to give a name of the first document another one.

    Raises QueryError if the new name is none, or another thing has it.
    """
    new = new.strip()
    if not can_be_renamed(name):
        raise QueryError(
            f"{name.name} cannot be renamed: only predicates, variables and labels can."
        )
    places = [*occurrences(documents, name)]
    for document in dict.fromkeys(document for document, _ in places):
        if not document.mentions.whole:
            raise QueryError(f"{document.name} has a syntax error. Mend that before renaming.")
    if name.kind is Kind.PREDICATE:
        edits = _predicate(documents, places, new)
    elif name.kind is Kind.VARIABLE:
        edits = _variable(places, name, new)
    else:
        edits = _label(places, new)
    _require_nothing_else(edits, name, len(places))
    return edits


def _predicate(
    documents: Sequence[Document], places: Sequence[tuple[Document, Mention]], new: str
) -> list[Edit]:
    meant = _meant(new, documents[0].prefixes)
    if reason := why_not(meant):
        raise QueryError(f"{new} cannot be the name of a predicate: {reason}.")
    if any(meant in one.known | one.read for one in documents):
        raise QueryError(f"There is a predicate {new} already.")
    for one in documents:
        if one.is_shacl and places[0][1].name in one.known | one.read:
            raise QueryError(f"{one.name} has it, too, and names in SHACL rules are not renamed.")
    return [(one, old.start, old.end, spelled(meant, one.prefixes)) for one, old in places]


def _meant(new: str, prefixes: Mapping[str, str]) -> str:
    """The predicate that a new name means: an IRI in full, if it is one."""
    if re.fullmatch(r"<.*>|`.*`", new):
        return new[1:-1]
    prefix, colon, local = new.partition(":")
    return prefixes[prefix] + local if colon and prefix in prefixes else new


def _variable(places: Sequence[tuple[Document, Mention]], name: Mention, new: str) -> list[Edit]:
    bare = new.lstrip("?$")
    if not re.fullmatch(r"\w+", bare) or new == "_":
        raise QueryError(f"{new} cannot be the name of a variable.")
    document = places[0][0]
    if any(
        other.kind is Kind.VARIABLE and other.name == bare
        for other in document.mentions.of_clause(name.clause)
    ):
        raise QueryError(f"There is a variable {new} in this rule already.")
    edits = []
    for one, old in places:
        sign = one.text[old.start] if one.text[old.start] in "?$" else ""
        needed = "" if bare[0] == "_" or bare[0].isupper() or bare[0].istitle() else "?"
        edits.append((one, old.start, old.end, (sign or needed) + bare))
    return edits


def _label(places: Sequence[tuple[Document, Mention]], new: str) -> list[Edit]:
    if not re.fullmatch(r"[^\W\d][\w.]*", new):
        raise QueryError(f"{new} cannot be the name of a rule.")
    document = places[0][0]
    if any(one.kind is Kind.LABEL and one.name == new for one in document.mentions.names):
        raise QueryError(f"There is a rule named {new} already.")
    return [(one, old.start, old.end, new) for one, old in places]


def _require_nothing_else(edits: Sequence[Edit], name: Mention, count: int) -> None:
    """Refuse a name that would be something else where it stands, such as a word of rules."""
    found = 0
    for document in dict.fromkeys(edit[0] for edit in edits):
        mine = [edit for edit in edits if edit[0] is document]
        there = mentions(applied(document.text, mine))
        before = [(one.kind, one.clause, one.role) for one in document.mentions.names]
        if [(one.kind, one.clause, one.role) for one in there.names] == before:
            found += len(mine)
    if found < count:
        raise QueryError(f"{edits[0][3]} cannot be the name of a {name.kind}.")


def applied(text: str, edits: Sequence[Edit]) -> str:
    """A text with some of its parts written otherwise."""
    for _, start, end, new in sorted(edits, key=lambda edit: edit[1], reverse=True):
        text = text[:start] + new + text[end:]
    return text
