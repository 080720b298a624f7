"""The README's Python blocks run as they stand, one after the other, as a reader would paste."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.places import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

README = (ROOT / "README.md").read_text(encoding="utf-8")
ZODIAC = Path(sys.executable).with_name("zodiac")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_python_blocks_run(tmp_path: Path) -> None:
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks("python")), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "{'anomaly': 1, 'near': 12, 'usual': 4}" in run.stdout
    table = next(block for block in blocks("text") if "wt2" in block)
    assert table.strip() in run.stdout
    assert "[{'s': 'wt2'}]" in run.stdout
    assert "[[], ['stc(inside)']]" in run.stdout
    drawn = next(block for block in blocks("text") if "stc(inside)" in block)
    assert drawn in run.stdout
    told = [block for block in blocks("text") if block.startswith(("anomaly(", "heatWave("))]
    assert len(told) == 4 and all(block in run.stdout for block in told)
    # When drawings change: the picture in docs/ is the one that the README's block saves.
    picture = (tmp_path / "why.svg").read_bytes()
    assert picture == (ROOT / "docs" / "why.svg").read_bytes() and "(docs/why.svg)" in README


def test_spark_blocks_run(
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process, where there is a session already: `local_session` returns it."""
    fleet = ROOT / "examples" / "wind_fleet"
    subprocess.run([sys.executable, str(fleet / "generate.py"), str(tmp_path / "raw")], check=True)
    for name in ("facts.toml", "turbine.rules"):
        shutil.copy(fleet / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec("\n".join(blocks("python spark")), scope)  # noqa: S102 (the README is ours)
    scope["kb"].close()
    printed = capsys.readouterr().out
    assert "{'reading': 28797, 'maintenance': 8} {'reading': 3, 'maintenance': 0}" in printed
    assert "6 [{'path': 6}]" in printed
    assert "3 {'end': 2} {'edge': 1, 'path': 3} {'path': 'on the driver', 'end'" in printed
    assert "|  wt042|  gearbox|       2|  81.17|" in printed


def test_the_page_of_the_language_is_right(tmp_path: Path) -> None:
    import zodiac_sql

    (page,) = blocks("prolog")
    with zodiac_sql.connect() as kb:
        kb.add_rules(page)
        kb.insert("hasTemperature", [("wt1", 31.0)])
        assert kb.table("Check").fetchall() == [("wt1", "check wt1")]


def test_the_refusal_shown_is_the_one_given(tmp_path: Path) -> None:
    import zodiac_sql

    shown = next(block for block in blocks("text") if "unsafe" in block)
    rules = tmp_path / "wind.rules"
    rules.write_text("near(X, X) :- turbine(X).\nr2: odd(X, Y) :- turbine(X), not near(X, Y).\n")
    with zodiac_sql.connect() as kb, pytest.raises(zodiac_sql.ProgramError) as refused:
        kb.add_rules(rules)
    assert str(refused.value).replace(f"{tmp_path}/", "") == shown.rstrip()


def test_shell_commands_run(tmp_path: Path) -> None:
    wind = ROOT / "examples" / "wind_farm"
    subprocess.run([sys.executable, str(wind / "generate.py"), str(tmp_path)], check=True)
    for name in ("wind.rules", "heat.rules"):
        shutil.copy(wind / name, tmp_path)
    (tmp_path / "more.csv").write_text("turbine,celsius\nwt99,12.5\n")
    (script,) = [block for block in blocks("sh") if "hrdg.svg" in block]
    path = f"{ZODIAC.parent}:/usr/bin:/bin"
    run = subprocess.run(
        ["bash", "-eu", "-c", script],
        check=False,
        cwd=tmp_path,
        env={"PATH": path},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "hrdg.svg").exists() and (tmp_path / "why.svg").exists()
    assert "is false" in run.stdout and "derived it (dropped by the change)" in run.stdout


def test_a_server_answers_curl(tmp_path: Path) -> None:
    wind = ROOT / "examples" / "wind_farm"
    subprocess.run([sys.executable, str(wind / "generate.py"), str(tmp_path)], check=True)
    shutil.copy(wind / "wind.rules", tmp_path)
    (script,) = [block for block in blocks("sh") if "zodiac serve" in block]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = subprocess.run(
        ["bash", "-eu", "-c", script.replace("7474", str(port))],
        check=False,
        cwd=tmp_path,
        env={"PATH": f"{ZODIAC.parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    for said in ('{"rows":[{"X":"http', '"many":', '"visited":1', '"preview":true', "explicit"):
        assert said in run.stdout
    assert '"bindings"' in run.stdout and "zodiac_changes_total 2" in run.stdout
    assert not (tmp_path / "served.duckdb.server").exists()


def test_every_command_is_in_the_readme() -> None:
    run = subprocess.run([str(ZODIAC), "--help"], capture_output=True, text=True, check=True)
    commands = re.findall(
        r"^  ([a-z-]+)  +[A-Z]", run.stdout.partition("Commands:")[2], re.MULTILINE
    )
    assert len(commands) >= 8
    for command in commands:
        assert f"zodiac {command} " in README, command
