"""Columns get other types: by `alter`, and ints become floats by themselves for fractions."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command_line import answered, refused
from support.contents import extensions
from support.examples import share
from support.fed import entries, facts, replayed

from zodiac_sql import ConstraintError, DataError, LimitError, ProgramError, QueryError, connect

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


def columns(kb: KnowledgeBase) -> dict[str, str]:
    return {row["predicate"]: row["columns"] for row in kb.predicates().to_pylist()}


def test_what_depends_on_it_is_derived_anew(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        kb.add_rules("""
            next(X, Y) :- at(X, T), Y = T + 1.
            sum(S) :- AGGREGATE(at(X, T)) WITH SUM(T) AS S.
            named(L) :- at(X, T), L = concat(X, "!").
        """)
        kb.insert("at", [("a", 1), ("b", 2)])
        change = kb.alter("at", {"o": "float"})
        assert (change.inserted, change.deleted) == ({}, {})
        assert columns(kb) == {
            "at": "s: symbol, o: float", "next": "s: symbol, o: float", "sum": "s: float",
            "named": "s: symbol",
        }  # fmt: skip
        assert kb.verify()
        assert kb.insert("at", [("c", 0.5)]).inserted == {"at": 1, "next": 1, "sum": 1, "named": 1}
    with open_kb(file) as kb:
        assert kb.table("sum").fetchall() == [(3.5,)] and kb.verify()
        with pytest.raises(DataError, match=r"column o holds 0\.5, which cannot become int"):
            kb.alter("at", {"o": "int"})
        kb.delete("at", [("c", 0.5)])
        kb.alter("at", {"o": "int"})
        assert columns(kb)["next"] == "s: symbol, o: int" and kb.verify()


def test_rules_can_forbid_it(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("next(X, Y) :- at(X, T), Y = T + 1.")
        kb.insert("at", [("a", 1)])
        before = extensions(kb)
        with pytest.raises(
            ProgramError, match="takes decimal or float or int, not T of type symbol"
        ):
            kb.alter("at", {"o": "symbol"})
        assert extensions(kb) == before and kb.verify()
        kb.drop_rules("r1")
        change = kb.alter("at", {"o": "symbol"})
        assert change.inserted == change.deleted == {"at": 1}
        assert kb.table("at").fetchall() == [("a", "1")]


def test_what_is_refused(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("p", [("a", True)])
        for predicate, types, said in (
            ("q", {"s": "int"}, "no predicate q"),
            ("p", {"x": "int"}, "p has no column x: it has s, o"),
            ("p", {"s": "number"}, "number is no type"),
            ("p", {"o": "int"}, "has the type bool, which cannot become int"),
        ):
            with pytest.raises(QueryError, match=said):
                kb.alter(predicate, types)
        assert kb.alter("p", {"o": "bool"}).notes == ("p has these types already",)
        with pytest.raises(QueryError, match="an update of their own"), kb.update() as update:
            update.insert("p", [("b", False)])
            update.alter("p", {"o": "symbol"})
        with kb.preview() as preview:
            preview.alter("p", {"o": "symbol"})
            preview.insert("p", [("b", "true")])
        assert preview.change.inserted == {"p": 2}
        with kb.preview() as preview:
            preview.alter("p", {"o": "symbol"})
        assert preview.change.inserted == {"p": 1} and columns(kb)["p"] == "s: symbol, o: bool"


MOMENT = dt.datetime(2026, 1, 31, 12, 30, 0, 5)
CONVERSIONS: list[tuple[Any, str, Any]] = [
    (5, "float", 5.0), (5.0, "int", 5), (5, "symbol", "5"), ("5", "int", 5), ("-7", "float", -7.0),
    (0.1, "symbol", "0.1"), ("0.1", "float", 0.1), (float("inf"), "symbol", "inf"),
    (True, "symbol", "true"), ("false", "bool", False), (2**53, "float", float(2**53)),
    (dt.date(2026, 1, 31), "symbol", "2026-01-31"), ("2026-01-31", "date", dt.date(2026, 1, 31)),
    (dt.date(2026, 1, 31), "timestamp", dt.datetime(2026, 1, 31)),
    (dt.datetime(2026, 1, 31), "date", dt.date(2026, 1, 31)),
    (MOMENT, "symbol", "2026-01-31 12:30:00.000005"),
    ("2026-01-31 12:30:00.000005", "timestamp", MOMENT),
]  # fmt: skip


@pytest.mark.parametrize(("before", "type_", "after"), CONVERSIONS)
def test_values_that_convert(open_kb: OpenKb, before: Any, type_: str, after: Any) -> None:
    with open_kb() as kb:
        kb.insert("p", [("k", before)])
        kb.alter("p", {"o": type_})
        assert kb.table("p").fetchall() == [("k", after)] and kb.verify()


INEXACT: list[tuple[Any, str]] = [
    (2**53 + 1, "float"), (5.5, "int"), (1e300, "int"), (float("nan"), "int"), ("05", "int"),
    ("5.50", "float"), ("-0.0", "float"), ("nine", "float"), ("9223372036854775808", "int"),
    ("True", "bool"), ("2026-1-31", "date"), ("", "int"), (MOMENT, "date"), ("wt1", "timestamp"),
    ('"5"^^<http://www.w3.org/2001/XMLSchema#byte>', "int"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "type_"), INEXACT)
def test_values_that_do_not(open_kb: OpenKb, value: Any, type_: str) -> None:
    with open_kb() as kb:
        kb.insert("p", [("k", value)])
        with pytest.raises(DataError, match=f"cannot become {type_} exactly"):
            kb.alter("p", {"o": type_})
        assert len(kb.table("p")) == 1 and kb.verify()


def test_two_texts_never_become_one_number(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("p", [("5",), ("5.0",)])
        with pytest.raises(DataError, match=r"5 and 5\.0, which are the same float"):
            kb.alter("p", {"s": "float"})


def test_several_columns_and_no_facts(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(".decl e(a: int, b: symbol) d(X) :- e(X, _).")
        kb.alter("e", {"a": "float", "b": "int"})
        assert columns(kb) == {"e": "a: float, b: int", "d": "s: float"}
        kb.insert("p", [(1, "2", "x")])
        kb.alter("p", {"c0": "symbol", "c1": "int"})
        assert kb.table("p").fetchall() == [("1", 2, "x")]
        kb.alter("d", {"s": "float"})
        kb.add_rules("late(X) :- none(X).")
        kb.alter("late", {"s": "date"})
        assert columns(kb)["late"] == "s: date" and kb.verify()


# --- by itself ------------------------------------------------------------------------------------


def test_a_second_file_has_fractions(open_kb: OpenKb, tmp_path: Path) -> None:
    """Files of all formats, and rows: the first says 5, the second 5.5."""
    with open_kb() as kb:
        (tmp_path / "csv.csv").write_text("x,n\na,7\n")
        kb.load(tmp_path / "csv.csv")
        kb.add_rules("double(X, Y) :- csv(X, T), Y = T * 2.")
        for suffix in ("csv", "jsonl", "parquet"):
            for number, value in enumerate((5, 5.5)):
                file = tmp_path / f"{number}.{suffix}"
                if suffix == "csv":
                    file.write_text(f"x,n\na,{value}\n")
                elif suffix == "jsonl":
                    file.write_text(f'{{"x": "a", "n": {value}}}\n')
                else:
                    pq.write_table(pa.table({"x": ["a"], "n": [value]}), file)
                change = kb.load(file, suffix)
            said = f"{suffix}: column n was int, and becomes float: there is a fraction"
            assert said in change.notes
            assert facts(kb)[suffix] - {("a", 7.0)} == {("a", 5.0), ("a", 5.5)}
        assert facts(kb)["double"] == {("a", 10.0), ("a", 11.0), ("a", 14.0)}
        with kb.update() as update:
            update.insert("p", [(1,)])
            update.insert("p", [(1.5,)])
        with kb.update() as update:
            update.insert("q", [(1,), (2,)])
        with kb.update() as update:
            update.delete("q", [(1,)])
            update.insert("q", [(0.5,)])
        assert facts(kb)["p"] == {(1.0,), (1.5,)} and facts(kb)["q"] == {(2.0,), (0.5,)}
        assert kb.verify()


def test_what_does_not_widen(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb() as kb:
        kb.add_rules(".decl e(x: int) .decl h(x: int) h(X) :- p(X).")
        kb.insert("p", [(1,)])
        kb.insert("large", [(2**53 + 1,)])
        with pytest.raises(DataError, match=r"kb\.alter\(\"e\", {\"x\": \"float\"}\)"):
            kb.insert("e", [(0.5,)])
        with pytest.raises(DataError, match="But rules forbid that"):
            kb.insert("p", [(0.5,)])
        assert "becomes any" in kb.insert("large", [(0.5,)]).notes[0]
        (note,) = kb.delete("p", [(0.5,)]).notes
        assert note.startswith("p: 1 fact that is to be deleted cannot be there")
        assert columns(kb)["p"] == "s: int" and kb.verify()


# --- random ---------------------------------------------------------------------------------------

RULES = """
    path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), path(Y, Z).
    near(X, Y) :- link(X, Y).  near(X, Y) :- near(Y, X).  near(X, Z) :- near(X, Y), near(Y, Z).
    end(X) :- edge(_, X), not edge(X, _).
    count(X, N) :- AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS N.
    both(X, Y) :- edge(X, Y), link(X, Z), Z != Y.
"""


def test_nothing_moves_where_two_hypernodes_have_the_same_facts(open_kb: OpenKb) -> None:
    """A closure that is kept as classes has the facts, too, that another rule gives it."""
    with open_kb() as kb:
        kb.add_rules(f".decl link(s: int, o: int) {RULES}")
        kb.keep_feed()
        kb.insert("link", [(0, 3), (0, 0)])
        position = kb.changes().position
        change = kb.alter("link", {"s": "float", "o": "float"})
        assert not change.inserted and not change.deleted
        assert kb.changes().position == position
        kb.insert("link", [(3.0, 4.0)])
        assert kb.verify()


@settings(max_examples=share(30))
@given(seed=st.integers(0, 10_000))
def test_as_from_scratch(open_kb: OpenKb, seed: int) -> None:
    """Types and facts change at random. What is there is what the rules derive of the facts; the
    change feed and the counts of each change tell what has become of it.
    """
    chance = random.Random(seed)
    make: dict[str, Callable[[int], object]] = {"int": int, "float": float, "symbol": str}
    types = {"edge": "int", "link": "int"}
    known: dict[str, set[tuple[int, int]]] = {name: set() for name in types}
    with open_kb() as kb:
        kb.add_rules("".join(f".decl {name}(s: int, o: int)\n" for name in types) + RULES)
        kb.keep_feed()
        for _ in range(12):
            before, position = facts(kb), kb.changes().position
            if chance.random() < 0.4:
                to = chance.choice([*make] if types["edge"] == "int" else ["int", types["edge"]])
                with kb.update() as update:  # both, because some rules compare them
                    for name in types:
                        update.alter(name, {"s": to, "o": to})
                        types[name] = to
            else:
                name = chance.choice([*types])
                verb = chance.choice((kb.insert, kb.insert, kb.delete))
                rows = {(chance.randrange(5), chance.randrange(5)) for _ in range(2)}
                verb(name, [tuple(map(make[types[name]], row)) for row in rows])
                known[name] = known[name] | rows if verb == kb.insert else known[name] - rows
            assert replayed(before, entries(kb, since=position)) == facts(kb)
        with connect(threads=1) as fresh:
            fresh.add_rules(RULES)
            for name, rows in known.items():
                fresh.insert(name, [tuple(map(make[types[name]], row)) for row in rows])
            assert facts(fresh) == facts(kb)
        assert kb.verify()


def test_on_the_command_line(open_kb: OpenKb, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with connect("a.duckdb") as kb:
        kb.insert("p", [("a", 1)])
    assert "no fact came or went" in answered("alter", "a.duckdb", "p", "o=float")
    assert "o: float" in answered("show", "a.duckdb", "predicates")
    assert "cannot become bool" in refused("alter", "a.duckdb", "p", "o=bool")
    refused("alter", "a.duckdb", "p", "o", status=2)


def test_a_node_of_another_tree_that_has_no_row() -> None:
    """With other types the rule has another tree, in which node 2 is empty; once, it kept the rows
    that node 2 of the former tree had.
    """
    with connect(threads=1, hypertree=True) as kb:
        kb.add_rules("""
            .decl edge(s: int, o: int) .decl link(s: int, o: int)
            ring(X, Y) :- edge(X, A), link(A, Y), edge(Y, B), link(B, X), X != Y.
        """)
        kb.insert("edge", [(2, 0), (1, 4), (3, 0), (0, 3)])
        kb.insert("link", [(3, 1), (1, 1), (1, 3), (3, 4)])
        with kb.update() as update:
            update.alter("edge", {"s": "float", "o": "float"})
            update.alter("link", {"s": "float", "o": "float"})
        assert kb.verify()


def test_limits_and_constraints_hold_here_too(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("p", [(1,)])
        kb.add_rules('c: !- p(X), text(X) = "1.0".')
        with pytest.raises(LimitError):
            kb.alter("p", {"s": "float"}, timeout=1e-9)
        with pytest.raises(ConstraintError):
            kb.alter("p", {"s": "float"})
        with pytest.raises(LimitError):
            kb.keep_feed(["p"], timeout=1e-9)
        assert columns(kb) == {"p": "s: int"} and not len(kb.feed())
        assert kb.alter("p", {"s": "float"}, check=False).violations[0].constraint == "c"


def test_fractions_in_texts_of_rules_make_room_for_themselves(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("p", [("a", 1)])
        kb.add_rules("r: big(X, T + 1) :- p(X, T). .decl d(x: int)\nd(1).")
        change = kb.add_rules("p(b, 2.5). p(c, 3).")
        assert change.notes == ("p: column o was int, and becomes float: there is a fraction",)
        assert set(kb.table("p").fetchall()) == {("a", 1.0), ("b", 2.5), ("c", 3.0)}
        assert ("b", 3.5) in kb.table("big").fetchall()
        with pytest.raises(ProgramError, match="column x of d is int"):
            kb.add_rules("d(1.5).")
        kb.insert("w", [(2**53 + 1,)])
        assert "becomes any" in kb.add_rules("w(1.5).").notes[0]
        assert kb.table("w").num_rows == 2
        assert kb.verify()
