"""zodiac check: files of rules are checked without a database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command_line import answered, called, refused

GOOD = ".decl parent(a: symbol, b: symbol)\ngrand(X, Z) :- parent(X, Y), parent(Y, Z).\n"
MISTYPED = "old(X) :- parnet(X, _).\n"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.rules").write_text(GOOD)
    (tmp_path / "mistyped.rules").write_text(GOOD + MISTYPED)
    (tmp_path / "bad.rules").write_text("p(X, Y) :- q(X).\nq(X) :-\np(1).\n")
    return tmp_path


def test_good_files(rules: Path) -> None:
    assert answered("check", "good.rules") == "1 rule read\n"
    assert answered("check", "good.rules", "--strict") == "1 rule read\n"
    assert json.loads(answered("check", "good.rules", "--json")) == {"rules": 1, "found": []}
    assert sorted(path.name for path in rules.iterdir()) == [
        "bad.rules", "good.rules", "mistyped.rules",
    ]  # fmt: skip


def test_a_mistyped_predicate_is_a_note_and_with_strict_an_error(rules: Path) -> None:
    out = answered("check", "mistyped.rules")
    assert out == (
        "note: mistyped.rules:3:11: nothing derives, declares or states parnet\n"
        "    old(X) :- parnet(X, _).\n              ^^^^^^^^^^^^\n    Did you mean parent?\n"
        "2 rules read\n"
    )
    strict = called("check", "mistyped.rules", "--strict")
    assert (strict.exit_code, strict.stdout) == (1, out.replace("note:", "error:"))


def test_errors_of_all_files_have_places(rules: Path) -> None:
    result = called("check", "bad.rules", "good.rules", "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 1
    places = [(f["severity"], f["file"], f["line"], f["column"], f["end_column"])
              for f in told["found"]]  # fmt: skip
    assert ("error", "bad.rules", 1, 6, 7) in places  # Y has no value
    assert ("error", "bad.rules", 2, 8, 9) in places or any(p[2] == 3 for p in places)
    assert all(file == "bad.rules" for _, file, *_ in places)


def test_files_are_checked_together(rules: Path) -> None:
    (rules / "facts.rules").write_text("parnet(a, b).\n")
    assert "note" not in answered("check", "mistyped.rules", "facts.rules")


def test_functions_from_python_are_not_known(rules: Path) -> None:
    (rules / "risk.rules").write_text("t(1). r(R) :- t(X), R = risk(X).\n")
    assert "note: risk.rules:1:25: there is no function risk" in answered("check", "risk.rules")
    assert called("check", "risk.rules", "--strict").exit_code == 1


def test_rules_that_say_the_same(rules: Path) -> None:
    (rules / "twice.rules").write_text("t(1). r(X) :- t(X). r(Y) :- t(Y).\n")
    assert "note: r(Y) :- t(Y). is there already, as r1" in answered("check", "twice.rules")


def test_a_file_that_is_not_there() -> None:
    assert "there is no file nowhere.rules" in refused("check", "nowhere.rules")


def test_a_rule_that_is_refused_derives_what_it_would(tmp_path: Path) -> None:
    rules = tmp_path / "a.rules"
    rules.write_text("p(X) :- log(turbine: X).\nq(X) :- p(X).\n")
    for command in (("check", rules, "--strict"), ("run", ":memory:", "-r", rules, "--strict")):
        told = called(*map(str, command))
        said = told.output
        assert told.exit_code == 1
        assert "columns of log are not known" in said and "nothing derives" not in said


def test_names_in_the_place_of_variables(tmp_path: Path) -> None:
    """What `run` says of them without data, `check` says, too."""
    rules = tmp_path / "a.rules"
    rules.write_text("e(a, b).\ng(x, z) :- e(x, y), e(y, z).\nold(p, Y) :- e(p, Y), f(Y).\n")
    told = called("check", str(rules), "--strict")
    assert told.exit_code == 1
    assert "a.rules:2:3: x, z, y are constants that no fact has" in told.stdout
    assert "a.rules:3:5: p is a constant that no fact has" in told.stdout
