"""The model of what rules cost tells what was measured within a factor of 2."""

from __future__ import annotations

import pytest
from benchmarks import predict


def test_what_was_measured() -> None:
    compared = predict.compared()
    assert {engine for _, _, _, engine in compared} == {"embedded", "Spark"}
    for work, seconds, told, engine in compared:
        assert seconds / 2 <= told <= 2 * seconds, (work.title, engine, told)


def test_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    predict.report()
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert len(lines) == 1 + len(predict.compared()) + 2 * (1 + len(predict.at(1e9)))
