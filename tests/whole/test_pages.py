"""The blocks of README and of docs/ run as they stand, page by page, as a reader pastes them."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.pages import DOCS, GENERATED, Page, in_navigation, language_page, page, pages
from support.places import ROOT

import zodiac_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGES = pages()
ZODIAC = Path(sys.executable).with_name("zodiac")
WIND = ROOT / "examples" / "wind_farm"

RUN = {("python",), ("python", "spark"), ("sh",), ("prolog",), ("toml",), ("json",)}
"""Blocks that run, or that are read."""
SHOWN = {("text",), ("text", "measured")}
"""Output of the blocks that run. Numbers of `measured` output vary."""
NOT_RUN = {
    ("README.md", "pip install .     # in this folder, with Python 3.11 or newer"),  # test_wheel.py
    ("docs/how-to/spark.md", "pip install 'zodiac-sql[spark]'"),
    ("docs/how-to/editor.md", "vim.filetype.add("),  # no Neovim here
    ("docs/explanation/how-it-works.md", "text -> rules -> checks"),  # a drawing
}
"""All other blocks, by the beginning of their text."""

EXPECTED = {
    "README.md": ["{'anomaly': 1, 'near': 12, 'usual': 4}", "{'alarm': 3}"],
    "docs/tutorials/first-session.md": [
        "{'anomaly': 1, 'near': 12, 'usual': 4}",
        "[{'s': 'wt2'}]",
        "is false",
        "derived it (dropped by the change)",
    ],
    "docs/explanation/modules.md": ["[[], ['stc(inside)']]"],
    "docs/how-to/server.md": [
        '{"rows":[{"X":"http', '"many":', '"visited":1', '"preview":true', "explicit",
        '"bindings"', "zodiac_changes_total 2",
    ],
}  # fmt: skip
"""What pages print."""


def is_not_run(of: Page, text: str) -> bool:
    return any(of.name == name and text.startswith(start) for name, start in NOT_RUN)


def named(some: list[Page]) -> list[Any]:
    return [pytest.param(one, id=one.name) for one in some]


@pytest.mark.parametrize("one", named(PAGES))
def test_every_block_has_its_test(one: Page) -> None:
    for block in one.blocks():
        tested = block.marks in RUN | SHOWN
        assert tested != is_not_run(one, block.text), (block.marks, block.text)


def test_every_page_is_in_the_navigation() -> None:
    files = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    listed = in_navigation()
    assert files == set(listed) - GENERATED and len(listed) == len(set(listed))


def run_in(folder: Path, *command: str) -> str:
    run = subprocess.run(
        command,
        cwd=folder,
        env={"PATH": f"{ZODIAC.parent}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def data_for_shell(folder: Path) -> None:
    """The files that commands in pages name."""
    subprocess.run([sys.executable, str(WIND / "generate.py"), str(folder)], check=True)
    for name in ("wind.rules", "heat.rules"):
        shutil.copy(WIND / name, folder)
    (folder / "more.csv").write_text("turbine,celsius\nwt99,12.5\n")
    (folder / "examples").symlink_to(ROOT / "examples")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


RUNNING = [one for one in PAGES if one.blocks("python") or one.blocks("sh")]


@pytest.mark.parametrize("one", named(RUNNING))
def test_blocks_run(
    one: Page,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Python runs in this process: forty others would take the time of forty starts."""
    monkeypatch.chdir(tmp_path)
    if one.blocks("python"):
        exec(compile(one.script("python"), one.name, "exec"), {"__name__": "__main__"})  # noqa: S102
    printed = capsys.readouterr().out
    if one.blocks("sh"):
        data_for_shell(tmp_path)
        commands = one.script("sh").replace("7474", str(free_port()))
        printed += run_in(tmp_path, "bash", "-eu", "-c", commands)
    for expected in EXPECTED.get(one.name, []):
        assert expected in printed
    for block in one.blocks("text"):
        assert is_not_run(one, block.text) or block.text.strip() in printed, block.text
    for block in one.blocks("text", "measured"):
        assert words(block.text) <= words(printed)
    assert not list(tmp_path.glob("*.server"))
    # When drawings change: the picture in docs/ is the one that the page's block saves.
    if one.name == "docs/tutorials/turbines.md":
        assert (tmp_path / "why.svg").read_bytes() == (DOCS / "why.svg").read_bytes()


def words(text: str) -> set[str]:
    """The words of a table of figures. Rows may change places."""
    return set(re.sub(r"[\d.,/-]+", " ", text).split())


def test_spark_blocks_run(
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process, where there is a session already: `local_session` returns it."""
    from zodiac_sql.spark import read_mappings

    one = page("docs/how-to/spark.md")
    fleet = ROOT / "examples" / "wind_fleet"
    subprocess.run([sys.executable, str(fleet / "generate.py"), str(tmp_path / "raw")], check=True)
    for name in ("facts.toml", "turbine.rules"):
        shutil.copy(fleet / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shown.toml").write_text(one.script("toml"))
    assert [facts.predicate for facts in read_mappings("shown.toml")] == ["reading"]
    scope: dict[str, Any] = {}
    exec(one.script("python", "spark"), scope)  # noqa: S102 (the page is ours)
    scope["kb"].close()
    printed = capsys.readouterr().out
    assert "{'reading': 28797, 'maintenance': 8} {'reading': 3, 'maintenance': 0}" in printed
    assert "6 [{'path': 6}]" in printed
    assert "3 {'end': 2} {'edge': 1, 'path': 3} {'path': 'on the driver', 'end'" in printed
    assert "|  wt042|  gearbox|       2|  81.17|" in printed


def test_the_page_of_the_language_is_right() -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules(language_page())
        kb.insert("hasTemperature", [("wt1", 31.0)])
        assert kb.table("Check").fetchall() == [("wt1", "check wt1")]


@pytest.mark.parametrize("one", named([one for one in PAGES if one.blocks("prolog")]))
def test_rules_shown_are_accepted(one: Page) -> None:
    for block in one.blocks("prolog"):
        with zodiac_sql.connect() as kb:
            kb.add_rules(block.text)


def test_updates_shown_as_json_are_updates() -> None:
    for one in PAGES:
        for block in one.blocks("json"):
            update = json.loads(block.text)
            assert set(update) <= set(zodiac_sql.StreamUpdate.__annotations__), one.name


COMING = [one for one in PAGES if "/coming-from/" in one.name]
PREFIXES = "@prefix : <http://example.org/> . @prefix ex: <http://example.org/> .\n"


@pytest.mark.parametrize("one", named(COMING))
def test_our_side_of_a_comparison_is_accepted(one: Page) -> None:
    """Rules of the second column are added, calls are verbs, and commands are commands."""
    rows = [line.split(" | ") for line in one.text.splitlines() if line.startswith("| ")]
    ours = [code for row in rows for code in re.findall(r"`([^`]+)`", row[1])]
    assert len(ours) >= 7
    for code in ours:
        if call := re.match(r"kb\.(\w+)\(", code):
            assert callable(getattr(zodiac_sql.KnowledgeBase, call[1])), code
            compile(code, one.name, "eval")
        elif command := re.match(r"zodiac ([\w-]+)", code):
            assert command[1] in commands()
        else:
            with zodiac_sql.connect() as kb:
                kb.add_rules(PREFIXES + code)


def commands() -> set[str]:
    from zodiac_sql.cli.main import app

    return {str(one.name or one.callback.__name__).strip("_").replace("_", "-")
            for one in app.registered_commands if one.callback}  # fmt: skip


def test_every_command_is_in_a_page() -> None:
    """The reference has all of them by itself, but somebody must say what each is for."""
    assert len(commands()) >= 8
    written = " ".join(one.text for one in PAGES) + " "
    for command in commands():
        assert re.search(rf"zodiac\s+{command}[\s`]", written), command


def test_every_public_name_is_in_the_reference() -> None:
    reference = "\n".join(one.text for one in PAGES if "/reference/python/" in one.name)
    documented = set(re.findall(r"^::: (\S+)$", reference, re.MULTILINE))
    for name in zodiac_sql.__all__:
        assert f"zodiac_sql.{name}" in documented, name
    for name in re.findall(
        r'^    "(\w+)",$', (ROOT / "zodiac_sql/spark/__init__.py").read_text(), re.MULTILINE
    ):
        assert f"zodiac_sql.spark.{name}" in documented, name


def test_every_option_is_in_the_settings() -> None:
    """Those of `connect`, of each verb, and of the keywords that verbs share."""
    from zodiac_sql.change.inserting import Inserting
    from zodiac_sql.change.loading import Loading
    from zodiac_sql.change.settings import Changing
    from zodiac_sql.serve.server import Serving

    options = set(inspect.signature(zodiac_sql.connect).parameters)
    for shared in (Changing, Inserting, Loading, Serving):
        options |= set(shared.__annotations__)
    for name, verb in inspect.getmembers(zodiac_sql.KnowledgeBase, inspect.isfunction):
        if not name.startswith("_"):
            options |= {
                one.name
                for one in inspect.signature(verb).parameters.values()
                if one.default is not one.empty
            }
    written = page("docs/reference/settings.md").text
    rows = " ".join(line.split("|")[1] for line in written.splitlines() if line.startswith("| "))
    listed = set(re.findall(r"`(\w+)[^`]*`", rows))
    positional = {"change", "constraint", "predicate"}  # arguments, which a name explains
    assert options - positional <= listed, options - positional - listed


def test_every_error_has_a_remedy() -> None:
    written = page("docs/reference/errors.md").text
    for name in zodiac_sql.__all__:
        if name.endswith(("Error", "Warning")):
            assert f"`{name}`" in written or f"zodiac_sql.{name}`" in written, name


def test_the_readme_is_short_and_shows_the_picture() -> None:
    readme = page("README.md").text
    assert len(readme.splitlines()) <= 150
    assert "(docs/why.svg)" in readme
    for path in re.findall(r"\]\(((?:docs|examples)[^)#]*)", readme):
        assert (ROOT / path).exists(), path
