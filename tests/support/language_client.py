"""An editor, as the language server sees one: it speaks the protocol with a real process."""

from __future__ import annotations

import json
import subprocess
import threading
from collections import defaultdict
from pathlib import Path
from queue import Queue
from types import TracebackType
from typing import Any, Self

from support.command_line import ZODIAC

SECONDS = 30


class LanguageClient:
    """Starts `zodiac lsp`, and asks it."""

    def __init__(self, folder: Path, *options: str, **initialization: Any) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [str(ZODIAC), "lsp", *options],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._answers: dict[int, Queue[Any]] = defaultdict(Queue)
        self._diagnostics: dict[str, Queue[Any]] = defaultdict(Queue)
        self._numbers = self._versions = 0
        self._shown: set[str] = set()
        self._said: list[bytes] = []
        self._threads = [threading.Thread(target=self._listen), threading.Thread(target=self._heed)]
        for thread in self._threads:
            thread.start()
        told = initialization.pop("capabilities", {})
        self.capabilities = self.ask(
            "initialize", processId=None, rootUri=folder.as_uri(), capabilities=told,
            initializationOptions=initialization,
        )["capabilities"]  # fmt: skip
        self.tell("initialized")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            assert self.ask("shutdown") is None
            self.tell("exit")
            assert self._process.wait(SECONDS) == 0
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(SECONDS)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()
        if kind is None:
            assert b"Traceback" not in b"".join(self._said), b"".join(self._said).decode()

    # Messages

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a request."""
        answer = self.answer(method, **params)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def refusal(self, method: str, **params: Any) -> str:
        """The message of a request that is refused."""
        answer = self.answer(method, **params)
        message: str = answer["error"]["message"]
        return message

    def answer(self, method: str, **params: Any) -> Any:
        self._numbers += 1
        self._send({"id": self._numbers, "method": method, "params": params or None})
        return self._answers[self._numbers].get(timeout=SECONDS)

    def tell(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self._process.stdin.flush()

    def _listen(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        while header := stdout.readline():
            length = int(header.removeprefix(b"Content-Length: "))
            while stdout.readline() != b"\r\n":
                pass
            message = json.loads(stdout.read(length))
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                self._diagnostics[params["uri"]].put(params)
            elif "id" in message and "method" not in message:
                self._answers[message["id"]].put(message)

    def _heed(self) -> None:
        assert self._process.stderr is not None
        self._said += self._process.stderr

    # Documents

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> list[Any]:
        """Show a text, and return what is said of it."""
        self._versions += 1
        uri, version = self.uri(name), self._versions
        document = {"uri": uri, "languageId": "zodiac", "version": version, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)
        self._shown.add(uri)
        return self._told(uri, version)

    def change(self, name: str, text: str) -> list[Any]:
        """Write another text, and return what is said of it."""
        return self._told(self.uri(name), self.write(name, text))

    def write(self, name: str, text: str) -> int:
        """Write another text. Returns its version."""
        self._versions += 1
        document = {"uri": self.uri(name), "version": self._versions}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])
        return self._versions

    def close(self, name: str) -> list[Any]:
        """Show a text no more, and return what is said of it then."""
        uri = self.uri(name)
        self.tell("textDocument/didClose", textDocument={"uri": uri})
        self._shown.remove(uri)
        return self._told(uri, None)

    def move_to(self, folder: Path) -> None:
        """Go on with an empty editor, in another folder."""
        for uri in self._shown:
            self.tell("textDocument/didClose", textDocument={"uri": uri})
        self._shown.clear()
        self.folder = folder

    def _told(self, uri: str, version: int | None) -> list[Any]:
        """What is said of a version of a text."""
        while True:
            params = self._diagnostics[uri].get(timeout=SECONDS)
            if params.get("version") == version:
                found: list[Any] = params["diagnostics"]
                return found

    def at(self, method: str, name: str, line: int, character: int, **more: Any) -> Any:
        """The answer to a question about a place."""
        return self.ask(f"textDocument/{method}", **self.place(name, line, character), **more)

    def place(self, name: str, line: int, character: int) -> dict[str, Any]:
        position = {"line": line, "character": character}
        return {"textDocument": {"uri": self.uri(name)}, "position": position}


def spread(range_: Any) -> tuple[int, int, int, int]:
    """A range as line and character of its beginning and its end."""
    start, end = range_["start"], range_["end"]
    return start["line"], start["character"], end["line"], end["character"]
