"""A knowledge base that is alone with its file asks and counts nothing; one with company does.

Whoever else opens the file, whenever and for however short, misses nothing and is missed by nobody.
"""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import budget
from support.earnings import without_earnings

from zodiac_sql.database import open_store as opening
from zodiac_sql.database.store import Store
from zodiac_sql.errors import BusyError, LockedError, PublishedError, QueryError, StoreError
from zodiac_sql.storage import publish

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


def seen(kb: KnowledgeBase, call: Callable[[], object]) -> list[str]:
    """The statements of a call that look at the generation or count it up."""
    statements: list[str] = []
    kb.trace(lambda text, _: statements.append(text))
    call()
    kb.trace(None)
    return [text for text in statements if "zodiac.counter" in text]


def generation(kb: KnowledgeBase) -> int:
    (row,) = kb.sql("SELECT generation FROM zodiac.counter").fetchall()
    return int(row[0])


@pytest.fixture
def file(open_kb: OpenKb, tmp_path: Path) -> Path:
    path = tmp_path / "company.duckdb"
    with open_kb(path) as kb:
        kb.add_rules("some(X) :- p(X, _).")
        kb.insert("p", [("a", "b")])
    return path


# --- alone, and not -------------------------------------------------------------------------------


def test_alone_it_asks_and_counts_nothing(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])  # this prepares the program
        before = generation(kb)
        assert not seen(kb, lambda: kb.insert("p", [("c", "d")]))
        assert not seen(kb, lambda: kb.delete("p", [("a", "b")]))
        assert not seen(kb, lambda: kb.query("some(X)").fetchall())
        assert generation(kb) == before


def test_rules_count_and_so_do_large_changes(
    file: Path, open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "MOST_UNNOTICED", 9)
    with open_kb(file) as kb:
        before = generation(kb)
        assert len(seen(kb, lambda: kb.add_rules("q(X) :- p(_, X)."))) == 1
        assert len(seen(kb, lambda: kb.insert("p", [("x", f"y{n}") for n in range(9)]))) == 1
        assert generation(kb) == before + 2


def test_a_change_whose_rows_do_not_tell_counts(file: Path, open_kb: OpenKb) -> None:
    """After a failure it could not be told from none, unless a position or a fact tells it."""

    def swap(kb: KnowledgeBase, predicate: str, there: str, other: str, *record: int) -> None:
        with kb.update() as update:
            update.delete(predicate, [(there, "b")])
            update.insert(predicate, [(other, "b")])
            for position in record:
                update.record("stream", position)

    with open_kb(file) as kb:
        kb.insert("free", [("a", "b"), ("c", "b")])
        before = generation(kb)
        swap(kb, "p", "a", "x")
        assert generation(kb) == before + 1
        swap(kb, "p", "x", "a", 7)
        swap(kb, "free", "a", "x")
        assert generation(kb) == before + 1 and kb.verify()


def test_with_company_it_asks_and_counts(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        with open_kb(file) as other:
            before = generation(kb)
            assert len(seen(kb, lambda: kb.insert("p", [("b", "c")]))) == 2
            assert seen(other, lambda: other.query("some(X)"))
            assert not seen(other, lambda: other.query("some(X)"))  # nobody has published since
            assert set(other.table("some")) == {("a",), ("b",)}
            assert generation(kb) == before + 1
        assert not seen(kb, lambda: kb.insert("p", [("c", "d")]))  # the other has gone
        assert not seen(kb, lambda: kb.insert("p", [("d", "e")]))
        assert kb.verify()


def test_one_that_is_forgotten_is_no_company(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        other = open_kb(file)
        other.insert("p", [("b", "c")])
        del other
        gc.collect()
        kb.insert("p", [("c", "d")])
        assert not seen(kb, lambda: kb.insert("p", [("d", "e")]))
        assert len(kb.table("p")) == 4 and kb.verify()


def test_one_that_could_not_be_opened_is_no_company(
    file: Path, open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise LockedError("not now")

    with open_kb(file) as kb:
        with monkeypatch.context() as patched, pytest.raises(LockedError, match="not now"):
            patched.setattr(opening, "_prepare", fail)
            open_kb(file)
        kb.insert("p", [("c", "d")])
        assert not seen(kb, lambda: kb.insert("p", [("d", "e")]))


def test_other_connections_of_its_own_are_no_company(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])
        kb.sql("SELECT 1")
        with kb.batches("p") as batches:
            assert sum(batch.num_rows for batch in batches) == 2
        assert kb.verify()
        assert not seen(kb, lambda: kb.insert("p", [("d", "e")]))


def test_each_memory_is_alone(open_kb: OpenKb) -> None:
    with open_kb() as first, open_kb() as second:
        for kb in (first, second):
            kb.insert("p", [("a",)])
            kb.insert("p", [("b",)])
            assert not seen(kb, lambda kb=kb: kb.insert("p", [("c",)]))  # type: ignore[misc]


# --- what others do in between --------------------------------------------------------------------


def visit(open_kb: OpenKb, file: Path, row: tuple[str, str] = ("x", "y")) -> None:
    """Somebody comes, changes something, and is gone again."""
    with open_kb(file) as other:
        other.insert("p", [row])


def test_a_visit_is_noticed_by_what_reads(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])
        visit(open_kb, file)
        assert set(kb.query("some(X)")) == {("a",), ("b",), ("x",)}
        assert not seen(kb, lambda: kb.query("some(X)"))


def test_a_visit_is_noticed_by_the_next_change(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])
        visit(open_kb, file)
        assert kb.insert("p", [("x", "y")]).inserted == {}
        assert kb.delete("p", [("x", "y")]).deleted == {"p": 1, "some": 1} and kb.verify()


def test_a_visit_during_an_update(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])
        with pytest.raises(LockedError, match="do it again"), kb.update() as update:
            update.insert("p", [("c", "d")])
            visit(open_kb, file)
        assert len(kb.table("p")) == 3
        kb.insert("p", [("c", "d")])
        assert len(kb.table("p")) == 4 and kb.verify()


def test_a_visit_ends_the_facts_of_a_change(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])
        change = kb.insert("p", [("c", "d")])
        with open_kb(file) as other:
            assert len(other.table("p")) == 3
        assert change.inserted_facts("p").to_pylist() == [{"s": "c", "o": "d"}]
        visit(open_kb, file)
        with pytest.raises(QueryError, match="until the next change"):
            change.inserted_facts("p")


def test_who_comes_sees_what_was_not_counted(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        for number in range(5):
            kb.insert("p", [(f"n{number}", "z")])
        with open_kb(file) as other:
            assert len(other.table("p")) == 6
            kb.insert("p", [("last", "z")])
            assert len(other.table("p")) == 7
            other.delete("p", [("last", "z")])
        assert len(kb.table("p")) == 6 and kb.verify()


def test_marks_of_a_stream_hold_without_counting(file: Path, open_kb: OpenKb) -> None:
    """Each update reads the tables that the one before has made, and makes some for the next."""
    updates = [
        {"insert": {"p": [(f"n{n}", "z")]}, "delete": {"p": [(f"n{n - 1}", "z")] if n else []}}
        for n in range(6)
    ]
    with open_kb(file, strategy="dred_marking") as kb:
        marked = [change.stats.marks.explicit for change in kb.stream(updates)]
        assert marked == [1] * 5 + [0]
        assert set(kb.table("p")) == {("a", "b"), ("n5", "z")} and kb.verify()


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [True, False], ids=["after it", "before it"])
@pytest.mark.parametrize("verb", ["insert", "delete", "update"])
@pytest.mark.parametrize("predicate", ["p", "free"])
def test_after_a_failing_commit_it_is_known_whether_the_change_is_there(
    file: Path,
    open_kb: OpenKb,
    monkeypatch: pytest.MonkeyPatch,
    late: bool,
    verb: str,
    predicate: str,
) -> None:
    """Also if it was not counted: then the numbers of explicit facts tell, or a fact that came."""
    without_earnings(monkeypatch)  # what is looked up would be written to the journal
    run = Store.run
    armed: list[bool] = []

    def fail(self: Store, statement: Any, *more: Any) -> Any:
        if statement != "COMMIT" or not armed:
            return run(self, statement, *more)
        armed.clear()
        if late:
            run(self, statement, *more)
        raise StoreError("it broke")

    def change(kb: KnowledgeBase) -> None:
        with kb.update() as update:
            if verb != "insert":
                update.delete(predicate, [("b", "c")])
            if verb != "delete":
                update.insert(predicate, [("c", "d")])

    with open_kb(file) as kb:
        kb.insert(predicate, [("a", "b"), ("b", "c")])
        change(kb)
        with kb.update() as update:
            update.replace(predicate, [("a", "b"), ("b", "c")])
        monkeypatch.setattr(Store, "run", fail)
        armed.append(True)
        with pytest.raises(PublishedError if late else StoreError) as error:
            change(kb)
        assert isinstance(error.value, PublishedError) is late
        there = {"insert": {"a", "b", "c"}, "delete": {"a"}, "update": {"a", "c"}}[verb]
        assert {x for x, _ in kb.table(predicate)} == (there if late else {"a", "b"})
        kb.insert("p", [("z", "z")])
        assert not seen(kb, lambda: kb.insert("p", [("y", "y")])) and kb.verify()


# --- at the same moment ---------------------------------------------------------------------------


def test_opening_within_publishing_is_refused(file: Path, open_kb: OpenKb) -> None:
    """By a tracer, which runs in the middle of it: it would never see the change."""
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])
        kb.delete("p", [("b", "c")])

        def see(text: str, _: object) -> None:
            if 'INSERT INTO "edb"' in text:
                open_kb(file)

        kb.trace(see)
        with pytest.raises(BusyError, match="publishing a change"):
            kb.insert("p", [("c", "d")])
        kb.trace(None)
        assert kb.insert("p", [("c", "d")]).inserted == {"p": 1, "some": 1}
        visit(open_kb, file)
        assert len(kb.table("p")) == 3 and kb.verify()


def test_who_opens_waits_until_it_is_published(file: Path, open_kb: OpenKb) -> None:
    found: list[set[tuple[str, str]]] = []

    def ask() -> None:
        with open_kb(file) as other:
            found.append(set(other.table("p")))

    thread = threading.Thread(target=ask)
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])

        def see(text: str, _: object) -> None:
            if text == "COMMIT" and not thread.ident:
                thread.start()
                thread.join(0.2)
                assert not found

        kb.trace(see)
        kb.insert("p", [("c", "d")])
        thread.join(20)
    assert found == [{("a", "b"), ("b", "c"), ("c", "d")}]


def test_one_that_comes_just_before_publishing(file: Path, open_kb: OpenKb) -> None:
    """After all was computed: so the change counts, and the other notices it."""
    others = []
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])

        def see(text: str, _: object) -> None:
            if "change_edb_plus" in text and not others:
                others.append(open_kb(file))

        kb.trace(see)
        kb.insert("p", [("c", "d")])
        kb.trace(None)
        (other,) = others
        assert len(other.table("p")) == 3
        other.insert("p", [("d", "e")])
        assert len(kb.table("p")) == 4 and kb.verify()
        other.close()


def test_two_that_open_at_once_know_of_each_other(file: Path, open_kb: OpenKb) -> None:
    gate = threading.Barrier(4)
    companies: list[object] = []

    def come() -> None:
        gate.wait(20)
        with open_kb(file) as kb:
            companies.append(kb._session.store.connection.instance.company)
            gate.wait(20)

    threads = [threading.Thread(target=come) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(companies) == 4 and len(set(companies)) == 1


@pytest.mark.fuzz
def test_visitors_in_other_threads_miss_nothing(open_kb: OpenKb, tmp_path: Path) -> None:
    """One changes all the time; others open the file, read, change and close it."""
    path = tmp_path / "race.duckdb"
    rng = random.Random(budget.seed(17))
    end = time.monotonic() + budget.either(4, 60)
    strange: list[object] = []
    done: set[tuple[str, int]] = set()
    numbers = "SELECT (SELECT count(*) FROM p), (SELECT max(s) FROM total)"

    def insert(kb: KnowledgeBase, row: tuple[str, int]) -> None:
        try:
            assert kb.insert("p", [row]).inserted["p"] == 1
            done.add(row)
        except LockedError:
            pass

    def goes_on(me: int) -> bool:
        """Until the time is up, and longer on a busy machine: each wins once."""
        return time.monotonic() < end or not any(name == f"t{me}" for name, _ in done.copy())

    def come_and_go(me: int) -> None:
        number = 0
        while goes_on(me):
            before = set(done)
            try:
                with open_kb(path) as kb:
                    for _ in range(1 + number % 3):
                        number += 1
                        insert(kb, (f"t{me}", number))
                    number += 1
                    there = set(kb.table("p"))
                    ((facts, total),) = kb.sql(numbers).fetchall()
                    if not before <= there or facts != total:
                        strange.append((before - there, facts, total))
                budget.tried("visits of a file that changes")
            except LockedError:  # it changed while it was read
                pass
            except BaseException as error:  # noqa: BLE001
                strange.append(error)

    with open_kb(path) as first:
        first.add_rules("total(N) :- AGGREGATE(p(X, Y)) WITH COUNT(Y) AS N.")
        first.insert("p", [("first", 0)])
        done.add(("first", 0))
        threads = [threading.Thread(target=come_and_go, args=(me,)) for me in (1, 2)]
        for thread in threads:
            thread.start()
        number = 0
        while goes_on(0):
            number += 1
            insert(first, ("t0", number))
            time.sleep(rng.choice([0, 0, 0.05, 0.3]))  # a visitor is slower, and would never win
        for thread in threads:
            thread.join()
        assert not strange and first.verify()
        assert set(first.table("p")) == done and {name for name, _ in done} >= {"t0", "t1", "t2"}
