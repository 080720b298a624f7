"""Finds wind turbines with broken temperature sensors. `make demo` runs this.

    python demo.py [DIRECTORY]      where the data and the database go: ./demo-data if not given

The rules are in wind.rules and heat.rules, the data come from generate.py. What an earlier run left
in the directory (turbines.nt, readings.csv, farm.duckdb) is replaced.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import generate
from rich import box
from rich.console import Console
from rich.table import Table

import zodiac_sql
from zodiac_sql import KnowledgeBase

HERE = Path(__file__).parent
SUSPECTS = """
    anomaly(Turbine), wind:inFarm(Turbine, Farm), readings(Turbine, Celsius),
    neighbourMedian(Turbine, Median), Difference = Celsius - Median
"""

console = Console(highlight=False, width=min(Console().width, 100), soft_wrap=True)


def main(directory: Path) -> None:
    database = make_data(directory)
    with zodiac_sql.connect(database) as kb:
        load(kb, directory)
        show_anomalies(kb)
        added = add_heat_rules(kb)
        show_explanations(kb)
        drop_heat_rules(kb, added)
    show_how_to_go_on(database)


def make_data(directory: Path) -> Path:
    """Write the data, remove the database of an earlier run, and return where the new one goes."""
    step("Make data")
    turbines, readings = generate.write(directory)
    say(f"{shown(turbines)} has turbines, farms and neighbours (RDF);")
    say(f"{shown(readings)} has one temperature reading per turbine.")
    database = directory / "farm.duckdb"
    database.unlink(missing_ok=True)
    database.with_name("farm.duckdb.wal").unlink(missing_ok=True)
    return database


def load(kb: KnowledgeBase, directory: Path) -> None:
    """Rules and facts come in as one change: all of it is in the file, or nothing."""
    step("Load the data and add the rules of wind.rules")
    with kb.update() as update:
        update.add_rules(HERE / "wind.rules")
        update.load(directory / "turbines.nt")
        update.load(directory / "readings.csv")
    turbines = len(kb.query("wind:Turbine(T)"))
    links, pairs = kb.sql(
        "SELECT (SELECT count(*) FROM edb.hasNeighbour), (SELECT count(*) FROM hasNeighbour)"
    ).fetchall()[0]
    say(f"{turbines} turbines. Their {links} links make {pairs:,} pairs of neighbours: each")
    say(f"turbine and the rest of its farm. Done in {update.change.seconds:.2f} s.")


def show_anomalies(kb: KnowledgeBase) -> None:
    step("Which sensors differ by more than 5 °C from the median of the neighbours?")
    table = new_table("turbine", "farm")
    for title in ("reading", "neighbours' median", "difference"):
        table.add_column(title, justify="right")
    for turbine, farm, celsius, median, difference in sorted(kb.query(SUSPECTS)):
        numbers = f"{celsius:.1f} °C", f"{median:.2f} °C", f"{difference:+.2f}"
        table.add_row(local(turbine), local(farm), *numbers)
    console.print(table)


def add_heat_rules(kb: KnowledgeBase) -> list[str]:
    """Add rules, say what that did, and return their names."""
    before = rule_names(kb)
    change = kb.add_rules(HERE / "heat.rules")
    added = [name for name in rule_names(kb) if name not in before]
    step(f"Something is wrong: add the {len(added)} rules of heat.rules, which explain it")
    say(f"New facts: {counts(change.inserted)}.")
    new, old = len(change.hypernodes.created), len(change.hypernodes.untouched)
    say(
        f"Groups of rules (hypernodes): {new} new, {old} untouched. Done in {change.seconds:.2f} s."
    )
    return added


def show_explanations(kb: KnowledgeBase) -> None:
    step("Why do they differ, and who is affected?")
    reasons: dict[str, list[str]] = {}
    for turbine, why in sorted(kb.query("explanation(Turbine, Why)")):
        reasons.setdefault(why, []).append(local(turbine))
    table = new_table("why", "turbines")
    for why, turbines in sorted(reasons.items()):
        table.add_row(why, short_list(turbines))
    console.print(table)
    repairs = sorted(kb.query("toRepair(Farm, Sensors)"))
    say("To repair: " + ", ".join(f"{n} in {local(farm)}" for farm, n in repairs) + ".")
    substitutes = sorted(kb.query("substitute(Turbine, Celsius)"))
    values = ", ".join(f"{local(turbine)} {celsius:.1f}" for turbine, celsius in substitutes)
    say(f"Use until then: {values} °C.")


def drop_heat_rules(kb: KnowledgeBase, names: list[str]) -> None:
    step("All is explained: drop these rules again")
    change = kb.drop_rules(*names)
    say(f"Facts gone: {counts(change.deleted)}.")
    say(f"The {len(rule_names(kb))} rules of wind.rules and their facts are as before.")


def show_how_to_go_on(database: Path) -> None:
    name = shown(database)
    step(f"All of it is in {name}. Ask it yourself")
    say("in the language of the rules:")
    command(zodiac(), "query", name, "anomaly(X), readings(X, T), T > 30")
    say("in SQL:")
    command(zodiac(), "query", name, "SELECT * FROM readings ORDER BY celsius")
    say("or with DuckDB alone:")
    code = f'import duckdb; duckdb.connect("{name}").table("anomaly").show()'
    command(shown(Path(sys.executable)), "-c", code)


def step(text: str) -> None:
    console.print(f"\n[bold]{text}[/bold]")


def say(text: str) -> None:
    console.print(f"  {text}", markup=False)


def command(*words: str) -> None:
    console.print(f"    {shlex.join(words)}", markup=False, style="cyan")


def new_table(*titles: str) -> Table:
    return Table(*titles, box=box.SIMPLE_HEAD, pad_edge=True)


def rule_names(kb: KnowledgeBase) -> list[str]:
    return kb.rules().to_pydict()["name"]


def counts(change: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {predicate}" for predicate, n in sorted(change.items()))


def local(iri: str) -> str:
    """The last part of an IRI, for people."""
    return iri.removeprefix(generate.WIND)


def short_list(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 5 else [*names[:3], f"... ({len(names)} turbines)"])


def shown(path: Path) -> str:
    """A path as short as it can be typed here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def zodiac() -> str:
    """The command as it can be typed here."""
    beside = Path(sys.executable).with_name("zodiac")
    return "zodiac" if shutil.which("zodiac") else shown(beside)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit("usage: python demo.py [DIRECTORY]")
    main(Path(sys.argv[1] if len(sys.argv) == 2 else "demo-data"))
