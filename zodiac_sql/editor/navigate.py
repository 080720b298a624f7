"""Where a name is defined, and where else it is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zodiac_sql.editor.documents import Document
from zodiac_sql.language.mentions import Kind, Mention, Role

Place = tuple[Document, Mention]


def occurrences(documents: Sequence[Document], name: Mention) -> Iterator[Place]:
    """All places of a name of the first document: of a variable in its clause, of a label in its
    text, of all others in all documents.
    """
    document = documents[0]
    if name.kind in (Kind.VARIABLE, Kind.LABEL):
        documents = [document]
    for one in documents:
        for other in one.mentions.names:
            if (other.kind, other.name.lower(), other.of) != (
                name.kind,
                name.name.lower(),
                name.of,
            ):
                continue
            if (
                other.name != name.name and name.kind is not Kind.COLUMN
            ):  # SQL ignores case in these
                continue
            if name.kind is not Kind.VARIABLE or other.clause == name.clause:
                yield one, other


def definitions(documents: Sequence[Document], name: Mention) -> list[Place]:
    """Where a name is defined.

    A predicate that rules derive is defined by their heads, another one by its declaration, or else
    by its first fact; a column by the declaration; a variable where it stands first.
    """
    found = [*occurrences(documents, name)]
    if name.kind is Kind.PREDICATE:
        roles = (Role.DERIVED, Role.DECLARED, Role.STATED)
        by_role = ([place for place in found if place[1].role is role] for role in roles)
        first = next((places for places in by_role if places), [])
        return first[:1] if first and first[0][1].role is Role.STATED else first
    if name.kind is Kind.COLUMN:
        return [place for place in found if place[1].role is Role.DECLARED]
    return [] if name.kind is Kind.FUNCTION else found[:1]


def references(documents: Sequence[Document], name: Mention, with_definitions: bool) -> list[Place]:
    """Where a name stands, with or without the places that define it."""
    found = [*occurrences(documents, name)]
    if with_definitions:
        return found
    defined = definitions(documents, name)
    return [place for place in found if place not in defined]
