"""The SQL of look-ups, as text that people can read."""

from __future__ import annotations

from zodiac_sql.graph.hypergraph import hypergraph
from zodiac_sql.language.parse import parse
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.lookups import moves
from zodiac_sql.lookups.body import Scope
from zodiac_sql.lookups.rule_forms import forms_of
from zodiac_sql.lookups.statements import Compiler, Statements
from zodiac_sql.lookups.tables import Copy, creations
from zodiac_sql.program.state import HypernodeRow


def copy(number: int, arity: int, bits: dict[int, int], recursive: int | None = None) -> Copy:
    return Copy(number, arity, bits, recursive, facts=1_000, distinct=(100,) * arity)


def compiled(text: str, copies: dict[str, Copy], recursive: bool = False) -> Statements:
    """The statements of hypernode 1, which has the rules of a text."""
    rules = parse(text, "<test>", {}).rules
    graph = hypergraph(rules, {}, 1)
    (hypernode,) = graph.hypernodes
    row = HypernodeRow(1, 0, recursive, tuple(rule.name for rule in rules), ranked=recursive)
    schema = {
        name: Predicate(
            name, name, (Column("s", Type.SYMBOL),) * one.arity, (None,) * one.arity, ()
        )
        for name, one in copies.items()
    }
    forms = forms_of(graph, hypernode, row, schema, ())
    assert forms
    own = frozenset(hypernode.derives if recursive else ())
    return Compiler(Scope(1, own, copies, {"a": 7}, {})).compile(forms)


PATHS = {"e": copy(0, 2, {0: 1}), "p": copy(1, 2, {0: 1, 1: 2}), "n": copy(2, 1, {0: 1})}


def test_a_rule_that_joins_and_negates() -> None:
    found = compiled("r: p(X, Y) :- e(X, Z), e(Z, Y), not n(X).", PATHS)
    first, second = found.won["e"]
    assert first.text == (
        "INSERT OR IGNORE INTO won_1 SELECT d.c0, a1.c1 "
        "FROM entered_0 AS d CROSS JOIN fact_0 AS a1 "
        "WHERE a1.c0 = d.c1 AND a1.owners <> 0"
        " AND NOT EXISTS(SELECT 1 FROM fact_2 AS n0 WHERE n0.c0 = d.c0 AND n0.owners <> 0)"
        " AND NOT EXISTS(SELECT 1 FROM fact_1 AS t"
        " WHERE t.c0 = d.c0 AND t.c1 = a1.c1 AND (t.owners & 2) <> 0)"
    )
    assert "FROM entered_0 AS d CROSS JOIN fact_0 AS a1 WHERE a1.c1 = d.c0" in second.text
    (freed,) = found.freed["n"]
    assert freed.text.startswith(
        "INSERT OR IGNORE INTO won_1 SELECT d.c0, a2.c1 FROM left_2 AS d CROSS JOIN fact_0 AS a1"
    )
    (check,) = found.checks["p"]
    assert check.one_by_one == (
        "DELETE FROM lost_1 WHERE EXISTS("
        "SELECT 1 FROM fact_0 AS a0 CROSS JOIN fact_0 AS a1 "
        "WHERE a0.c0 = lost_1.c0 AND a0.owners <> 0 AND a1.c0 = a0.c1 AND a1.c1 = lost_1.c1"
        " AND a1.owners <> 0"
        " AND NOT EXISTS(SELECT 1 FROM fact_2 AS n0 WHERE n0.c0 = lost_1.c0 AND n0.owners <> 0))"
    )
    assert found.lookups == {("e", (0,)), ("e", (1,)), ("e", (0, 1)), ("n", (0,))}


def test_many_candidates_are_checked_together() -> None:
    rule = "r: p(X, Y) :- e(X, Z), f(Z, Y), not n(Z), X != Y, not e(X, Y)."
    found = compiled(rule, PATHS | {"f": copy(3, 2, {0: 1})})
    (check,) = found.checks["p"]
    assert check.together is not None
    assert check.together.count_values == (
        "SELECT COUNT(*) FROM (SELECT DISTINCT lost_1.c0 AS k0 FROM lost_1) AS d"
    )
    assert check.together.text == (
        "WITH shared AS MATERIALIZED ("
        "SELECT d.k0 AS v0, a1.c1 AS v1"
        " FROM (SELECT DISTINCT lost_1.c0 AS k0 FROM lost_1) AS d CROSS JOIN fact_0 AS a1"
        " WHERE a1.c0 = d.k0 AND a1.owners <> 0"
        " AND NOT EXISTS(SELECT 1 FROM fact_2 AS n0 WHERE n0.c0 = a1.c1 AND n0.owners <> 0)"
        " AND EXISTS(SELECT 1 FROM fact_3 AS e0 WHERE e0.c0 = a1.c1 AND e0.owners <> 0)) "
        "DELETE FROM lost_1 WHERE EXISTS("
        "SELECT 1 FROM shared AS s CROSS JOIN fact_3 AS a1"
        " WHERE s.v0 = lost_1.c0 AND a1.c0 = s.v1 AND a1.c1 = lost_1.c1 AND a1.owners <> 0"
        " AND lost_1.c0 <> lost_1.c1"
        " AND NOT EXISTS(SELECT 1 FROM fact_0 AS n0"
        " WHERE n0.c0 = lost_1.c0 AND n0.c1 = lost_1.c1 AND n0.owners <> 0))"
    )


def test_candidates_with_few_values_in_common_are_checked_one_by_one() -> None:
    (check,) = compiled("r: p(X, Y) :- e(X, Z), e(Z, Y).", PATHS).checks["p"]
    assert check.together is not None
    assert check.together.found == 10  # facts of e for each X
    assert check.together.pays(candidates=100, values=20)
    assert not check.together.pays(candidates=100, values=21)


def test_nothing_is_shared_where_the_first_atom_has_all_values_or_none() -> None:
    for rule in ("r: p(X, Y) :- e(X, Y), n(X).", "r: p(X, X) :- e(X, Y), e(Y, Z)."):
        (check,) = compiled(rule, PATHS).checks["p"]
        assert check.together is None


def test_a_recursive_rule_counts_only_facts_of_lower_ranks() -> None:
    copies = PATHS | {"p": copy(1, 2, {0: 1, 1: 2}, recursive=1)}
    found = compiled("r: p(X, Z) :- p(X, Y), e(Y, Z).", copies, recursive=True)
    (check,) = found.checks["p"]
    assert (
        "((a0.owners & 1) <> 0 OR ((a0.owners & 2) <> 0 AND a0.rank < lost_1.rank))"
        in check.one_by_one
    )
    (losing,) = found.losing["p"]
    assert "FROM delta_1 AS d CROSS JOIN fact_0 AS a1 CROSS JOIN fact_1 AS t" in losing.text
    assert "t.rank > d.rank" in losing.text
    assert not found.winning.get("e")


def test_one_statement_for_all_rounds() -> None:
    copies = PATHS | {"p": copy(1, 2, {0: 1, 1: 2}, recursive=1)}
    deep = compiled("r: p(X, Z) :- p(X, Y), e(Y, Z).", copies, recursive=True).deep
    assert deep is not None
    assert deep.creation == (
        "CREATE TABLE IF NOT EXISTS deep_2 (number INTEGER PRIMARY KEY, tag, c0, c1, rank)"
    )
    assert deep.losing == (
        "INSERT INTO deep_2 (tag, c0, c1, rank) "
        "WITH RECURSIVE found(tag, c0, c1, rank, leaves) AS ("
        "SELECT 1, t.c0, t.c1, t.rank, (NOT (t.owners & 1) <> 0)"
        " FROM lost_1 AS l CROSS JOIN fact_1 AS t WHERE l.c0 = t.c0 AND l.c1 = t.c1"
        " UNION "
        "SELECT 1, t.c0, t.c1, t.rank, (NOT (t.owners & 1) <> 0)"
        " FROM found AS d CROSS JOIN fact_0 AS a1 CROSS JOIN fact_1 AS t"
        " WHERE d.tag = 1 AND a1.c0 = d.c1 AND d.leaves AND t.c0 = d.c0 AND t.c1 = a1.c1"
        " AND (t.owners & 2) <> 0 AND t.rank > d.rank) "
        "SELECT tag, c0, c1, rank FROM found"
    )
    assert deep.winning is not None
    assert "UNION SELECT 1, d.c0, a1.c1 FROM found AS d CROSS JOIN fact_0 AS a1" in deep.winning
    assert "AND NOT EXISTS(SELECT 1 FROM fact_1 AS t WHERE" in deep.winning
    assert ":top + d.number FROM deep_2 AS d WHERE d.tag = 1" in deep.found["p"].merge


def test_a_rule_that_joins_what_it_derives_is_won_round_by_round() -> None:
    copies = PATHS | {"p": copy(1, 2, {0: 1, 1: 2}, recursive=1)}
    deep = compiled("r: p(X, Z) :- p(X, Y), p(Y, Z).", copies, recursive=True).deep
    assert deep is not None and deep.winning is None
    assert deep.losing.count("FROM found AS d") == 2


def test_values_of_several_columns_are_counted_together() -> None:
    """Of three facts for each value of c0, and one for each of c1, whatever c2 is."""
    some = Copy(0, 3, {0: 1}, None, 3_000, (1_000, 3_000, 10), {(0, 2): 1_000, (1, 2): 3_000})
    assert [some.found(places) for places in ([0], [2, 0], [1, 2], [0, 1])] == [3, 3, 1, 1]


def test_constants_and_repeated_variables() -> None:
    found = compiled(
        "r: n(X) :- e(X, X), p(a, X), X != a.", PATHS | {"n": copy(2, 1, {0: 1, 1: 2})}
    )
    (first,) = found.won["e"]
    assert (
        "FROM entered_0 AS d CROSS JOIN fact_1 AS a1 "
        "WHERE d.c1 = d.c0 AND a1.c0 = 7 AND a1.c1 = d.c0 AND a1.owners <> 0 AND d.c0 <> 7"
    ) in first.text


def test_tables_and_moves() -> None:
    fact, moved, *_ = creations(PATHS["p"])
    assert fact == "CREATE TABLE fact_1 (c0, c1, owners, rank, PRIMARY KEY (c0, c1)) WITHOUT ROWID"
    assert moved.startswith("CREATE TABLE moved_1 (c0, c1, owners, rank,")
    assert moves.set_bit(PATHS["p"]) == (
        "INSERT INTO fact_1 SELECT w.c0, w.c1, :bit, NULL FROM won_1 AS w WHERE TRUE "
        "ON CONFLICT(c0, c1) DO UPDATE SET owners = (owners | :bit)"
    )
    assert moves.fill_left(PATHS["p"]) == (
        "INSERT OR IGNORE INTO left_1 SELECT t.c0, t.c1 FROM moved_1 AS m CROSS JOIN fact_1 AS t "
        "WHERE (m.c0 = t.c0 AND m.c1 = t.c1) AND (m.owners & :mask) <> 0"
        " AND NOT (t.owners & :mask) <> 0"
    )
