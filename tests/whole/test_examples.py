"""The examples, run as a user runs them. What they must find is worked out here in plain Python
from the data, without zodiac_sql.
"""

from __future__ import annotations

import csv
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import duckdb
import networkx as nx
import pyoxigraph
import pytest
from support.places import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Links = dict[str, set[str]]

EXAMPLES = ROOT / "examples"
WIND_FARM, BUILDING = EXAMPLES / "wind_farm", EXAMPLES / "building"
WIND_FLEET = EXAMPLES / "wind_fleet"
ROADS = EXAMPLES / "roads"
COLD_STORE = EXAMPLES / "cold_store"
WIND = "http://example.org/wind/"
BRICK = "https://brickschema.org/schema/Brick#"
SCHOOL = "https://school.example/"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

ANOMALIES = {"E10", "N07", "N19", "S11", "S14"}
"""The anomalies that generate.py says it plants."""


def run(directory: Path, *words: str | Path) -> str:
    """What a Python program prints that is started in a directory."""
    settings = {**os.environ, "PYTHONUTF8": "1", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=directory, env=settings, capture_output=True, encoding="utf-8", check=False,
        timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def triples(path: Path) -> list[tuple[str, str, str]]:
    """The statements of an RDF file, all terms as bare text."""
    quads = pyoxigraph.parse(path=str(path))
    return [(q.subject.value, q.predicate.value, q.object.value) for q in quads]


def links_of(statements: Iterable[tuple[str, str, str]], *properties: str) -> Links:
    """Subject -> objects of the properties."""
    links: Links = defaultdict(set)
    for s, p, o in statements:
        if p in properties:
            links[s].add(o)
    return links


def reached(start: str, links: Links) -> set[str]:
    """What can be reached over links in one step or more."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = links.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def instances(statements: Iterable[tuple[str, str, str]], name: str) -> set[str]:
    return {s for s, p, o in statements if (p, o) == (RDF_TYPE, name)}


# --- the wind farm --------------------------------------------------------------------------------


class Wind:
    """What the data of the wind farm mean."""

    def __init__(self, directory: Path) -> None:
        facts = [
            (s.removeprefix(WIND), p.removeprefix(WIND), o.removeprefix(WIND))
            for s, p, o in triples(directory / "turbines.nt")
        ]
        with (directory / "readings.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.readings = {row["turbine"].removeprefix(WIND): float(row["celsius"]) for row in rows}
        self.turbines = instances(facts, "Turbine")
        self.maintained = instances(facts, "UnderMaintenance")
        self.farm = {s: o for s, p, o in facts if p == "inFarm"}
        self.neighbours = self._neighbours(links_of(facts, "hasNeighbour"))
        self.medians = dict(self._medians(set()))
        self.anomalies = {t for t in self.medians if abs(self.difference(t)) > 5}
        self.broken = self.anomalies - self.maintained
        self.substitutes = {t: m for t, m in self._medians(self.broken) if t in self.broken}

    def _neighbours(self, links: Links) -> Links:
        for turbine, others in list(links.items()):
            for other in others:
                links[other] = links[other] | {turbine}
        return {turbine: reached(turbine, links) - {turbine} for turbine in self.turbines}

    def _medians(self, ignored: set[str]) -> Iterator[tuple[str, float]]:
        """The neighbours' median of each turbine that has a reading and enough neighbours."""
        for turbine in self.readings:
            sound = self.neighbours[turbine] & self.readings.keys()
            if len(sound) >= 3:
                yield turbine, median(self.readings[t] for t in sound - ignored)

    def difference(self, turbine: str) -> float:
        return self.readings[turbine] - self.medians[turbine]

    def explanations(self) -> set[tuple[str, str]]:
        usual = median(self.readings.values())
        warm = {t for t in self.medians if self.readings[t] > usual + 10} - self.anomalies
        return {
            *((t, "its sensor is broken") for t in self.broken),
            *((t, "it is under maintenance") for t in self.anomalies & self.maintained),
            *((t, "it is warm, and so are its neighbours") for t in warm),
            *((t, "it sent no reading") for t in self.turbines - self.readings.keys()),
        }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The directory in which the demo ran, and what it printed."""
    directory = tmp_path_factory.mktemp("demo")
    return directory, run(directory, WIND_FARM / "demo.py")


@pytest.fixture(scope="module")
def wind(demo: tuple[Path, str]) -> Wind:
    return Wind(demo[0] / "demo-data")


def test_data_hold_what_was_planted(wind: Wind) -> None:
    assert wind.anomalies == ANOMALIES
    assert {wind.farm[t] for t, why in wind.explanations() if "warm" in why} == {"East"}


def test_generate_writes_the_same_every_time(tmp_path: Path, demo: tuple[Path, str]) -> None:
    printed = run(tmp_path, WIND_FARM / "generate.py", "data").splitlines()
    assert [Path(line).name for line in printed] == ["turbines.nt", "readings.csv"]
    for name in ("turbines.nt", "readings.csv"):
        assert (tmp_path / "data" / name).read_bytes() == (
            demo[0] / "demo-data" / name
        ).read_bytes()


def test_demo_prints_the_anomalies(demo: tuple[Path, str], wind: Wind) -> None:
    row = r"^ +(\w+) +(\w+) +(-?[\d.]+) °C +(-?[\d.]+) °C +([+-][\d.]+) *$"
    found = {
        turbine: (farm, *map(float, numbers))
        for turbine, farm, *numbers in re.findall(row, demo[1], re.MULTILINE)
    }
    assert set(found) == wind.anomalies
    for turbine, numbers in found.items():
        expected = wind.readings[turbine], wind.medians[turbine], wind.difference(turbine)
        assert numbers[0] == wind.farm[turbine]
        assert numbers[1:] == pytest.approx(expected, abs=0.0051)


def test_demo_says_what_heat_rules_bring_and_take(demo: tuple[Path, str], wind: Wind) -> None:
    count = {
        "brokenSensor": len(wind.broken),
        "explanation": len(wind.explanations()),
        "heatWave": sum("warm" in why for _, why in wind.explanations()),
        "substitute": len(wind.substitutes),
        "toRepair": len({wind.farm[t] for t in wind.broken}),
        "usual": 1,
    }
    listed = ", ".join(f"{n} {predicate}" for predicate, n in count.items())
    assert f"New facts: {listed}." in demo[1]
    assert f"Facts gone: {listed}." in demo[1]


def test_any_duckdb_client_reads_the_file(demo: tuple[Path, str], wind: Wind) -> None:
    database = demo[0] / "demo-data" / "farm.duckdb"
    with duckdb.connect(database, read_only=True) as connection:
        anomalies = connection.sql("SELECT turbine FROM anomaly").fetchall()
        pairs = connection.sql("SELECT * FROM hasNeighbour").fetchall()
    assert {turbine.removeprefix(WIND) for (turbine,) in anomalies} == wind.anomalies
    assert {(WIND + t, WIND + n) for t in wind.turbines for n in wind.neighbours[t]} == set(pairs)


def test_heat_rules_come_and_go(
    demo: tuple[Path, str], wind: Wind, open_kb: OpenKb, tmp_path: Path
) -> None:
    database = tmp_path / "farm.duckdb"
    shutil.copy(demo[0] / "demo-data" / "farm.duckdb", database)
    with open_kb(database) as kb:
        rules, before = names(kb), extensions(kb)
        kb.add_rules(WIND_FARM / "heat.rules")
        assert short(kb, "explanation") == wind.explanations()
        assert short(kb, "brokenSensor") == {(t,) for t in wind.broken}
        assert dict(short(kb, "substitute")) == pytest.approx(wind.substitutes)
        farms = [wind.farm[t] for t in wind.broken]
        assert short(kb, "toRepair") == {(farm, farms.count(farm)) for farm in farms}
        kb.drop_rules(*(name for name in names(kb) if name not in rules))
        assert (names(kb), extensions(kb)) == (rules, before)


def names(kb: KnowledgeBase) -> list[str]:
    found: list[str] = kb.rules().to_pydict()["name"]
    return found


def extensions(kb: KnowledgeBase) -> dict[str, set[tuple[object, ...]]]:
    predicates = kb.predicates().to_pydict()["predicate"]
    return {name: set(kb.table(name)) for name in predicates}


def short(kb: KnowledgeBase, predicate: str) -> set[tuple[Any, ...]]:
    """The facts of a predicate without the namespace."""
    return {
        tuple(v.removeprefix(WIND) if isinstance(v, str) else v for v in row)
        for row in kb.table(predicate)
    }


def test_demo_starts_afresh(tmp_path: Path) -> None:
    first = run(tmp_path, WIND_FARM / "demo.py", "my farm")
    again = run(tmp_path, WIND_FARM / "demo.py", "my farm")
    assert without_times(first) == without_times(again)
    *_, with_duckdb = printed_commands(again)
    assert "N07" in shell(tmp_path, with_duckdb)


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d\d s", "... s", text)


def printed_commands(text: str) -> list[str]:
    """The commands that the demo proposes: the lines furthest in, after the last step."""
    last_step = text.rpartition("\n\n")[2]
    return re.findall(r"^ {4}(\S.*)$", last_step, re.MULTILINE)


def test_proposed_duckdb_command_works(demo: tuple[Path, str]) -> None:
    *_, with_duckdb = printed_commands(demo[1])
    assert all(turbine in shell(demo[0], with_duckdb) for turbine in ANOMALIES)


def test_proposed_zodiac_commands_work(demo: tuple[Path, str], wind: Wind) -> None:
    in_rules, in_sql, _ = printed_commands(demo[1])
    hot = {t for t in wind.anomalies if wind.readings[t] > 30}
    assert set(re.findall(r"\b[A-Z]\d\d\b", shell(demo[0], in_rules))) == hot
    assert str(min(wind.readings.values())) in shell(demo[0], in_sql)


def shell(directory: Path, text: str) -> str:
    """What a command line prints, started in a directory."""
    done = subprocess.run(
        text, shell=True, cwd=directory, capture_output=True, encoding="utf-8", check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- the building ---------------------------------------------------------------------------------


class Building:
    """What building.ttl means."""

    def __init__(self) -> None:
        facts = self.facts = triples(BUILDING / "building.ttl")
        self.rooms = instances(facts, BRICK + "Room")
        feeds = links_of(facts, BRICK + "feeds")
        units = instances(facts, BRICK + "AHU")
        self.affected = {(r, unit) for unit in units for r in reached(unit, feeds) & self.rooms}
        kinds = ("Temperature_Sensor", "CO2_Sensor")
        self.sensors = set().union(*(instances(facts, BRICK + kind) for kind in kinds))
        self.unrecorded = self.sensors - links_of(facts, SCHOOL + "timeseries").keys()
        turned = [(o, p, s) for s, p, o in facts if p == BRICK + "hasPoint"]
        inside = [f for f in facts if f[1] in (BRICK + "isPartOf", BRICK + "hasLocation")]
        self.inside = links_of(turned + inside, *(p for _, p, _ in turned + inside))

    def cut_off(self) -> set[tuple[str, str]]:
        units = [room for room, _ in self.affected]
        return {(room, unit) for room, unit in self.affected if units.count(room) == 1}

    def sensors_per_floor(self) -> set[tuple[str, int]]:
        around = {s: reached(s, self.inside) for s in self.sensors}
        floors = instances(self.facts, BRICK + "Floor")
        counted = {f: sum(f in places for places in around.values()) for f in floors}
        return {(floor, n) for floor, n in counted.items() if n}


def test_building_rules_derive_what_the_data_mean(open_kb: OpenKb) -> None:
    building = Building()
    with open_kb() as kb:
        kb.add_rules(BUILDING / "building.rules")
        kb.load(BUILDING / "building.ttl")
        assert set(kb.table("affected")) == building.affected
        assert set(kb.table("cutOff")) == building.cut_off()
        supplied = {room for room, _ in building.affected}
        assert set(kb.table("unsupplied")) == {(room,) for room in building.rooms - supplied}
        assert set(kb.table("unrecorded")) == {(sensor,) for sensor in building.unrecorded}
        assert set(kb.table("sensorsPerFloor")) == building.sensors_per_floor()
        within = {(x, y) for x in building.inside for y in reached(x, building.inside)}
        assert set(kb.table("within")) == within


def test_explore_answers_and_draws(tmp_path: Path) -> None:
    building = Building()
    printed = run(tmp_path, BUILDING / "explore.py", "picture.svg")
    rooms, sensors, floors = re.split(r"\n\n(?=\w)", printed)[:3]
    unit = SCHOOL + "AHU1"
    expected = {room for room, cut_by in building.cut_off() if cut_by == unit}
    assert set(re.findall(rf"{SCHOOL}\w+", rooms)) == expected
    assert set(re.findall(rf"{SCHOOL}[TC]_\w+", sensors)) == building.unrecorded
    counted = re.findall(rf"({SCHOOL}\w+) +│ +(\d+)", floors)
    assert {(floor, int(n)) for floor, n in counted} == building.sensors_per_floor()
    drawing = ET.parse(tmp_path / "picture.svg").getroot()
    assert len(drawing.findall(".//*[@class='hypernode']")) == 14


# --- wind_fleet -----------------------------------------------------------------------------------


def test_wind_fleet_finds_the_hot_sensors(
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Run in this process, whose session `local_session` returns."""
    monkeypatch.syspath_prepend(str(WIND_FLEET))
    monkeypatch.delitem(sys.modules, "generate", raising=False)
    runpy.run_path(str(WIND_FLEET / "demo.py"))["main"](tmp_path / "data")
    planted = sys.modules.pop("generate")
    printed = capsys.readouterr().out
    hot = {
        (planted.name(turbine), sensor)
        for turbine, sensor in planted.HOT.items()
        if turbine != planted.IN_MAINTENANCE
    }
    assert set(re.findall(r"\| *(wt\d+)\| *(\w+)\| +2\|", printed)) == hot
    assert f"bad rows: {{'reading': {len(planted.BROKEN)}, 'maintenance': 0}}" in printed
    assert re.search(r"gearbox +│ 2 +│", printed) and "generator" in printed


def test_roads(open_kb: OpenKb) -> None:
    """Shortest ways are those of networkx; the rest is worked out by hand."""
    printed = run(ROADS, ROADS / "explore.py")
    assert "far(alba, chur, 30) entered" in printed
    text = (ROADS / "roads.rules").read_text()
    streets = [(a, b, int(km)) for a, b, km in re.findall(r"road\((\w+), (\w+), +(\d+)\)\.", text)]
    graph = nx.Graph()
    graph.add_weighted_edges_from(streets)
    with open_kb() as kb:
        kb.add_rules(ROADS / "roads.rules")
        assert set(kb.table("far").fetchall()) == {
            (start, end, length)
            for start, ends in nx.all_pairs_dijkstra_path_length(graph)
            for end, length in ends.items()
            if start != end
        }
        assert dict(kb.table("lorry").fetchall())["davo"] == 12
        assert dict(kb.table("there").fetchall())["davo"] == 580


def test_cold_store() -> None:
    """What must never be is refused, and the feed has what came and went."""
    printed = run(COLD_STORE, COLD_STORE / "follow.py")
    assert "fit is violated once" in printed and "known is violated once" in printed
    assert "keeps(freezer, insulin) entered: inserted by the change" in printed
    assert "spoils(insulin, fridge)" in printed and "0 violations are left" in printed
    followed = re.findall(
        r"^(\w+) .*'_change_type': '(\w+)', '_commit': (\d)", printed, re.MULTILINE
    )
    assert followed == [
        ("keeps", "delete", "2"), ("keeps", "insert", "2"),
        ("spoils", "insert", "1"), ("spoils", "delete", "2"),
    ]  # fmt: skip
