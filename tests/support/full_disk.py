"""Random changes of a file while its disk fills up and is freed again: what is told, and what is
there.

    python full_disk.py [--small DIRECTORY] [--sequences 60] [--first 0]

Each sequence is made by a child process, which a damaged DuckDB might end. After each step, the
knowledge base that made it, and a copy of its files opened anew, must hold what was acknowledged:
explicit facts, rules, and all that follows from them. DIRECTORY is on a small file system of its
own, which is filled; without it, the process forbids itself to write beyond some size of a file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

STEPS = 18

RULES = {
    "copy": "t(X, Y) :- p(X, Y).",
    "step": "t(X, Z) :- t(X, Y), p(Y, Z).",
    "square": "w(X, Z) :- w(X, Y), w(Y, Z).",
    "feed": "w(X, Y) :- q(X, Y).",
    "back": "w(X, Y) :- w(Y, X).",
    "far": "far(X, Y) :- t(X, Y), not p(X, Y).",
    "count": "count(X, N) :- AGGREGATE(p(X, Y)) ON X WITH COUNT(Y) AS N.",
    "ring": "ring(X, Y) :- p(X, A), q(A, Y), p(Y, B), q(B, X).",
    "made": 'm(X, L) :- p(X, _), BIND(concat(X, "!") AS L).',
    "into": "q(X, Y) :- p(Y, X), q(X, _).",
}
EXPLICIT = ("p", "q", "e")

Facts = dict[str, set[tuple[str, str]]]


class Disk(Protocol):
    def fill(self, left: int) -> None:
        """Let only about so many bytes more be written."""

    def free(self) -> None: ...


@dataclass(frozen=True)
class SmallDisk:
    """A file system that is filled with a file."""

    directory: Path

    def fill(self, left: int) -> None:
        size = 1 << 20
        with open(self.directory / "filler", "ab", buffering=0) as filler:
            while size:
                with suppress(OSError):
                    if filler.write(b"x" * size) == size:
                        continue
                size //= 2
            filler.truncate(max(0, filler.tell() - left))

    def free(self) -> None:
        (self.directory / "filler").unlink(missing_ok=True)


@dataclass(frozen=True)
class LimitedFiles:
    """No file of this process becomes larger than one of them is, and some bytes more.

    It never ends within a block of DuckDB's that is there: half of one is what a file does not
    stand, and a full disk does not do that to it, as there is room for it.
    """

    directory: Path

    def fill(self, left: int) -> None:
        sizes = [file.stat().st_size for file in self.directory.glob("kb.*")]
        limit = random.Random(left).choice([0, *sizes]) + left
        if limit < max(sizes, default=0):
            limit -= (limit - FIRST_BLOCK) % BLOCK
        _limit(max(0, limit))

    def free(self) -> None:
        _limit(resource.RLIM_INFINITY)


FIRST_BLOCK = 3 * 4096
BLOCK = 256 * 1024


def _limit(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@dataclass
class Model:
    """What has been acknowledged."""

    facts: Facts = field(default_factory=lambda: {name: set() for name in EXPLICIT})
    rules: set[str] = field(default_factory=set)

    def after(self, step: dict[str, Any]) -> Model:
        facts = {name: set(rows) for name, rows in self.facts.items()}
        rows = {tuple(row) for row in step.get("rows", ())}
        if step["verb"] in ("insert", "load"):
            facts[step["predicate"]] |= rows
        if step["verb"] == "delete":
            facts[step["predicate"]] -= rows
        return Model(facts, self.rules.symmetric_difference(step.get("rules", ())))


def steps(chance: random.Random) -> list[dict[str, Any]]:
    """What a sequence does, which depends on nothing that happens."""
    model, made = Model(), []
    for _ in range(STEPS):
        verb = chance.choice(
            ("insert", "insert", "insert", "insert", "delete", "delete", "add", "add", "drop",
             "load", "reopen", "checkpoint")
        )  # fmt: skip
        step: dict[str, Any] = {"verb": verb}
        if verb in ("insert", "delete", "load"):
            step["predicate"] = chance.choice(EXPLICIT)
            many = chance.choice((1, 1, 2, 5, 5, 400))
            step["rows"] = [_row(chance, many) for _ in range(many)]
            if verb == "delete":
                there = sorted(model.facts[step["predicate"]])
                step["rows"] = chance.sample(there, min(len(there), chance.choice((1, 2, 400))))
        if verb == "add":
            step["rules"] = chance.sample(sorted(RULES.keys() - model.rules), 1)
        if verb == "drop":
            step["rules"] = chance.sample(sorted(model.rules), min(1, len(model.rules)))
        model = model.after(step)
        disk = chance.choice(("as it is", "fill", "fill", "free"))
        step["disk"] = disk
        step["left"] = chance.choice((0, 0, 100, 5_000, 20_000, 300_000))
        made.append(step)
    return made


def _row(chance: random.Random, many: int) -> tuple[str, str]:
    names = [f"n{number}" for number in range(8)]
    if many > 10 or chance.random() < 0.2:
        names += [f"name_of_something_{chance.random()}" for _ in range(3)]
    return chance.choice(names), chance.choice(names)


# --- the child ------------------------------------------------------------------------------------


class Child:
    """Makes the changes of a sequence, and tells what is wrong after each."""

    def __init__(self, directory: Path, disk: Disk, wal: str | None) -> None:
        self.file, self.disk = directory / "kb.duckdb", disk
        if wal:
            checkpoint_after(wal)
        self.aside = Path(tempfile.mkdtemp(dir=_roomy()))
        self.kb = self._opened()
        self.model = Model()
        self.full = False

    def _opened(self) -> Any:
        import zodiac_sql

        return zodiac_sql.connect(self.file, threads=1, temp_directory=self.file.parent / "spill")

    def run(self, step: dict[str, Any]) -> list[str]:
        import zodiac_sql

        if step["disk"] == "fill":
            self.disk.fill(step["left"])
            self.full = True
        if step["disk"] == "free":
            self.disk.free()
            self.full = False
        # What this step can change if others before it failed:
        step = dict(step)
        if step["verb"] == "delete":
            there = self.model.facts[step["predicate"]]
            step["rows"] = [row for row in step["rows"] if tuple(row) in there]
        if step["verb"] == "add":
            step["rules"] = [rule for rule in step["rules"] if rule not in self.model.rules]
        if step["verb"] == "drop":
            step["rules"] = [rule for rule in step["rules"] if rule in self.model.rules]
        failed = True
        try:
            self._do(step)
            self.model = self.model.after(step)
            failed = False
        except zodiac_sql.ZodiacError as error:
            if isinstance(error, zodiac_sql.PublishedError):
                self.model = self.model.after(step)
            elif not self.full:
                return [f"refused, although the disk is not full: {str(error)[:300]}"]
        except Exception as error:  # noqa: BLE001
            return [f"{type(error).__name__}: {str(error)[:300]}"]
        return self.faults(failed)

    def _do(self, step: dict[str, Any]) -> None:
        import zodiac_sql

        verb, rows = step["verb"], [tuple(row) for row in step.get("rows", ())]
        if verb == "insert":
            self.kb.insert(step["predicate"], rows)
        elif verb == "delete":
            self.kb.delete(step["predicate"], rows)
        elif verb == "load":
            self._load(step["predicate"], rows)
        elif verb == "add":
            self.kb.add_rules("".join(f"{name}: {RULES[name]}\n" for name in step["rules"]))
        elif verb == "drop":
            self.kb.drop_rules(*step["rules"])
        elif verb == "checkpoint":
            self.kb.sql("CHECKPOINT")
        elif verb == "reopen":
            self.kb.close()
            try:
                self.kb = self._opened()
            except zodiac_sql.ZodiacError:
                self.disk.free()  # must be possible then
                self.full = False
                self.kb = self._opened()

    def _load(self, predicate: str, rows: list[tuple[str, str]]) -> None:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        _limit(resource.RLIM_INFINITY)
        file = self.aside / "rows.csv"
        file.write_text("s,o\n" + "".join(f"{s},{o}\n" for s, o in rows), encoding="utf-8")
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self.kb.load(file, predicate)

    def faults(self, failed: bool) -> list[str]:
        """What differs from what was acknowledged, here and in a copy that is opened anew.

        Both have the same tables, so one is verified; after a step that failed, both are.
        """
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        _limit(resource.RLIM_INFINITY)
        try:
            found = [f"here: {fault}" for fault in faults(self.kb, self.model, failed)]
            with copied(self.file, self.aside) as kb:
                found += [f"reopened: {fault}" for fault in faults(kb, self.model)]
            return found
        except Exception as error:  # noqa: BLE001
            return [f"looking at it: {type(error).__name__}: {str(error)[:300]}"]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    def end(self) -> list[str]:
        """Close, maybe on a full disk, and look once more."""
        import zodiac_sql

        try:
            with suppress(zodiac_sql.ZodiacError):
                self.kb.close()
        except Exception as error:  # noqa: BLE001
            return [f"close: {type(error).__name__}: {error}"]
        self.disk.free()
        self.kb = self._opened()
        return self.faults(failed=True)


def checkpoint_after(size: str) -> None:
    """Let DuckDB write a checkpoint as soon as its log is so large."""
    import duckdb

    connect = duckdb.connect

    def connected(*args: Any, config: Any = None, **named: Any) -> Any:
        return connect(*args, config={**(config or {}), "wal_autocheckpoint": size}, **named)

    duckdb.connect = connected


def copied(file: Path, aside: Path) -> Any:
    """A copy of the files as they are now, opened: what a kill would leave."""
    import zodiac_sql

    copy = aside / "copy.duckdb"
    for suffix in ("", ".wal"):
        source, target = Path(f"{file}{suffix}"), Path(f"{copy}{suffix}")
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copyfile(source, target)
    return zodiac_sql.connect(copy, threads=1)


def faults(kb: Any, model: Model, whole: bool = True) -> list[str]:
    found = []
    rules = set(kb.rules()["name"].to_pylist())
    if rules != model.rules:
        found.append(f"rules {sorted(rules)}, but {sorted(model.rules)} were acknowledged")
    tables = {name for (name,) in kb._session.store.rows(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'edb'"
    )}  # fmt: skip
    for name, rows in model.facts.items():
        there = set()
        if name in tables:
            there = set(kb._session.store.rows(
                f"SELECT a.text, b.text FROM edb.{name} AS f JOIN zodiac.symbol AS a ON a.id = f.s"
                " JOIN zodiac.symbol AS b ON b.id = f.o"
            ))  # fmt: skip
        if there != rows:
            lost, more = len(rows - there), len(there - rows)
            found.append(f"{name}: {lost} acknowledged facts are not there, {more} others are")
    if whole and not (report := kb.verify()):
        found.append(f"verify: {report}")
    return found


def _roomy() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def child(directory: str, small: str, seed: str) -> None:
    """Make one sequence; a line for each step that begins, and for each fault."""
    chance = random.Random(int(seed))
    wal = chance.choice((None, None, "20KB", "200KB"))
    disk: Disk = SmallDisk(Path(directory)) if small == "small" else LimitedFiles(Path(directory))
    maker = Child(Path(directory), disk, wal)
    try:
        for number, step in enumerate(steps(chance)):
            print(
                json.dumps({"step": number, "verb": step["verb"], "disk": step["disk"]}), flush=True
            )
            if found := maker.run(step):
                print(json.dumps({"faults": found}), flush=True)
                disk.free()
                os._exit(1)
        print(json.dumps({"step": STEPS, "verb": "end"}), flush=True)
        if found := maker.end():
            print(json.dumps({"faults": found}), flush=True)
            os._exit(1)
    finally:
        shutil.rmtree(maker.aside, ignore_errors=True)
    os._exit(0)


# --- the parent -----------------------------------------------------------------------------------


def outcome(seed: int, directory: Path, small: bool) -> str | None:
    """What went wrong in a sequence, if anything did."""
    for file in directory.iterdir():
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    command = [
        sys.executable,
        __file__,
        "child",
        str(directory),
        "small" if small else "",
        str(seed),
    ]
    try:
        ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired as error:
        return f"no end: {(error.stdout or b'')[-300:]!r}"
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    if ended.returncode == 0:
        return None
    said = ended.stderr[-300 if ended.returncode > 0 else 0 :][:300]
    return f"status {ended.returncode} after {lines[-2:]}; {said}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small")
    parser.add_argument("--sequences", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    directory = Path(given.small or tempfile.mkdtemp(dir=_roomy()))
    bad = 0
    for seed in range(given.first, given.first + given.sequences):
        if wrong := outcome(seed, directory, bool(given.small)):
            bad += 1
            print(f"{seed}: {wrong}", flush=True)
    print(f"{bad} of {given.sequences} were bad")


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        main()
