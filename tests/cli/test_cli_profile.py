"""`zodiac profile`: which rules take the time."""

from __future__ import annotations

from pathlib import Path

from support.command_line import answered, digest, refused, told


def test_from_scratch(farm: Path) -> None:
    before = digest(farm)
    out = answered("profile", farm)
    assert digest(farm) == before
    rules, hypernodes, last = out.split("\n\n")
    assert rules.split("\n")[0].split() == ["rule", "hypernode", "scratch", "ms", "facts", "text"]
    assert {line.split()[0] for line in rules.splitlines()[2:]} <= {"r1", "r2", "hot"}
    assert "hot(X) :- " in rules and hypernodes.startswith("hypernode  scratch ms  facts  derives")
    assert last.startswith("everything from scratch, ")


def test_as_json(farm: Path) -> None:
    found = told("profile", farm)
    assert list(found) == ["changes", "seconds", "scratch_seconds", "rules", "hypernodes"]
    times = [row["scratch_seconds"] for row in found["rules"] if row["scratch_seconds"] is not None]
    assert times == sorted(times, reverse=True) and found["changes"] == 0


def test_a_change(farm: Path, here: Path) -> None:
    (here / "cool.csv").write_text("turbine,celsius\nwt2,30.0\n")
    out = answered("profile", farm, "--delete", "cool.csv", "-p", "temperature")
    assert "hot" in out and "1 change, " in out and "scratch" not in out
    (here / "more.rules").write_text("warm: warm(X) :- temperature(X, T), T > 20.")
    found = told("profile", farm, "--add", "more.rules", "--drop", "hot")
    seconds = {row["rule"]: row["seconds"] for row in found["rules"]}
    assert seconds["warm"] > 0 and found["changes"] == 1


def test_what_is_not_there(farm: Path, here: Path) -> None:
    assert "there is no database" in refused("profile", here / "none.duckdb")
    assert "there is no file" in refused("profile", farm, "--insert", "none.csv")
    assert "none" in refused("profile", farm, "--drop", "none")
