"""The built wheel, installed into a fresh environment, works without the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.places import ROOT

SESSION = """
import sys, zodiac_sql
with zodiac_sql.connect(sys.argv[1]) as kb:
    kb.add_rules("path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z).")
    kb.insert("edge", [("a", "b"), ("b", "c")])
    assert len(kb.table("path")) == 3
assert "site-packages" in zodiac_sql.__file__, zodiac_sql.__file__
for heavy in ("pyspark", "pandas", "clingo"):
    assert heavy not in sys.modules
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that nothing is left in the checkout."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("zodiac_sql",):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", "dist", cwd=copy)
    (built,) = (copy / "dist").glob("*.whl")
    return built


def test_wheel_holds_what_is_needed_at_run_time(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "zodiac_sql/language/grammar.lark" in names
    assert "zodiac_sql/py.typed" in names
    assert "zodiac_sql/read/why/explanation.schema.json" in names
    page = {path.name for path in (ROOT / "zodiac_sql" / "serve" / "page").iterdir()}
    assert page == {n.rpartition("/")[2] for n in names if n.startswith("zodiac_sql/serve/page/")}
    sources = {path.name for path in (ROOT / "zodiac_sql").rglob("*.sql")}
    assert {n.rpartition("/")[2] for n in names if n.endswith(".sql")} == sources
    packages = {path.parent.name for path in (ROOT / "zodiac_sql").rglob("*.py")}
    assert packages <= {Path(name).parent.name for name in names}
    assert not any(name.startswith(("tests", "examples")) for name in names)


def test_wheel_works_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    _run(sys.executable, "-m", "venv", str(tmp_path / "venv"))
    binaries = tmp_path / "venv" / "bin"
    _run(str(binaries / "python"), "-m", "pip", "install", "--quiet", str(wheel))
    database = str(tmp_path / "paths.duckdb")
    _run(str(binaries / "python"), "-W", "error", "-c", SESSION, database, cwd=tmp_path)
    answer = _run(str(binaries / "zodiac"), "query", database, "path(a, X)", "--json", cwd=tmp_path)
    assert '"c"' in answer


def _run(*command: str, cwd: Path | None = None) -> str:
    run = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{' '.join(command)}\n{run.stdout}\n{run.stderr}"
    return run.stdout
