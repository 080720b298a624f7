"""Writes the data of the wind farm example: turbines.nt and readings.csv.

    python generate.py DIRECTORY

turbines.nt holds the turbines, their farms, and links between turbines that stand side by side, as
RDF. readings.csv holds the latest ambient temperature that each turbine measured. What is wrong
with some of them is planted below. The same program writes the same files every time.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WIND = "http://example.org/wind/"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
ROW = 6  # turbines stand in rows of six
NOISE = 0.8  # degrees by which a sound sensor may differ from the air around it


@dataclass(frozen=True)
class Farm:
    name: str
    turbines: int
    celsius: float

    def turbine(self, number: int) -> str:
        """The name of a turbine, numbered from 1: North has N01, N02, ..."""
        return f"{self.name[0]}{number:02}"


FARMS = [
    Farm("North", 30, 11.5),
    Farm("South", 28, 18.0),
    Farm("East", 24, 33.0),  # a heat wave: all turbines are warm, and none is an anomaly
    Farm("Island", 3, 13.0),  # too small to judge: each turbine has only two neighbours
]

# Degrees by which a reading is off.
OFF = {
    "N07": 13.4,
    "N19": -8.6,
    "S11": 6.9,
    "E10": -14.5,  # 18 degrees would be right in South, but not in East
    "S14": 21.0,  # under maintenance: its cabinet is open
    "S03": 3.2,  # odd, but within 5 degrees
    "I02": 9.0,  # off, but nobody can tell: see Island
}
UNDER_MAINTENANCE = ["S14", "N03"]
SILENT = ["N25"]  # sent no reading


def triples() -> Iterator[tuple[str, str, str]]:
    """Subject, property and object of every statement, as IRIs."""
    for farm in FARMS:
        yield WIND + farm.name, RDF_TYPE, WIND + "Farm"
        for number in range(1, farm.turbines + 1):
            turbine = WIND + farm.turbine(number)
            yield turbine, RDF_TYPE, WIND + "Turbine"
            yield turbine, WIND + "inFarm", WIND + farm.name
            for neighbour in _next_to(number, farm.turbines):
                yield turbine, WIND + "hasNeighbour", WIND + farm.turbine(neighbour)
    for turbine in UNDER_MAINTENANCE:
        yield WIND + turbine, RDF_TYPE, WIND + "UnderMaintenance"


def _next_to(number: int, turbines: int) -> Iterator[int]:
    """The next turbine in the row and the one behind; the rules add the other direction."""
    if number % ROW and number < turbines:
        yield number + 1
    if number + ROW <= turbines:
        yield number + ROW


def readings() -> Iterator[tuple[str, float]]:
    """Turbine and degrees Celsius."""
    chance = random.Random(2023)
    for farm in FARMS:
        for number in range(1, farm.turbines + 1):
            turbine = farm.turbine(number)
            celsius = farm.celsius + chance.uniform(-NOISE, NOISE) + OFF.get(turbine, 0.0)
            if turbine not in SILENT:
                yield WIND + turbine, round(celsius, 1)


def write(directory: Path) -> tuple[Path, Path]:
    """Write both files and return their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    turbines, table = directory / "turbines.nt", directory / "readings.csv"
    lines = (f"<{s}> <{p}> <{o}> .\n" for s, p, o in triples())
    turbines.write_text("".join(lines), encoding="utf-8")
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["turbine", "celsius"])
        writer.writerows(readings())
    return turbines, table


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python generate.py DIRECTORY")
    for path in write(Path(sys.argv[1])):
        print(path)
