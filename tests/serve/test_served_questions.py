"""What a server answers to questions: goals, SQL, tables, reasons, lists, figures."""

from __future__ import annotations

import io
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx
import pyarrow as pa
import pytest
from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.serve.server import Server

TYPES = {"json": "application/json", "csv": "text/csv"}
ARROW = "application/vnd.apache.arrow.stream"


def test_goals_in_each_form(client: httpx.Client) -> None:
    expected = [{"X": 2}, {"X": 3}]
    asked = client.post("/query", content="path(1, X)")
    assert (asked.status_code, asked.headers["content-type"]) == (200, "application/json")
    assert sorted(asked.json()["rows"], key=str) == expected
    assert asked.json()["notes"] == []
    as_json = client.post("/query", json={"goals": "path(1, X)"}).json()
    assert sorted(as_json["rows"], key=str) == expected
    got = client.get("/query", params={"goals": "path(1, X)"}, headers={"accept": "text/csv"})
    assert sorted(got.text.splitlines()) == ["2", "3", "X"]
    got = client.get("/query", params={"goals": "path(1, X)"}, headers={"accept": ARROW})
    table = pa.ipc.open_stream(io.BytesIO(got.content)).read_all()
    assert sorted(table.to_pylist(), key=str) == expected
    assert client.get("/table/path").json()["rows"][0].keys() == {"s", "o"}


def test_goals_with_rules_of_their_own(client: httpx.Client, kb: KnowledgeBase) -> None:
    """They are forgotten afterwards, and a path is refused: the server would read the file."""
    given = {"goals": "back(3, X)", "rules": "back(Y, X) :- path(X, Y)."}
    answer = client.post("/query", json=given).json()
    assert sorted(answer["rows"], key=str) == [{"X": 1}, {"X": 2}]
    assert client.post("/query", json={"goals": "back(3, X)"}).status_code == 400
    for wrong, said in (
        ("/etc/passwd.rules", "is a path"), (["back(1, 2)."], "is a text"), ("back(X :-", "1:8"),
    ):  # fmt: skip
        refused = client.post("/query", json={**given, "rules": wrong})
        assert refused.status_code == 400 and said in refused.text, refused.text
    assert "back" not in kb.predicates()["predicate"].to_pylist()


def test_sql_only_reads(client: httpx.Client, kb: KnowledgeBase) -> None:
    given = {"sql": "SELECT count(*) AS n, 1 AS n FROM path WHERE s = ?", "parameters": [1]}
    assert client.post("/sql", json=given).json()["rows"] == [{"n": 2, "n_1": 1}]
    for text in (
        "DELETE FROM path",
        "COPY edge TO '/tmp/stolen.csv'",
        "ATTACH '/tmp/other.duckdb'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "INSTALL httpfs",
        "SET threads = 1",
        "SELECT 1; DROP TABLE zodiac.rule",
    ):
        answer = client.post("/sql", content=text)
        assert answer.status_code == 400, text
        assert answer.json().keys() >= {"error", "kind"}
    assert len(kb.table("path")) == 3


def test_what_is_wrong_is_said(client: httpx.Client) -> None:
    answer = client.post("/query", content="path(1,\n  X")
    assert answer.status_code == 400
    told = answer.json()
    assert told["kind"] == "ProgramError"
    assert told["problems"][0]["line"] == 2
    assert "goals" in client.post("/query").json()["error"]
    assert client.post("/query", content=b"\xff").json()["kind"] == "DataError"
    wrong = client.post("/query", content="{", headers={"content-type": "application/json"})
    assert "not JSON" in wrong.json()["error"]
    assert client.get("/query", params={"goals": "nope(X)"}).status_code == 400
    assert client.get("/nothing").status_code == 404
    assert "/sparql" in client.get("/nothing").json()["error"]
    assert client.get("/insert").status_code == 405
    picky = client.get("/query?goals=path(1,X)", headers={"accept": "image/png"})
    assert picky.status_code == 406


@pytest.mark.parametrize("limit", [{"max_rows": 1}, {"timeout": 1e-9}])
def test_limits_of_a_request(client: httpx.Client, limit: dict[str, Any]) -> None:
    answer = client.post("/query", json={"goals": "path(X, Y)", **limit})
    assert (answer.status_code, answer.json()["kind"]) == (422, "LimitError")
    assert client.post("/query", json={"goals": "path(X, Y)", "max_rows": "x"}).status_code == 400


def test_limits_of_the_server(kb: KnowledgeBase) -> None:
    with kb.serve(max_rows=2) as server:
        headers = {"authorization": f"Bearer {server.reading_token}"}
        for more in ({}, {"max_rows": 100}):
            asked = {"goals": "path(X, Y)", **more}
            answer = httpx.post(f"{server.url}/query", json=asked, headers=headers)
            assert answer.status_code == 422


def test_reasons(client: httpx.Client) -> None:
    told = client.get("/why", params={"fact": "path(1, 3)"})
    assert told.json() == client.post("/why", json={"fact": "path(1, 3)"}).json()
    plain = {"accept": "text/plain"}
    assert "edge(2, 3)" in client.get("/why?fact=path(1,3)", headers=plain).text
    assert client.get("/why?fact=path(1,3)", headers={"accept": "image/svg+xml"}).text[:4] == "<svg"
    assert "<div" in client.get("/why?fact=path(1,3)", headers={"accept": "text/html"}).text
    absent = client.get("/why?fact=path(3,1)&not=true", headers=plain).text
    assert absent.startswith("path(3, 1) does not hold")
    assert client.get("/why?fact=path(3,1)&not=true&depth=2").status_code == 200
    assert client.get("/why?fact=path(3,1)").json()["kind"] == "QueryError"


def test_lists(client: httpx.Client) -> None:
    names = [row["name"] for row in client.get("/rules").json()["rows"]]
    assert names == ["path", "longer", "loops"]
    rows = client.get("/predicates").json()["rows"]
    assert {row["predicate"]: row["extension"] for row in rows} == {"edge": 2, "path": 3}
    for name in ("sets", "constraints", "violations", "hypernodes", "feed"):
        assert client.get(f"/{name}").status_code == 200


def test_health(client: httpx.Client, kb: KnowledgeBase) -> None:
    before = client.get("/health").json()
    assert before["status"] == "ok"
    kb.insert("edge", [(7, 8)])
    assert client.get("/health").json()["generation"] > before["generation"]


def test_figures_for_prometheus(client: httpx.Client, kb: KnowledgeBase) -> None:
    kb.insert("edge", [(3, 4)])
    list(kb.stream([{"insert": {"edge": [[4, 5]]}}]))
    text = client.get("/metrics").text
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["zodiac_changes_total",] == 2
    assert found["zodiac_updates_total",] == 1
    assert found["zodiac_facts", "path"] == 10
    assert found["zodiac_rule_seconds_total", "longer"] > 0
    assert found["zodiac_facts_moved_total", "in"] == 3 + 1 + 4 + 1
    assert found["process_resident_memory_bytes",] > 1_000_000
    is_file = client.get("/health").json()["file"] != ":memory:"
    assert (("zodiac_file_size_bytes",) in found) is is_file


def test_all_kinds_of_values(client: httpx.Client, kb: KnowledgeBase) -> None:
    kb.add_rules(".decl odd(a: any, f: float, t: timestamp, d: decimal).")
    kb.insert("odd", [('x "y"\n', float("inf"), datetime(2024, 1, 1, 10), Decimal("1.10"))])
    row = client.get("/table/odd").json()["rows"][0]
    assert row["f"] == "Infinity"
    assert row["t"] == "2024-01-01T10:00:00"
    assert row["d"] == 1.1
    assert kb.table("odd")["a"].to_pylist() == [row["a"]]


def test_many_questions_at_the_same_time(server: Server, kb: KnowledgeBase) -> None:
    """Each answer is one published state, while the program goes on changing."""
    from concurrent.futures import ThreadPoolExecutor

    headers = {"authorization": f"Bearer {server.reading_token}"}

    def ask(_: int) -> set[tuple[int, int]]:
        answer = httpx.get(f"{server.url}/query?goals=path(1,X)", headers=headers, timeout=30)
        return {row["X"] for row in answer.json()["rows"]}

    with ThreadPoolExecutor(8) as threads:
        answers = threads.map(ask, range(40))
        for end in range(4, 24):
            kb.insert("edge", [(end - 1, end)])
        for found in answers:
            assert found == set(range(2, 2 + len(found)))
