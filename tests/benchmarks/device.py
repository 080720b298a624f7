"""How much memory a process takes that has RS2, w = 200, in a file: what a small device must have.

Each limit is measured in a process of its own, with one thread (device_process.py).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyarrow import csv

from . import device_process
from .tables import print_header, print_line
from .workloads import RS2, wind_turbines

COMMAND = "device"
NAME = f"{COMMAND}:rs2"
NAMES = (NAME,)
LIMITS = ("64MB", "128MB", "256MB")
CHANGES = 60


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return name in NAMES


def report() -> None:
    """Measure all, and print the table."""
    print(
        "RS2, w = 200, in a file, one thread, by limit: resident MB after opening, materialising, "
        f"and {CHANGES} changes of one fact.\n",
        flush=True,
    )
    print_header(["memory_limit", "opened", "materialised", "changed", "most", "pandas imported"])
    with TemporaryDirectory() as folder:
        Path(folder, "rs2.rules").write_text(RS2)
        for name, table in wind_turbines(200).items():
            csv.write_csv(table, Path(folder, f"{name}.csv"))
        for limit in LIMITS:
            print_line([limit, *_measured(folder, limit)])
    print()


def _measured(folder: str, limit: str) -> list[str]:
    """One line of the table, without the limit."""
    call = [sys.executable, device_process.__file__, folder, limit, str(CHANGES)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode:
        return [(done.stderr.strip().splitlines() or ["failed"])[-1]]
    told = json.loads(done.stdout)
    return [*(f"{figure:.0f}" for figure in told["megabytes"]), "yes" if told["pandas"] else "no"]
