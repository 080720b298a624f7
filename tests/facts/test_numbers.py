"""Numbers: one zero, one NaN, and expressions of any depth."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp
from support.old_files import BEFORE_THE_FEED

from zodiac_sql import connect

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.cost.choose_trees import Decomposing

OpenKb = Callable[..., "KnowledgeBase"]

SPELLED = 'spelled(T) :- m(X), T = concat(X, "").'


def texts(kb: KnowledgeBase, predicate: str) -> list[str]:
    return sorted(text for (text,) in kb.table(predicate).fetchall())


@pytest.mark.parametrize("way", ["tuples", "arrow", "csv", "jsonl", "parquet", "stream"])
def test_zero_has_no_sign_whatever_way_it_comes(open_kb: OpenKb, tmp_path: Path, way: str) -> None:
    with open_kb() as kb:
        kb.add_rules(f".decl m(x: float) {SPELLED}")
        table = pa.table({"x": [-0.0, 1.5]})
        if way == "tuples":
            kb.insert("m", [(-0.0,), (1.5,)])
        elif way == "arrow":
            kb.insert("m", table)
        elif way == "stream":
            kb.insert("m", table.to_reader())
        elif way == "parquet":
            pq.write_table(table, tmp_path / "m.parquet")
            kb.load(tmp_path / "m.parquet")
        else:
            file = tmp_path / f"m.{way}"
            file.write_text("x\n-0.0\n1.5\n" if way == "csv" else '{"x": -0.0}\n{"x": 1.5}\n')
            kb.load(file)
        assert texts(kb, "spelled") == ["0.0", "1.5"]
        kb.delete("m", [(-0.0,)])
        assert texts(kb, "spelled") == ["1.5"]


def test_zero_has_no_sign_in_rdf(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "m.nt"
    double = "<http://www.w3.org/2001/XMLSchema#double>"
    file.write_text(f'<http://e/a> <http://e/m> "-0.0"^^{double} .\n')
    with open_kb() as kb:
        kb.add_rules(
            "@prefix e: <http://e/> . .decl e:m(s: symbol, o: float)"
            ' s(T) :- e:m(_, X), T = concat(X, "").'
        )
        kb.load(file)
        assert texts(kb, "s") == ["0.0"]


def test_zero_has_no_sign_that_python_functions_make(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.register_function("neg", lambda x: -x, parameters=["float"], returns="float")
        kb.register_aggregate("low", lambda values: -0.0, parameter="float", returns="float")
        kb.add_rules(
            'm(0.0). n(T) :- m(X), T = concat(neg(X), "").'
            ' l(T) :- AGGREGATE(m(X)) WITH low(X) AS Y, T = concat(Y, "").'
        )
        assert texts(kb, "n") == texts(kb, "l") == ["0.0"]


def test_zeros_of_an_older_file_lose_their_sign(open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    with open_kb(path) as kb:
        kb.add_rules(".decl m(x: float, n: int) p(X) :- m(X, _).")
        kb.insert("m", [(0.0, 0), (1.5, 1)])
    with duckdb.connect(path) as old:
        old.execute("UPDATE edb.m SET x = '-0.0'::DOUBLE WHERE x = 0")
        old.execute("UPDATE idb.h1_p SET s = '-0.0'::DOUBLE WHERE s = 0")
        old.execute(BEFORE_THE_FEED)
        old.execute("DROP TABLE zodiac.rule_set; DROP TABLE zodiac.rule_member")
        old.execute("DROP TABLE zodiac.template; ALTER TABLE zodiac.rule DROP COLUMN template")
        old.execute("ALTER TABLE zodiac.rule DROP COLUMN predicates")
        old.execute("DELETE FROM zodiac.migration WHERE version >= 7")
    with open_kb(path) as kb:
        for predicate in ("m", "p"):
            values = [row[0] for row in kb.table(predicate).fetchall()]
            assert sorted(values) == [0.0, 1.5]
            assert math.copysign(1, min(values)) == 1
        assert kb.verify()


NESTED = {
    "sqrt": "sqrt({})",
    "ln": "ln(3 + {})",
    "quotient": "1 / (1 + {})",
    "rest": "7 % (1 + {})",
    "python": "half({})",
}


@pytest.mark.parametrize("call", NESTED.values(), ids=NESTED)
def test_nested_calls_do_not_double(open_kb: OpenKb, call: str) -> None:
    """Each writes its argument twice: 20 levels were a million copies."""
    calls = 0

    def half(value: float) -> float:
        nonlocal calls
        calls += 1
        return value / 2

    expression, value = "X", 16.0
    for _ in range(20):
        expression = call.format(expression)
    written = call.replace("{}", "value")
    for _ in range(20):
        value = eval(written, {"value": value, "sqrt": math.sqrt, "ln": math.log, "half": half})
    calls = 0
    with open_kb() as kb:
        kb.register_function("half", half, parameters=["float"], returns="float")
        kb.add_rules(f"m(16.0). m(-5.5). p(X, Y) :- m(X), Y = {expression}.")
        found = dict(kb.table("p").fetchall())
        assert found[16.0] == pytest.approx(value, rel=1e-12)
        assert calls < 100
        if call == NESTED["sqrt"]:
            assert found.keys() == {16.0}  # where there is no value, nothing is derived


@pytest.mark.parametrize(("function", "more"), [("floor", ()), ("round", (1,)), ("substr", (2, 3))])
def test_nested_calls_do_not_double_in_spark(function: str, more: tuple[int, ...]) -> None:
    dialect = pytest.importorskip("zodiac_sql.spark.dialect")

    def size(depth: int) -> int:
        value: exp.Expr = exp.column("x")
        for _ in range(depth):
            arguments = [value, *map(exp.Literal.number, more)]
            value = exp.Anonymous(this=function, expressions=arguments)
            if function != "substr":
                value = exp.cast(value, "DOUBLE")
        return len(dialect.statement(exp.select(value).from_("t")).text)

    assert size(16) < 3 * size(8)


@pytest.mark.parametrize("hypertree", [True, "auto", False])
def test_a_cyclic_rule_in_which_an_int_meets_a_float(hypertree: Decomposing) -> None:
    """Nodes of a tree do not know what the rest of the rule says: they would join ints as ints."""
    large = 2**53
    with connect(threads=1, hypertree=hypertree) as kb:
        kb.add_rules(
            ".decl e(a: int, b: int) .decl g(a: float)"
            " p(X) :- e(X, A), e(A, Y), e(Y, B), e(B, X), g(A)."
        )
        kb.insert("e", [(1, large), (large + 1, 3), (3, 4), (4, 1)])
        kb.insert("g", [(float(large),)])
        assert kb.table("p").fetchall() == [(1,)]
        kb.insert("e", [(large, 5), (5, 4)])
        kb.delete("e", [(large + 1, 3)])
        assert kb.table("p").fetchall() == [(1,)]
        kb.delete("e", [(5, 4)])
        assert kb.table("p").fetchall() == []
        assert kb.verify()
