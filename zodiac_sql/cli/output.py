"""What `zodiac` prints: tables, JSON and CSV on standard output, remarks on standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zodiac_sql.change.as_json import PHASES, change_as_json, facts_and_seconds
from zodiac_sql.change.summary import fates
from zodiac_sql.cli.tables import print_table, short_text
from zodiac_sql.cli.terminal import about_paths, echo, output, terminal_width
from zodiac_sql.cli.wording import in_shell
from zodiac_sql.facts.printed_values import as_json, printable
from zodiac_sql.language.prefixed import prefixed_iri

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.change.change import Change
    from zodiac_sql.change.explained import ChangeExplanation
    from zodiac_sql.facts.export import Exported
    from zodiac_sql.knowledge_base import KnowledgeBase
    from zodiac_sql.read.query import Answer
    from zodiac_sql.read.sparql.answer import SparqlAnswer
    from zodiac_sql.read.verify.verify import Verification


def run_summary(kb: KnowledgeBase, change: Change, exported: Exported | None) -> dict[str, Any]:
    """The summary of `run`, as its JSON has it."""
    work = change.stats["hypernodes"]
    summary = {
        "predicates": kb.predicates().to_pylist(),
        "hypernodes": [
            {**row, **_work(work.get(row["hypernode"]))} for row in kb.hypernodes().to_pylist()
        ],
        **facts_and_seconds(change),
    }
    return summary if exported is None else {**summary, "exported": exported_as_json(exported)}


def _work(work: Any) -> dict[str, Any]:
    """The method, iterations and seconds of a hypernode; None if it was not evaluated."""
    names = ("method", "iterations", "seconds")
    return {"evaluated": work is not None, **{name: (work or {}).get(name) for name in names}}


def print_summary(summary: Mapping[str, Any], prefixes: Mapping[str, str]) -> None:
    columns = ["predicate", "explicit", "derived", "extension"]
    rows = [[row[name] for name in columns] for row in summary["predicates"]]
    print_table(columns, rows, prefixes)
    hypernodes = summary["hypernodes"]
    recursive = sum(row["recursive"] for row in hypernodes)
    evaluated = sum(row["evaluated"] for row in hypernodes)
    echo(f"\nhypernodes: {len(hypernodes)}, {recursive} recursive, {evaluated} evaluated")
    _print_seconds(summary["seconds"])
    print_notes(summary["notes"])


def print_change(change: Change, prefixes: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        print_json(change_as_json(change))
        return
    _print_counts(change, prefixes, ("inserted", "deleted"), "no fact came or went")
    echo(f"\nhypernodes: {fates(change.hypernodes)}")
    _print_seconds(facts_and_seconds(change)["seconds"])
    print_notes(change.notes)


def print_update(change: Change) -> None:
    """Print a change of a stream on one line of JSON, and flush it."""
    told = {
        "updates": [change.updates[0], change.updates[-1]] if change.updates else [],
        "inserted": dict(change.inserted),
        "deleted": change.deleted,
        "seconds": change.seconds,
        **(change.stats["stream"] or {}),
        "notes": list(change.notes),
    }
    output().write(json_line(told))
    output().flush()


def print_preview(
    change: Change,
    prefixes: Mapping[str, str],
    samples: int,
    why: ChangeExplanation | None,
    as_json: bool,
) -> None:
    """Print what a change would do, with at most `samples` facts of each predicate.

    If it was asked why one of the facts would move, print that, too.
    """
    entering, leaving = change.inserted, change.deleted
    shown = {
        name: {
            "inserted": _some(change.inserted_facts, name, min(samples, entering.get(name, 0))),
            "deleted": _some(change.deleted_facts, name, min(samples, leaving.get(name, 0))),
        }
        for name in _concerned(change)
    }
    if as_json:
        told = {"preview": True, **change_as_json(change), "samples": shown}
        print_json(told if why is None else {**told, "why": why.to_dict()})
        return
    echo("a preview: nothing was changed\n")
    _print_counts(change, prefixes, ("would enter", "would leave"), "no fact would come or go")
    if shown and samples:
        echo()
    there = prefixes if terminal_width() else {}
    for name, facts in shown.items():
        _print_samples("+", name, entering.get(name, 0), facts["inserted"], there)
        _print_samples("-", name, leaving.get(name, 0), facts["deleted"], there)
    if why is not None:
        print_text(f"\n{why}")
    echo(f"\nhypernodes would be: {fates(change.hypernodes)}")
    _print_seconds(facts_and_seconds(change)["seconds"])
    print_notes(change.notes)


def _concerned(change: Change) -> list[str]:
    """The predicates whose extensions a fact entered or left."""
    return sorted({*change.inserted, *change.deleted})


def _print_counts(
    change: Change, prefixes: Mapping[str, str], heads: Iterable[str], nothing: str
) -> None:
    names = _concerned(change)
    rows = [(name, change.inserted.get(name, 0), change.deleted.get(name, 0)) for name in names]
    if rows:
        print_table(["predicate", *heads], rows, prefixes)
    else:
        echo(nothing)


def _some(facts: Callable[[str, int], pa.Table], predicate: str, count: int) -> list[list[Any]]:
    """At most `count` facts of a predicate, each as a list of values."""
    return [list(row.values()) for row in facts(predicate, count).to_pylist()] if count else []


def _print_samples(
    sign: str,
    predicate: str,
    count: int,
    facts: Sequence[Sequence[Any]],
    prefixes: Mapping[str, str],
) -> None:
    """Print facts that would come or go, one per line; if any is given, also how many more."""
    for values in facts:
        echo(f"{sign} {_fact(predicate, values, prefixes)}")
    if facts and count > len(facts):
        echo(f"  ... and {count - len(facts):,} more")


def _fact(predicate: str, values: Iterable[Any], prefixes: Mapping[str, str]) -> str:
    name = prefixed_iri(predicate, prefixes)
    return printable(f"{name}({', '.join(short_text(value, prefixes) for value in values)})")


def _print_seconds(seconds: Mapping[str, float]) -> None:
    phases = ", ".join(f"{phase} {seconds[phase]:.3f}" for phase in PHASES)
    echo(f"seconds: {seconds['total']:.3f} ({phases})")


def print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        say(f"note: {in_shell(note)}")


_DIFFERENCES_SHOWN = 3
"""How many missing facts of a predicate are printed, and how many surplus ones."""


def print_verification(
    found: Verification, db: str, prefixes: Mapping[str, str], as_json: bool
) -> None:
    names = sorted({*found.missing, *found.surplus})
    if as_json:
        print_json(_verification_as_json(found, names))
        return
    took = f"{found.predicates} predicates, {found.facts} facts, in {found.seconds:.2f} s"
    if found:
        echo(f"{db} is exactly what its rules and facts entail: {took}")
        return
    if names:
        rows = [(name, found.missing.get(name, 0), found.surplus.get(name, 0)) for name in names]
        print_table(["predicate", "missing", "surplus"], rows, prefixes)
        echo()
    there = prefixes if terminal_width() else {}
    for name in names:
        for kind, counts, facts_of in (
            ("missing", found.missing, found.missing_facts),
            ("surplus", found.surplus, found.surplus_facts),
        ):
            _print_facts(kind, name, counts.get(name, 0), facts_of(name), there)
    if found.tables:
        echo()
        tables = [(table, *numbers) for table, numbers in sorted(found.tables.items())]
        print_table(["table", "missing", "surplus"], tables)
    for table, facts in sorted(found.unsupported.items()):
        echo(f"{table}: {facts} facts have ranks out of order; drop its rules and add them again")
    echo(f"\n{db} is not what its rules and facts entail: {took}")


def _verification_as_json(found: Verification, names: Iterable[str]) -> dict[str, Any]:
    return {
        "exact": bool(found),
        "predicates": found.predicates,
        "facts": found.facts,
        "missing": dict(found.missing),
        "surplus": dict(found.surplus),
        "samples": {
            name: {
                "missing": found.missing_facts(name).to_pylist(),
                "surplus": found.surplus_facts(name).to_pylist(),
            }
            for name in names
        },
        "tables": {
            table: {"missing": missing, "surplus": surplus}
            for table, (missing, surplus) in found.tables.items()
        },
        "unsupported": dict(found.unsupported),
        "seconds": found.seconds,
    }


def _print_facts(
    kind: str, predicate: str, count: int, facts: Any, prefixes: Mapping[str, str]
) -> None:
    """Print the first facts of a difference, one per line, and how many more there are."""
    for row in facts.slice(0, _DIFFERENCES_SHOWN).to_pylist():
        echo(f"{kind}  {_fact(predicate, row.values(), prefixes)}")
    if count > _DIFFERENCES_SHOWN:
        echo(f"{kind}  {prefixed_iri(predicate, prefixes)}: {count - _DIFFERENCES_SHOWN} more")


def exported_as_json(exported: Exported) -> dict[str, Any]:
    return {
        "files": [str(file) for file in exported.files],
        "skipped": [{"predicate": name, "reason": why} for name, why in exported.skipped],
    }


def print_exported(exported: Exported, directory: Path) -> None:
    files = exported.files
    wrote = files[0] if len(files) == 1 else f"{len(files)} files to {directory}"
    echo(about_paths(f"wrote {wrote}"))
    print_notes(f"{name} was left out: {why}" for name, why in exported.skipped)


def print_json(value: object) -> None:
    echo(json.dumps(as_json(value), indent=2, ensure_ascii=False))


def json_line(value: object) -> str:
    """A value as a line of JSON."""
    return json.dumps(as_json(value), ensure_ascii=False) + "\n"


def print_rows_as_json(answer: Answer) -> None:
    """Print an array with one object for each row, each on one line."""
    from zodiac_sql.read.printed_answers import objects

    before = "["
    for row in objects(answer):
        output().write(f"{before}\n{json_line(row)[:-1]}")
        before = ","
    output().write("[]\n" if before == "[" else "\n]\n")


def print_standard(found: SparqlAnswer, prefixes: Mapping[str, str], as_json: bool) -> None:
    """Print what SPARQL has found in a standard form: JSON, JSON-LD, or, of graphs, Turtle."""
    from zodiac_sql.read.sparql.results import serialized

    graph = "application/ld+json" if as_json else "text/turtle"
    form = graph if found.is_graph else "application/sparql-results+json"
    output().write(serialized(found, form, prefixes).decode().rstrip("\n") + "\n")


def print_rows_as_csv(answer: Answer) -> None:
    from zodiac_sql.read.printed_answers import write_csv

    write_csv(answer, output())


def print_text(text: str) -> None:
    """Print lines, of which no character controls the terminal."""
    echo(printable(text, but="\n"))


def say(text: str) -> None:
    """Print a message for people on standard error."""
    echo(printable(about_paths(text), but="\n\t"), err=True)
