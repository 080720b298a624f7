"""Who may ask a server: by token, by host, by origin, by socket."""

from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from zodiac_sql.errors import BusyError, StoreError
from zodiac_sql.serve.place import path_of, place_of, socket_of

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.serve.server import Server


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_no_token_no_answer(server: Server) -> None:
    for headers in ({}, bearer("wrong"), {"authorization": "Bearer"}, {"authorization": "Basic !"}):
        for path in ("/health", "/query?goals=path(X,Y)", "/metrics", "/nothing", "/command"):
            answer = httpx.get(server.url + path, headers=headers)
            assert answer.status_code == 401
            assert answer.json()["kind"] == "NoAccess"


def test_a_reading_token_only_reads(server: Server, kb: KnowledgeBase) -> None:
    headers = bearer(server.reading_token)
    assert httpx.get(f"{server.url}/health", headers=headers).status_code == 200
    for path in ("/insert", "/delete", "/update", "/rules"):
        body = {"edge": [[8, 9]]} if path in ("/insert", "/delete") else {"add": "q(1)."}
        answer = httpx.post(server.url + path, json=body, headers=headers)
        assert answer.status_code == 403, path
    assert len(kb.table("edge")) == 2


def test_tokens_of_other_clients(server: Server) -> None:
    """As a password, and, to read, in the address."""
    url = f"{server.url}/health"
    assert httpx.get(url, auth=("anybody", server.writing_token)).status_code == 200
    assert httpx.get(f"{server.url}/token/{server.reading_token}/health").status_code == 200
    assert httpx.get(f"{server.url}/token/{server.writing_token}/health").status_code == 401
    assert httpx.get(f"{server.url}/token/x/health").status_code == 401


def test_other_origins_and_hosts(kb: KnowledgeBase) -> None:
    with kb.serve(origins=["https://yasgui.org"]) as server:
        headers, url = bearer(server.reading_token), f"{server.url}/health"
        own = httpx.get(url, headers={**headers, "origin": server.url})
        assert own.status_code == 200
        for origin in ("http://evil.org", "null", "https://yasgui.org.evil.org"):
            answer = httpx.get(url, headers={**headers, "origin": origin})
            assert answer.status_code == 403
            assert "access-control-allow-origin" not in answer.headers
        answer = httpx.get(url, headers={**headers, "origin": "https://yasgui.org"})
        assert answer.headers["access-control-allow-origin"] == "https://yasgui.org"
        before = httpx.options(url, headers={"origin": "https://yasgui.org"})
        assert "authorization" in before.headers["access-control-allow-headers"]
        for host in ("evil.org", "127.0.0.1.evil.org", ""):
            assert httpx.get(url, headers={**headers, "host": host}).status_code == 421
        assert httpx.get(url, headers={**headers, "host": "localhost"}).status_code == 200


def test_a_body_that_is_too_large(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zodiac_sql.serve.requests.LARGEST", 1000)
    headers = bearer(server.reading_token)
    answer = httpx.post(f"{server.url}/query", content="x" * 2000, headers=headers)
    assert answer.status_code == 413


def test_what_stands_beside_the_file(tmp_path: Path, open_kb: object) -> None:
    kb: KnowledgeBase = open_kb(tmp_path / "a.duckdb")  # type: ignore[operator]
    server = kb.serve()
    told, address = tmp_path / "a.duckdb.server", tmp_path / "a.duckdb.socket"
    for path in (told, address):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    place = place_of(tmp_path / "a.duckdb")
    assert place is not None
    assert (place.pid, place.url) == (os.getpid(), server.url)
    transport = httpx.HTTPTransport(uds=place.socket)
    with httpx.Client(transport=transport, base_url="http://x") as client:
        assert client.get("/health").status_code == 401
        assert client.get("/health", headers=bearer(place.reading)).status_code == 200
    server.stop()
    assert server.stopped
    assert not told.exists()
    assert not address.exists()


def test_commands_come_by_the_socket_only(server: Server) -> None:
    asked = {"arguments": ["query", "x", "path(X, Y)"], "folder": "/"}
    headers = bearer(server.writing_token)
    assert httpx.post(f"{server.url}/command", json=asked, headers=headers).status_code == 403


def test_a_place_that_is_none(tmp_path: Path) -> None:
    """One that a killed server left, of another file, of somebody else, or no JSON."""
    db = tmp_path / "a.duckdb"
    db.touch()
    told = path_of(db)
    assert place_of(db) is None
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(socket_of(str(db)))
    listening.listen()
    place = {
        "file": os.path.realpath(db), "pid": 1, "socket": socket_of(str(db)), "url": "",
        "reading": "r", "writing": "w",
    }  # fmt: skip

    def write(value: object, mode: int = 0o600) -> None:
        told.write_text(json.dumps(value))
        told.chmod(mode)

    write(place)
    assert place_of(db) is not None
    write(place, 0o644)
    assert place_of(db) is None
    write({**place, "file": str(tmp_path / "b.duckdb")})
    assert place_of(db) is None
    write([1])
    assert place_of(db) is None
    write(place)
    listening.close()
    assert place_of(db) is None


def test_a_long_path(tmp_path: Path, open_kb: object) -> None:
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    kb: KnowledgeBase = open_kb(folder / "a.duckdb")  # type: ignore[operator]
    with kb.serve():
        place = place_of(folder / "a.duckdb")
        assert place is not None
        assert str(folder) not in place.socket
        assert stat.S_IMODE(Path(place.socket).parent.stat().st_mode) == 0o700


def test_only_one_server(server: Server, kb: KnowledgeBase) -> None:
    with pytest.raises(BusyError, match="served by this process already"):
        kb.serve()


def test_an_address_that_is_taken(server: Server, open_kb: object) -> None:
    other: KnowledgeBase = open_kb()  # type: ignore[operator]
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(StoreError, match=f"no server can be at 127.0.0.1:{port}"):
        other.serve(port=port)
    assert len(other.predicates()) == 0
