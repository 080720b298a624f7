"""Rules that were kept in a file before the language changed mean what they meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from zodiac_sql import KnowledgeBase, connect
from zodiac_sql.language.kept_texts import as_today
from zodiac_sql.language.symbols import XSD

OpenKb = Callable[..., KnowledgeBase]

FORMER = [
    ('ends(X) :- room(X), X = "Ä".', "ends(X) :- room(X), X = Ä."),
    ('alike(X) :- room(X), matches(X, "^d.$") = true.', None),
    ('twice("Ü", X) :- room("Ü"), room(X).', "twice(Ü, X) :- room(Ü), room(X)."),
    ('both(X) :- room(X), X != "Ω", X != "as".', 'both(X) :- (room(X)), X != Ω, X != "a\\s".'),
    ("Ж(X) :- room(X).", "(Ж(X)) :- room(X)."),
]  # fmt: skip
"""A rule as it is written today, and as it was kept in a file."""


def kept(today: str, then: str | None) -> str:
    return then or today.replace('"^d.$"', '"^\\d.$"')


def test_a_file_of_that_time(tmp_path: Path, open_kb: OpenKb) -> None:
    file = tmp_path / "then.duckdb"
    with connect(file, threads=1) as kb:
        kb.insert("room", [("Ä",), ("Ü",), ("Ω",), ("as",), ("da",), ("a",)])
        for number, (today, _) in enumerate(FORMER):
            kb.add_rules(f"r{number}: {today}")
        kb.add_rules("t: ?P(X, X) :- named(P), ?P(X, _).")
        kb.insert("named", [("near",)])
        kb.insert("near", [("a", "b")])
        names = [name for (name,) in kb.sql("SELECT name FROM zodiac.predicate").fetchall()]
        expected = {name: sorted(kb.table(name).fetchall()) for name in names}
        assert expected["ends"] == [("Ä",)] and expected["alike"] == [("da",)]
    with duckdb.connect(str(file)) as connection:
        for number, (today, then) in enumerate(FORMER):
            text = kept(today, then)
            connection.execute(
                "UPDATE zodiac.rule SET source = $1 WHERE name = $2", [text, f"r{number}"]
            )
    for _ in range(2):
        with open_kb(file) as kb:
            assert {name: sorted(kb.table(name).fetchall()) for name in names} == expected
            assert kb.verify()
            kb.insert("room", [("Ö",)])
            assert kb.table("ends").fetchall() == [("Ä",)]
            assert len(kb.table("twice")) == 7
            kb.delete("room", [("Ö",)])
            assert kb.verify()
            again = "\n".join(kb.rules()["rule"].to_pylist())
        with connect(threads=1) as other:  # what is shown can be added again
            other.insert("room", [("Ä",), ("Ü",), ("Ω",), ("as",), ("da",), ("a",)])
            other.add_rules(again.replace("?P(X, X) :- named(P), ?P(X, _).", ""))
            for name in ("ends", "alike", "twice", "both", "Ж"):
                assert sorted(other.table(name).fetchall()) == expected[name]


def test_what_is_kept_today_means_the_same_then(tmp_path: Path) -> None:
    file = tmp_path / "now.duckdb"
    with connect(file, threads=1) as kb:
        kb.insert("room", [("a",)])
        kb.add_rules("ends(Ä) :- room(Ä) ; room(Ä), Ä != Ω, Ω = b.")
    with connect(file, threads=1, read_only=True) as kb:
        assert kb.table("ends").fetchall() == [("a",)]
        texts = kb.rules()["rule"].to_pylist()
        assert all("?Ä" in text and "?Ω" in text for text in texts[1:])
        assert kb.verify()


@pytest.mark.parametrize(
    ("then", "today"),
    [
        ('p(X) :- q(X, Ä), matches(X, "\\d").', 'p(X) :- q(X, "Ä"), matches(X, "d").'),
        ("p(?Ä) :- q(?Ä, Ä).", 'p(?Ä) :- q(?Ä, "Ä").'),
        ("Ä(X) :- Ö, not Ü(X, `Ä`).", "Ä(X) :- Ö, not Ü(X, `Ä`)."),
        ('p(Ä:x, "Ä\\n") :- q(Ö: X).', 'p(Ä:x, "Ä\\n") :- q(Ö: X).'),
        ('p("\\\\d", "ä"). /* Ä "\\d" */', 'p("\\\\d", "ä"). /* Ä "\\d" */'),
        ("p(X)) :- q(X, Ä).", 'p(X)) :- q(X, "Ä").'),
        ("p(Ä :-", "p(Ä :-"),
        ('p(X) :- q(X), X > "1_000" ^^ xsd:byte.', f'p(X) :- q(X), X > "1000"^^<{XSD}integer>.'),
        (f'p("300"^^<{XSD}byte>, "5"^^xsd:byte).', f'p("300"^^<{XSD}integer>, "5"^^xsd:byte).'),
        ('p(" inf "^^xsd:double, "2"^^x:y).', f'p("INF"^^<{XSD}double>, "2"^^x:y).'),
        ('p("20260131"^^xsd:date).', f'p("2026-01-31"^^<{XSD}date>).'),
        ('p("2026-01-31 10:00"^^xsd:dateTime).', f'p("2026-01-31T10:00:00"^^<{XSD}dateTime>).'),
    ],
)
def test_texts(then: str, today: str) -> None:
    assert as_today(then, {}) == today
