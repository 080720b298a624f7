"""The tables of a parser are made once, and read by the next process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

READ = """
from zodiac_sql.errors import ProgramError
from zodiac_sql.language.parse import parse, parse_goals
from zodiac_sql.language.shacl.parse import parse_shacl_rules

print(parse("r1: p(X) :- q(X, Y), Y > 3. q(a, 4)."), parse_goals("p(X), not q(X)"))
print(parse_shacl_rules("PREFIX : <urn:x#> RULE { ?x :p ?y } WHERE { ?x :q ?y }", "rules.srl", {}))
try:
    parse("p(X) :- q(X. p(X) :- .")
except ProgramError as error:
    print(error)
"""


def read(folder: Path, **environment: str) -> str:
    """What a process of its own reads, if Python keeps in a folder what it has compiled."""
    known = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    known.update(PYTHONPYCACHEPREFIX=str(folder), **environment)
    command = [sys.executable, "-W", "error", "-c", READ]
    done = subprocess.run(command, check=False, env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def tables(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.tables"))


def test_the_next_process_reads_them(tmp_path: Path) -> None:
    made = read(tmp_path)
    assert "syntax error" in made
    kept = tables(tmp_path)
    assert len(kept) == 2
    times = [file.stat().st_mtime_ns for file in kept]
    assert read(tmp_path) == made
    assert tables(tmp_path) == kept and [file.stat().st_mtime_ns for file in kept] == times


def test_damaged_ones_are_made_again(tmp_path: Path) -> None:
    made = read(tmp_path)
    first, second = tables(tmp_path)
    whole = second.stat().st_size
    first.write_bytes(b"")
    second.write_bytes(second.read_bytes()[: whole // 2])
    assert read(tmp_path) == made
    assert first.stat().st_size and second.stat().st_size > whole // 2
    assert read(tmp_path) == made


def test_nothing_is_kept_where_python_keeps_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    made = read(folder, PYTHONDONTWRITEBYTECODE="1")
    assert not folder.exists()
    assert read(folder) == made
