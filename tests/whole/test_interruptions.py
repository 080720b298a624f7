"""Ctrl-C in a real process: it ends what runs within half a second, and changes nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import zodiac_sql
from zodiac_sql.database import signals
from zodiac_sql.database.watch import Watch

WORK = """
import sys, time
import pandas, pyarrow
import zodiac_sql

kind, path = sys.argv[1:]
kb = zodiac_sql.connect(path, threads=4)
kb.register_function("slow", lambda x: time.sleep(0.05) or x, ["int"], "int")
kb.insert("e", [(i, i + 1) for i in range(200)])
kb.insert("m", [(0,)])
if kind == "best":
    kb.insert("arc", [(i, i + 1) for i in range(150_000)])
before = sorted(kb.predicates().fetchall())
endless = "m(Y) :- m(X), Y = X + 1."
explodes = "p(A, B, C, D) :- e(A, _), e(B, _), e(C, _), e(D, _)."
print("ready", flush=True)
try:
    if kind == "recursion":
        kb.add_rules(endless)
    if kind == "loop":
        kb.add_rules(endless + "m(X) :- k(X). k(X) :- m(X), k(Y). k(Y) :- m(X), Y = X + 2.")
    if kind == "best":
        kb.add_rules("b(0, MIN(D)) :- D = 0. b(Y, MIN(E)) :- b(X, D), arc(X, Y), E = D + 1.")
    if kind == "join":
        kb.add_rules(explodes)
    if kind == "preview":
        with kb.preview() as preview:
            preview.add_rules(endless)
    if kind == "function":
        kb.add_rules("g(Y) :- e(X, _), Y = slow(X).")
    if kind == "goals":
        kb.query(
            "e(A, _), e(B, _), e(C, _), e(D, _), e(E, _), A * B + C * D + E % (A + 1) < 0"
        )
    if kind == "sql":
        kb.sql("SELECT count(*) FROM range(9999999) a, range(999999) b")
    if kind == "rows":
        kb.insert("f", [(i, str(i)) for i in range(1_000_000)])
        while True:
            kb.insert("f", [(i, str(-i)) for i in range(1_000_000)])
            kb.replace("f", [])
except KeyboardInterrupt:
    print(time.time(), flush=True)
if kind != "rows":
    assert sorted(kb.predicates().fetchall()) == before
kb.add_rules("w(X) :- z(X).")
kb.insert("z", [(1,)])
assert kb.table("w").fetchall() == [(1,)]
assert kb.verify()
kb.close()
print("usable", flush=True)
"""

KINDS = ["recursion", "best", "loop", "join", "preview", "function", "goals", "sql", "rows"]


def struck(kind: str, path: Path, delay: float) -> float:
    """How many seconds after Ctrl-C a process has got it. It must be able to go on."""
    arguments = [sys.executable, "-c", WORK, kind, str(path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=100)
    assert process.returncode == 0
    seen, usable = out.split()
    assert usable == "usable"
    return float(seen) - sent


@pytest.mark.parametrize("kind", KINDS)
def test_an_interruption_is_quick_and_changes_nothing(kind: str, tmp_path: Path) -> None:
    delay = random.choice([0.01, random.uniform(0, 1.5)])
    waited = struck(kind, tmp_path / "k.duckdb", delay)
    busy = os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
    assert waited < (2 if busy else 0.5), (delay, waited)


def test_the_command_ends_with_status_130_and_one_line(tmp_path: Path) -> None:
    db = str(tmp_path / "c.duckdb")
    program = [sys.executable, "-c", "from zodiac_sql.cli.main import main; main()"]
    subprocess.run([*program, "add-rules", db, "-e", "n(0)."], check=True, capture_output=True)
    for arguments in (
        ["add-rules", db, "-e", "n(Y) :- n(X), Y = X + 1."],
        ["query", db, "SELECT count(*) FROM range(9999999) a, range(999999) b"],
    ):
        with subprocess.Popen(
            [*program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            time.sleep(4)
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=60)
        assert (process.returncode, out, said) == (130, "", "interrupted; nothing was changed\n")


@pytest.fixture
def pythons_own_handler() -> Iterator[None]:
    """That of Ctrl-C: a Spark session, which other tests have in this process, has put in its."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("pythons_own_handler")
def test_what_came_before_a_call_does_not_strike_it(tmp_path: Path) -> None:
    """The thread that waits for signals may be late: then another call has begun."""
    with zodiac_sql.connect(tmp_path / "late.duckdb") as kb:
        kb.insert("n", [(0,)])
        assert signals._ears is not None
        for number in range(100):
            signals._ears.written.send(bytes([signal.SIGINT]))
            kb.insert("n", [(number,)])
        assert len(kb.table("n")) == 100


def test_the_socket_of_somebody_else_stays_in_place(tmp_path: Path) -> None:
    """An event loop has its own socket for signals: it gets them, and keeps its place."""
    text = """
import os, signal, socket, threading, time
import zodiac_sql
read, written = socket.socketpair()
written.setblocking(False)
signal.set_wakeup_fd(written.fileno())
kb = zodiac_sql.connect()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    kb.sql("SELECT count(*) FROM range(9999999) a, range(999999) b")
except KeyboardInterrupt:
    print("struck", list(read.recv(10)) == [signal.SIGINT])
kb.close()
print(signal.set_wakeup_fd(-1) == written.fileno(), threading.active_count())
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["struck", "True", "True", "1"], done.stderr


def test_a_handler_that_does_not_raise_interrupts_nothing() -> None:
    text = """
import os, signal, threading
import zodiac_sql
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
kb = zodiac_sql.connect()
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
print(kb.sql("SELECT count(*) FROM range(30000) a, range(30000) b WHERE a.range < b.range")[0])
kb.sql("SELECT 1")
print(seen)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "449985000" in done.stdout and "[1]" in done.stdout


def test_a_connection_that_is_closed_is_not_struck() -> None:
    """Ctrl-C can end what closes it before the end of its last statement has been noted."""
    watch, connection = Watch(), duckdb.connect()
    watch.begins(connection)
    connection.close()
    assert not watch.strike(watch.number)
    watch.ends()
