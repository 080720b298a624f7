"""Changes that a server is asked for, beside those of the program."""

from __future__ import annotations

import io
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pyarrow as pa
import pytest

from zodiac_sql.errors import ConstraintError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.serve.server import Server

CSV = {"content-type": "text/csv"}
ARROW = {"content-type": "application/vnd.apache.arrow.stream"}


def told(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_facts_as_json_csv_and_arrow(client: httpx.Client, kb: KnowledgeBase) -> None:
    change = told(client.post("/insert", json={"edge": [[3, 4]]}))
    assert change["inserted"] == {"edge": 1, "path": 3}
    told(client.post("/insert?predicate=edge", content="x,y\n4,5\n", headers=CSV))
    table, made = pa.table({"x": [5], "y": [6]}), io.BytesIO()
    with pa.ipc.new_stream(made, table.schema) as stream:
        stream.write_table(table)
    told(client.post("/insert?predicate=edge", content=made.getvalue(), headers=ARROW))
    assert len(kb.table("path")) == 15
    told(client.post("/delete?predicate=edge", content=made.getvalue(), headers=ARROW))
    told(client.post("/delete?predicate=edge", content="x,y\n4,5\n", headers=CSV))
    change = told(client.post("/delete", json={"edge": [[3, 4]]}))
    assert change["deleted"] == {"edge": 1, "path": 3}
    assert kb.verify()


def test_what_is_wrong_changes_nothing(client: httpx.Client, kb: KnowledgeBase) -> None:
    before = kb.table("edge").fetchall()
    for path, body, kind in (
        ("/insert", {"edge": [[1]]}, "DataError"),
        ("/insert", {"edge": [["a", "b"]]}, "DataError"),
        ("/insert", {"edge": "x.csv"}, "DataError"),
        ("/insert", [1], "DataError"),
        ("/update", {"inserts": {}}, "DataError"),
        ("/update", {"insert": {"edge": [[9, 9]]}}, "ConstraintError"),
        ("/rules", {"add": "p(X) :- ."}, "ProgramError"),
        ("/rules", {"add": "/etc/secret.rules"}, "DataError"),
        ("/update", {"drop_rules": ["wind.dl"]}, "DataError"),
        ("/rules", {"set": "x"}, "DataError"),
    ):
        answer = client.post(path, json=body)
        assert answer.json()["kind"] == kind, answer.text
        assert answer.status_code == (409 if kind == "ConstraintError" else 400)
    answer = client.post("/insert?predicate=edge", content="x,y\n1\n", headers=CSV)
    assert "line 2" in answer.json()["error"]
    answer = client.post("/insert?predicate=edge", content="no arrow", headers=ARROW)
    assert "Arrow" in answer.json()["error"]
    assert kb.table("edge").fetchall() == before
    assert told(client.post("/update?no_check=true", json={"insert": {"edge": [[9, 9]]}}))[
        "violations"
    ]


def test_updates_and_rules(client: httpx.Client, kb: KnowledgeBase) -> None:
    change = {"insert": {"edge": [[3, 1]]}, "add_rules": "loop: loop(X) :- path(X, X)."}
    assert told(client.post("/update", json=change))["inserted"]["loop"] == 3
    asked = {"add": "far: far(X) :- path(1, X).", "set": "odd", "preview": True, "samples": 2}
    preview = told(client.post("/rules", json=asked))
    assert preview["inserted"] == {"far": 3}
    far = preview["samples"]["far"]
    assert far["inserted_goals"] == [f"far({fact['s']})" for fact in far["inserted"]]
    assert (len(far["inserted"]), far["deleted_goals"]) == (2, [])
    why = told(client.post("/rules", json={**asked, "why": far["inserted_goals"][0]}))["why"]
    assert "odd/far derives it (added by the change)" in why
    assert "far" not in kb.rules()["name"].to_pylist()
    told(client.post("/rules", json={**asked, "preview": False}))
    assert kb.rule_sets()["set"].to_pylist() == ["main", "odd"]
    told(client.post("/rules", json={"replace": "", "set": "odd"}))
    gone = {"drop": ["loop"], "preview": True, "samples": 1}
    goal = told(client.post("/rules", json=gone))["samples"]["loop"]["deleted_goals"][0]
    assert "loop" in told(client.post("/rules", json={**gone, "why": goal}))["why"]
    told(client.post("/rules", json={"drop": ["loop"]}))
    assert kb.rules()["name"].to_pylist() == ["path", "longer", "loops"]
    preview = told(client.post("/update?preview=true", json={"delete": {"edge": [[3, 1]]}}))
    assert preview["deleted"]["path"] == 6
    assert len(kb.table("edge")) == 3


def test_dates_in_json(client: httpx.Client, kb: KnowledgeBase) -> None:
    kb.add_rules(".decl at(x: symbol, t: timestamp).")
    told(client.post("/insert", json={"at": [["a", "2024-05-06T07:08:09"]]}))
    assert kb.query("at(a, T)")["T"].to_pylist()[0].year == 2024


def test_the_program_and_the_server_take_turns(server: Server, kb: KnowledgeBase) -> None:
    """Neither is ever refused because the other was quicker, and nothing is lost."""
    headers = {"authorization": f"Bearer {server.writing_token}"}
    statuses: list[int] = []

    def send(first: int) -> None:
        with httpx.Client(base_url=server.url, headers=headers, timeout=60) as mine:
            for number in range(15):
                row = [1000 + first, 2000 + 100 * first + number]
                statuses.append(mine.post("/insert", json={"edge": [row]}).status_code)

    threads = [threading.Thread(target=send, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for number in range(15):
        with kb.update() as update:
            update.insert("edge", [(5000, 6000 + number)])
            time.sleep(0.002)
    for thread in threads:
        thread.join()
    assert statuses == [200] * 45
    assert len(kb.table("edge")) == 2 + 45 + 15
    assert kb.verify()


def test_a_stream_goes_on(server: Server, kb: KnowledgeBase, client: httpx.Client) -> None:
    updates = ({"insert": {"edge": [[number, number + 1]]}} for number in range(100, 140))
    for place, change in enumerate(kb.stream(updates)):
        assert change.inserted["edge"] == 1
        if place % 10 == 0:
            told(client.post("/insert", json={"edge": [[place, 9000]]}))
    assert len(kb.table("edge")) == 2 + 40 + 4
    assert kb.verify()


def test_functions_of_the_program(client: httpx.Client, kb: KnowledgeBase) -> None:
    """A rule with a function that was registered before, or after, the server began."""

    def twice(x: int) -> int:
        return 2 * x

    kb.register_function("twice", twice)
    kb.add_rules("double(Y) :- edge(X, _), BIND(twice(X) AS Y).")
    assert told(client.post("/insert", json={"edge": [[50, 60]]}))["inserted"]["double"] == 1
    assert client.post("/query", content="edge(50, X), twice(X) = Y").json()["rows"][0]["Y"] == 120


def test_a_client_that_goes_away_ends_its_query(server: Server, kb: KnowledgeBase) -> None:
    kb.insert("big", [(n,) for n in range(3000)])
    headers = {"authorization": f"Bearer {server.reading_token}"}
    text = "SELECT count(*) FROM big a, big b, big c WHERE a.s * b.s % 7 = c.s % 5"
    for _ in range(4):  # as many as there are readers
        with pytest.raises(httpx.TimeoutException):
            httpx.post(f"{server.url}/sql", content=text, headers=headers, timeout=0.3)
    started = time.monotonic()
    httpx.get(f"{server.url}/health", headers=headers, timeout=20)
    assert time.monotonic() - started < 10


def test_a_client_that_goes_away_ends_its_change(server: Server, kb: KnowledgeBase) -> None:
    headers = {"authorization": f"Bearer {server.writing_token}"}
    kb.add_rules("count(0). ")
    rule = {"add": "count(Y) :- count(X), Y = X + 1, Y < 100000000."}
    with pytest.raises(httpx.TimeoutException):
        httpx.post(f"{server.url}/rules", json=rule, headers=headers, timeout=0.5)
    kb.insert("edge", [(70, 71)])  # it waits for its turn
    assert len(kb.table("count")) == 1


def test_constraints_hold_for_the_program(server: Server, kb: KnowledgeBase) -> None:
    with pytest.raises(ConstraintError):
        kb.insert("edge", [(1, 1)])
