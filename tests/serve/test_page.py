"""What the page asks beside what others ask, and its files."""

from __future__ import annotations

import re
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.serve.server import Server


def got(client: httpx.Client, path: str, **parameters: object) -> Any:
    answer = client.get(path, params=parameters)  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_files_need_no_token_and_ask_nobody_else(server: Server) -> None:
    document = httpx.get(server.url)
    names = re.findall(r'(?:src|href)="(page/[^"]+)"', document.text)
    assert {"page/app.js", "page/style.css", "page/icon.svg"} <= set(names)
    seen: set[str] = set()
    while names:
        name = names.pop()
        file = httpx.get(f"{server.url}/{name}")
        assert file.status_code == 200, name
        assert "default-src 'self'" in file.headers["content-security-policy"]
        assert file.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", file.text), name
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", file.text
        )
        seen.add(name)
        imported = re.findall(r'from "\./(\w+\.js)"', file.text)
        names += [f"page/{one}" for one in imported if f"page/{one}" not in seen]
    assert len(seen) > 10
    assert " on" not in re.sub(r">[^<]*<", "><", document.text), "an inline handler"
    for path in ("/page/nothing.js", "/page/..%2fapp.py", "/page"):
        assert httpx.get(server.url + path).status_code == 401
        headers = {"authorization": f"Bearer {server.reading_token}"}
        assert httpx.get(server.url + path, headers=headers).status_code == 404
    assert httpx.get(server.url, headers={"host": "evil.org"}).status_code == 421
    assert httpx.get(server.url, headers={"origin": "http://evil.org"}).status_code == 403


def test_recent_changes(client: httpx.Client, kb: KnowledgeBase) -> None:
    assert got(client, "/recent")["changes"] == []
    kb.insert("edge", [(3, 4)])
    list(kb.stream([{"delete": {"edge": [[3, 4]]}}]))
    told = got(client, "/recent")
    assert told["totals"]["changes"] == 2
    first, second = told["changes"]
    assert first["inserted"] == {"edge": 1, "path": 3}
    assert second["deleted"] == {"edge": 1, "path": 3}
    assert first["lag"] is None
    assert second["lag"] >= 0
    assert [one["at"] for one in got(client, "/recent", limit=1)["changes"]] == [second["at"]]
    assert got(client, "/recent", limit=0)["changes"] == []


def test_what_is_being_computed(client: httpx.Client, kb: KnowledgeBase) -> None:
    """Of a change of the program, and of one that waits for it; nothing once they are done."""
    entered, may_end = threading.Event(), threading.Event()

    def slow(x: int) -> int:
        entered.set()
        assert may_end.wait(60)
        return x

    def working() -> Any:
        told = got(client, "/recent")
        return told["working"] and (told["working"], told["now"], told["waiting"])

    assert working() is None
    kb.register_function("slow", slow)
    waits = threading.Thread(
        target=client.post, args=("/insert",), kwargs={"json": {"edge": [[8, 9]]}}
    )

    def look() -> None:
        assert entered.wait(60)
        waits.start()
        while working()[2] == 0:
            time.sleep(0.01)
        seen.append(working())
        may_end.set()

    seen: list[Any] = []
    looking = threading.Thread(target=look)
    looking.start()
    kb.add_rules("late: late(Y) :- edge(X, _), BIND(slow(X) AS Y).")
    for one in (looking, waits):
        one.join()
    ((told, now, waiting),) = seen
    assert (told["done"], told["total"], waiting) == (0, 1, 1)
    assert told["hypernode"] == kb.rules()["hypernode"].to_pylist()[-1]
    assert 0 <= now - told["since"] < 60
    assert working() is None
    assert client.post("/rules", json={"add": "p(X) :- ."}).status_code == 400
    assert working() is None


def test_what_a_page_must_know(server: Server, client: httpx.Client, kb: KnowledgeBase) -> None:
    kb.register_function("twice", lambda x: 2 * x, parameters=["int"], returns="int")
    kb.add_rules("@prefix w: <http://w/> . w:p(1).")
    told = got(client, "/names")
    assert told["writes"] is True
    assert told["prefixes"]["w"] == "http://w/"
    assert {"abs", "count", "twice"} <= set(told["functions"])
    assert "+" not in told["functions"]
    headers = {"authorization": f"Bearer {server.reading_token}"}
    assert httpx.get(f"{server.url}/names", headers=headers).json()["writes"] is False


def test_pages_of_facts(client: httpx.Client, kb: KnowledgeBase) -> None:
    kb.add_rules(".decl reading(who: symbol, value: float).")
    rows = [(f"wt{n}", n / 2) for n in range(30)] + [("http://w/A", 100.0), ('x "y"', -1.0)]
    kb.insert("reading", rows)
    seen: list[list[object]] = []
    for offset in range(0, 40, 10):
        page = got(client, "/facts/reading", limit=10, offset=offset, sort="value", descending=True)
        assert page["columns"] == ["who", "value"]
        assert (page["matching"], page["all"]) == (32, 32)
        seen += page["rows"]
    assert seen == [list(row) for row in sorted(rows, key=lambda row: -row[1])]
    found = got(client, "/facts/reading", text="WT1", limit=5)
    assert (found["matching"], len(found["rows"])) == (11, 5)
    for text, expected in (("http", "<http://w/A>"), ('"y"', r'"x \"y\""'), ("%", None)):
        page = got(client, "/facts/reading", text=text)
        assert page["matching"] == (0 if expected is None else 1)
        for goal in page["goals"]:
            assert expected in goal
            assert got(client, "/why", fact=goal)
    wrong = client.get("/facts/reading", params={"sort": 'who"; DROP TABLE x'})
    assert (wrong.status_code, wrong.json()["kind"]) == (400, "QueryError")
    assert client.get("/facts/nope").json()["kind"] == "QueryError"


def test_facts_of_other_shapes(client: httpx.Client, kb: KnowledgeBase) -> None:
    """Without columns, with terms of all kinds, not yet known, with an IRI for a name."""
    kb.add_rules("""
        on :- edge(1, _).
        .decl odd(a: any).
        <http://w/p#q>(X) :- edge(X, _).
        later(X) :- never(X).
    """)
    kb.insert("odd", [(1,), ("a",), (2.5,), (datetime(2024, 1, 1),)])
    assert got(client, "/facts/on")["rows"] == [[True]]
    odd = got(client, "/facts/odd")
    assert odd["all"] == 4
    for goal in (*got(client, "/facts/on")["goals"], *odd["goals"]):
        assert got(client, "/why", fact=goal)
    assert got(client, "/facts/http:%2F%2Fw%2Fp%23q")["all"] == 2
    assert got(client, "/facts/never")["rows"] == []


@pytest.mark.parametrize(("text", "many"), [("", 1000), ("2", 1000), ("", 10)])
def test_pages_are_the_table(
    client: httpx.Client,
    kb: KnowledgeBase,
    text: str,
    many: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Compared with the whole table in Python."""
    monkeypatch.setattr("zodiac_sql.read.some_facts.MANY", many)
    kb.insert("edge", [(n, n + 1) for n in range(10, 30)])
    whole = [row for row in sorted(kb.table("path").fetchall()) if text in f"{row[0]} {row[1]}"]
    found: list[list[int]] = []
    for offset in range(0, len(whole), 7):
        found += got(client, "/facts/path", text=text, offset=offset, limit=7)["rows"]
    assert found == [list(row) for row in whole]


def test_pages_of_many_symbols(
    client: httpx.Client, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In no order that is promised, but each fact on one page."""
    monkeypatch.setattr("zodiac_sql.read.some_facts.MANY", 10)
    rows = [(f"s{n * 7 % 40}", f"o{n % 3}") for n in range(40)]
    kb.insert("pair", rows)
    kb.add_rules("pair(Y, X) :- pair(X, Y).")
    found: list[tuple[str, str]] = []
    for offset in range(0, 90, 9):
        found += map(tuple, got(client, "/facts/pair", offset=offset, limit=9)["rows"])
    assert sorted(found) == sorted({*rows, *((o, s) for s, o in rows)})


def test_what_moved_since_a_time(client: httpx.Client, kb: KnowledgeBase) -> None:
    kb.insert("edge", [(3, 4)])
    told = got(client, "/moved/path")
    assert told["all"] == 3
    assert {one["_change_type"] for one in told["entries"]} == {"insert"}
    kb.delete("edge", [(3, 4)])
    last = got(client, "/moved/path", limit=3)
    assert last["all"] == 6
    assert {one["_change_type"] for one in last["entries"]} == {"delete"}
    since = last["entries"][0]["_time"]
    assert got(client, "/moved/path", after=since)["all"] in (3, 6)  # both in one moment, or not
    assert got(client, "/moved/path", after=datetime.now(UTC).isoformat())["all"] == 0
    for after in ("yesterday", "2024-01-01T10:00:00"):
        wrong = client.get("/moved/path", params={"after": after})
        assert wrong.json()["kind"] == "DataError"
    assert client.get("/moved/edge").json()["kind"] == "QueryError"


def test_the_text_of_a_set_is_the_set(client: httpx.Client, kb: KnowledgeBase) -> None:
    """Put in the place of its rules, it changes nothing."""
    kb.add_rules(
        """
        @prefix w: <http://w/> .
        seen(7).
        w:a(X) :- edge(X, _).  % a comment
        b: both(X, Y) :- edge(X, Y), (edge(Y, X) ; X < Y).
        no: !- edge(X, 1000).
        """,
        set="more",
    )
    for name in ("main", "more"):
        told = got(client, "/text", set=name)
        body = {"set": name, "drop": told["rules"], "add": told["text"], "preview": True}
        preview = client.post("/rules", json=body)
        assert preview.status_code == 200, preview.text
        assert (preview.json()["inserted"], preview.json()["deleted"]) == ({}, {})
        done = client.post("/rules", json={**body, "preview": False})
        assert done.status_code == 200, done.text
        again = got(client, "/text", set=name)
        assert again["text"].count(":-") == told["text"].count(":-")
    assert kb.query("seen(X)").to_pylist() == [{"X": 7}]
    gone = client.post(
        "/rules", json={"set": "more", "drop": got(client, "/text", set="more")["rules"]}
    )
    assert gone.json()["deleted"]["http://w/a"] == 2
    assert client.get("/text", params={"set": "nope"}).json()["kind"] == "QueryError"


def test_where_in_a_text_an_error_is(client: httpx.Client) -> None:
    told = client.post("/rules", json={"add": "q(X) :-\n  path(Y, Z).", "preview": True}).json()
    problem = told["problems"][0]
    assert (problem["line"], problem["column"], problem["end_line"]) == (1, 3, 1)
    assert problem["end_column"] > problem["column"]
    assert problem["hint"]


def test_the_graph_and_the_times(client: httpx.Client, kb: KnowledgeBase) -> None:
    drawn = client.get("/graph")
    assert drawn.headers["content-type"].startswith("image/svg+xml")
    assert drawn.text.startswith("<svg")
    assert not re.search(r"<style|<script|\sstyle=", drawn.text), "the page's policy refuses these"
    told = client.post("/explain", json={}).json()
    assert {one["rule"] for one in told["rules"]} == {"path", "longer", "loops"}
    before = client.get("/profile").json()
    assert before["changes"] == 3
    kb.insert("edge", [(3, 4)])
    client.post("/insert", json={"edge": [[4, 5]]})
    after = client.get("/profile").json()
    assert after["changes"] == 5, "those of the program and those of the server"
    spent = {one["rule"]: one["seconds"] for one in after["rules"]}
    assert spent["longer"] > next(r for r in before["rules"] if r["rule"] == "longer")["seconds"]
    proof = client.get("/why?fact=path(1,3)", headers={"accept": "image/svg+xml"})
    assert not re.search(r"<style|<script|\sstyle=", proof.text)
