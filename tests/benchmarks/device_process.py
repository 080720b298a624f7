"""What `device` starts: `python device_process.py FOLDER LIMIT` prints resident megabytes as JSON.

It imports nothing but zodiac_sql, as a program on a device would. The folder has rules and facts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

CHANGED = "p3"


def main(folder: Path, limit: str, changes: int) -> None:
    """Load, materialise, and delete and insert facts one by one; then print the figures."""
    import zodiac_sql

    with zodiac_sql.connect(folder / f"{limit}.duckdb", memory_limit=limit, threads=1) as kb:
        opened = resident("VmRSS")
        with kb.update() as update:
            update.add_rules(folder / "rs2.rules")
            for file in sorted(folder.glob("*.csv")):
                update.load(file)
        materialised = resident("VmRSS")
        lines = (folder / f"{CHANGED}.csv").read_text().splitlines()
        for line in lines[1 : 1 + changes // 2]:
            kb.delete(CHANGED, [tuple(line.split(","))])
            kb.insert(CHANGED, [tuple(line.split(","))])
        figures = [opened, materialised, resident("VmRSS"), resident("VmHWM")]
    print(json.dumps({"megabytes": figures, "pandas": "pandas" in sys.modules}))


def resident(name: str) -> float:
    """Resident megabytes of this process, as Linux tells them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
