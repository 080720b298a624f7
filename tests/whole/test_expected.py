"""The figures that the papers and other engines give for data that we can make or were given."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from support.places import SHARED

from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

DATA = SHARED
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the shared data are not at {DATA}")

# Appendices A, B and C of paper 1, as printed there.
RS1 = """
r1: hasNeighbour(X, Y) :- hasNeighbour(Y, X) .
r2: hasNeighbour(X, Y) :- hasNeighbour(X, Z) ∧ hasNeighbour(Z, Y) ∧ COMP(X, !=, Y) .
r3: hasNeighbourAirTemperatureMeasurementNumber(X, Z) :- aggregate(hasNeighbour(X, Y) ∧
    hasAirTemperatureMeasurement(Y, T)) on X with count(T) as Z .
r4: hasMedianAirTemperatureMeasurementNearby(X, Z) :- aggregate(hasNeighbour(X, Y) ∧
    hasAirTemperatureMeasurement(Y, T)) on X with Med(T) as Z .
r5: MoreThan3Neighbours(X) :- hasNeighbourAirTemperatureMeasurementNumber(X, N) ∧ Comp(N, >=, 3) .
r6: SensorAnomalyWindTurbine(X) :- hasMedianAirTemperatureMeasurementNearby(X, M) ∧
    MoreThan3Neighbours(X) ∧ hasAirTemperatureMeasurement(X, T) and bind(abs(T-M) as D) ∧
    Comp(D, >, 5) .
"""
RS2 = """
r1: p11(X, Y) :- p1(X, Y) .
r2: p11(X, Y) :- p11(Y, X) .
r3: p11(X, Y) :- p11(X, Z) ∧ p11(Z, Y) ∧ COMP(X, !=, Y) .
r4: p12(X, Y) :- p2(X, Y) .
r5: p12(X, Y) :- p12(X, Z) ∧ p12(Z, Y) ∧ COMP(X, !=, Y) .
r6: p13(X, Y) :- p3(X, Y) .
r7: p14(X, Y) :- p13(X, Y) .
r8: p13(X, Y) :- p14(Y, X) .
r9: p20(X, Y) :- p11(X, Y) .
r10: p20(X, Y) :- p12(X, Y) .
r11: p20(X, Y) :- p13(X, Y) .
r12: p21(X, Y) :- p20(X, Y) .
r13: p22(X, Y) :- p21(X, Y) .
r14: p20(X, Y) :- p22(X, Y) .
r15: p25(X, Z) :- p11(X, Y) ∧ p12(Y, Z) ∧ not p5(Y, Z) .
r16: p26(X, Z) :- p12(X, Y) ∧ p13(Z, Y) ∧ not p5(Z, Y) .
r17: p30(X, Z) :- p22(X, Y) ∧ p21(Y, Z) .
r18: p31(X, Y) :- p25(X, Y) ∧ p26(Y, Z) .
"""
R10_NEW = "r10new: p20(X, Y) :- p12(X, Y) ∧ not p13(Y, Z) ."
RS3 = RS2.replace("r10: p20(X, Y) :- p12(X, Y) .", R10_NEW)
RULE_SETS = {"RS2": RS2, "RS3": RS3}


def turbine(number: int) -> str:
    return f"http://example.org/windTurbine{number}"


def dataset_2(w: int, with_p5: bool = True) -> dict[str, list[tuple[str, str]]]:
    """Four chains of w steps; p5 holds once."""
    facts = {
        f"p{k + 1}": [(turbine(k * w + i), turbine(k * w + i + 1)) for i in range(w)]
        for k in range(4)
    }
    return {**facts, "p5": [(turbine(w), turbine(w + 1))] if with_p5 else []}


def filled(kb: KnowledgeBase, rules: str, facts: dict[str, list[tuple[str, str]]]) -> KnowledgeBase:
    with kb.update() as update:
        update.add_rules(rules)
        for predicate, rows in facts.items():
            update.insert(predicate, rows)
    return kb


def counts(kb: KnowledgeBase, column: str) -> dict[str, int]:
    return {row["predicate"]: row[column] for row in kb.predicates().to_pylist()}


def rows_of(name: str) -> Iterable[dict[str, str]]:
    with (DATA / "expected" / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def total_derived(kb: KnowledgeBase) -> int:
    return sum(counts(kb, "derived").values())


# --- paper 1 --------------------------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize("w", [50, 200])
@pytest.mark.parametrize("name", ["RS2", "RS3"])
def test_counts_of_zodiac_edge(open_kb: OpenKb, name: str, w: int) -> None:
    expected = {
        row["predicate"]: int(row["derived"])
        for row in rows_of("zodiac_edge_rs2_rs3.csv")
        if row["rule_set"] == name and row["w"] == str(w)
    }
    assert len(expected) == 11
    with filled(open_kb(), RULE_SETS[name], dataset_2(w)) as kb:
        derived = counts(kb, "derived")
        assert {predicate: n for predicate, n in derived.items() if n} == expected
        assert len(kb.hypernodes()) == 14


@pytest.mark.parametrize(("name", "total"), [("RS2", 424_300), ("RS3", 423_101)])
def test_sums_of_table_1(open_kb: OpenKb, name: str, total: int) -> None:
    """Table 1 of the paper, whose data have no p5."""
    with filled(open_kb(), RULE_SETS[name], dataset_2(200, with_p5=False)) as kb:
        assert total_derived(kb) == total


def test_rs1_over_a_chain_of_400_turbines(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(RS1)
        with kb.update() as update:
            chain = [(turbine(i), turbine(i + 1)) for i in range(399)]
            update.insert("hasNeighbour", chain)
            temperatures = [(turbine(i), 25.0) for i in range(400)]
            update.insert("hasAirTemperatureMeasurement", temperatures)
        derived = counts(kb, "derived")
        assert total_derived(kb) == 160_800
        assert derived["hasNeighbour"] == 400 * 399
        assert derived["SensorAnomalyWindTurbine"] == 0
        assert len(kb.hypernodes()) == 5
        medians = kb.query("hasMedianAirTemperatureMeasurementNearby(_, M)").fetchall()
        assert medians == [(25.0,)]


# --- RDF ------------------------------------------------------------------------------------------


@needs_data
def test_counts_of_lubm(open_kb: OpenKb) -> None:
    expected = rows_of("lubm1_L.csv")
    prefix = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
    with open_kb() as kb:
        kb.load(DATA / "lubm" / "lubm1.nt.gz")
        kb.add_rules(DATA / "lubm" / "lubm_L.rules")
        explicit, extension = counts(kb, "explicit"), counts(kb, "extension")
    found = {}
    for row in expected:
        name = row["predicate"].replace("ub:", prefix)
        found[row["predicate"]] = (explicit.get(name, 0), extension.get(name, 0))
    assert len(found) > 50
    assert found == {r["predicate"]: (int(r["explicit"]), int(r["extension"])) for r in expected}


@needs_data
@pytest.mark.parametrize("name", ["sdh.ttl", "vm3a.ttl"])
def test_brick_models_load_and_round_trip(open_kb: OpenKb, name: str, tmp_path: Path) -> None:
    """As many facts as the file has triples; written as N-Triples, they come back as they were."""
    import pyoxigraph

    triples = set(pyoxigraph.parse(path=DATA / "brick" / name))
    with open_kb() as kb:
        kb.load(DATA / "brick" / name)
        extension = counts(kb, "extension")
        assert sum(extension.values()) == len(triples)
        before = {p: sorted(kb.table(p).fetchall()) for p in extension if not p.startswith("_:")}
        kb.export(tmp_path, "nt")
    (written,) = tmp_path.iterdir()
    assert len(set(pyoxigraph.parse(path=written))) == len(triples)
    with open_kb() as kb:
        kb.load(written)
        assert counts(kb, "extension") == extension
        after = {predicate: sorted(kb.table(predicate).fetchall()) for predicate in before}
        blank = {p for p, rows in before.items() if any("_:" in str(row) for row in rows)}
        assert {p: r for p, r in after.items() if p not in blank} == {
            p: r for p, r in before.items() if p not in blank
        }
