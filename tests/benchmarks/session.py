"""One knowledge base on a file: its changes timed, its state compared with one from scratch.

A batch is what one change deletes or inserts. Every change is committed to the file before its
verb returns, so the time of the verb is the time until the change is durable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import pyarrow as pa

import zodiac_sql
from zodiac_sql.change.change import Change
from zodiac_sql.knowledge_base import KnowledgeBase

from .workloads import Facts, Workload

Rows = list[tuple[object, ...]]
Batch = dict[str, Rows]
Fingerprint = dict[str, tuple[object, ...]]

STRATEGIES = ("auto", "support", "bf", "dred", "recompute")


@dataclass(frozen=True)
class Row:
    """What one line of a table is made from: samples, in seconds and in counts.

    `seconds` has a list for each verb that was timed ("scratch", "delete", "insert", "stream");
    `known` are figures of other systems, or goals; `changed` are facts that left or entered
    extensions in each deletion (negation makes some enter), `reached` the hypernodes it evaluated;
    `statements` are those of a deletion and of an insertion, counted apart from the timed ones.
    `kinds` are what tells samples apart that are to be looked at by themselves, too.
    """

    title: str
    seconds: dict[str, list[float]]
    known: str = ""
    changed: list[int] = field(default_factory=list)
    reached: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)


def connect(path: Path, strategy: str, modules: bool = True) -> KnowledgeBase:
    """Open the file; rules follow changes of facts by a strategy, closures as modules or not."""
    return zodiac_sql.connect(path, strategy=strategy, modules=modules)


def build(path: Path, rules: str, facts: Facts, strategy: str) -> float:
    """Materialise from scratch into a new file. Seconds of the change, from first row to commit."""
    return materialise(path, rules, facts, strategy).seconds


def materialise(
    path: Path, rules: str, facts: Facts, strategy: str, modules: bool = True
) -> Change:
    """Facts and rules into a new file, as one change."""
    path.unlink(missing_ok=True)
    with connect(path, strategy, modules) as kb:
        with kb.update() as update:
            for predicate, table in facts.items():
                update.insert(predicate, table)
            update.add_rules(rules)
        return update.change


def explicit_facts(workload: Workload) -> Facts:
    """The facts of a workload as tables, also where they come in a file."""
    if not workload.files:
        return workload.facts()
    with zodiac_sql.connect() as kb:
        kb.load(workload.files[0])
        names = kb.predicates().to_pydict()["predicate"]
        return {name: kb.table(name).arrow() for name in names}


def change(kb: KnowledgeBase, gone: Batch, new: Batch) -> tuple[float, Change]:
    """Delete and insert in one durable change, with its wall time.

    One verb for one predicate is called on the knowledge base itself, as people would do.
    """
    started = perf_counter()
    done = _apply(kb, gone, new)
    return perf_counter() - started, done


def _apply(kb: KnowledgeBase, gone: Batch, new: Batch) -> Change:
    verbs: list[tuple[Callable[[str, object], Change], Batch]] = [
        (kb.delete, gone),
        (kb.insert, new),
    ]
    if len(gone) + len(new) == 1:
        return next(verb(p, rows) for verb, batch in verbs for p, rows in batch.items())
    with kb.update() as update:
        for predicate, rows in gone.items():
            update.delete(predicate, rows)
        for predicate, rows in new.items():
            update.insert(predicate, rows)
    return update.change


def fingerprint(kb: KnowledgeBase) -> Fingerprint:
    """For each predicate that has facts, their number and the sum of their hashes."""
    known = kb.predicates().to_pydict()
    return {
        name: next(iter(kb.sql(f'SELECT count(*), sum(hash(f)) FROM "{view}" f')))
        for name, view, size in zip(
            known["predicate"], known["sql_name"], known["extension"], strict=True
        )
        if size
    }


def from_scratch(path: Path, rules: str, facts: Facts) -> Fingerprint:
    """The state that there must be, in a file where nothing was ever changed."""
    build(path, rules, facts, "recompute")
    with connect(path, "recompute") as kb:
        return fingerprint(kb)


def differences(found: Fingerprint, right: Fingerprint) -> list[str]:
    """Where two states differ, in words."""
    return [
        f"{name}: {_shown(found.get(name))}, from scratch {_shown(right.get(name))}"
        for name in sorted(found.keys() | right.keys())
        if found.get(name) != right.get(name)
    ]


def _shown(state: tuple[object, ...] | None) -> str:
    return f"{state[0]:,} facts (hash {int(str(state[1])) % 10_000})" if state else "no facts"


def without(facts: Facts, batch: Batch) -> Facts:
    """The facts that are left when a batch has been deleted."""
    left = dict(facts)
    for predicate, rows in batch.items():
        gone = set(rows)
        kept = [row not in gone for row in rows_of(facts[predicate])]
        left[predicate] = facts[predicate].filter(pa.array(kept, pa.bool_()))
    return left


def rows_of(table: pa.Table) -> Rows:
    """A table as tuples."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
