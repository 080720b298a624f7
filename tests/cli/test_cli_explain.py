"""`zodiac explain`: how rules are evaluated, and what that takes."""

from __future__ import annotations

from pathlib import Path

from support.command_line import answered, called, digest, refused, told


def test_from_scratch(farm: Path) -> None:
    before = digest(farm)
    out = answered("explain", farm)
    assert digest(farm) == before
    hypernodes, rules, last = out.split("\n\n")
    assert hypernodes.startswith("hypernode  operator  ms / expected  facts / expected\n")
    assert len(hypernodes.splitlines()) == 2 + 2 and "h2 hot" in hypernodes
    assert {line.split()[0] for line in rules.splitlines()[2:]} == {"r1", "r2", "hot"}
    assert last.startswith("2 hypernodes evaluated from scratch, ")


RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def test_iris_are_whole_in_a_pipe(here: Path) -> None:
    (here / "iri.rules").write_text("@prefix w: <http://wind.example/> .\nw:hot(X) :- w:warm(X).")
    (here / "iri.nt").write_text(
        f"<http://wind.example/wt1> <{RDF_TYPE}> <http://wind.example/warm> .\n"
    )
    answered("run", "iri.duckdb", "-r", "iri.rules", "-d", "iri.nt")
    assert "h1 http://wind.example/hot" in answered("explain", "iri.duckdb")


def test_as_json(farm: Path) -> None:
    found = told("explain", farm)
    assert list(found) == ["seconds", "change", "hypernodes", "operators", "rules"]
    (hot,) = (row for row in found["rules"] if row["rule"] == "hot")
    assert (hot["facts"], hot["measured"]) == (1, "evaluation") and hot["ms"] > 0
    assert not found["change"]


def test_a_change(farm: Path, here: Path) -> None:
    before = answered("query", farm, "FROM hot", "--csv")
    (here / "cool.csv").write_text("turbine,celsius\nwt2,30.0\n")
    out = answered("explain", farm, "--delete", "cool.csv", "-p", "temperature")
    assert "+0 -1" in out and "1 hypernode had work in the change" in out
    (here / "more.rules").write_text("warm: warm(X) :- temperature(X, T), T > 20.")
    found = told("explain", farm, "--add", "more.rules", "--drop", "hot")
    assert found["change"] and {row["rule"] for row in found["rules"]} == {"warm"}
    (here / "new.csv").write_text("turbine,celsius\nwt3,40.0\n")
    assert "+1 -0" in answered("explain", farm, "--insert", "new.csv", "-p", "temperature")
    assert answered("query", farm, "FROM hot", "--csv") == before


def test_what_is_not_there(farm: Path, here: Path) -> None:
    assert "there is no database" in refused("explain", here / "none.duckdb")
    assert "there is no file" in refused("explain", farm, "--insert", "none.csv")
    said = refused("explain", farm, "--insert", "temperature(wt1, 3.5)")
    assert "-p temperature." in said and "add-rules DB -e 'temperature(wt1, 3.5).'" in said
    assert "none" in refused("explain", farm, "--drop", "none")
    assert called("explain", farm, "--timeout", "0.000001").exit_code == 1
