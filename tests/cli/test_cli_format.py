"""zodiac format: files of rules get one style, or are only looked at."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.command_line import ZODIAC, answered, called, refused

UNTIDY = "% hot ones\np(X):-q( X ),X>3.\n"
TIDY = "% hot ones\np(X) :- q(X), X > 3.\n"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tidy.rules").write_text(TIDY)
    (tmp_path / "untidy.rules").write_text(UNTIDY)
    return tmp_path


def test_files_are_laid_out(rules: Path) -> None:
    assert answered("format", "tidy.rules", "untidy.rules") == "changed: untidy.rules\n"
    assert (rules / "untidy.rules").read_text() == TIDY
    assert answered("format", "tidy.rules", "untidy.rules") == ""


def test_with_check_nothing_is_written(rules: Path) -> None:
    found = called("format", "tidy.rules", "untidy.rules", "--check")
    assert (found.exit_code, found.stdout) == (1, "would change: untidy.rules\n")
    assert (rules / "untidy.rules").read_text() == UNTIDY
    assert answered("format", "tidy.rules", "--check") == ""


def test_standard_input_goes_to_standard_output() -> None:
    command = [str(ZODIAC), "format", "-"]
    text = 'p( "é" ).\r\n// end\r\n'.encode()
    run = subprocess.run(command, input=text, capture_output=True, check=True)
    assert run.stdout == 'p("é").\r\n// end\r\n'.encode()
    looked = subprocess.run([*command, "--check"], input=text, capture_output=True, check=False)
    assert (looked.returncode, looked.stdout) == (1, b"would change: <standard input>\n")


def test_if_one_cannot_be_read_none_is_written(rules: Path) -> None:
    (rules / "bad.rules").write_text("p(X) :- q(X\n")
    (rules / "latin.rules").write_bytes(b'p("\xe9").\n')
    (rules / "shapes.srl").write_text("RULE { ?x a ?y } WHERE { ?x a ?y }\n")
    assert "bad.rules:1:11: syntax error" in refused("format", "untidy.rules", "bad.rules")
    assert "cannot read latin.rules" in refused("format", "untidy.rules", "latin.rules")
    assert "shapes.srl has SHACL rules" in refused("format", "untidy.rules", "shapes.srl")
    assert "no file nowhere.rules" in refused("format", "untidy.rules", "nowhere.rules")
    assert (rules / "untidy.rules").read_text() == UNTIDY
