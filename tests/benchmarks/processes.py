"""A process of its own for whatever is measured: lines of JSON on its stdout, read back here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from .workloads import REPOSITORY

SEPARATOR = "/"
"""Between what a process is told in one name."""


def child(
    engine: str, name: str, runs: int, timeout: float, limit: float | None = None
) -> tuple[list[dict[str, Any]], str]:
    """The rows that one process finished within a limit, and why not all: within twenty times the
    timeout, if no other limit is given.
    """
    command = [sys.executable, "-m", "tests.benchmarks", "--one", engine, name]
    command += ["--runs", str(runs), "--timeout", str(timeout)]
    limit = 20 * timeout if limit is None else limit
    with TemporaryDirectory() as folder, TemporaryFile("w+") as out, TemporaryFile("w+") as wrong:
        problem = ""
        try:
            done = subprocess.run(
                command,
                cwd=REPOSITORY,
                env={**os.environ, "TMPDIR": folder},  # so that nothing stays of one that is killed
                stdout=out,
                stderr=wrong,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            problem = f"ended after {limit:.0f} s"
        else:
            wrong.seek(0)
            if done.returncode:
                problem = (wrong.read().strip().splitlines() or ["failed"])[-1]
        out.seek(0)
        return [json.loads(line) for line in out if line.endswith("\n")], problem
