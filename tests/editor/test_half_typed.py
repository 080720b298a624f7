"""Whatever is typed, an editor gets answers: texts cut anywhere, and nearly texts of rules."""

from __future__ import annotations

from random import Random

from generators.drawn_programs import seeds
from generators.odd_texts import corpus, odd_text
from hypothesis import given, note

from zodiac_sql.editor.complete import completions
from zodiac_sql.editor.diagnose import diagnose
from zodiac_sql.editor.documents import Document, Documents
from zodiac_sql.editor.hover import hover
from zodiac_sql.editor.known import Schemas
from zodiac_sql.editor.navigate import definitions, references
from zodiac_sql.editor.outline import outline
from zodiac_sql.editor.positions import Places
from zodiac_sql.editor.rename import applied, rename
from zodiac_sql.editor.stored import Database, Stored
from zodiac_sql.errors import QueryError
from zodiac_sql.language.mentions import Kind, mentions

DATABASE = Database("farm.duckdb", lambda: {"q": Stored("s: symbol, o: int", 3, 0, 3)})


@given(seeds)
def test_every_question_has_an_answer(seed: int) -> None:
    rng, texts = Random(seed), corpus()
    for _ in range(12):
        text = rng.choice(texts) if rng.random() < 0.4 else odd_text(rng, texts)
        ask_everything(rng, text[: rng.randrange(len(text) + 1)])


def ask_everything(rng: Random, text: str) -> None:
    note(repr(text))
    documents = Documents()
    document = documents.put("untitled:1", text)
    both = [document, Documents().put("untitled:2", "q(a, 1). r(X) :- p(X), q(X, Y).")]
    schema = Schemas().of(both)
    for one in diagnose(document, {"q"}):
        assert 0 <= one.start <= one.end <= len(text) and one.message
    for part in outline(document):
        assert part.start <= part.name_start <= part.name_end <= part.end and part.name
    for offset in sorted(rng.choices(range(len(text) + 1), k=4)):
        found = completions(document, offset, schema, DATABASE)
        assert found.start <= offset
        name = document.mentions.at(offset)
        if name is not None:
            hover(both, name, schema, DATABASE)
            every = references(both, name, True)
            assert {(d, n) for d, n in definitions(both, name)} <= {(d, n) for d, n in every}
            try_to_rename(
                both, document, offset, rng.choice(["zz", "Zz", "?zz", "ä b", "not", "q"])
            )


def try_to_rename(both: list[Document], document: Document, offset: int, new: str) -> None:
    """A name that is changed is another one, in the same places, and all others are the same."""
    name = document.mentions.at(offset)
    assert name is not None
    try:
        edits = rename(both, name, new)
    except QueryError:
        return
    mine = [edit for edit in edits if edit[0] is document]
    there = mentions(applied(document.text, mine))
    before = document.mentions.names
    assert [(n.kind, n.clause, n.role) for n in there.names] == [
        (n.kind, n.clause, n.role) for n in before
    ]
    renamed = {(n.clause, n.start) for n in before if any(e[1] == n.start for e in mine)}
    assert len(renamed) == len(mine)
    for old, other in zip(before, there.names, strict=True):
        is_same = old.name == other.name or (old.clause, old.start) in renamed
        assert is_same, (old, other)
    if name.kind is Kind.PREDICATE:
        assert name.name not in {n.name for n in there.names if n.kind is Kind.PREDICATE}


@given(seeds)
def test_places_go_there_and_back(seed: int) -> None:
    rng = Random(seed)
    text = "".join(rng.choices("ab\né𝒳\r\u2028\t", k=60))
    for encoding, width in (("utf-8", 1), ("utf-16", 2), ("utf-32", 4)):
        places = Places(text, encoding)
        for offset in range(len(text)):
            line, units = places.place(offset)
            if text[offset - 1 : offset + 1] != "\r\n":
                assert places.offset(line, units) == offset
            before = text[:offset].replace("\r\n", "\n").replace("\r", "\n").rpartition("\n")[2]
            codec = encoding if width == 1 else f"{encoding}-le"
            if text[offset - 1 : offset + 1] != "\r\n":
                assert units == len(before.encode(codec)) // width
        assert places.offset(0, 10**6) <= places.offset(10**6, 0) == len(text)
