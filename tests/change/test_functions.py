"""Functions from Python in rules and goals: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from zodiac_sql import (
    Function,
    FunctionError,
    KnowledgeBase,
    MissingFunctionWarning,
    ProgramError,
    ZodiacError,
    connect,
)

OpenKb = Callable[..., KnowledgeBase]


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    with open_kb() as opened:
        opened.insert("reading", [("wt1", 10.0), ("wt2", 20.0), ("wt2", 26.0)])
        yield opened


def rows(kb: KnowledgeBase, predicate: str = "p") -> list[tuple[Any, ...]]:
    return sorted(kb.table(predicate).fetchall())


# --- scalars --------------------------------------------------------------------------------------


def test_types_from_annotations(kb: KnowledgeBase) -> None:
    def fahrenheit(celsius: float) -> float:
        return celsius * 9 / 5 + 32

    kb.register_function("fahrenheit", fahrenheit)
    kb.add_rules("p(X, F) :- reading(X, T), BIND(fahrenheit(T) AS F), fahrenheit(T) > 60.")
    assert rows(kb) == [("wt2", 68.0), ("wt2", 78.8)]


def test_types_given(kb: KnowledgeBase) -> None:
    kb.register_function("level", lambda t: round(t / 10), ["float"], int)
    kb.add_rules("p(L) :- reading(_, T), L = level(T) .")
    assert rows(kb) == [(1,), (2,), (3,)]


def test_every_type_goes_in_and_out(kb: KnowledgeBase) -> None:
    def same(value: Any) -> Any:
        return value

    values: dict[str, Any] = {
        "symbol": "a", "int": -7, "float": 2.5, "bool": True,
        "date": dt.date(2024, 2, 29), "timestamp": dt.datetime(2024, 2, 29, 12, 30, 1, 5),
    }  # fmt: skip
    for type_, value in values.items():
        kb.register_function(f"same_{type_}", same, [type_], type_)
        kb.insert(f"in_{type_}", [(value,)])
        kb.add_rules(f"out_{type_}(Y) :- in_{type_}(X), BIND(same_{type_}(X) AS Y).")
        assert rows(kb, f"out_{type_}") == [(value,)]


def test_integers_go_into_floats(kb: KnowledgeBase) -> None:
    kb.register_function("half", lambda x: x / 2, [float], float)
    kb.insert("n", [(3,)])
    kb.add_rules("p(H) :- n(X), BIND(half(X) AS H).")
    assert rows(kb) == [(1.5,)]


def test_arrow_gets_many_rows_at_once(kb: KnowledgeBase) -> None:
    sizes = []

    def doubled(values: pa.ChunkedArray) -> pa.ChunkedArray:
        sizes.append(len(values))
        return pc.multiply(values, 2)

    kb.register_function("doubled", doubled, ["int"], "int", arrow=True)
    kb.insert("n", [(i,) for i in range(5000)])
    kb.add_rules("p(Y) :- n(X), BIND(doubled(X) AS Y).")
    assert rows(kb) == [(2 * i,) for i in range(5000)]
    assert len(sizes) < 100


def test_text_in_and_out(kb: KnowledgeBase) -> None:
    """What goes in has neither quotes nor language; what comes out is a plain string, a new one or
    one that rules and facts mention."""
    seen: list[str] = []

    def greet(name: str) -> str:
        seen.append(name)
        return f"hello {name}"

    kb.register_function("greet", greet)
    kb.add_rules('n("Ann"@en). n(bob). n(<http://e/x>). known("hello bob").')
    kb.add_rules("p(G) :- n(X), BIND(greet(X) AS G).  q(G) :- p(G), known(G).")
    assert rows(kb) == [("hello Ann",), ("hello bob",), ("hello http://e/x",)]
    assert set(seen) == {"Ann", "bob", "http://e/x"}
    assert rows(kb, "q") == [("hello bob",)]


def test_text_that_could_be_taken_for_something_else_is_quoted(kb: KnowledgeBase) -> None:
    kb.register_function("iri", lambda x: "http://e/" + x, [str], str)
    kb.add_rules("n(a). p(Y) :- n(X), BIND(iri(X) AS Y). q(Y) :- p(Y), Y != <http://e/a>.")
    assert rows(kb) == rows(kb, "q") == [('"http://e/a"',)]


def test_none_means_no_value(kb: KnowledgeBase) -> None:
    kb.register_function("if_hot", lambda t: t if t > 15 else None, [float], float)
    kb.add_rules("p(X, H) :- reading(X, T), BIND(if_hot(T) AS H).")
    kb.add_rules("tested(X) :- reading(X, T), if_hot(T) != 0.")
    assert rows(kb) == [("wt2", 20.0), ("wt2", 26.0)]
    assert rows(kb, "tested") == [("wt2",)]
    assert len(kb.query("reading(X, T), BIND(if_hot(T) AS H)")) == 2


def test_no_value_is_not_given_to_a_function(kb: KnowledgeBase) -> None:
    """1 / 0 has no value, so neither has a function of it."""
    kb.register_function("plus_one", lambda x: x + 1, [float], float)
    kb.insert("n", [(0.0,), (2.0,)])
    kb.add_rules("p(Y) :- n(X), BIND(plus_one(1.0 / X) AS Y).")
    assert rows(kb) == [(1.5,)]


def test_a_function_is_called_once_for_each_row(kb: KnowledgeBase) -> None:
    calls = []

    def model(name: str, value: float) -> str:
        calls.append((name, value))
        return f"{name} is {'hot' if value > 15 else 'cold'}"

    kb.register_function("model", model)
    kb.add_rules("p(X, C) :- reading(X, T), BIND(model(X, T) AS C), C != maybe.")
    assert sorted(calls) == [("wt1", 10.0), ("wt2", 20.0), ("wt2", 26.0)]


def test_no_parameters_and_several(kb: KnowledgeBase) -> None:
    kb.register_function("limit", lambda: 15.0, [], float)
    kb.register_function("between", lambda a, b, c: a < b < c, [float, float, float], bool)
    kb.add_rules("p(T) :- reading(_, T), between(limit(), T, 21.0) = true.")
    assert rows(kb) == [(20.0,)]


def test_names_ignore_case(kb: KnowledgeBase) -> None:
    kb.register_function("Twice", lambda x: 2 * x, [float], float)
    kb.add_rules("p(Y) :- reading(wt1, X), BIND(TWICE(X) AS Y). q(Y) :- p(X), Y = twice(X).")
    assert rows(kb, "q") == [(40.0,)]


def test_names_in_any_script(kb: KnowledgeBase) -> None:
    kb.register_function("größe", lambda x: x, [float], float)
    kb.add_rules("p(Y) :- reading(wt1, X), BIND(größe(X) AS Y).")
    assert rows(kb) == [(10.0,)]


# --- aggregates -----------------------------------------------------------------------------------


def test_aggregate_over_groups(kb: KnowledgeBase) -> None:
    def spread(values: list[float]) -> float:
        return max(values) - min(values)

    kb.register_aggregate("spread", spread)
    kb.add_rules("p(X, S) :- AGGREGATE(reading(X, T)) ON X WITH spread(T) AS S.")
    assert rows(kb) == [("wt1", 0.0), ("wt2", 6.0)]


def test_aggregate_without_groups(kb: KnowledgeBase) -> None:
    kb.register_aggregate("joined", lambda names: "+".join(sorted(names)), str, str)
    kb.add_rules("p(S) :- AGGREGATE(reading(X, T)) WITH joined(X) AS S.")
    kb.add_rules("none(S) :- AGGREGATE(nothing(X)) WITH joined(X) AS S.")
    assert rows(kb) == [("wt1+wt2+wt2",)]  # one value for each distinct solution
    assert rows(kb, "none") == []


def test_arrow_aggregate(kb: KnowledgeBase) -> None:
    def largest(groups: pa.ChunkedArray) -> pa.Array:
        return pa.array([max(group) for group in groups.to_pylist()])

    kb.register_aggregate("largest", largest, float, float, arrow=True)
    kb.add_rules("p(X, S) :- AGGREGATE(reading(X, T)) ON X WITH largest(T) AS S.")
    assert rows(kb) == [("wt1", 10.0), ("wt2", 26.0)]


def test_aggregate_without_value(kb: KnowledgeBase) -> None:
    kb.register_aggregate("only", lambda v: v[0] if len(v) == 1 else None, float, float)
    kb.add_rules("p(X, S) :- AGGREGATE(reading(X, T)) ON X WITH only(T) AS S.")
    assert rows(kb) == [("wt1", 10.0)]
    assert kb.query("AGGREGATE(reading(X, T)) ON X WITH only(T) AS S").fetchall() == [("wt1", 10.0)]


def test_aggregate_text_without_value(kb: KnowledgeBase) -> None:
    kb.register_aggregate("name", lambda v: f"n{v[0]}" if len(v) == 1 else None, float, str)
    kb.add_rules("p(X, S) :- AGGREGATE(reading(X, T)) ON X WITH name(T) AS S.")
    assert rows(kb) == [("wt1", "n10.0")]


def test_text_that_an_aggregate_makes_is_joined(kb: KnowledgeBase) -> None:
    kb.register_aggregate("which", lambda v: "many" if len(v) > 1 else "few", float, str)
    kb.add_rules(
        "wanted(many). p(X) :- AGGREGATE(reading(X, T)) ON X WITH which(T) AS W, wanted(W)."
    )
    assert rows(kb) == [("wt2",)]


def test_text_that_looks_like_an_id_is_no_id(kb: KnowledgeBase) -> None:
    """Symbols are stored as numbers from 1; text that a function made must not be taken for one."""
    kb.register_aggregate("one", lambda values: "1", float, str)
    kb.add_rules("p(W) :- AGGREGATE(reading(X, T)) WITH one(T) AS W, reading(W, _).")
    assert rows(kb) == []


def test_groups_and_least_of_text_made_inside_an_aggregate(kb: KnowledgeBase) -> None:
    kb.add_rules(
        "p(U, N) :- AGGREGATE(reading(X, T), BIND(upper(X) AS U)) ON U WITH SUM(T) AS N."
        "least(M) :- AGGREGATE(reading(X, T), BIND(upper(X) AS U)) WITH MIN(U) AS M."
        "number(N) :- AGGREGATE(reading(X, T), BIND(upper(X) AS U)) WITH COUNT(U) AS N."
    )
    assert rows(kb) == [("WT1", 10.0), ("WT2", 46.0)]
    assert rows(kb, "least") == [("WT1",)]
    assert rows(kb, "number") == [(3,)]


# --- recursion ------------------------------------------------------------------------------------


def test_text_made_inside_a_recursive_hypernode(kb: KnowledgeBase) -> None:
    kb.register_function("extended", lambda s: s + "a" if len(s) < 6 else None, [str], str)
    kb.add_rules("word(b). word(W) :- word(V), BIND(extended(V) AS W).")
    assert rows(kb, "word") == [("b" + "a" * n,) for n in range(6)]
    kb.insert("word", [("cc",), ("ba",)])
    assert len(kb.table("word")) == 11
    kb.delete("word", [("b",)])
    assert rows(kb, "word") == [("b" + "a" * n,) for n in range(1, 6)] + [
        ("cc" + "a" * n,) for n in range(5)
    ]


def test_text_made_in_mutual_recursion(kb: KnowledgeBase) -> None:
    kb.register_function("next", lambda s: str((int(s) + 2) % 5), [str], str)
    kb.add_rules(
        'even("0"). odd(Y) :- even(X), BIND(next(X) AS Y). even(Y) :- odd(X), Y = next(X).'
    )
    digits = [(str(n),) for n in range(5)]
    assert rows(kb, "even") == rows(kb, "odd") == digits


def test_numbers_made_in_recursion(kb: KnowledgeBase) -> None:
    kb.register_function("collatz", lambda n: n // 2 if n % 2 == 0 else 3 * n + 1, [int], int)
    kb.add_rules("n(6). n(M) :- n(N), N != 1, BIND(collatz(N) AS M).")
    assert rows(kb, "n") == [(n,) for n in (1, 2, 3, 4, 5, 6, 8, 10, 16)]


# --- goals ----------------------------------------------------------------------------------------


def test_goals_call_functions(kb: KnowledgeBase) -> None:
    kb.register_function("twice", lambda x: 2 * x, [float], float)
    kb.register_aggregate("total", lambda values: sum(values), float, float)
    assert kb.query("reading(wt1, T), BIND(twice(T) AS D)").fetchall() == [(10.0, 20.0)]
    answer = kb.query("AGGREGATE(reading(X, T)) ON X WITH total(T) AS S, S > 40")
    assert answer.fetchall() == [("wt2", 46.0)]


def test_an_unknown_function_in_goals(kb: KnowledgeBase) -> None:
    with pytest.raises(ProgramError, match="no function nobody_knows"):
        kb.query("reading(X, T), BIND(nobody_knows(T) AS Y)")


# --- opening a file without its functions ---------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path, open_kb: OpenKb) -> Path:
    path = tmp_path / "functions.duckdb"
    with open_kb(path) as kb:
        kb.register_function("twice", lambda x: 2 * x, [int], int)
        kb.add_rules("doubled: p(Y) :- n(X), BIND(twice(X) AS Y).  q(X) :- m(X).")
        kb.insert("n", [(1,), (2,)])
    return path


@pytest.fixture
def incomplete(file: Path, open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    with pytest.warns(MissingFunctionWarning, match="twice"):
        kb = open_kb(file)
    with kb:
        yield kb


def test_reading_works_without_the_function(incomplete: KnowledgeBase) -> None:
    assert incomplete.missing_functions == ("twice",)
    assert rows(incomplete) == [(2,), (4,)]
    assert incomplete.query("p(X), X > 2").fetchall() == [(4,)]
    assert len(incomplete.rules()) == 2 and len(incomplete.hypernodes()) == 2


def test_only_what_needs_the_function_is_refused(incomplete: KnowledgeBase) -> None:
    assert incomplete.insert("m", [(7,)]).inserted == {"m": 1, "q": 1}
    with pytest.raises(FunctionError, match=r"doubled.*twice.*register_function"):
        incomplete.insert("n", [(3,)])
    with pytest.raises(FunctionError, match="twice"):
        incomplete.add_rules("r(Y) :- m(X), BIND(twice(X) AS Y).")
    assert rows(incomplete, "n") == [(1,), (2,)]
    assert incomplete.add_rules("s(X) :- p(X).").inserted == {"s": 2}


def test_goals_that_need_the_function_say_so(incomplete: KnowledgeBase) -> None:
    with pytest.raises(FunctionError, match="twice"):
        incomplete.query("n(X), BIND(twice(X) AS Y)")


def test_registering_heals(incomplete: KnowledgeBase) -> None:
    incomplete.register_function("twice", lambda x: 2 * x, [int], int)
    assert incomplete.missing_functions == ()
    incomplete.insert("n", [(3,)])
    assert rows(incomplete) == [(2,), (4,), (6,)]


def test_dropping_the_rule_heals(incomplete: KnowledgeBase) -> None:
    incomplete.drop_rules("doubled")
    assert incomplete.missing_functions == ()
    incomplete.insert("n", [(3,)])


def test_functions_given_at_opening(file: Path) -> None:
    twice = Function("twice", (_int(),), _int(), call=lambda x: 2 * x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with connect(file, functions=[twice]) as kb:
            kb.insert("n", [(3,)])
            assert rows(kb) == [(2,), (4,), (6,)]


def _int() -> Any:
    from zodiac_sql.language.syntax import Type

    return Type.INT


def test_another_signature_is_refused(incomplete: KnowledgeBase) -> None:
    with pytest.raises(FunctionError, match=r"twice\(int\) -> int.*twice\(float\) -> float"):
        incomplete.register_function("twice", lambda x: 2 * x, [float], float)
    with pytest.raises(FunctionError):
        incomplete.register_aggregate("twice", sum, int, int)
    assert incomplete.missing_functions == ("twice",)


# --- refusals -------------------------------------------------------------------------------------


def test_a_new_body_for_the_same_signature(kb: KnowledgeBase) -> None:
    """What is materialised stays; what is computed from now on is by the new one."""
    kb.register_function("f", lambda x: x, [float], float)
    kb.add_rules("p(Y) :- reading(wt1, X), BIND(f(X) AS Y).")
    kb.register_function("f", lambda x: -x, [float], float)
    assert rows(kb) == [(10.0,)]
    assert kb.query("reading(wt1, X), BIND(f(X) AS Y)").fetchall() == [(10.0, -10.0)]


def test_an_unused_function_may_change_its_signature(kb: KnowledgeBase) -> None:
    kb.register_function("f", lambda x: x, [float], float)
    kb.register_function("f", lambda x, y: f"{x}{y}", [str, str], str)
    kb.add_rules("p(Y) :- reading(X, _), BIND(f(X, X) AS Y).")
    assert rows(kb) == [("wt1wt1",), ("wt2wt2",)]


@pytest.mark.parametrize("name", ["", "a b", "1st", "f(x)", "a-b", "abs", "Count", "x;y", 'q"'])
def test_bad_names(kb: KnowledgeBase, name: str) -> None:
    why = "no name for a function|name of a function that is built in"
    with pytest.raises(FunctionError, match=why):
        kb.register_function(name, lambda x: x, [int], int)
    with pytest.raises(FunctionError, match=why):
        kb.register_aggregate(name, sum, int, int)


@pytest.mark.parametrize(("parameters", "returns"), [
    (["numeral"], "int"), (["int"], "list"), ([list], int), (["int"], None), (None, "int"),
])  # fmt: skip
def test_bad_types(kb: KnowledgeBase, parameters: Any, returns: Any) -> None:
    with pytest.raises(FunctionError, match="types of f must be given"):
        kb.register_function("f", lambda x: x, parameters, returns)


def test_a_builtin_of_python_as_an_aggregate(kb: KnowledgeBase) -> None:
    """`sum` has a second parameter with a default, which nobody asked for."""
    kb.register_aggregate("total", sum, float, float)
    kb.add_rules("p(X, S) :- AGGREGATE(reading(X, T)) ON X WITH total(T) AS S.")
    assert rows(kb) == [("wt1", 10.0), ("wt2", 46.0)]


def test_more_types_than_parameters(kb: KnowledgeBase) -> None:
    with pytest.raises(FunctionError, match="f"):
        kb.register_function("f", lambda x: x, [int, int], int)


def test_a_refused_function_leaves_the_one_before(kb: KnowledgeBase) -> None:
    kb.register_function("f", lambda x: x, [float], float)
    with pytest.raises(ZodiacError):
        kb.register_function("f", lambda x: x, [float, float], float)
    kb.add_rules("p(Y) :- reading(wt1, X), BIND(f(X) AS Y).")
    assert rows(kb) == [(10.0,)]


@pytest.mark.parametrize("arrow", [False, True])
def test_an_exception_in_the_function(kb: KnowledgeBase, arrow: bool) -> None:
    def broken(value: Any) -> Any:
        raise ArithmeticError("out of order")

    kb.register_function("broken", broken, [float], float, arrow=arrow)
    with pytest.raises(FunctionError, match="out of order"):
        kb.add_rules("p(Y) :- reading(X, T), BIND(broken(T) AS Y).")
    with pytest.raises(FunctionError, match="out of order"):
        kb.query("reading(X, T), BIND(broken(T) AS Y)")
    assert len(kb.rules()) == 0
    assert kb.insert("reading", [("wt3", 1.0)]).inserted == {"reading": 1}


def test_an_exception_in_an_aggregate(kb: KnowledgeBase) -> None:
    def broken(values: list[float]) -> float:
        raise ArithmeticError("out of order")

    kb.register_aggregate("broken", broken)
    with pytest.raises(FunctionError, match="out of order"):
        kb.add_rules("p(X, Y) :- AGGREGATE(reading(X, T)) ON X WITH broken(T) AS Y.")
    assert len(kb.rules()) == 0


def test_a_value_of_another_type(kb: KnowledgeBase) -> None:
    kb.register_function("wrong", lambda x: "text", [float], int)
    with pytest.raises(ZodiacError):
        kb.add_rules("p(Y) :- reading(X, T), BIND(wrong(T) AS Y).")
    assert len(kb.rules()) == 0


def test_arguments_of_another_type_or_number(kb: KnowledgeBase) -> None:
    kb.register_function("f", lambda x: x, [int], int)
    with pytest.raises(ProgramError, match="f takes int"):
        kb.add_rules("p(Y) :- reading(X, T), BIND(f(T) AS Y).")
    with pytest.raises(ProgramError, match="does not take 2 arguments"):
        kb.add_rules("p(Y) :- reading(X, T), BIND(f(T, T) AS Y).")


def test_data_that_clash_with_a_functions_types(kb: KnowledgeBase) -> None:
    kb.register_function("f", lambda x: x, [int], int)
    kb.add_rules("p(Y) :- n(X), BIND(f(X) AS Y).")
    change = kb.insert("n", [("text",)])
    assert "rule r1: f(X) passed over 1 fact of n that has no number there" in change.notes
    kb.add_rules(".decl m(x: symbol)")
    with pytest.raises(ProgramError, match="f takes int"):
        kb.add_rules("p(Y) :- m(X), BIND(f(X) AS Y).")


def test_a_name_that_became_one_of_ours_stays_the_users_in_files_that_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 0 had no function `text`, so people could register one."""
    from zodiac_sql.language.functions import BUILTINS

    path, ours = tmp_path / "old.duckdb", BUILTINS["text"]

    def shown(x: int) -> str:
        return f"t{x}"

    with pytest.raises(FunctionError, match="text is the name of a function that is built in"):
        connect().register_function("text", shown)
    monkeypatch.delitem(BUILTINS, "text")  # type: ignore[arg-type]
    with connect(path) as kb:
        kb.register_function("text", shown)
        kb.add_rules("p(X, T) :- n(X), T = text(X).")
        kb.insert("n", [(1,)])
    monkeypatch.setitem(BUILTINS, "text", ours)  # type: ignore[arg-type]
    with pytest.warns(MissingFunctionWarning):
        kb = connect(path)
    with kb:
        kb.register_function("text", shown)
        kb.insert("n", [(2,)])
        assert set(kb.table("p")) == {(1, "t1"), (2, "t2")}
        assert kb.verify()
