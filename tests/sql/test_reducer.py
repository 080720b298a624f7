"""Acyclic rules over join trees: which rules have one, their SQL, and that they give the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping

import duckdb
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from zodiac_sql.language.binding import arrange
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.language.types import body_types, expression_type
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Scan, Version, join_order, whole
from zodiac_sql.sql.reducer import JoinTree, join_tree, needs_first_pass, reduce
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.sql.select import compile_rule

PREDICATES = {"a": 1, "b": 2, "c": 2, "f": 2, "t": 3}
"""Predicates and their arities. The columns of f are numbers of type float, all others of int."""


def plan_of(text: str, delta: int | None = None) -> Plan:
    """The plan of a rule, one of whose atoms may read the delta."""
    (rule,) = parse(text).rules
    if delta is None:
        return whole(rule)
    body = arrange(rule.body)
    versions = [Version.DELTA if i == delta else Version.ALL for i in range(len(body.atoms))]
    return Plan(rule, join_order(map(Scan, body.atoms, versions)), body)


def context_of(
    schema: str = "main", rows: Mapping[str, int] | None = None, overlap: bool = False
) -> Context:
    """Tables named after predicates, of some sizes; the delta's can be part of the others, too."""

    def relation(predicate: str, version: Version) -> Relation:
        columns = tuple(Column(f"c{n}", t) for n, t in enumerate(types[predicate]))
        delta = f"delta_{predicate}"
        names = [delta] if version is Version.DELTA else [predicate, *([delta] if overlap else [])]
        return Relation(columns, tuple(Part(schema, n, (rows or {}).get(n, 1)) for n in names))

    types = {
        name: [Type.FLOAT if name == "f" else Type.INT] * arity
        for name, arity in PREDICATES.items()
    }
    return Context(relation, types, {}, {})


def head_of(plan: Plan, context: Context) -> list[Column]:
    """The columns of a rule's head, as their types are inferred."""
    types = body_types(plan.rule.body, context.columns, {}).types
    terms = plan.rule.head.terms
    return [Column(f"h{n}", expression_type(term, types, {})) for n, term in enumerate(terms)]


# --- which rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("p(A, C) :- b(A, B), c(B, C), f(C, _).", "b: A C; c<b: B C; f<c: C"),
        ("p(A) :- b(A, B), c(B, C), f(C, _).", "b: A; c<b: B; f<c: C"),
        ("p(A, D) :- b(A, B), c(B, C), f(C, D).", "b: A D; c<b: B D; f<c: C D"),
        ("p(X, Y) :- t(A, B, C), b(A, X), c(B, Y).", "b: X Y; t<b: A Y; c<t: B Y"),
        ("p(A) :- b(A, B), c(A, C), f(A, D).", "b: A; c<b: A; f<b: A"),
        ("p(A) :- b(A, A), c(A, 1), f(2, _).", "c: A; b<c: A; f<c: "),
        ("p(A) :- b(A, B), c(B, C), f(C, D), A < D.", "b: A D; c<b: B D; f<c: C D"),
        ("p(A) :- b(A, B), c(B, C), f(C, _), not a(C).", "b: A C; c<b: B C; f<c: C"),
        ("p(C) :- b(A, B), c(B, C), f(C, D), not a(D).", "f: C D; c<f: C; b<c: B"),
        ("p(A, N) :- b(A, B), c(B, _), f(B, C), N = C + 1.", "b: A C; c<b: B; f<b: B C"),
        ("p(A, C) :- b(A, B), c(B, C).", None),  # two atoms: see product.py
        ("p(A, B, C, D) :- b(A, B), c(B, C), f(C, D).", None),  # all is needed
        ("p(A, B) :- b(A, B), a(A), a(B).", None),  # a filter without variables of its own
        ("p(A) :- b(A, B), c(B, C), f(C, A).", None),  # cyclic
        ("p(A) :- b(A, Bc), c(Bc, BC), f(BC, _).", "b: A; c<b: Bc; f<c: BC"),
        ("p(A, N) :- b(A, B), c(B, _), f(B, _), AGGREGATE(a(X)) WITH count(X) AS N.", None),
    ],
)
def test_form(rule: str, expected: str | None) -> None:
    tree = join_tree(plan_of(rule))
    assert (tree and _shown(tree)) == expected


def _shown(tree: JoinTree) -> str:
    names = [scan.atom.predicate for scan in tree.scans]
    above = ["" if parent is None else f"<{names[parent]}" for parent in tree.parents]
    handed = [" ".join(v.name for v in some) for some in tree.handed]
    return "; ".join(f"{n}{p}: {h}" for n, p, h in zip(names, above, handed, strict=True))


@pytest.mark.parametrize(("largest", "expected"), [(29, False), (30, False), (31, True)])
def test_a_small_delta_reduces_all_else_first(largest: int, expected: bool) -> None:
    rule = "p(A) :- b(A, B), c(B, C), f(C, _)."
    context = context_of(rows={"delta_c": 10, "f": largest})
    tree, without = join_tree(plan_of(rule, 1)), join_tree(plan_of(rule))
    assert tree and without
    assert needs_first_pass(tree, context) is expected
    assert not needs_first_pass(without, context)


# --- the statement --------------------------------------------------------------------------------

EXPECTED = """
SELECT
  *
FROM (
  WITH scan0 AS MATERIALIZED (
    SELECT
      "a1"."c0" AS "vA",
      "a1"."c1" AS "vB"
    FROM "main"."delta_b" AS a1
  ), scan1 AS MATERIALIZED (
    SELECT
      "a1"."c0" AS "vB",
      "a1"."c1" AS "vC"
    FROM "main"."c" AS a1
  ), scan2 AS MATERIALIZED (
    SELECT
      "a1"."c0" AS "vC"
    FROM "main"."f" AS a1
  ), first1 AS MATERIALIZED (
    SELECT
      "n"."vB",
      "n"."vC"
    FROM scan1 AS n
    SEMI JOIN scan0 AS n0
      ON "n"."vB" = "n0"."vB"
  ), first2 AS MATERIALIZED (
    SELECT
      "n"."vC"
    FROM scan2 AS n
    SEMI JOIN first1 AS n1
      ON "n"."vC" = "n1"."vC"
  ), up1 AS MATERIALIZED (
    SELECT
      "n"."vB",
      "n"."vC"
    FROM first1 AS n
    SEMI JOIN first2 AS n2
      ON "n"."vC" = "n2"."vC"
  ), up0 AS MATERIALIZED (
    SELECT
      "n"."vA",
      "n"."vB"
    FROM scan0 AS n
    SEMI JOIN up1 AS n1
      ON "n"."vB" = "n1"."vB"
  ), down1 AS MATERIALIZED (
    SELECT
      "n"."vB",
      "n"."vC"
    FROM up1 AS n
    SEMI JOIN up0 AS n0
      ON "n"."vB" = "n0"."vB"
  ), join0 AS MATERIALIZED (
    SELECT DISTINCT
      "n"."vA",
      "n1"."vC"
    FROM up0 AS n
    JOIN down1 AS n1
      ON "n"."vB" = "n1"."vB"
  )
  SELECT DISTINCT
    *
  FROM (
    SELECT
      "a1"."vA" AS "h0",
      CAST("a1"."vC" AS DOUBLE) AS "h1"
    FROM "join0" AS a1
  ) AS u
) AS r
"""


def test_sql() -> None:
    """All is reduced by the delta first; D is never read; `f` only filters, so it is not joined."""
    plan, context = plan_of("p(A, C) :- b(A, B), c(B, C), f(C, D).", 0), context_of()
    tree = join_tree(plan)
    assert tree
    query = reduce(tree, head_of(plan, context), context, True).query
    assert query.sql(dialect="duckdb", pretty=True, normalize_functions=False) == EXPECTED.strip()


# --- the same heads -------------------------------------------------------------------------------


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, int]:
    """A rule whose atoms form a join tree, and how many atoms it has."""
    atoms: list[tuple[str, list[str]]] = []
    for number in range(draw(st.integers(3, 6))):
        name = draw(st.sampled_from(sorted(PREDICATES)))
        above = draw(st.sampled_from(atoms))[1] if atoms else []
        own = [f"V{number}{letter}" for letter in "XYZ"]
        terms = [draw(st.sampled_from([*above * 2, *own, "1"])) for _ in range(PREDICATES[name])]
        atoms.append((name, terms))
    bound = sorted({term for _, terms in atoms for term in terms} - {"1"})
    assume(bound)
    some = st.sampled_from(bound)
    tests = st.one_of(
        st.builds("{} < {}".format, some, some),
        st.builds("{} != 2".format, some),
        st.builds("not b({}, {})".format, some, st.sampled_from([*bound, "_"])),
    )
    rest = draw(st.lists(tests, max_size=2))
    kept = draw(st.lists(some, max_size=2))
    if draw(st.booleans()):
        rest.append(f"N = {draw(some)} + 1")
        kept.append("N")
    body = [f"{name}({', '.join(terms)})" for name, terms in atoms] + rest
    return f"p({', '.join(kept)}) :- {', '.join(body)}.", len(atoms)


SEEDS = 8


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with some schemas, in each of which there is a table for each predicate."""
    with duckdb.connect(config={"threads": 1}) as opened:
        for seed in range(SEEDS):
            opened.execute(f"CREATE SCHEMA s{seed}")
            for name in PREDICATES:
                for table in (name, f"delta_{name}"):
                    _fill(opened, f"s{seed}.{table}", name, random.Random(f"{seed} {table}"))
        yield opened


def _fill(
    connection: duckdb.DuckDBPyConnection, table: str, predicate: str, rng: random.Random
) -> None:
    """Makes a table of a few distinct rows."""
    places = range(PREDICATES[predicate])
    type_ = "DOUBLE" if predicate == "f" else "BIGINT"
    connection.execute(f"CREATE TABLE {table} ({', '.join(f'c{n} {type_}' for n in places)})")
    for row in {tuple(rng.randrange(4) for _ in places) for _ in range(rng.randrange(1, 12))}:
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join(map(str, row))})")


@settings(max_examples=40)
@given(body=bodies(), seed=st.integers(0, SEEDS - 1), overlap=st.booleans(), data=st.data())
def test_the_same_heads_come_out(
    connection: duckdb.DuckDBPyConnection,
    body: tuple[str, int],
    seed: int,
    overlap: bool,
    data: st.DataObject,
) -> None:
    text, atoms = body
    plan = plan_of(text, data.draw(st.sampled_from([None, *range(atoms)])))
    tree = join_tree(plan)
    assume(tree is not None)
    assert tree
    context = context_of(f"s{seed}", overlap=overlap)
    columns = head_of(plan, context)
    flat = compile_rule(plan, columns, context).query
    expected = Counter(set(_rows(connection, flat)))
    for first_pass in {False, tree.delta is not None}:
        assert (
            Counter(_rows(connection, reduce(tree, columns, context, first_pass).query)) == expected
        )


def _rows(connection: duckdb.DuckDBPyConnection, query: exp.Query) -> list[tuple[object, ...]]:
    return connection.execute(query.sql(dialect="duckdb")).fetchall()
