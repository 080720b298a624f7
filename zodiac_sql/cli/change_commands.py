"""The commands that change a database: run, add-rules, drop-rules, insert, delete and stream."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from zodiac_sql.cli.databases import (
    Wanted,
    changing,
    facts_in,
    names_and_files,
    require_database,
    require_files,
)
from zodiac_sql.cli.exporting import export_after
from zodiac_sql.cli.limiting import checks, limited
from zodiac_sql.cli.options import (
    Database,
    ExportFormat,
    Format,
    Json,
    NewDatabase,
    Port,
    Preview,
    Samples,
    Ticking,
    WhyMoved,
    seconds_of,
)
from zodiac_sql.cli.output import (
    print_change,
    print_exported,
    print_json,
    print_preview,
    print_summary,
    run_summary,
)
from zodiac_sql.cli.planning import show_plan
from zodiac_sql.cli.reading_options import Reading, reads_facts

Rules = Annotated[
    list[Path] | None,
    typer.Option("-r", "--rules", metavar="FILE", help="Rules; may be repeated."),
]
Data = Annotated[
    list[Path] | None,
    typer.Option("-d", "--data", metavar="FILE", help="Facts; may be repeated."),
]
Threads = Annotated[int | None, typer.Option(min=1, metavar="N", help="Threads for DuckDB.")]
MemoryLimit = Annotated[
    str | None, typer.Option(metavar="SIZE", help="Memory for DuckDB, such as 512MB.")
]
StrictRules = Annotated[
    bool,
    typer.Option("--strict", help="Refuse rules that are there already or look like mistakes."),
]
OnlyPlan = Annotated[
    bool, typer.Option("--plan", help="Only estimate what would be derived, and its size.")
]
RuleTexts = Annotated[
    list[str] | None,
    typer.Option("-e", metavar="RULES", help="Rules as text; may be repeated."),
]
IntoSet = Annotated[
    str, typer.Option("--set", metavar="SET", help="The rule set that the rules are for.")
]
ReplaceSet = Annotated[
    bool, typer.Option("--replace-set", help="Let FILE be all of the set: drop its other rules.")
]
FactFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help='Files of facts, patterns such as "raw/*.csv", or -.'),
]
FileOrMemory = Annotated[
    str, typer.Argument(metavar="DB", help="The database file, made if missing; or :memory:.")
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Also export all predicates there.")
]
TempDirectory = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where to spill; by default beside DB.")
]
StreamName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Note how far the stream has come, and go on there."),
]
JsonLines = Annotated[
    bool, typer.Option("--json", help="Print each change as a line of JSON, and nothing else.")
]
Strategy = Annotated[str, typer.Option(metavar="S", help="How rules follow a change of facts.")]


@limited
@reads_facts
def run(
    db: FileOrMemory,
    rules: Rules = None,
    data: Data = None,
    out: Out = None,
    format: ExportFormat = Format.PARQUET,
    *,
    reading: Reading,
    memory_limit: MemoryLimit = None,
    threads: Threads = None,
    temp_directory: TempDirectory = None,
    plan: OnlyPlan = False,
    strict: StrictRules = False,
    as_json: Json = False,
) -> None:
    """Add rules and facts, and derive all that follows.

    Prints a summary. Everything is one change: it happens whole, or not at all. Facts come from
    RDF (.nt .nq .ttl .trig .rdf .jsonld), .csv, .tsv, .parquet and .jsonl files, and are read as
    `zodiac insert` reads them.

    \b
    Examples:
      zodiac run farm.duckdb -r wind.rules -d farm.nt --plan
      zodiac run farm.duckdb -r wind.rules -d "logs/*.csv" -p reading --decimal , --skip 5
      zodiac run farm.duckdb -r wind.rules -d readings.parquet --columns read
      zodiac run :memory: -r wind.rules -d farm.nt --out results --format csv
    """
    if not rules and not data:
        raise typer.BadParameter("give rules with -r, or data with -d")
    files = facts_in(data or [], rules or [])
    wanted = Wanted(rules=rules or [], data=files, reading=reading, strict=strict)
    limits = {"memory_limit": memory_limit, "threads": threads, "temp_directory": temp_directory}
    if plan:
        return show_plan(db, limits, wanted, as_json)
    with changing(db, limits) as opened:
        change = opened.carry_out(wanted)
        exported = export_after(opened.kb, db, out, format) if out else None
        told, prefixes = run_summary(opened.kb, change, exported), opened.kb.prefixes
    print_json(told) if as_json else print_summary(told, prefixes)
    if exported and out and not as_json:
        print_exported(exported, out)


@limited
def add_rules(
    db: NewDatabase,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Files of rules.")
    ] = None,
    rules: RuleTexts = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Let rules take the place of those of the same names."),
    ] = False,
    strict: StrictRules = False,
    set_name: IntoSet = "main",
    replace_set: ReplaceSet = False,
    preview: Preview = False,
    samples: Samples = None,
    why: WhyMoved = None,
    as_json: Json = False,
) -> None:
    """Add rules, and derive what follows.

    Rules that are there already, up to the names of variables and the order of the body, are passed
    over, and told. A rule that has the name of another one is refused, unless it may replace it.
    Rules of a set leave together (zodiac drop-rules --set), with the facts of its files.

    \b
    Examples:
      zodiac add-rules farm.duckdb wind.rules
      zodiac add-rules farm.duckdb heat.rules --set heat
      zodiac add-rules farm.duckdb heat2.rules --set heat --replace-set --preview
      zodiac add-rules farm.duckdb -e 'hot: hot(X) :- hasTemperature(X, T), T > 40.' --replace
      zodiac add-rules farm.duckdb wind.rules --preview
    """
    given: list[Path | str] = [*(files or []), *(rules or [])]
    if not given:
        raise typer.BadParameter("give a FILE of rules, or rules as text with -e")
    shown = shown_of(preview, samples, why)
    if preview:
        require_database(db, preview)
    require_files(files or [])
    if replace_set and len(given) > 1:
        raise typer.BadParameter("--replace-set needs one FILE, or one text: it is all of the set")
    wanted = Wanted(
        rules=given, into=set_name, replace=replace, replace_set=replace_set, strict=strict
    )
    change_and_print(db, wanted, shown, as_json)


@limited
def drop_rules(
    db: Database,
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|FILE]...", help="Names of rules, and files: .rules, .dl or .srl."
        ),
    ] = None,
    rules: RuleTexts = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse rules that are not there, and change nothing."),
    ] = False,
    set_name: Annotated[
        str | None,
        typer.Option("--set", metavar="SET", help="The rule set; without rules, all of it."),
    ] = None,
    preview: Preview = False,
    samples: Samples = None,
    why: WhyMoved = None,
    as_json: Json = False,
) -> None:
    """Remove rules: by name, as text, or all those of a file.

    What followed only from them goes, too. Rules of a text or a file are found whatever their
    names, the names of variables and the order of the body. Rules that are not there are passed
    over, and told. Facts in a file stay. `zodiac show DB rules` lists the names. With --set and
    nothing else, the whole rule set goes, with its facts. A rule stays for other sets that have it.

    \b
    Examples:
      zodiac drop-rules farm.duckdb --set heat
      zodiac drop-rules farm.duckdb r4 r5
      zodiac drop-rules farm.duckdb wind.rules --preview
      zodiac drop-rules farm.duckdb r4 --preview --why 'anomaly(wt2)'
      zodiac drop-rules farm.duckdb -e 'hot(X) :- hasTemperature(X, T), T > 40.'
    """
    if not given and not rules and set_name is None:
        raise typer.BadParameter("give a NAME or a FILE of rules, rules as text with -e, or --set")
    shown = shown_of(preview, samples, why)
    require_database(db, preview)
    dropped = [*names_and_files(given or []), *(rules or [])]
    change_and_print(
        db, Wanted(dropped=dropped, dropped_set=set_name, strict=strict), shown, as_json
    )


@limited
@reads_facts
def insert(
    db: NewDatabase,
    files: FactFiles,
    *,
    reading: Reading,
    preview: Preview = False,
    samples: Samples = None,
    why: WhyMoved = None,
    as_json: Json = False,
) -> None:
    """Insert facts from files, and derive what follows.

    RDF names its predicates itself. The rows of a table (.csv, .tsv, .parquet, .jsonl) are facts
    of the predicate given with -p, or of one named after the file. All files are one change.

    \b
    Examples:
      zodiac insert farm.duckdb farm.nt
      zodiac insert farm.duckdb monday.csv tuesday.csv -p hasTemperature
      zodiac insert farm.duckdb log.csv -p at --columns id=turbine,celsius --nulls skip-row
      zodiac insert farm.duckdb farm.jsonl -p tag --explode tags --columns id,tags=tag
      zodiac insert farm.duckdb monday.csv -p hasTemperature --preview --samples 20
    """
    shown = shown_of(preview, samples, why)
    if preview:
        require_database(db, preview)
    change_and_print(db, Wanted(data=facts_in(files), reading=reading), shown, as_json)


@limited
@reads_facts
def delete(
    db: Database,
    files: FactFiles,
    *,
    reading: Reading,
    preview: Preview = False,
    samples: Samples = None,
    why: WhyMoved = None,
    as_json: Json = False,
) -> None:
    """Delete the facts that stand in files.

    What followed only from them goes, too; what rules derive anyway stays. Files are read as
    `zodiac insert` reads them, so a file that was inserted can be deleted again. Facts that are
    not there are passed over, and counted. All files are one change.

    \b
    Examples:
      zodiac delete farm.duckdb farm.nt
      zodiac delete farm.duckdb monday.csv -p hasTemperature
      zodiac delete farm.duckdb monday.csv -p hasTemperature --preview
    """
    shown = shown_of(preview, samples, why)
    require_database(db, preview)
    change_and_print(db, Wanted(unloaded=facts_in(files), reading=reading), shown, as_json)


@limited
def alter(
    db: Database,
    predicate: Annotated[str, typer.Argument(metavar="PREDICATE", help="Whose columns.")],
    types: Annotated[
        list[str], typer.Argument(metavar="COLUMN=TYPE...", help="The types they get.")
    ],
    as_json: Json = False,
) -> None:
    """Give columns of a predicate other types.

    The facts that are there get them, too: each value must become one that stands for it alone,
    such as int to float, or anything to symbol. All rules are checked again, and what depends on
    the predicate is derived anew. Types are symbol, int, float, bool, date and timestamp.

    \b
    Example:
      zodiac alter farm.duckdb reading celsius=float
    """
    pairs = [one.partition("=") for one in types]
    if not all(name and equals and type_ for name, equals, type_ in pairs):
        raise typer.BadParameter("give COLUMN=TYPE, such as celsius=float")
    require_database(db)
    wanted = Wanted(altered=(predicate, {name: type_ for name, _, type_ in pairs}))
    change_and_print(db, wanted, None, as_json)


@limited
def stream(
    db: NewDatabase,
    source: Annotated[
        str, typer.Argument(metavar="FILE|-", help="A file of JSON lines, or standard input.")
    ],
    name: StreamName = None,
    coalesce: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Up to N updates that have arrived are one change."),
    ] = 1,
    queue: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Read up to N updates ahead; 100 from a pipe."),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Pass bad updates over, and say which.")
    ] = False,
    strategy: Strategy = "auto",
    serve: Annotated[
        bool, typer.Option("--serve", help="Let others ask and change it meanwhile.")
    ] = False,
    port: Port = 0,
    tick: Ticking = None,
    as_json: JsonLines = False,
) -> None:
    """Apply updates as they come, each as a change of its own.

    An update is a line of JSON with some of "delete", "insert", "drop_rules" and "add_rules":

    \b
      {"insert": {"near": [["wt1", "wt2"]]}, "delete": {"off": [["wt1"]]}}
      {"drop_rules": ["hot"], "add_rules": "hot(X) :- celsius(X, T), T > 40."}

    A bad update ends the stream; what came before it is kept. With a name, the same stream begun
    again goes on after the last update that is in the file.

    \b
    Examples:
      zodiac stream farm.duckdb readings.jsonl --name readings
      tail -f readings.jsonl | zodiac stream farm.duckdb - --coalesce 50 --json
      tail -f readings.jsonl | zodiac stream farm.duckdb - --tick 1s --serve --port 7474
    """
    from zodiac_sql.cli.stream import Following, follow
    from zodiac_sql.maintain.registry import STRATEGIES

    if strategy not in STRATEGIES:
        raise typer.BadParameter(f"--strategy is one of {', '.join(STRATEGIES)}")
    options: dict[str, object] = {"name": name, "coalesce": coalesce, "queue": queue}
    options |= {"skip_bad": skip_bad, "check": checks(), "tick": seconds_of(tick)}
    follow(db, source, Following(db, as_json, strategy, options, port if serve else None))


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a preview shows: so many facts of each predicate, and why a fact would come or go."""

    samples: int
    why: str | None


def change_and_print(db: str, wanted: Wanted, shown: _Shown | None, as_json: bool) -> None:
    """Make the change and print it. If something of a preview is to be shown, only preview it."""
    with changing(db) as opened:
        if shown is None:
            change = opened.carry_out(wanted)
            print_change(change, opened.kb.prefixes, as_json)
        else:
            change = opened.preview(wanted)
            told = None if shown.why is None else change.why(shown.why)
            print_preview(change, opened.kb.prefixes, shown.samples, told, as_json)


def shown_of(preview: bool, samples: int | None, why: str | None) -> _Shown | None:
    """What a preview shows; None without a preview."""
    if preview:
        return _Shown(_SAMPLES_BY_DEFAULT if samples is None else samples, why)
    if samples is not None:
        raise typer.BadParameter("--samples goes with --preview")
    if why is not None:
        raise typer.BadParameter("--why goes with --preview")
    return None


_SAMPLES_BY_DEFAULT = 5
"""How many facts of each predicate a preview shows. The help repeats it (options.py)."""
