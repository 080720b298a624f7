"""What is shown of the name that somebody points to."""

from __future__ import annotations

from collections.abc import Sequence

from zodiac_sql.editor.documents import Document
from zodiac_sql.editor.known import Schema
from zodiac_sql.editor.positions import Places, offsets
from zodiac_sql.editor.signatures import of_function, of_predicate, spelled
from zodiac_sql.editor.stored import Database
from zodiac_sql.language.mentions import Kind, Mention, Role
from zodiac_sql.language.syntax import Rule, atoms_of
from zodiac_sql.language.types import body_types

_MOST_PLACES = 8


def hover(
    documents: Sequence[Document], name: Mention, schema: Schema, database: Database
) -> str | None:
    """What is known of a name in the first of some documents, in Markdown."""
    document = documents[0]
    if name.kind is Kind.FUNCTION:
        told = of_function(name.name)
        return _code(told) if told else f"`{name.name}` is not built in."
    if name.kind is Kind.LABEL:
        return None
    if name.kind is Kind.VARIABLE:
        return _code(_variable(document, name, schema))
    predicate = name.of if name.kind is Kind.COLUMN else name.name
    return _predicate(documents, predicate, schema, database)


def _predicate(
    documents: Sequence[Document],
    predicate: str,
    schema: Schema,
    database: Database,
) -> str:
    prefixes = documents[0].prefixes
    stored = database.read().get(predicate)
    known = schema.get(predicate)
    shown = spelled(predicate, prefixes)
    if known is not None and (stored is None or not known.open):
        shown = of_predicate(known, prefixes)
    elif stored is not None:
        shown = f"{shown}({stored.columns})"
    parts = [_code(shown)]
    for role, word in ((Role.DERIVED, "derived by"), (Role.DECLARED, "declared at")):
        if places := _places(documents, predicate, role):
            parts.append(f"{word} {places}")
    if facts := sum(fact.predicate == predicate for one in documents for fact in one.program.facts):
        parts.append(f"{facts:,} fact{'' if facts == 1 else 's'} stated")
    if stored is not None:
        parts.append(
            f"{database.name}: {stored.extension:,} facts "
            f"({stored.explicit:,} explicit, {stored.derived:,} derived)"
        )
    return "\n\n".join(parts)


def _places(documents: Sequence[Document], predicate: str, role: Role) -> str:
    """The rules that derive a predicate, or its declarations: those with labels by these."""
    found = []
    for document in documents:
        labels = {n.clause: n.name for n in document.mentions.names if n.kind is Kind.LABEL}
        places = Places(document.text)
        for name in document.predicates():
            if name.name == predicate and name.role is role:
                where = f"{document.name}:{places.place(name.start)[0] + 1}"
                label = labels.get(name.clause)
                found.append(f"{label} ({where})" if label else where)
    more = f" and {len(found) - _MOST_PLACES:,} more" if len(found) > _MOST_PLACES else ""
    return ", ".join(found[:_MOST_PLACES]) + more


def _variable(document: Document, name: Mention, schema: Schema) -> str:
    """A variable with its type, if that is known."""
    columns = {one: [column.meant for column in known.columns] for one, known in schema.items()}
    for rule in document.program.rules:
        if _holds(rule, name) and all(
            len(columns.get(atom.predicate, ())) == len(atom.terms) for atom in atoms_of(rule.body)
        ):
            type_ = body_types(rule.body, columns, {}).types.get(name.name)
            if type_:
                return f"{name.name}: {type_}"
    return name.name


def _holds(rule: Rule, name: Mention) -> bool:
    """Whether a name stands in a rule."""
    if rule.span is None:
        return False
    start, end = offsets(rule.span)
    return start <= name.start < end


def _code(text: str) -> str:
    return f"```zodiac\n{text}\n```"
