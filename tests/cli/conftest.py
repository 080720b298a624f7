"""What tests of the command line start from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.command_line import write_farm, zodiac


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory, the current one, with rules and data."""
    monkeypatch.chdir(tmp_path)
    write_farm(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def farm_made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("farm")
    run = zodiac("run", "farm.duckdb", *write_farm(directory), cwd=directory)
    assert run.returncode == 0, run.stderr
    return directory / "farm.duckdb"


@pytest.fixture
def farm(here: Path, farm_made_once: Path) -> Path:
    """A database of the wind farm."""
    return Path(shutil.copy(farm_made_once, here))
