"""`python -m tests.benchmarks [names...] [--runs N] [--quick]`: Markdown tables on stdout.

`updates` are changes of facts; `rules [rs2 rs3 lubm leaf]` are changes of rules;
`modules [dag skos cliques components rs1 overhead]` are closures by own algorithms, on and off;
`hypertree [exp c4 c6 clique petal flower c4r c6r pc lubm-l lubm-lc]` are cyclic rules, decomposed
and not;
`marking [trans seq roads sensors] [--sizes N...]` are streams of updates with marking and without;
`rate [--updates N]` are single-fact updates, one by one and several at once;
`why [rs2 lubm closure-small closure tc-small tc chain long-paths rs2-not xclingo]` are explanations
of random facts;
`device` is how much memory a small device must have;
`ontology [lubm lubm10 brick]` are ontologies with data, against other reasoners, and one axiom that
moves;
`paths [single-100 single-300 all-12 all-24]` are shortest paths, by MIN in heads, on grids;
`deep [chain csda editing flow andersen ..]` are recursions of thousands of rounds, or over dense
relations, from scratch and after one fact has moved;
`demand [samegen-11 samegen-15 path far dist ..]` are goals with rules of their own, which derive
only what is asked for, against deriving all;
`served` is a stream of updates while others ask its server;
`windows` are events that come and go away again, with a tick each second;
`mixed` are columns of terms of all kinds, against native ones;
`spark` is the hand-off, a closure on a cluster and a fleet (spark:handoff, spark:closure,
spark:fleet);
`scale [lubm closure joins spark] [--share S]` is more than fits 2 GB of memory: only if named;
`ablation [scratch:lubm updates:rs2 rules:rs2 deep:chain ..]` is what each way to evaluate or to
maintain a hypernode buys: the workloads without it: only if named;
`operators [updates:rs2 updates:lubm ..]` is what each operator expects to take for a hypernode, and
what it takes: only if named;
`predict` is what a model says of other sizes: it measures nothing.
Engines alternate, each run in a process of its own, and every figure is a median.
"""

from __future__ import annotations

import argparse
import os
import platform
from statistics import median

import duckdb

from . import (
    ablation,
    deep_runs,
    deep_tables,
    demand,
    device,
    hypertree_runs,
    hypertree_tables,
    marking_tables,
    mixed,
    module_tables,
    modules,
    ontology_runs,
    ontology_tables,
    operators,
    paths_runs,
    paths_tables,
    predict,
    rate,
    rate_tables,
    rule_changes,
    rule_tables,
    scale,
    scratch,
    served,
    spark,
    stream_runs,
    update_tables,
    updates,
    why_runs,
    why_tables,
    windows,
)
from .scratch import OURS, SQL, SQL_FILE, Run
from .workloads import WORKLOADS, Workload


def main() -> None:
    """Read the command line, measure, print."""
    every = [
        *WORKLOADS, *update_tables.NAMES, *rule_tables.NAMES, *module_tables.NAMES,
        *hypertree_tables.NAMES, *marking_tables.NAMES, *rate_tables.NAMES, *why_tables.NAMES,
        *ontology_tables.NAMES, *paths_tables.NAMES, *deep_tables.NAMES, *demand.NAMES,
        *device.NAMES, *mixed.NAMES, *served.NAMES, *windows.NAMES, *spark.NAMES,
        *scale.NAMES, predict.COMMAND,
    ]  # fmt: skip
    commands = (
        "updates", rule_tables.COMMAND, module_tables.COMMAND, hypertree_tables.COMMAND,
        marking_tables.COMMAND, rate_tables.COMMAND, why_tables.COMMAND,
        ontology_tables.COMMAND, paths_tables.COMMAND, deep_tables.COMMAND, demand.COMMAND,
        device.COMMAND, mixed.COMMAND, served.COMMAND, windows.COMMAND, spark.COMMAND,
        scale.COMMAND,
    )  # fmt: skip
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        help=f"any of {', '.join(every)}; {', '.join(commands)} for all of these; default: all",
    )
    parser.add_argument(
        "--runs",
        type=int,
        help="runs of each engine, seeds of a stream (default 3), rounds of rule changes (5), "
        f"pairs of runs for the overhead of modules ({module_tables.PAIRS}), runs of a stream "
        f"with marking and without ({marking_tables.RUNS}) or of single facts ({rate_tables.RUNS})",
    )
    parser.add_argument("--quick", action="store_true", help="leave out the large workloads")
    parser.add_argument(
        "--timeout",
        type=float,
        default=120,
        help="seconds for a peer's run, a line of changes, or a change with modules on or off or "
        "with rules decomposed or not",
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", help="of updates, for `marking`, where there is a choice"
    )
    parser.add_argument(
        "--updates", type=int, help=f"how many, for `rate` (default {rate_tables.UPDATES})"
    )
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the size of `scale` (default: all of it)"
    )
    parser.add_argument("--one", nargs=2, metavar=("ENGINE", "WORKLOAD"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    runs = 3 if arguments.runs is None else max(1, arguments.runs)
    if arguments.one:
        engine, name = arguments.one
        _run_one(engine, name, runs, arguments.timeout)
        return
    if arguments.names[:1] == [ablation.COMMAND]:
        ablation.report(arguments.names[1:] or ablation.NAMES, runs, arguments.timeout)
        return
    if arguments.names[:1] == [operators.COMMAND]:
        operators.report(operators.names_of(arguments.names[1:]), runs)
        return
    names = module_tables.expand(rule_tables.expand(arguments.names))
    names = marking_tables.expand(hypertree_tables.expand(names))
    if unknown := [n for n in names if n not in (*every, *commands)]:
        parser.error(f"unknown workload {', '.join(unknown)}: choose from {', '.join(every)}")
    chosen = [n for n in every if _is_chosen(n, names, arguments.quick)]
    print(
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"duckdb {duckdb.__version__}\n"
    )
    if workloads := [WORKLOADS[name] for name in chosen if name in WORKLOADS]:
        print(f"From scratch: median ms of {runs} runs.\n")
        report(workloads, runs, arguments.timeout)
    if changing := [name for name in chosen if name in update_tables.NAMES]:
        update_tables.report(changing, runs, arguments.timeout)
    if rules := [name for name in chosen if name in rule_tables.NAMES]:
        rounds = rule_tables.ROUNDS if arguments.runs is None else runs
        rule_tables.report(rules, rounds, arguments.timeout)
    if closures := [name for name in chosen if name in module_tables.NAMES]:
        module_tables.report(closures, arguments.runs and runs, arguments.timeout)
    if cyclic := [name for name in chosen if name in hypertree_tables.NAMES]:
        hypertree_tables.report(cyclic, arguments.runs and runs, arguments.timeout)
    if streams := [name for name in chosen if name in marking_tables.NAMES]:
        marking_tables.report(streams, arguments.runs and runs, arguments.timeout, arguments.sizes)
    if any(name in rate_tables.NAMES for name in chosen):
        rate_tables.report(arguments.runs and runs, arguments.timeout, arguments.updates)
    if asked := [name for name in chosen if name in why_tables.NAMES]:
        why_tables.report(asked, arguments.timeout)
    if reasoned := [name for name in chosen if name in ontology_tables.NAMES]:
        ontology_tables.report(reasoned, runs, arguments.timeout)
    if any(name in device.NAMES for name in chosen):
        device.report()
    if paths := [name for name in chosen if name in paths_tables.NAMES]:
        paths_tables.report(paths, runs, arguments.timeout)
    if deep := [name for name in chosen if name in deep_tables.NAMES]:
        deep_tables.report(deep, runs, arguments.timeout)
    if asking := [name for name in chosen if name in demand.NAMES]:
        demand.report(asking, runs, arguments.timeout)
    if any(name in mixed.NAMES for name in chosen):
        mixed.report(runs, arguments.timeout)
    if any(name in served.NAMES for name in chosen):
        served.report()
    if any(name in windows.NAMES for name in chosen):
        windows.report()
    if clustered := [name for name in chosen if name in spark.NAMES]:
        spark.report(clustered, runs)
    if scaled := [name for name in chosen if name in scale.NAMES]:
        scale.report(scaled, arguments.share)
    if predict.COMMAND in chosen:
        predict.report()


def _run_one(engine: str, name: str, runs: int, timeout: float) -> None:
    """What a process that we started does: one engine, or one strategy of changes."""
    if engine.startswith(ablation.ENGINE):
        ablation.run_one(name, runs, timeout)
    elif name in update_tables.NAMES:
        updates.run_one(engine, name.removeprefix(update_tables.PREFIX), runs, timeout)
    elif name in rule_tables.NAMES:
        rule_changes.run_one(engine, name.removeprefix(rule_tables.PREFIX), runs, timeout)
    elif name.startswith(module_tables.PREFIX):
        modules.run_one(engine, name.removeprefix(module_tables.PREFIX), timeout)
    elif name.startswith(hypertree_tables.PREFIX):
        hypertree_runs.run_one(engine, name.removeprefix(hypertree_tables.PREFIX), timeout)
    elif name.startswith(marking_tables.PREFIX):
        stream_runs.run_one(engine, name.removeprefix(marking_tables.PREFIX))
    elif name.startswith(rate_tables.NAME):
        rate.run_one(engine, name)
    elif name.startswith(why_tables.PREFIX):
        why_runs.run_one(engine, name.removeprefix(why_tables.PREFIX), runs, timeout)
    elif name.startswith(ontology_tables.PREFIX):
        ontology_runs.run_one(engine, name.removeprefix(ontology_tables.PREFIX), timeout)
    elif name.startswith(paths_tables.PREFIX):
        paths_runs.run_one(engine, name.removeprefix(paths_tables.PREFIX))
    elif name.startswith(deep_tables.PREFIX):
        deep_runs.run_one(engine, name.removeprefix(deep_tables.PREFIX), timeout)
    elif name.startswith(demand.PREFIX):
        demand.run_one(engine, name.removeprefix(demand.PREFIX))
    elif name in mixed.NAMES:
        mixed.run_one(engine)
    else:
        print(scratch.run_one(engine, name))


def _is_chosen(name: str, names: list[str], quick: bool) -> bool:
    if name in scale.NAMES and not names:
        return False  # it takes as long as all others
    named = not names or name in names or name.split(":")[0] in names
    return named and (not quick or _is_quick(name))


def _is_quick(name: str) -> bool:
    if name in WORKLOADS:
        return WORKLOADS[name].quick
    if name in (*served.NAMES, *spark.NAMES, *scale.NAMES, predict.COMMAND):
        return False
    tables = (
        update_tables, rule_tables, module_tables, hypertree_tables, marking_tables, rate_tables,
        why_tables, ontology_tables, paths_tables, deep_tables, demand,
        device, mixed,
    )  # fmt: skip
    return next(table.quick(name) for table in tables if name in table.NAMES)


def report(workloads: list[Workload], runs: int, timeout: float) -> None:
    """Print one row per workload as it is done, then what went wrong."""
    engines = scratch.engines()
    rivals = [engine for engine in engines if engine not in (OURS, SQL, SQL_FILE)]
    header = [
        "workload",
        "derived facts",
        "ours, reasoning",
        "SQL, temporary",
        "ratio",
        "ours, reasoning + publish",
        "SQL, into the file",
        "ratio",
        *(f"{rival} ({_INCLUDED.get(rival, 'reasoning')}), ratio to SQL" for rival in rivals),
    ]
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header), flush=True)
    notes: list[str] = []
    for workload in workloads:
        if missing := workload.missing():
            notes.append(f"{workload.name}: skipped, {missing}")
            continue
        results = _alternate(workload, engines, runs, timeout)
        print("| " + " | ".join(_row(workload, results, rivals)) + " |", flush=True)
        notes += _problems(workload, results)
    print("".join(f"\n* {note}" for note in notes) + "\n")


_INCLUDED = {"nemo": "with reading CSV", "clingo": "ground and solve"}


def _alternate(
    workload: Workload, engines: list[str], runs: int, timeout: float
) -> dict[str, list[Run]]:
    """Every engine once, then every engine again; who failed is not asked twice."""
    results: dict[str, list[Run]] = {engine: [] for engine in engines}
    for _ in range(runs):
        for engine, done in results.items():
            if not any(run.problem for run in done):
                own = engine in (OURS, SQL, SQL_FILE)
                done.append(scratch.measure(engine, workload, 10 * timeout if own else timeout))
    return results


def _row(workload: Workload, results: dict[str, list[Run]], rivals: list[str]) -> list[str]:
    ours, ours_file = _median(results[OURS], "reason"), _median(results[OURS], "durable")
    sql, sql_file = _median(results[SQL], "reason"), _median(results[SQL_FILE], "durable")
    cells = [
        workload.title,
        _derived(results[SQL]),
        _ms(ours),
        _ms(sql),
        _ratio(ours, sql),
        _ms(ours_file),
        _ms(sql_file),
        _ratio(ours_file, sql_file),
    ]
    for rival in rivals:
        seconds = _median(results[rival], "reason")
        cells.append(f"{_ms(seconds)}, {_ratio(seconds, sql)}" if seconds else "-")
    return cells


def _derived(runs: list[Run]) -> str:
    run = runs[0]
    if run.counts is None or run.explicit is None:
        return "-"
    return f"{sum(run.counts.values()) - run.explicit:,}"


def _problems(workload: Workload, results: dict[str, list[Run]]) -> list[str]:
    """What failed, and where counts differ from the SQL's or from those known beforehand."""
    notes = []
    truth = results[SQL][0].counts or {}
    for engine, runs in results.items():
        notes += [f"{workload.name}, {engine}: {run.problem}" for run in runs if run.problem]
        for run in runs[:1]:
            for p, n in (run.counts or {}).items():
                for source, right in (("SQL", truth.get(p)), ("known", workload.expected.get(p))):
                    if right is not None and right != n:
                        notes.append(
                            f"{workload.name}, {engine}: {p} has {n:,} facts, {source}: {right:,}"
                        )
    return notes


def _median(runs: list[Run], what: str) -> float | None:
    seconds = [s for run in runs if (s := getattr(run, what)) is not None]
    return median(seconds) if seconds else None


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:,.0f}"


def _ratio(seconds: float | None, base: float | None) -> str:
    return "-" if seconds is None or not base else f"{seconds / base:.2f}"


if __name__ == "__main__":
    main()
