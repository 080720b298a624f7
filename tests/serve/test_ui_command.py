"""`zodiac ui`: serves a database, or finds its server, and opens the page."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from support.command_line import ZODIAC, write_farm, zodiac

from zodiac_sql.cli.ui_command import _usual_port
from zodiac_sql.serve.place import place_of

BROWSER = """\
#!{python}
import os, sys
from urllib.parse import unquote, urlsplit
path = unquote(urlsplit(sys.argv[1]).path)
with open({seen!r}, "w") as file:
    print(sys.argv[1], oct(os.stat(path).st_mode & 0o777), open(path).read(), file=file)
"""


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    assert zodiac("run", "farm.duckdb", *write_farm(tmp_path), cwd=tmp_path).returncode == 0
    return tmp_path


@pytest.fixture
def shown(farm: Path) -> Iterator[subprocess.Popen[str]]:
    command = [ZODIAC, "ui", "farm.duckdb", "--no-browser"]
    with subprocess.Popen(command, cwd=farm, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def page_in(lines: Iterator[str]) -> str:
    for line in lines:
        if found := re.search(r"the page is at (\S+)", line):
            return found[1]
    raise AssertionError("no address was printed")


def test_it_serves_the_page(farm: Path, shown: subprocess.Popen[str]) -> None:
    assert shown.stdout is not None
    address, _, token = page_in(shown.stdout).partition("#token=")
    assert "zodiac" in httpx.get(address).text
    headers = {"authorization": f"Bearer {token}"}
    assert httpx.get(f"{address}names", headers=headers).json()["writes"] is True
    # Who asks again, gets the page of that server, and commands find it.
    again = zodiac("ui", "farm.duckdb", "--no-browser", cwd=farm)
    assert (again.returncode, again.stdout) == (0, f"the page is at {address}#token={token}\n")
    assert zodiac("query", "farm.duckdb", "hot(X)", "--csv", cwd=farm).stdout == "X\nwt2\n"


def test_the_port_of_a_file_is_the_same_each_time(farm: Path) -> None:
    """Else the browser would know nothing of what was asked before."""
    seen = set()
    for _ in range(2):
        command = [ZODIAC, "ui", "farm.duckdb", "--no-browser"]
        with subprocess.Popen(command, cwd=farm, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            seen.add(page_in(process.stdout).partition("#")[0])
            process.send_signal(signal.SIGTERM)
    assert len(seen) == 1


def test_a_port_that_is_taken(farm: Path) -> None:
    port = _usual_port(str(farm / "farm.duckdb"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        assert _usual_port(str(farm / "farm.duckdb")) == 0


def test_the_browser_is_not_told_the_token_by_its_arguments(
    farm: Path, shown: subprocess.Popen[str]
) -> None:
    assert shown.stdout is not None
    page_in(shown.stdout)
    script, seen = farm / "browser", farm / "seen"
    script.write_text(BROWSER.format(python=sys.executable, seen=str(seen)))
    script.chmod(0o755)
    environment = {**os.environ, "BROWSER": f"{script} %s"}
    run = subprocess.run(
        [ZODIAC, "ui", "farm.duckdb"], cwd=farm, env=environment, capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip
    assert run.stdout == ""
    place = place_of(farm / "farm.duckdb")
    assert place is not None
    argument, mode, content = seen.read_text().split(" ", 2)
    assert place.writing not in argument
    assert mode == "0o600"
    assert f"{place.url}/#token={place.writing}" in content
    assert not Path(argument.removeprefix("file://")).exists()


def test_without_a_browser_the_address_is_printed(farm: Path, shown: subprocess.Popen[str]) -> None:
    assert shown.stdout is not None
    address = page_in(shown.stdout)
    environment = {**os.environ, "BROWSER": "/bin/false %s", "PATH": str(ZODIAC.parent)}
    environment.pop("DISPLAY", None)
    run = subprocess.run(
        [ZODIAC, "ui", "farm.duckdb"], cwd=farm, env=environment, capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip
    assert address in run.stdout
