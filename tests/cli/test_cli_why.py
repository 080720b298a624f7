"""`zodiac why` and `why-not`, and `--why` of previews."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from support.command_line import ZODIAC, answered, called, digest, refused, told, zodiac

HOT = """\
hot(wt2)
│  by hot: hot(X) :- temperature(X, T), T > 25.
├─ temperature(wt2, 30.0)  explicit
└─ 30.0 > 25  (T > 25)
"""
NOT_HOT = """\
hot(wt1) does not hold
└─ hot: hot(X) :- temperature(X, T), T > 25.
      temperature(wt1, 20.5)
      ✗ 20.5 > 25 is false
"""


def test_why(farm: Path) -> None:
    assert answered("why", farm, "hot(wt2)") == HOT
    with_x = HOT.replace("hot(wt2)", "hot(wt2)  with X = wt2", 1)
    assert answered("why", farm, "hot(X)") == with_x
    assert answered("why", farm, "temperature(wt2, 30.0)") == "temperature(wt2, 30.0)  explicit\n"
    run = zodiac("why", "farm.duckdb", "hot(wt2)", cwd=farm.parent)
    assert (run.returncode, run.stdout, run.stderr) == (0, HOT, "")


def test_all_that_derives_a_fact(farm: Path) -> None:
    out = answered("why", farm, "near(wt1, wt2)", "--all")
    assert out.startswith("near(wt1, wt2)  explicit\n├─ 1. by r1: near(X, Y) :- near(Y, X).\n")
    more = f"zodiac why {farm} 'near(wt2, wt1)' --all"
    assert f"near(wt2, wt1)  not explained here: {more}\n" in out
    assert answered("why", farm, "near(wt2, wt1)", "--all").startswith("near(wt2, wt1)\n")
    one = answered("why", farm, "near(wt1, wt2)", "--limit", 1)
    assert "1. by" in one and "2. by" not in one and "a higher limit shows them" in one
    assert refused("why", farm, "near(wt1, wt2)", "--limit", 0, status=2)


def test_a_fact_below_is_asked_for_as_in_a_shell(farm: Path) -> None:
    """What is folded names a command that shows it."""
    rows = "".join(f"n{i},n{i + 1}\n" for i in range(40))
    (farm.parent / "link.csv").write_text(f"s,o\n{rows}")
    answered("insert", farm, "link.csv", "-p", "link")
    rules = "reach(n0, Y) :- link(n0, Y). reach(X, Z) :- reach(X, Y), link(Y, Z), Y != Z."
    answered("add-rules", farm, "-e", rules)
    out = answered("why", farm, "reach(n0, n40)")
    (command,) = re.findall(r"below: (zodiac why .*)", out)
    shown = subprocess.run(
        ["bash", "-c", command.replace("zodiac", str(ZODIAC), 1)],
        cwd=farm.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout.startswith("reach(n0, n16)\n")


@pytest.mark.parametrize(
    ("form", "begin"),
    [("json", "{"), ("svg", "<svg"), ("mermaid", "---\n"), ("dot", "digraph"), ("html", "<div")],
)
def test_formats(farm: Path, form: str, begin: str) -> None:
    out = answered("why", farm, "hot(wt2)", "--format", form)
    assert out.startswith(begin) and out.endswith("\n") and not out.endswith("\n\n")
    assert "30.0" in out


def test_json(farm: Path) -> None:
    found = told("why", farm, "hot(wt2)")
    assert found == json.loads(answered("why", farm, "hot(wt2)", "--format", "json"))
    assert [node["text"] for node in found["nodes"]] == ["hot(wt2)", "temperature(wt2, 30.0)"]


def test_files(farm: Path) -> None:
    for suffix, begin in ((".svg", "<svg"), (".mmd", "---"), (".dot", "digraph"), (".json", "{")):
        path = farm.with_suffix(suffix)
        assert answered("why", farm, "hot(wt2)", "-o", path) == f"wrote {path}\n"
        assert path.read_text().startswith(begin)
    said = refused("why", farm, "hot(wt2)", "-o", "why.png")
    assert "suffix must be .svg, .mmd, .dot or .json" in said
    assert "no/why.svg: No such file" in refused("why", farm, "hot(wt2)", "-o", "no/why.svg")


@pytest.mark.parametrize(
    "options",
    [("--json", "--format", "svg"), ("-o", "why.svg", "--json"), ("-o", "why.svg", "--format=dot")],
    ids=" ".join,
)
def test_options_that_exclude_each_other(farm: Path, options: tuple[str, ...]) -> None:
    refused("why", farm, "hot(wt2)", *options, status=2)
    assert not (farm.parent / "why.svg").exists()


def test_what_does_not_hold_has_no_proof(farm: Path) -> None:
    assert refused("why", farm, "hot(wt1)") == "hot(wt1) does not hold: ask why-not\n"
    said = refused("why", farm, "hott(wt1)")
    assert said.startswith("there is no predicate hott. Did you mean hot?")
    assert "hot has 1 column" in refused("why", farm, "hot(wt1, wt2)")
    assert "^" in refused("why", farm, "hot(wt1")
    assert "by its name, as in" in refused("why", farm, "hot(X), near(X, Y)")


def test_why_not(farm: Path) -> None:
    assert answered("why-not", farm, "hot(wt1)") == NOT_HOT
    found = told("why-not", farm, "hot(wt1)")
    assert found == json.loads(answered("why-not", farm, "hot(wt1)", "--format", "json"))
    (attempt,) = found["attempts"]
    assert (found["holds"], attempt["fails"]) == (False, "20.5 > 25 is false")
    assert {"variable": "T", "type": "float", "value": 20.5} in attempt["values"]
    assert refused("why-not", farm, "hott(wt1)").startswith("there is no predicate hott.")


def test_why_not_as_deep_as_asked(farm: Path) -> None:
    answered("add-rules", farm, "-e", "alarm: alarm(X) :- hot(X), near(X, _).")
    shallow = answered("why-not", farm, "alarm(wt1)")
    assert shallow.endswith("   ✗ no hot(wt1)\n")
    assert answered("why-not", farm, "alarm(wt1)", "--depth", 2) == (
        f"{shallow}      └─ hot: hot(X) :- temperature(X, T), T > 25.\n"
        "            temperature(wt1, 20.5)\n            ✗ 20.5 > 25 is false\n"
    )


def test_why_not_of_what_holds(farm: Path) -> None:
    assert answered("why-not", farm, "hot(wt2)") == f"hot(wt2) holds:\n{HOT}"
    found = told("why-not", farm, "hot(wt2)")
    assert (found["holds"], found["attempts"]) == (True, [])
    assert found["why"] == told("why", farm, "hot(wt2)")


def test_a_preview_tells_why(farm: Path) -> None:
    arguments = ("drop-rules", farm, "hot", "--preview", "--why", "hot(wt2)")
    assert """

hot(wt2) left
└─ hot derived it (dropped by the change): hot(X) :- temperature(X, T), T > 25.
   temperature(wt2, 30.0)
   30.0 > 25

hypernodes would be: """ in answered(*arguments)
    assert told(*arguments)["why"]["events"][0]["event"] == "left"
    assert "why" not in told("drop-rules", farm, "hot", "--preview")
    said = refused("drop-rules", farm, "hot", "--preview", "--why", "hot(wt1)")
    assert said.startswith("hot(wt1) neither entered nor left its extension with this change")
    assert "--why goes with --preview" in refused(
        "drop-rules", farm, "hot", "--why", "hot(wt2)", status=2
    )
    (farm.parent / "heat.csv").write_text("turbine,celsius\nwt3,50\n")
    insert = ("insert", farm, "heat.csv", "-p", "temperature", "--preview")
    assert "temperature(wt3, 50.0) entered: inserted" in answered(*insert, "--why", "hot(wt3)")


def test_explaining_changes_nothing(farm: Path) -> None:
    before = digest(farm)
    answered("why", farm, "hot(wt2)")
    answered("why-not", farm, "hot(wt1)")
    assert digest(farm) == before


@pytest.mark.parametrize("command", ["why", "why-not"])
def test_explaining_makes_no_database(here: Path, command: str) -> None:
    assert refused(command, "no.duckdb", "p(a)").startswith("there is no database no.duckdb.")
    assert not (here / "no.duckdb").exists()


def test_a_function_that_is_not_registered(here: Path) -> None:
    import zodiac_sql

    with zodiac_sql.connect("f.duckdb") as kb:
        kb.register_function("twice", lambda x: 2 * x, ["float"], "float")
        kb.insert("temperature", [("wt1", 20.0)])
        kb.add_rules("t: big(X, D) :- temperature(X, T), D = twice(T).")
    result = called("why", "f.duckdb", "big(wt1, 40.0)")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "twice, which is not registered" in result.stderr


def test_data_cannot_control_the_terminal(farm: Path) -> None:
    (farm.parent / "odd.csv").write_text('turbine,celsius\n"a\x1b[31m",50\n')
    answered("insert", farm, "odd.csv", "-p", "temperature")
    for command in ("why", "why-not"):
        assert "\x1b" not in answered(command, farm, "hot(X)")
    assert "\x1b" not in answered("why-not", farm, 'hot("b\x1b[31m")')


def test_colours_on_a_terminal(farm: Path) -> None:
    """And the same text without them."""
    for arguments, plain in (("why", "hot(wt2)"), HOT), (("why-not", "hot(wt1)"), NOT_HOT):
        command, fact = arguments
        assert "\x1b[" in on_terminal(command, str(farm), fact)
        assert without_colours(command, str(farm), fact) == plain
        assert "\x1b[" not in on_terminal(command, str(farm), fact, NO_COLOR="1", TERM="dumb")


def test_a_narrow_terminal(farm: Path) -> None:
    """What is long stands on several lines, below the branches of the tree."""
    narrow = HOT.replace("T), T > 25.", "T),\n│        T > 25.")
    assert narrow != HOT and without_colours("why", str(farm), "hot(wt2)", COLUMNS="40") == narrow
    narrow = NOT_HOT.replace("T > 25.", "T >\n         25.")
    assert without_colours("why-not", str(farm), "hot(wt1)", COLUMNS="40") == narrow
    assert without_colours("why", str(farm), "hot(wt2)", COLUMNS="20") == HOT


def test_names_of_rdf_are_short(here: Path) -> None:
    """In what people read, and in the commands that show more."""
    (here / "b.ttl").write_text(
        "@prefix b: <http://b.org/#> . b:s1 b:of b:r1 ; b:value 31.5 . b:s2 b:of b:r2 ."
    )
    (here / "b.rules").write_text(
        "@prefix b: <http://b.org/#> .\nw: b:warm(R) :- b:of(S, R), seen(S, V), V > 25.\n"
        "seen(S, V) :- b:value(S, V).\n"
    )
    answered("run", "b.duckdb", "-r", "b.rules", "-d", "b.ttl")
    out = answered("why", "b.duckdb", "b:warm(b:r1)", "--all")
    seen = 'seen(b:s1, "31.5"^^xsd:decimal)'
    more = f"zodiac why b.duckdb '{seen}' --all"
    assert out.startswith("b:warm(b:r1)\n") and f"{seen}  not explained here: {more}" in out
    assert answered("why", "b.duckdb", seen, "--all").startswith(f"{seen}\n")
    assert "      ✗ no b:of(b:s1, b:r2)\n" in answered("why-not", "b.duckdb", "b:warm(b:r2)")
    lost = ("drop-rules", "b.duckdb", "w", "--preview", "--why", "b:warm(b:r1)")
    assert "\nb:warm(b:r1) left\n" in answered(*lost)
    event = told(*lost)["why"]["events"][0]
    assert (event["fact"], event["rule_moved"]) == (
        "<http://b.org/#warm>(<http://b.org/#r1>)",
        True,
    )
    assert told("why", "b.duckdb", "b:warm(b:r1)")["nodes"][0]["text"] == event["fact"]


def without_colours(*arguments: str, **settings: str) -> str:
    seen = on_terminal(*arguments, **settings)
    return re.sub(r"\x1b\[[0-9;]*m", "", seen).replace("\r\n", "\n")


def on_terminal(*arguments: str, **settings: str) -> str:
    """What a terminal shows of stdout."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", **settings}
    process = subprocess.Popen([str(ZODIAC), *arguments], stdout=slave, env=environment)
    os.close(slave)
    seen = b""
    try:
        while part := os.read(master, 65536):
            seen += part
    except OSError:  # how Linux says that the other side has closed
        pass
    os.close(master)
    assert process.wait(timeout=60) == 0
    return seen.decode()
