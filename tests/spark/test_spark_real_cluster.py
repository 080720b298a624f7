"""A cluster of two workers in processes of their own, one of which is killed at work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support import cluster_child
from support.places import ROOT

STARTED = "local-cluster[2,1,1024] cannot be started here: "


def test_a_worker_is_killed(java: None, tmp_path: Path) -> None:
    """What was computed is under `through`, so the work goes on; the answer is the right one.

    The package travels to the workers as a zip file, as with --py-files.
    """
    with zipfile.ZipFile(tmp_path / "zodiac_sql.zip", "w") as archive:
        for path in (ROOT / "zodiac_sql").rglob("*"):
            if path.suffix in (".py", ".sql", ".lark", ".rules"):
                archive.write(path, path.relative_to(ROOT))
    command = [sys.executable, cluster_child.__file__, str(tmp_path)]
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as driver:
        try:
            said, errors = driver.communicate(timeout=300)
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
    if "Could not initialize" in errors or "Failed to launch executor" in errors and not said:
        pytest.skip(STARTED + errors[-300:])
    assert said, errors[-2000:]
    told = json.loads(said.splitlines()[-1])
    nodes = range(cluster_child.NODES + 1)
    paths = sorted([a, b] for a in nodes for b in nodes if a < b)
    assert told == {
        "killed": 1, "path": paths, "kept": len(paths),
        "inserted": {"edge": cluster_child.NODES, "path": len(paths)},
        "derived": [[f"wt{n}", n + 1] for n in range(cluster_child.NODES)],
    }  # fmt: skip
