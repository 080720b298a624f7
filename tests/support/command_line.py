"""The command line as tests call it, and a small wind farm to call it on."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from zodiac_sql.cli.main import app

ZODIAC = Path(sys.executable).with_name("zodiac")

RULES = """\
r1: near(X, Y) :- near(Y, X).
r2: near(X, Y) :- near(X, Z) and near(Z, Y) and COMP(X, !=, Y).
hot: hot(X) :-
    temperature(X, T), T > 25.
"""
NEAR = "s,o\nwt1,wt2\nwt2,wt3\n"
TEMPERATURE = "turbine,celsius\nwt1,20.5\nwt2,30.0\n"


def zodiac(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The real program; its output goes into pipes."""
    command = [str(ZODIAC), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


def called(*arguments: object) -> Result:
    """The program in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="zodiac")


def answered(*arguments: object) -> str:
    """What a call prints that has to go well."""
    result = called(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: object, status: int = 1) -> str:
    """What a call says that has to be refused: only on stderr."""
    result = called(*arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert "Traceback" not in result.stderr
    return result.stderr


def told(*arguments: object) -> dict[str, Any]:
    """What a call tells as JSON."""
    found: dict[str, Any] = json.loads(answered(*arguments, "--json"))
    return found


def content(db: Path) -> list[str]:
    """All that a database of the wind farm holds: rules, hypernodes, facts and symbols."""
    shown = [answered("show", db, what) for what in ("rules", "predicates", "hypernodes")]
    tables = ("near", "temperature", "hot", "zodiac.symbol")
    facts = [answered("query", db, f"FROM {table} ORDER BY ALL", "--csv") for table in tables]
    return shown + facts


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_edges(path: Path, nodes: int, edges: int) -> Path:
    """A random acyclic graph."""
    choose = random.Random(7)
    pairs = [sorted(choose.sample(range(nodes), 2)) for _ in range(edges)]
    path.write_text("s,o\n" + "".join(f"n{a},n{b}\n" for a, b in pairs))
    return path


def write_farm(directory: Path) -> list[str]:
    """Rules and data of a wind farm, and the options that give them to `run`."""
    (directory / "wind.rules").write_text(RULES)
    (directory / "near.csv").write_text(NEAR)
    (directory / "temperature.csv").write_text(TEMPERATURE)
    return ["-r", "wind.rules", "-d", "near.csv", "-d", "temperature.csv"]
