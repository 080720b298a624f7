"""Renaming: the program is the one that its generator makes with the other name."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

from generators.drawn_programs import programs, seeds
from generators.programs import Atom, Program, Var, program_text, variables_in
from hypothesis import given, note
from support.meaning import meaning

from zodiac_sql.editor.documents import Document, Documents
from zodiac_sql.editor.rename import applied, rename
from zodiac_sql.language.mentions import Kind, Mention


@given(programs(), seeds)
def test_predicates(program: Program, seed: int) -> None:
    """Also those that are named in another text."""
    rng = Random(seed)
    documents, _ = in_two_texts(program)
    names = [name for name in documents[0].predicates()]
    if not names:
        return
    name = rng.choice(names)
    edits = rename(documents, name, "renamed")
    _, wanted = in_two_texts(
        replace(
            program,
            rules=tuple(changed(rule, Atom, "predicate", name.name) for rule in program.rules),
            facts={
                "renamed" if predicate == name.name else predicate: rows
                for predicate, rows in program.facts.items()
            },
        )
    )
    for document, text in zip(documents, wanted, strict=True):
        mine = [edit for edit in edits if edit[0] is document]
        found = applied(document.text, mine)
        note(f"{document.text}\n-- {name}\n{found}")
        assert meaning(found) == meaning(text)


@given(programs(), seeds)
def test_variables(program: Program, seed: int) -> None:
    rng = Random(seed)
    for rule in program.rules:
        used = sorted({v.name for v in variables_in(rule) if not v.anonymous})
        if not used:
            continue
        before, new = rng.choice(used), rng.choice(["Renamed", "?Renamed", "_renamed"])
        text = program_text([rule], {}, program.style)
        (document,) = [Documents().put("untitled:1", text)]
        places = [name for name in document.mentions.names if is_variable(name, before, text)]
        if not places:
            continue  # the style has given it another name
        found = applied(text, rename([document], rng.choice(places), new))
        other = changed(rule, Var, "name", before, new.lstrip("?"))
        note(f"{text}\n-- {before} {new}\n{found}")
        assert meaning(found) == meaning(program_text([other], {}, program.style))


def is_variable(name: Mention, variable: str, text: str) -> bool:
    return name.kind is Kind.VARIABLE and text[name.start : name.end].lstrip("?") == variable


def in_two_texts(program: Program) -> tuple[list[Document], list[str]]:
    """The rules, and the facts, as an editor shows them."""
    texts = [program_text(program.rules, {}), program_text((), program.facts)]
    documents = Documents()
    shown = [documents.put(f"untitled:{number}", text) for number, text in enumerate(texts)]
    return shown, texts


def changed(thing: Any, kind: type, field: str, old: str, new: str = "renamed") -> Any:
    """A part of a program in which what is named so has another name."""
    if isinstance(thing, tuple):
        return tuple(changed(one, kind, field, old, new) for one in thing)
    if not is_dataclass(thing) or isinstance(thing, type):
        return thing
    parts = {
        one.name: changed(getattr(thing, one.name), kind, field, old, new) for one in fields(thing)
    }
    if isinstance(thing, kind) and parts[field] == old:
        parts[field] = new
    return replace(thing, **parts)
