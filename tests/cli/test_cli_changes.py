"""`zodiac add-rules`, `drop-rules`, `insert` and `delete`."""

from __future__ import annotations

import json
from pathlib import Path

from support.command_line import RULES, answered, called, content, digest, refused, told


def names_of_rules(db: Path) -> list[str]:
    return [row["name"] for row in json.loads(answered("show", db, "rules", "--json"))]


def test_rules_come_and_go(farm: Path) -> None:
    rule = "cool: cool(X) :- temperature(X, T), not hot(X)."
    out = answered("add-rules", farm, "-e", rule)
    assert out.splitlines()[2].split() == ["cool", "1", "0"]
    assert "hypernodes: 1 created (h3), 2 untouched\n" in out
    told = json.loads(answered("drop-rules", farm, "cool", "--json"))
    assert (told["inserted"], told["deleted"]) == ({}, {"cool": 1})
    assert told["hypernodes"] == {
        "created": [], "merged": {}, "split": {}, "dropped": ["h3"], "updated": [],
        "untouched": ["h1", "h2"],
    }  # fmt: skip
    assert names_of_rules(farm) == ["r1", "r2", "hot"]


def test_rules_from_files_of_any_name(here: Path) -> None:
    (here / "more.txt").write_text("p(a).")
    answered("add-rules", "new.duckdb", "wind.rules", "more.txt", "-e", "p(b).")
    assert "(2 rows)" in answered("query", "new.duckdb", "p(X)")


def test_shacl_rules(here: Path) -> None:
    rule = "RULE { ?x :hot true } WHERE { ?x :celsius ?t FILTER(?t > 30) }"
    (here / "hot.srl").write_text(f"PREFIX : <http://e/> DATA {{ :wt1 :celsius 31 }} {rule}")
    answered("add-rules", "new.duckdb", "hot.srl", "--set", "hot")
    assert names_of_rules(Path("new.duckdb"))[0] == "hot/r1"
    assert "(1 row)" in answered("query", "new.duckdb", "<http://e/hot>(X, true)")
    (here / "bad.srl").write_text("RULE { ?x :hot true }")
    assert "bad.srl:1:21: syntax error" in refused("add-rules", "new.duckdb", "bad.srl")
    answered("drop-rules", "new.duckdb", "--set", "hot")
    assert names_of_rules(Path("new.duckdb")) == []


def test_insert_is_one_change(here: Path) -> None:
    told = json.loads(answered("insert", "new.duckdb", "near.csv", "temperature.csv", "--json"))
    assert told["inserted"] == {"near": 2, "temperature": 2}
    before = digest(here / "new.duckdb")
    (here / "more.csv").write_text("s,o\nwt7,wt8\n")
    (here / "bad.csv").write_text("s,o\nonly\n")
    refused("insert", "new.duckdb", "more.csv", "bad.csv")
    assert digest(here / "new.duckdb") == before
    again = answered("insert", "new.duckdb", "near.csv")
    assert again.startswith("no fact came or went\n")
    answered("insert", "new.duckdb", "more.csv", "-p", "near")
    assert "(3 rows)" in answered("query", "new.duckdb", "near(X, Y)")


def test_delete_is_one_change(farm: Path) -> None:
    before = answered("show", farm, "predicates")
    (farm.parent / "more.csv").write_text("s,o\nwt3,wt4\nwt4,wt5\n")
    answered("insert", farm, "more.csv", "-p", "near")
    told = json.loads(answered("delete", farm, "more.csv", "-p", "near", "--json"))
    assert (told["inserted"], told["deleted"]) == ({}, {"near": 14})
    assert answered("show", farm, "predicates") == before
    result = called("delete", farm, "more.csv", "near.csv", "-p", "near")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[2].split() == ["near", "0", "6"]
    assert result.stderr.splitlines() == [
        "note: more.csv: 2 facts are not among the explicit facts, and passed over",
        "note: near.csv: 2 facts are deleted, also if another file states them",
    ]


def test_deleting_what_is_not_there(farm: Path) -> None:
    before = answered("show", farm, "predicates")
    (farm.parent / "other.csv").write_text("a,b,c\n1,new text,2\nonly\n")
    assert "line 3: only" in refused("delete", farm, "other.csv")
    told = json.loads(answered("delete", farm, "other.csv", "--skip-bad", "--json"))
    assert (told["inserted"], told["deleted"]) == ({}, {})
    assert "1 fact is not among the explicit facts" in "".join(told["notes"])
    assert answered("show", farm, "predicates") == before
    assert "(0 rows)" in answered(
        "query", farm, "SELECT * FROM zodiac.symbol WHERE text = 'new text'"
    )


def test_refused_changes(farm: Path) -> None:
    before = digest(farm)
    assert refused("insert", farm, "no.csv") == "there is no file no.csv. Nothing was changed.\n"
    for command in ("insert", "delete"):
        said = refused(command, farm, 'near("wt 1", wt2).')
        assert "write a table, such as facts.csv" in said and "-p near." in said
        assert """`zodiac add-rules DB -e 'near("wt 1", wt2).'`""" in said
    assert "`zodiac add-rules DB -e RULES`" in refused("add-rules", farm, "p(X) :- hot(X).")
    assert "unsafe" in refused("add-rules", farm, "-e", "bad: p(X) :- hot(Y).")
    assert digest(farm) == before
    for arguments in (["drop-rules", "no.duckdb", "r1"], ["delete", "no.duckdb", "near.csv"]):
        assert "there is no database no.duckdb" in refused(*arguments)
    for command in (
        ["insert", ":memory:", "near.csv"],
        ["delete", ":memory:", "near.csv"],
        ["add-rules", ":memory:", "-e", "p(a)."],
    ):
        assert "it is for `zodiac run`" in refused(*command)


# Rules that go, by name, as text and by file.


def test_rules_are_dropped_by_file(farm: Path) -> None:
    (farm.parent / "same.dl").write_text(
        "other: hot(A) :- B > 25, temperature(A, B). near(A, B) :- near(B, A). "
        "near(wt8, wt9). near(a, b)."
    )
    result = called("drop-rules", farm, "same.dl")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[2].split() == ["hot", "0", "1"]
    assert result.stderr == "note: same.dl: 2 facts stay, for dropping rules deletes none\n"
    assert names_of_rules(farm) == ["r2"]
    answered("drop-rules", farm, "wind.rules")
    assert names_of_rules(farm) == []


def test_rules_are_dropped_as_text(farm: Path) -> None:
    found = told(
        "drop-rules", farm, "r1", "-e", "hot(A) :- temperature(A, B), B > 25.",
        "-e", "near(P, R) :- near(P, Q), near(Q, R), P != R.",
    )  # fmt: skip
    assert found["deleted"] == {"hot": 1, "near": 4}
    assert names_of_rules(farm) == []


def test_rules_that_are_not_there_are_passed_over(farm: Path) -> None:
    given = ["hot", "nope", "-e", "near(X, X) :- hot(X)."]
    result = called("drop-rules", farm, *given)
    assert result.exit_code == 0
    assert "hypernodes: 1 dropped (h2), 1 untouched\n" in result.stdout
    assert result.stderr == (
        "note: there is no rule named nope\nnote: there is no rule near(X, X) :- hot(X).\n"
    )
    assert names_of_rules(farm) == ["r1", "r2"]


def test_rules_that_are_not_there_are_refused_if_strict(farm: Path) -> None:
    before = content(farm)
    for given in (["hot", "nope"], ["r1", "-e", "near(X, X) :- hot(X)."]):
        said = refused("drop-rules", farm, *given, "--strict")
        assert said.startswith("there is no rule n") and said.count("\n") == 1
        assert "The rules are: " in said
    said = refused("drop-rules", farm, "hot", "no.rules", "no.dl")
    assert said == "there is no file no.rules, no.dl. Nothing was changed.\n"
    (farm.parent / "bad.rules").write_text("p(X) :- .")
    assert refused("drop-rules", farm, "hot", "bad.rules").startswith("bad.rules:1:9: ")
    assert content(farm) == before
    answered("drop-rules", farm, "wind.rules", "--strict")
    assert names_of_rules(farm) == []


# Rules that are there already.


def test_equal_rules_are_passed_over(farm: Path) -> None:
    rules = "near(B, A) :- near(A, B). hot: hot(A) :- temperature(A, B), B > 25."
    result = called("add-rules", farm, "-e", rules)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "no fact came or went")
    assert "hypernodes: 2 untouched\n" in result.stdout
    assert result.stderr == (
        "note: near(B, A) :- near(A, B). is there already, as r1\n"
        "note: hot: hot(A) :- temperature(A, B), B > 25. is there already\n"
    )
    before = content(farm)
    said = refused("add-rules", farm, "-e", "cool(X) :- not hot(X), near(X, Y).", "-e", rules,
                   "--strict")  # fmt: skip
    assert said.startswith("<rules>:1:1: near(B, A) :- near(A, B). is there already, as r1\n")
    assert "\n\n" not in said
    assert content(farm) == before


def test_a_rule_in_place_of_another(farm: Path) -> None:
    rule = "hot: hot(X) :- temperature(X, T), T > 20."
    assert "already a rule named hot" in refused("add-rules", farm, "-e", rule)
    assert told("add-rules", farm, "-e", rule, "--replace")["inserted"] == {"hot": 1}
    (farm.parent / "wind.rules").write_text(RULES.replace("25", "99"))
    out = answered("add-rules", farm, "wind.rules", "--replace")
    assert out.splitlines()[2].split() == ["hot", "0", "2"]
    assert names_of_rules(farm) == ["r1", "r2", "hot"]
    assert told("verify", farm)["exact"]


# Hypernodes that merge and split.

CHAIN = "a: p(X) :- e(X). b: q(X) :- p(X). c: s(X) :- q(X)."


def test_hypernodes_merge_and_split(here: Path) -> None:
    answered("add-rules", "h.duckdb", "-e", CHAIN, "-e", "e(1).")
    merge = ("add-rules", "h.duckdb", "-e", "back: p(X) :- s(X). d: t(X) :- s(X).")
    line = "1 created (h4), h2 and h3 merged into h2, 1 untouched\n"
    assert f"\nhypernodes would be: {line}" in answered(*merge, "--preview")
    assert told(*merge, "--preview")["hypernodes"]["merged"] == {"h2": ["h2", "h3"]}
    assert f"\nhypernodes: {line}" in answered(*merge)
    assert "h2  stratum 0  recursive  b, c, back" in answered("graph", "h.duckdb")

    split = ("drop-rules", "h.duckdb", "back", "d")
    line = "h2 split into h2 and h5, 1 dropped (h4), 1 untouched\n"
    assert f"\nhypernodes would be: {line}" in answered(*split, "--preview")
    assert told(*split, "--preview")["hypernodes"]["split"] == {"h2": ["h2", "h5"]}
    assert " split " in answered("graph", "h.duckdb", "--drop", "back")
    assert f"\nhypernodes: {line}" in answered(*split)
    assert told("verify", "h.duckdb")["exact"]


def test_many_hypernodes_are_not_all_named(here: Path) -> None:
    rules = " ".join(f"p{i}(X) :- e(X)." for i in range(12))
    out = answered("add-rules", "many.duckdb", "-e", rules)
    assert "\nhypernodes: 12 created (h1, h2, h3, h4, h5, h6, h7, h8, h9 and others)\n" in out
    assert len(told("drop-rules", "many.duckdb", "-e", rules)["hypernodes"]["dropped"]) == 12
    assert "\nhypernodes: none\n" in answered("drop-rules", "many.duckdb", "r1")
