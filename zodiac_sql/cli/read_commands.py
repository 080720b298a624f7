"""The commands that only read: query, sparql, show, graph, verify, export and backup."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zodiac_sql.cli.databases import (
    Wanted,
    changing,
    copying,
    names_and_files,
    reading,
    require_database,
    require_files,
)
from zodiac_sql.cli.exporting import export_to
from zodiac_sql.cli.limiting import limited_answer
from zodiac_sql.cli.options import (
    ComingRules,
    Database,
    ExportFormat,
    Format,
    GoingRules,
    Json,
    What,
    WrittenFor,
)
from zodiac_sql.cli.output import (
    exported_as_json,
    print_exported,
    print_json,
    print_notes,
    print_rows_as_csv,
    print_rows_as_json,
    print_standard,
    print_text,
    print_verification,
)
from zodiac_sql.cli.tables import print_table
from zodiac_sql.cli.terminal import about_paths, echo, terminal_width
from zodiac_sql.language.prefixed import prefixed_iri
from zodiac_sql.language.written import on_one_line
from zodiac_sql.read.is_sql import is_sql

if TYPE_CHECKING:
    from zodiac_sql.read.drawing.draw import Drawing
    from zodiac_sql.read.query import Answer


@limited_answer
def query(
    db: Database,
    text: Annotated[str, typer.Argument(metavar="QUERY", help="Goals, or an SQL query.")],
    rules: Annotated[
        Path | None,
        typer.Option("-r", "--rules", metavar="FILE", help="Rules that only this question has."),
    ] = None,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, and nothing else.")] = False,
) -> None:
    """Answer goals, or an SQL query.

    Goals are in the language of rules; SQL sees a view for each predicate. What begins with SELECT,
    WITH, FROM, DESCRIBE, SUMMARIZE or the like is SQL. With --rules, goals are answered as if these
    were added: only what the goals ask for is derived, and the database stays as it is.

    \b
    Examples:
      zodiac query farm.duckdb 'anomaly(X), hasTemperature(X, T), T > 30'
      zodiac query farm.duckdb 'SELECT count(*) FROM anomaly' --json
      zodiac query family.duckdb 'cousin(ann, X)' --rules cousins.rules
    """
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv exclude each other")
    if rules is not None and is_sql(text):
        raise typer.BadParameter("--rules are for goals, and SQL sees what is there already")
    require_files([rules] if rules else [])
    with reading(db) as kb:
        answer = kb.sql(text) if is_sql(text) else kb.query(text, rules=rules)
        _print_answer(answer, kb.prefixes, as_json, as_csv)
        print_notes(answer.notes)


@limited_answer
def sparql(
    db: Database,
    text: Annotated[str, typer.Argument(metavar="QUERY", help="A query in SPARQL.")],
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, and nothing else.")] = False,
) -> None:
    """Answer a SPARQL query.

    A class is a unary predicate, a property a binary one, as RDF files are loaded. Prefixes of the
    rules and RDF files in the database need not be declared. The answers of CONSTRUCT and DESCRIBE
    are printed in Turtle. With --json, all are in the standard form: SPARQL Query Results JSON, or
    JSON-LD. Needs rdflib.

    \b
    Examples:
      zodiac sparql home.duckdb 'SELECT ?x { ?x a brick:Sensor ; brick:isPointOf+ ?y } LIMIT 9'
      zodiac sparql home.duckdb 'DESCRIBE ?x { ?x a brick:Sensor }'
    """
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv exclude each other")
    with reading(db) as kb:
        found = kb._sparql(text, natives=not as_json)
        if as_json or (found.is_graph and not as_csv):
            print_standard(found, kb.prefixes, as_json)
        else:
            _print_answer(found.answer, kb.prefixes, as_json, as_csv)


def _print_answer(answer: Answer, prefixes: Mapping[str, str], as_json: bool, as_csv: bool) -> None:
    if as_json:
        print_rows_as_json(answer)
    elif as_csv:
        print_rows_as_csv(answer)
    elif answer.column_names == ["explain_key", "explain_value"]:
        echo("".join(str(plan) for _, plan in answer), nl=False)
    else:
        from zodiac_sql.read.printed_answers import rows

        print_table(answer.column_names, rows(answer), prefixes)
        echo("(1 row)" if len(answer) == 1 else f"({len(answer)} rows)")


def show(
    db: Database,
    what: Annotated[
        What, typer.Argument(metavar="rules|sets|constraints|violations|predicates|hypernodes|feed")
    ],
    as_json: Json = False,
) -> None:
    """List rules, constraints, predicates, hypernodes, or more.

    Predicates come with the numbers of their facts. A hypernode is a set of rules that are
    evaluated together: rules that depend on each other, or one rule alone. Its modules are
    algorithms of their own for relations that it closes: tc(path) if path is transitive, stc(near)
    if near is symmetric and transitive. Cyclic rules come with what was decided for them, and why:
    the tree of nodes they are evaluated by, or "as a whole".

    \b
    Examples:
      zodiac show farm.duckdb rules
      zodiac show farm.duckdb hypernodes
    """
    with reading(db) as kb:
        tables: dict[What, Callable[[], Answer]] = {
            What.RULES: kb.rules,
            What.SETS: kb.rule_sets,
            What.PREDICATES: kb.predicates,
            What.HYPERNODES: kb.hypernodes,
            What.CONSTRAINTS: kb.constraints,
            What.VIOLATIONS: kb.violations,
            What.FEED: kb.feed,
        }
        answer, prefixes = tables[what](), kb.prefixes
    if as_json:
        print_rows_as_json(answer)
        return
    # Most programs have no cyclic rule.
    names = [
        name for name in answer.column_names if name != "trees" or any(answer["trees"].to_pylist())
    ]
    rows = [[_on_one_line(name, row[name]) for name in names] for row in answer.to_pylist()]
    print_table(names, rows, prefixes)


def _on_one_line(name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    return on_one_line(value) if name in ("rule", "constraint") else " ".join(value.split())


def graph(
    db: Database,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="A .svg, .mmd (Mermaid) or .dot file."),
    ] = None,
    added: ComingRules = None,
    dropped: GoingRules = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="Draw rules, in the place of predicates.")
    ] = False,
) -> None:
    """Draw how hypernodes depend on each other.

    Without -o, as text. Boxes have the predicates that are derived, with the numbers of their
    facts. With --add or --drop, as it is and as it would be after that change, with signs and
    colours; nothing is changed. Tells the modules at work, too: see `zodiac show --help`.

    \b
    Examples:
      zodiac graph farm.duckdb
      zodiac graph farm.duckdb -o hrdg.svg
      zodiac graph farm.duckdb -o change.svg --add more.rules --drop r4
    """
    if added or dropped:
        drawing, notes = _graph_of_change(db, added or [], dropped or [], rules)
    else:
        with reading(db) as kb:
            drawing, notes = kb.graph(rules=rules), ()
    if out is None:
        echo(_as_text(drawing))
    else:
        drawing.save(out)
        echo(about_paths(f"wrote {out}"))
    print_notes(notes)


def _as_text(drawing: Drawing) -> str:
    """A drawing as text; on a terminal, IRIs are written with prefixes."""
    if drawing.contents is None or terminal_width() is None:
        return str(drawing)
    prefixes = drawing.contents.prefixes
    return re.sub(r"[^\s,()]+", lambda found: prefixed_iri(found[0], prefixes), str(drawing))


@limited_answer
def verify(db: Database, as_json: Json = False) -> None:
    """Tell whether facts are exactly what rules entail.

    Derives everything once more, aside, and compares it with what the file holds, which stays as it
    is. Status 1 if anything differs: facts that are missing, or rows that are surplus. To have what
    rules derive computed anew, drop them and add them again.

    \b
    Example:
      zodiac verify farm.duckdb
    """
    from zodiac_sql.cli.progress import reported

    with reading(db) as kb, reported() as report:
        found, prefixes = kb.verify(progress=report), kb.prefixes
    print_verification(found, db, prefixes, as_json)
    if not found:
        raise typer.Exit(1)


@limited_answer
def export(
    db: Database,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Made if it is missing.")],
    predicates: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PREDICATE]...", help="By default all predicates."),
    ] = None,
    format: ExportFormat = Format.PARQUET,
    inferred: Annotated[
        bool, typer.Option("--inferred", help="Only facts that are derived, and not explicit.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write facts, explicit and derived, to files.

    \b
    Examples:
      zodiac export farm.duckdb results
      zodiac export farm.duckdb results anomaly neighbours --format csv
      zodiac export farm.duckdb results --inferred --format ttl
    """
    with reading(db) as kb:
        exported = export_to(kb, directory, format, predicates or [], inferred)
    if as_json:
        print_json(exported_as_json(exported))
    else:
        print_exported(exported, directory)


def _graph_of_change(
    db: str, added: Sequence[Path], dropped: Sequence[str], rules: bool
) -> tuple[Drawing, tuple[str, ...]]:
    """The HRDG before and after some rules would come and go, and the notes of that preview.

    A picture without the change that was meant would mislead, so what is to go must be there.
    """
    require_database(db)
    require_files(added)
    wanted = Wanted(dropped=names_and_files(dropped), rules=added, drops_known=True)
    with changing(db) as opened:
        change = opened.preview(wanted)
        return opened.kb.graph(change, rules=rules), change.notes


def backup(
    db: Database,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="There must be no such file yet.")],
) -> None:
    """Copy a database to another file, as it is now.

    A program that has the database open makes a copy with kb.backup(FILE).

    \b
    Example:
      zodiac backup farm.duckdb farm-sunday.duckdb
    """
    with copying(db) as kb:
        kb.backup(path)
    print_text(about_paths(f"{path}: a copy of {db}"))


def compact(db: Database, storage_version: WrittenFor = None) -> None:
    """Write a database anew, so that it takes less space.

    Facts stand in order then, and symbols that nothing uses are gone. It needs room for a second
    file; nobody else may have the database open.

    \b
    Example:
      zodiac compact farm.duckdb
      zodiac compact farm.duckdb --storage-version v1.5.0
    """
    require_database(db)
    with changing(db) as opened:
        print_text(f"{db}: {opened.kb.compact(storage_version=storage_version)}")
