"""What modules leave of a hypernode: the rules that are evaluated in it, and its tables."""

from __future__ import annotations

from support.module_schemas import SYMBOLS, S, T, schema_of

from zodiac_sql.graph.hypergraph import hypergraph
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Atom, Rule
from zodiac_sql.rewrite.closures.recognise import modules_of
from zodiac_sql.rewrite.rewritten_hypernode import Inner, inner_of

T_UNEQUAL = "t: p(X, Z) :- p(X, Y), p(Y, Z), X != Z. "
COPY, BACK = "m: q(X, Y) :- p(X, Y). ", "n: p(X, Y) :- q(X, Y). "


def inner(text: str, modular: bool = True) -> Inner:
    """The one recursive hypernode of a program, with its modules at work."""
    program = parse(SYMBOLS + text)
    schema = schema_of(program)
    (hypernode,) = (h for h in hypergraph(program.rules, {}, 1).hypernodes if h.recursive)
    return inner_of(hypernode, modules_of(hypernode, schema) if modular else (), schema)


def printed(found: Inner) -> str:
    return "\n".join(map(_rule, found.hypernode.rules))


def _rule(rule: Rule) -> str:
    """`p`'s external facts are written p#external."""
    body = [_atom(part) if isinstance(part, Atom) else str(part) for part in rule.body]
    return f"{_atom(rule.head)} :- {', '.join(body)}"


def _atom(atom: Atom) -> str:
    return str(atom).replace("\0", "#")


def lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


def told(found: Inner) -> list[str]:
    """The modules as the catalog keeps them."""
    names = ("fed", "unequal", "covers", "parted")
    return [
        " ".join([str(row), *(name for name in names if getattr(row, name))]) for row in found.rows
    ]


def tables(found: Inner) -> dict[str, str]:
    return {
        f"{name}: {', '.join(str(c.type) for c in known.columns)}".replace(
            "\0", " "
        ): known.sql_name
        for name, known in found.tables.items()
    }


EXTERNAL = {"p external: symbol, symbol": "p external"}
CLASSES = {"p classes: symbol, int, bool": "p classes"}


# --- without modules ------------------------------------------------------------------------------


def test_without_modules_a_hypernode_is_as_it_is() -> None:
    found = inner(T + S, modular=False)
    assert printed(found) == lines("""
        p(X, Z) :- p(X, Y), p(Y, Z)
        p(X, Y) :- p(Y, X)
    """)
    assert (found.rows, found.tables, found.schema) == ((), {}, {})


# --- transitive -----------------------------------------------------------------------------------


def test_tc_alone() -> None:
    found = inner(T)
    assert printed(found) == "p(X, Z) :- p(X, Y), p#given(Y, Z)"
    assert told(found) == ["tc(p)"]
    assert found.tables == {} and set(found.schema) == {"p\0given"}
    assert found.schema["p\0given"].sql_name == "p"


def test_tc_alone_by_two_rules() -> None:
    found = inner(T + "t2: p(A, C) :- p(B, C), p(A, B). ")
    assert printed(found) == "p(X, Z) :- p(X, Y), p#given(Y, Z)"


def test_tc_with_an_inequality() -> None:
    found = inner(T_UNEQUAL)
    assert printed(found) == "p(X, Z) :- p(X, Y), p#given(Y, Z), X != Z"
    assert told(found) == ["tc(p) unequal"]


def test_tc_with_an_inequality_in_one_of_two_rules() -> None:
    found = inner(T_UNEQUAL + "t2: p(A, C) :- p(B, C), p(A, B). ")
    assert printed(found) == "p(X, Z) :- p(X, Y), p#given(Y, Z)"
    assert told(found) == ["tc(p)"]


def test_rules_of_other_hypernodes_do_not_feed_it() -> None:
    found = inner(T + "c: p(X, Y) :- e(X, Y). d: q(X, Y) :- p(X, Y). ")
    assert printed(found) == "p(X, Z) :- p(X, Y), p#given(Y, Z)"
    assert told(found) == ["tc(p)"]


def test_tc_fed() -> None:
    found = inner(COPY + T + BACK)
    assert printed(found) == lines("""
        q(X, Y) :- p(X, Y)
        p#external(X, Y) :- q(X, Y)
        p(X, Y) :- p#external(X, Y)
        p(X, Z) :- p(X, Y), p#given(Y, Z)
        p(X, Z) :- p(X, Y), p#external(Y, Z)
    """)
    assert told(found) == ["tc(p) fed"]
    assert tables(found) == EXTERNAL
    assert set(found.schema) == {"p\0given", "p\0external"}


def test_tc_fed_with_an_inequality() -> None:
    """Then companions that lead on feed it, too: what they derive may be R(a, a)."""
    found = inner(T_UNEQUAL + "l: p(A, C) :- p(A, B), e(B, C). ")
    assert printed(found) == lines("""
        p#external(A, C) :- p(A, B), e(B, C)
        p(X, Y) :- p#external(X, Y)
        p(X, Z) :- p(X, Y), p#given(Y, Z), X != Z
        p(X, Z) :- p(X, Y), p#external(Y, Z), X != Z
    """)
    assert told(found) == ["tc(p) fed unequal"]


def test_tc_fed_keeps_what_is_said_of_its_own_rules() -> None:
    found = inner(T + 'n: p(Y, b) :- p(X, Y), not f(X), X != "a c", BIND(X AS W). ')
    assert printed(found).splitlines()[0] == (
        "p#external(Y, b) :- p(X, Y), not f(X), X != a c, BIND(X AS W)"
    )


def test_tc_with_a_left_linear_companion() -> None:
    found = inner(T + "l: p(A, C) :- p(A, B), e(B, C). ")
    assert printed(found) == lines("""
        p(A, C) :- p(A, B), e(B, C)
        p(X, Z) :- p(X, Y), p#given(Y, Z)
    """)
    assert told(found) == ["tc(p)"] and found.tables == {}


def test_tc_with_a_right_linear_companion() -> None:
    found = inner(T + "r: p(A, C) :- e(A, B), p(B, C). ")
    assert printed(found) == lines("""
        p(A, C) :- e(A, B), p(B, C)
        p(X, Z) :- p#given(X, Y), p(Y, Z)
    """)
    assert told(found) == ["tc(p)"] and found.tables == {}


def test_tc_with_companions_in_both_directions() -> None:
    """Those that lead in the other one feed it."""
    found = inner(T + "l: p(A, C) :- p(A, B), e(B, C). r: p(A, C) :- e(A, B), p(B, C). ")
    assert printed(found) == lines("""
        p(A, C) :- p(A, B), e(B, C)
        p#external(A, C) :- e(A, B), p(B, C)
        p(X, Y) :- p#external(X, Y)
        p(X, Z) :- p(X, Y), p#given(Y, Z)
        p(X, Z) :- p(X, Y), p#external(Y, Z)
    """)
    assert told(found) == ["tc(p) fed"]
    mirrored = inner(
        "r: p(A, C) :- e(A, B), p(B, C). r2: p(A, C) :- f(A, B), p(B, C). "
        "l: p(A, C) :- p(A, B), e(B, C). " + T
    )
    assert printed(mirrored) == lines("""
        p(A, C) :- e(A, B), p(B, C)
        p(A, C) :- f(A, B), p(B, C)
        p#external(A, C) :- p(A, B), e(B, C)
        p(X, Y) :- p#external(X, Y)
        p(X, Z) :- p#given(X, Y), p(Y, Z)
        p(X, Z) :- p#external(X, Y), p(Y, Z)
    """)


def test_tc_with_a_symmetric_rule_that_asks_for_more() -> None:
    found = inner(T + "s: p(X, Y) :- p(Y, X), q(X, Y). ")
    assert printed(found) == lines("""
        p#external(X, Y) :- p(Y, X), q(X, Y)
        p(X, Y) :- p#external(X, Y)
        p(X, Z) :- p(X, Y), p#given(Y, Z)
        p(X, Z) :- p(X, Y), p#external(Y, Z)
    """)


# --- symmetric and transitive ---------------------------------------------------------------------


def test_stc_alone() -> None:
    found = inner(S + T)
    assert printed(found) == ""
    assert found.hypernode.recursive
    assert told(found) == ["stc(p) covers parted"]
    assert tables(found) == CLASSES
    assert set(found.schema) == {"p\0given", "p\0classes"}


def test_stc_with_inequalities() -> None:
    assert told(inner(S + T_UNEQUAL)) == ["stc(p) unequal covers parted"]
    strict = inner("s: p(X, Y) :- p(Y, X), X != Y. " + T_UNEQUAL)
    assert told(strict) == ["stc(p) unequal parted"]
    assert printed(strict) == ""


def test_stc_fed() -> None:
    found = inner(COPY + S + T + BACK)
    assert printed(found) == lines("""
        q(X, Y) :- p(X, Y)
        p#external(X, Y) :- q(X, Y)
    """)
    assert told(found) == ["stc(p) fed covers parted"]
    assert tables(found) == EXTERNAL | CLASSES


def test_stc_fed_by_what_would_lead_on() -> None:
    """A partition absorbs no rules."""
    found = inner(S + T + "l: p(X, Z) :- p(X, Y), e(Y, Z). ")
    assert printed(found) == "p#external(X, Z) :- p(X, Y), e(Y, Z)"
    assert told(found) == ["stc(p) fed covers parted"]


def test_stc_read_within_its_hypernode() -> None:
    found = inner(S + T + "r: q(X, Z) :- q(X, Y), p(Y, Z). n: p(X, X) :- q(X, a). ")
    assert printed(found) == lines("""
        q(X, Z) :- q(X, Y), p(Y, Z)
        p#external(X, X) :- q(X, a)
    """)


# --- several --------------------------------------------------------------------------------------


def test_several_modules_and_other_rules() -> None:
    found = inner(
        T + S + COPY + "u: q(X, Z) :- q(X, Y), q(Y, Z). l: q(X, Z) :- q(X, Y), e(Y, Z). " + BACK
        + "o: o(X) :- p(X, Y), not f(Y). i: q(X, X) :- o(X). "
    )  # fmt: skip
    assert printed(found) == lines("""
        q#external(X, Y) :- p(X, Y)
        q(X, Z) :- q(X, Y), e(Y, Z)
        p#external(X, Y) :- q(X, Y)
        o(X) :- p(X, Y), not f(Y)
        q#external(X, X) :- o(X)
        q(X, Y) :- q#external(X, Y)
        q(X, Z) :- q(X, Y), q#given(Y, Z)
        q(X, Z) :- q(X, Y), q#external(Y, Z)
    """)
    assert told(found) == ["stc(p) fed covers parted", "tc(q) fed"]
    assert tables(found) == {
        **EXTERNAL, **CLASSES, "q external: symbol, symbol": "q external"
    }  # fmt: skip
    assert set(found.schema) == {"p\0given", "p\0external", "p\0classes", "q\0given", "q\0external"}


def test_names_of_rules_inside_are_different() -> None:
    found = inner(
        T + "t2: p(A, C) :- p(B, C), p(A, B). " + COPY + BACK
        + "u: q(X, Z) :- q(X, Y), q(Y, Z). s: q(X, Y) :- q(Y, X), p(X, Y)."
    )  # fmt: skip
    names = [rule.name for rule in found.hypernode.rules]
    assert len(names) == len(set(names)) == 9


def test_two_closed_relations_that_feed_each_other() -> None:
    found = inner(T + S + COPY + "u: q(X, Z) :- q(X, Y), q(Y, Z). v: q(X, Y) :- q(Y, X). " + BACK)
    assert printed(found) == lines("""
        q#external(X, Y) :- p(X, Y)
        p#external(X, Y) :- q(X, Y)
    """)
    assert told(found) == ["stc(p) fed covers parted", "stc(q) fed covers parted"]
