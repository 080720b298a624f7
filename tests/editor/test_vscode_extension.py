"""The extension for VS Code: what its parts say of each other is true. (`make vscode` packs it.)"""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from support.places import ROOT

EXTENSION = ROOT / "editors" / "vscode"
PACKAGE = json.loads((EXTENSION / "package.json").read_text())
SCRIPT = (EXTENSION / "extension.js").read_text()


def test_files_and_names_are_those_that_are_there() -> None:
    contributes = PACKAGE["contributes"]
    languages = {one["id"]: one for one in contributes["languages"]}
    (grammar,) = contributes["grammars"]
    colours = json.loads((ROOT / "editors" / "zodiac.tmLanguage.json").read_text(encoding="utf-8"))
    assert grammar["scopeName"] == colours["scopeName"] and grammar["language"] in languages
    assert "../zodiac.tmLanguage.json syntaxes/" in PACKAGE["scripts"]["vscode:prepublish"]
    assert languages["zodiac"]["extensions"] == [f".{one}" for one in colours["fileTypes"]]
    assert (EXTENSION / PACKAGE["main"]).is_file()
    configuration = EXTENSION / languages["zodiac"]["configuration"]
    pattern = json.loads(configuration.read_text())["wordPattern"]
    for word in ("wind:hasNeighbour", "?x", "Größe", "wt1"):
        assert re.fullmatch(pattern, word)
    assert set(re.findall(r'language: "([\w-]+)"', SCRIPT)) == set(languages)
    (command,) = contributes["commands"]
    assert f'registerCommand("{command["command"]}"' in SCRIPT


def test_settings_that_are_read_are_declared() -> None:
    read = {f"zodiac.{name}" for name in re.findall(r'settings\.get\("(\w+)"\)', SCRIPT)}
    assert read == set(PACKAGE["contributes"]["configuration"]["properties"])
    assert "initializationOptions: { database:" in SCRIPT and 'args: ["lsp"]' in SCRIPT


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js here")
def test_the_script_can_be_read() -> None:
    subprocess.run(["node", "--check", str(EXTENSION / "extension.js")], check=True)
