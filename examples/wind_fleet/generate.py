"""Writes a day of raw readings of 200 wind turbines: 50 CSV files, some rows of which are broken.

    python generate.py [DIRECTORY]      ./raw if not given

Each turbine has three sensors and tells their temperatures every half hour. Nine turbines have a
sensor that runs hot for an hour; one of these is in maintenance then.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterator
from pathlib import Path

TURBINES = 200
FILES = 50
SENSORS = {"generator": 65.0, "gearbox": 55.0, "bearing": 45.0}
HOT = {7: "bearing", 42: "gearbox", 58: "generator", 77: "bearing", 101: "gearbox",
       120: "bearing", 133: "generator", 160: "gearbox", 199: "bearing"}  # fmt: skip
IN_MAINTENANCE = 133
BROKEN = {3: "n/a", 50: "", 111: "12,5"}
"""Turbines with one reading that is no number."""


def write(directory: Path) -> Path:
    """Write the files, and return where they are."""
    directory.mkdir(parents=True, exist_ok=True)
    each = TURBINES // FILES
    for number in range(FILES):
        with (directory / f"readings-{number:02}.csv").open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["turbine_id", "sensor", "time", "fahrenheit"])
            for turbine in range(number * each, (number + 1) * each):
                lines.writerows(readings(turbine))
    with (directory / "maintenance.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["turbine_id", "time"])
        lines.writerows([name(IN_MAINTENANCE), moment(at)] for at in range(20, 28))
    return directory


def readings(turbine: int) -> Iterator[list[str]]:
    """A turbine's rows."""
    rng = random.Random(turbine)
    for at in range(48):
        for sensor, usual in SENSORS.items():
            hot = HOT.get(turbine) == sensor and 22 <= at < 24
            celsius = usual + rng.gauss(0, 2) + (25 if hot else 0)
            shown = f"{celsius * 1.8 + 32:.1f}"
            if at == 9 and sensor == "gearbox":
                shown = BROKEN.get(turbine, shown)
            yield [name(turbine), sensor, moment(at), shown]


def name(turbine: int) -> str:
    return f"wt{turbine:03}"


def moment(at: int) -> str:
    return f"2026-03-01 {at // 2:02}:{at % 2 * 30:02}:00"


if __name__ == "__main__":
    print(write(Path(sys.argv[1] if len(sys.argv) > 1 else "raw")))
