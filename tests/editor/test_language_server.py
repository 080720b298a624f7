"""zodiac lsp, asked by a client that speaks the protocol with the real process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from generators.odd_texts import corpus, odd_text
from support.command_line import RULES, ZODIAC, zodiac
from support.language_client import LanguageClient, spread
from support.places import ROOT

import zodiac_sql

WIND = (ROOT / "examples" / "wind_farm" / "wind.rules").read_text(encoding="utf-8")
FAMILY = """\
@prefix ex: <http://e/> .
.decl parent(older: symbol, younger: symbol)
parent(ann, bob).
parent(bob, cid).
g: grand(X, Z) :- parent(X, Y), parent(Y, Z).
ex:old(X) :- parent(older: X), not grand(_, X).
!- grand(X, X).
"""
OTHER = "@prefix e: <http://e/> .\n// 𝒳\nrich(X) :- grand(X, Y), <http://e/old>(X), e:old(Y).\n"


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageClient]:
    """One process for all tests: it takes a second to start."""
    with LanguageClient(tmp_path_factory.mktemp("editor")) as found:
        yield found


@pytest.fixture
def client(editor: LanguageClient, tmp_path: Path) -> LanguageClient:
    editor.move_to(tmp_path)
    return editor


@pytest.fixture
def family(client: LanguageClient) -> LanguageClient:
    """Two texts of one program: one is open, the other one on disk."""
    (client.folder / "other.rules").write_text(OTHER, encoding="utf-8")
    assert client.open("family.rules", FAMILY) == []
    return client


def spreads(locations: list[Any]) -> set[tuple[str, tuple[int, int, int, int]]]:
    return {(one["uri"].rpartition("/")[2], spread(one["range"])) for one in locations}


# --- what is wrong --------------------------------------------------------------------------------

BAD = {
    "bad.rules": "p(X, Y) :- q(X).\nq(X) :-\np(1).\n",
    "mistyped.dl": ".decl parent(a: symbol)\nold(X) :- parnet(X, _), risk(X) > 1.\n",
    "twice.rules": "// 𝒳 𝒳\nt(1). r(X) :- t(X). /* 𝒳 */ r(Y) :- t(Y).\n",
    "types.rules": '.decl p(a: int)\np("𝒳"). q(X) :- p(X), X = "a".\n',
    "family.srl": "PREFIX : <http://e/>\nRULE { ?x :p ?y } WHERE { ?x :q }\n",
    "good.rules": FAMILY,
}


@pytest.mark.parametrize("name", BAD)
def test_diagnostics_are_what_check_says(client: LanguageClient, name: str) -> None:
    (client.folder / name).write_text(BAD[name], encoding="utf-8")
    told = client.open(name, BAD[name])
    found = json.loads(zodiac("check", name, "--json", cwd=client.folder).stdout)["found"]
    assert sorted(one["message"].split("\n")[0] for one in told) == sorted(
        one["message"] for one in found
    )
    severities = {"error": {1}, "note": {2, 3}}
    lines = BAD[name].split("\n")
    for one in found:
        twin = next(t for t in told if t["message"].split("\n")[0] == one["message"])
        assert twin["severity"] in severities[one["severity"]]
        if "line" in one:
            line = one["line"] - 1
            before = lines[line][: one["column"] - 1] if line < len(lines) else ""
            units = len(before.encode("utf-16-le")) // 2
            assert spread(twin["range"])[:2] == (line, units), one


def test_a_rule_that_is_there_twice_has_its_place(client: LanguageClient) -> None:
    (told,) = client.open("twice.rules", BAD["twice.rules"])
    assert spread(told["range"]) == (1, 29, 1, 42) and told["severity"] == 3


def test_units_are_those_that_the_client_counts(tmp_path: Path) -> None:
    for encoding, start in (("utf-8", 31), ("utf-16", 29), ("utf-32", 28)):
        told = {"general": {"positionEncodings": [encoding]}}
        with LanguageClient(tmp_path, capabilities=told) as client:
            assert client.capabilities["positionEncoding"] == encoding
            (found,) = client.open("twice.rules", BAD["twice.rules"])
            assert spread(found["range"])[:2] == (1, start)


def test_what_files_beside_it_know_is_known(client: LanguageClient) -> None:
    (client.folder / "family.rules").write_text(FAMILY)
    assert client.open("other.rules", OTHER) == []
    unknown = client.change("other.rules", OTHER.replace("grand", "grnad"))
    assert [one["message"].split("\n")[0] for one in unknown] == [
        "nothing derives, declares or states grnad"
    ]
    (client.folder / "facts.dl").write_text("fact(1).\n" * 200_000 + "grnad(a, b).\n")
    assert client.change("other.rules", OTHER.replace("grand", "grnad")) == unknown
    elsewhere = client.folder / "more"
    elsewhere.mkdir()
    assert len(client.open("more/other.rules", OTHER)) == 2


def test_nothing_is_said_of_a_text_that_is_closed(client: LanguageClient) -> None:
    assert client.open("bad.rules", BAD["bad.rules"])
    assert client.close("bad.rules") == []


def test_half_typed_texts(client: LanguageClient) -> None:
    """Whatever is typed, the server goes on, and in the end says what is right."""
    rng, texts = Random(7), corpus()
    client.open("a.rules", "")
    for _ in range(60):
        text = odd_text(rng, texts).encode("utf-8", "ignore").decode()
        text = text[: rng.randrange(len(text) + 1)]
        client.write("a.rules", text)
        line = rng.randrange(text.count("\n") + 2)
        for method in ("hover", "completion", "definition", "prepareRename"):
            client.at(method, "a.rules", line, rng.randrange(20))
    assert client.change("a.rules", FAMILY) == []


# --- what is known of a name ----------------------------------------------------------------------


def hovered(client: LanguageClient, line: int, character: int, name: str = "family.rules") -> str:
    found = client.at("hover", name, line, character)
    told: str = found["contents"]["value"] if found else ""
    return told


def test_hover(family: LanguageClient) -> None:
    assert hovered(family, 4, 22) == (
        "```zodiac\nparent(older: symbol, younger: symbol)\n```\n\n"
        "declared at family.rules:2\n\n2 facts stated"
    )
    assert hovered(family, 6, 5) == (
        "```zodiac\ngrand(s: symbol, o: symbol)\n```\n\nderived by g (family.rules:5)"
    )
    assert hovered(family, 5, 3) == (
        "```zodiac\nex:old(s: symbol)\n```\n\nderived by family.rules:6"
    )
    assert hovered(family, 4, 9) == "```zodiac\nX: symbol\n```"
    assert hovered(family, 5, 22).startswith("```zodiac\nparent(older: symbol")
    assert hovered(family, 4, 0) == hovered(family, 3, 17) == hovered(family, 0, 20) == ""
    family.open("f.rules", "n(1). p(Y) :- n(X), Y = round(X, 2) + least(X, 3).")
    assert hovered(family, 0, 25, "f.rules") == "```zodiac\nround(number[, int]) -> number\n```"
    assert "least(number or date or timestamp" in hovered(family, 0, 41, "f.rules")


def test_sizes_of_a_database(tmp_path: Path) -> None:
    with zodiac_sql.connect(tmp_path / "farm.duckdb") as kb:
        kb.add_rules(RULES)
        kb.insert("temperature", [("wt1", 20.5), ("wt2", 30.0)])
        kb.insert("near", [("a", "b")])
    seen = "farm.duckdb: 2 facts (2 explicit, 0 derived)"
    reading = "cold(X) :- temperature(X, T), T < 1."
    for options, given in ((("--database", "farm.duckdb"), {}), ((), {"database": "farm.duckdb"})):
        with LanguageClient(tmp_path, *options, **given) as client:
            assert client.open("cold.rules", reading) == []
            told = hovered(client, 0, 15, "cold.rules")
            assert told.startswith("```zodiac\ntemperature(s: symbol, o: float)") and seen in told
            labels = completed(client, "cold.rules", 0, 11)
            assert "hot" in labels and "near" in labels
            # Nobody is kept from writing, and a writer is no reason to fail.
            with zodiac_sql.connect(tmp_path / "farm.duckdb") as kb:
                kb.insert("temperature", [("wt3", 1.0)])
                assert client.change("cold.rules", reading + " ") == []
                assert seen in hovered(client, 0, 15, "cold.rules")
                kb.delete("temperature", [("wt3", 1.0)])
    with LanguageClient(tmp_path, "--database", "nowhere.duckdb") as client:
        assert len(client.open("cold.rules", reading)) == 1
        assert "facts" not in hovered(client, 0, 15, "cold.rules")


# --- from place to place --------------------------------------------------------------------------


def test_definitions(family: LanguageClient) -> None:
    def found(line: int, character: int) -> set[Any]:
        return spreads(family.at("definition", "family.rules", line, character))

    assert found(5, 38) == {("family.rules", (4, 3, 4, 8))}  # grand: the rule
    assert found(4, 20) == {("family.rules", (1, 6, 1, 12))}  # parent: the declaration
    assert found(5, 21) == {("family.rules", (1, 13, 1, 18))}  # the column older
    assert found(4, 42) == {("family.rules", (4, 12, 4, 13))}  # Z in the head
    assert found(3, 13) == set()
    family.open("more.rules", "rich(X) :- ex:old(X), n(X).\nn(1). n(2).\n@prefix ex: <http://e/> .")
    (one,) = spreads(family.at("definition", "more.rules", 0, 23))
    assert one == ("more.rules", (1, 0, 1, 1))


def test_references_go_through_all_files_of_a_folder(family: LanguageClient) -> None:
    def found(line: int, character: int, whole: bool) -> set[Any]:
        context = {"includeDeclaration": whole}
        locations = family.at("references", "family.rules", line, character, context=context)
        return spreads(locations)

    reading = {("other.rules", (2, 24, 2, 38)), ("other.rules", (2, 43, 2, 48))}
    assert found(5, 0, False) == reading
    assert found(5, 0, True) == reading | {("family.rules", (5, 0, 5, 6))}
    assert found(4, 22, True) == {
        ("family.rules", (4, 18, 4, 24)), ("family.rules", (4, 32, 4, 38)),
        ("family.rules", (1, 6, 1, 12)), ("family.rules", (2, 0, 2, 6)),
        ("family.rules", (3, 0, 3, 6)), ("family.rules", (5, 13, 5, 19)),
    }  # fmt: skip
    assert found(4, 12, True) == {
        ("family.rules", (4, 12, 4, 13)),
        ("family.rules", (4, 42, 4, 43)),
    }


def edited(client: LanguageClient, edit: Any) -> dict[str, str]:
    """The files as an editor leaves them."""
    texts = {"family.rules": FAMILY, "other.rules": OTHER}
    for uri, edits in edit["changes"].items():
        name = uri.rpartition("/")[2]
        lines = texts[name].encode("utf-16-le").split("\n".encode("utf-16-le"))
        for one in sorted(edits, key=lambda one: spread(one["range"]), reverse=True):
            line, start, last, end = spread(one["range"])
            assert line == last
            new = one["newText"].encode("utf-16-le")
            lines[line] = lines[line][: 2 * start] + new + lines[line][2 * end :]
        texts[name] = "\n".encode("utf-16-le").join(lines).decode("utf-16-le")
    return texts


def test_renaming(family: LanguageClient) -> None:
    def renamed(line: int, character: int, new: str) -> dict[str, str]:
        place = "family.rules", line, character
        assert spread(family.at("prepareRename", *place))[0] == line
        return edited(family, family.at("rename", *place, newName=new))

    assert renamed(4, 4, "grandparent") == {
        "family.rules": FAMILY.replace("grand", "grandparent"),
        "other.rules": OTHER.replace("grand", "grandparent"),
    }
    assert renamed(5, 1, "ex:aged")["other.rules"] == (
        OTHER.replace("<http://e/old>", "e:aged").replace("e:old", "e:aged")
    )
    assert renamed(5, 1, "of age")["other.rules"] == (
        OTHER.replace("<http://e/old>", "`of age`").replace("e:old", "`of age`")
    )
    assert renamed(4, 12, "who")["family.rules"] == FAMILY.replace("Z)", "?who)")
    assert renamed(4, 0, "g2")["family.rules"] == FAMILY.replace("g: ", "g2: ")


def test_renaming_refuses_what_would_mean_something_else(family: LanguageClient) -> None:
    def refusal(line: int, character: int, new: str) -> str:
        place = family.place("family.rules", line, character)
        return family.refusal("textDocument/rename", **place, newName=new)

    assert refusal(4, 4, "parent") == "There is a predicate parent already."
    assert refusal(4, 4, "rich") == "There is a predicate rich already."
    assert refusal(4, 12, "Y") == "There is a variable Y in this rule already."
    assert refusal(4, 12, "a b") == "a b cannot be the name of a variable."
    assert refusal(4, 0, "1") == "1 cannot be the name of a rule."
    assert refusal(4, 4, "") == " cannot be the name of a predicate: a predicate has a name."
    assert "only predicates, variables and labels" in refusal(5, 21, "senior")
    assert family.at("prepareRename", "family.rules", 5, 21) is None
    shapes = "PREFIX : <http://e/>\nRULE { ?x :new ?y } WHERE { ?x :old ?y }\n"
    (family.folder / "shapes.srl").write_text(shapes)
    family.change("family.rules", FAMILY + "ex:old(X, Y) :- parent(X, Y).")
    assert refusal(5, 1, "ex:new") == "There is a predicate ex:new already."
    assert refusal(5, 1, "aged") == (
        "shapes.srl has it, too, and names in SHACL rules are not renamed."
    )
    family.change("family.rules", FAMILY + "p(X :- .")
    assert refusal(4, 4, "xs") == "family.rules has a syntax error. Mend that before renaming."


# --- what can be written, and the text as a whole -------------------------------------------------


def completed(client: LanguageClient, name: str, line: int, character: int) -> dict[str, Any]:
    items = client.at("completion", name, line, character)
    return {one["label"]: one for one in items}


def test_completion(family: LanguageClient) -> None:
    def found(text: str) -> dict[str, Any]:
        family.change("family.rules", FAMILY + text)
        return completed(family, "family.rules", 7, len(text))

    body = found("p(Xs) :- parent(Xs, _), gr")
    assert body["grand"]["detail"] == "grand(s: symbol, o: symbol)"
    assert spread(body["grand"]["textEdit"]["range"]) == (7, 24, 7, 26)
    assert {"Xs", "ex:old", "AGGREGATE", "not", "abs", "rich"} <= body.keys()
    assert body["round"]["detail"] == "round(number[, int]) -> number"
    arguments = found("p(X) :- parent(")
    assert {"older:", "younger:", "X", "abs"} <= arguments.keys() and "grand" not in arguments
    assert arguments["older:"]["textEdit"]["newText"] == "older: "
    assert "older:" in found("p(X) :- parent(younger: X, ol")
    assert "older:" not in found("p(X) :- parent(younger: X")
    prefixed = found("p(X) :- ex:o")
    assert spread(prefixed["ex:old"]["textEdit"]["range"]) == (7, 8, 7, 12)
    assert found("p(N) :- AGGREGATE(parent(X, Y)) WITH CO").keys() == {
        "COUNT", "SUM", "MIN", "MAX", "AVG", "MED",
    }  # fmt: skip
    assert {"grand", "X"} <= found("p(N) :- AGGREGATE(parent(X, Y), ").keys()
    assert found("p(N) :- AGGREGATE(parent(X, Y)) ON ").keys() == {"N", "X", "Y"}
    assert "symbol" in found(".decl p(a: ") and "grand" not in found(".decl p(a: ")
    assert not found('p("gr') and not found("// gr") and not found("p(X) :- /* gr")
    assert not found("% gr") and "grand" in found('p("x"). q(X) :- ')


def test_document_symbols(family: LanguageClient) -> None:
    document = {"uri": family.uri("family.rules")}
    symbols = family.ask("textDocument/documentSymbol", textDocument=document)
    assert [(one["name"], one["kind"]) for one in symbols] == [
        ("@prefix ex: <http://e/> .", 3), ("parent", 5), ("parent", 14), ("g", 12),
        ("ex:old", 12), ("!- grand(X, X).", 24),
    ]  # fmt: skip
    assert symbols[2]["detail"] == "2 facts"
    assert spread(symbols[3]["range"]) == (4, 0, 4, 45)
    assert spread(symbols[3]["selectionRange"]) == (4, 0, 4, 1)


def test_formatting(client: LanguageClient) -> None:
    def edits(name: str) -> Any:
        return client.ask(
            "textDocument/formatting",
            textDocument={"uri": client.uri(name)},
            options={"tabSize": 8, "insertSpaces": False},
        )

    client.open("a.rules", "p( X ):-q(X) . // 𝒳\n  r(1).")
    (edit,) = edits("a.rules")
    assert edit["newText"] == "p(X) :- q(X).  // 𝒳\nr(1).\n"
    assert spread(edit["range"]) == (0, 0, 1, 7)
    client.change("a.rules", edit["newText"])
    assert edits("a.rules") == []
    client.change("a.rules", "p( X :- ")
    assert edits("a.rules") == []


# --- the process ----------------------------------------------------------------------------------


def test_it_ends_when_the_editor_is_gone(tmp_path: Path) -> None:
    command = [str(ZODIAC), "lsp"]
    run = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=60
    )
    assert (run.returncode, run.stdout) == (0, b"")


def test_without_pygls_it_says_what_to_install(tmp_path: Path) -> None:
    """In a process of its own, that cannot import pygls."""
    code = (
        "import sys; sys.modules['pygls'] = sys.modules['lsprotocol'] = None\n"
        "from zodiac_sql.cli.main import main\nsys.argv = ['zodiac', 'lsp']\nmain()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "pip install 'zodiac-sql[lsp]'" in run.stderr and "Traceback" not in run.stderr


def test_other_commands_do_not_import_pygls(tmp_path: Path) -> None:
    code = (
        "import sys, zodiac_sql.cli.main, zodiac_sql\n"
        "print({'pygls', 'lsprotocol', 'zodiac_sql.editor'} & sys.modules.keys())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
