"""The language server: it answers editors over standard input and output. Only here is pygls known.

Each answer is computed anew from the texts as they are; what is found in a text is kept until the
text changes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from zodiac_sql.editor.complete import completions
from zodiac_sql.editor.diagnose import diagnose
from zodiac_sql.editor.documents import Document, Documents, path_of
from zodiac_sql.editor.hover import hover
from zodiac_sql.editor.known import Schemas
from zodiac_sql.editor.layout import formatted
from zodiac_sql.editor.navigate import Place, definitions, references
from zodiac_sql.editor.outline import outline
from zodiac_sql.editor.positions import Places
from zodiac_sql.editor.rename import can_be_renamed, rename
from zodiac_sql.editor.stored import Database
from zodiac_sql.errors import ProgramError, QueryError
from zodiac_sql.language.mentions import Mention

_PAUSE = 0.2
"""Seconds without a change after which a text is checked."""

_KINDS = {
    "predicate": lsp.CompletionItemKind.Class,
    "column": lsp.CompletionItemKind.Field,
    "variable": lsp.CompletionItemKind.Variable,
    "function": lsp.CompletionItemKind.Function,
    "type": lsp.CompletionItemKind.TypeParameter,
    "word": lsp.CompletionItemKind.Keyword,
}
_SYMBOLS = {
    "rule": lsp.SymbolKind.Function,
    "constraint": lsp.SymbolKind.Event,
    "declaration": lsp.SymbolKind.Class,
    "window": lsp.SymbolKind.Property,
    "fact": lsp.SymbolKind.Constant,
    "prefix": lsp.SymbolKind.Namespace,
}


def serve(version: str, database: Callable[[str], Database]) -> None:
    """Answer one editor until it says goodbye, or is gone.

    `database` is the one to ask, given the name that the editor has for it, or "".
    """
    server = LanguageServer(
        "zodiac", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full
    )
    _Answers(server, database).register()
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_unexpected)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:  # because pygls closes it
        server.start_io(stdout=output)


class _Answers:
    """What the server answers, method by method."""

    def __init__(self, server: LanguageServer, database: Callable[[str], Database]) -> None:
        self._server = server
        self._named = database
        self._database = Database()
        self._documents = Documents()
        self._schemas = Schemas()
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._checking = ThreadPoolExecutor(1)

    def register(self) -> None:
        """Tell the server which methods there are."""
        rename_options = lsp.RenameOptions(prepare_provider=True)
        completion_options = lsp.CompletionOptions(trigger_characters=["(", ",", ":", "?"])
        for method, answer, options in (
            (lsp.INITIALIZE, self._initialize, None),
            (lsp.TEXT_DOCUMENT_DID_OPEN, self._opened, None),
            (lsp.TEXT_DOCUMENT_DID_CHANGE, self._changed, None),
            (lsp.TEXT_DOCUMENT_DID_SAVE, self._saved, None),
            (lsp.TEXT_DOCUMENT_DID_CLOSE, self._closed, None),
            (lsp.TEXT_DOCUMENT_HOVER, self._hover, None),
            (lsp.TEXT_DOCUMENT_DEFINITION, self._definition, None),
            (lsp.TEXT_DOCUMENT_REFERENCES, self._references, None),
            (lsp.TEXT_DOCUMENT_PREPARE_RENAME, self._prepare_rename, None),
            (lsp.TEXT_DOCUMENT_RENAME, self._rename, rename_options),
            (lsp.TEXT_DOCUMENT_COMPLETION, self._completion, completion_options),
            (lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, self._symbols, None),
            (lsp.TEXT_DOCUMENT_FORMATTING, self._formatting, None),
        ):
            self._server.feature(method, options)(_alone(answer))

    # What the editor tells

    def _initialize(self, params: lsp.InitializeParams) -> None:
        options = params.initialization_options
        given = options.get("database") if isinstance(options, dict) else None
        folder = path_of(params.root_uri) if params.root_uri else None
        name = given if isinstance(given, str) else ""
        self._database = self._named(str(folder / name) if folder and name else name)

    def _opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        given = params.text_document
        self._documents.put(given.uri, given.text, given.version)
        self._check_all()

    def _changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        text = self._server.workspace.get_text_document(uri).source
        self._documents.put(uri, text, params.text_document.version)
        self._check_later(uri)

    def _saved(self, _: lsp.DidSaveTextDocumentParams) -> None:
        self._check_all()

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self._documents.open.pop(uri, None)
        self._publish(uri, [], None)
        self._check_all()

    # What it is told

    def _check_all(self) -> None:
        """Check all texts that are open, because what one says counts in the others."""
        for uri in self._documents.open:
            self._check_later(uri, 0)

    def _check_later(self, uri: str, pause: float = _PAUSE) -> None:
        """Check a text when nobody has changed it for a while."""
        if waiting := self._waiting.pop(uri, None):
            waiting.cancel()
        self._waiting[uri] = asyncio.ensure_future(self._check(uri, pause))

    async def _check(self, uri: str, pause: float) -> None:
        """Check a text in a thread of its own, so that nobody who types waits for it."""
        await asyncio.sleep(pause)
        if document := self._documents.open.get(uri):
            documents = self._documents.together(document)
            loop = asyncio.get_running_loop()
            found = await loop.run_in_executor(self._checking, self._found, documents)
            if self._is_shown(document):
                self._publish(uri, found, document.version)

    def _found(self, documents: list[Document]) -> list[lsp.Diagnostic]:
        """What is to be said of the first of some documents. What is known of predicates is noted,
        so that the next question need not wait for it."""
        document, *others = documents
        if not self._is_shown(document):  # somebody has typed on meanwhile
            return []
        self._schemas.of(documents)
        elsewhere = frozenset(self._database.read()).union(*(one.known for one in others))
        places = self._places(document)
        return [
            lsp.Diagnostic(
                self._range(places, one.start, one.end), one.message,
                lsp.DiagnosticSeverity(one.severity), source="zodiac",
            )
            for one in diagnose(document, elsewhere)
        ]  # fmt: skip

    def _is_shown(self, document: Document) -> bool:
        """Whether a document is the last version of what an editor shows."""
        return self._documents.open.get(document.uri) is document

    def _publish(self, uri: str, found: list[lsp.Diagnostic], version: int | None) -> None:
        told = lsp.PublishDiagnosticsParams(uri, found, version)
        self._server.text_document_publish_diagnostics(told)

    # What it asks

    def _hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        documents, name = self._pointed(params)
        schema = self._schemas.of(documents) if name else {}
        told = hover(documents, name, schema, self._database) if name else None
        if name is None or told is None:
            return None
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, told)
        return lsp.Hover(content, self._range_of(documents[0], name))

    def _definition(self, params: lsp.DefinitionParams) -> list[lsp.Location]:
        documents, name = self._pointed(params)
        return self._locations(definitions(documents, name) if name else [])

    def _references(self, params: lsp.ReferenceParams) -> list[lsp.Location]:
        documents, name = self._pointed(params)
        whole = params.context.include_declaration
        return self._locations(references(documents, name, whole) if name else [])

    def _prepare_rename(self, params: lsp.PrepareRenameParams) -> lsp.Range | None:
        documents, name = self._pointed(params)
        if name is None or not can_be_renamed(name):
            return None
        return self._range_of(documents[0], name)

    def _rename(self, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        documents, name = self._pointed(params)
        if name is None:
            return None
        try:
            edits = rename(documents, name, params.new_name)
        except QueryError as error:
            raise JsonRpcException(str(error), _REQUEST_FAILED) from None
        changes: dict[str, list[lsp.TextEdit]] = {}
        for document, start, end, new in edits:
            edit = lsp.TextEdit(self._range(self._places(document), start, end), new)
            changes.setdefault(document.uri, []).append(edit)
        return lsp.WorkspaceEdit(changes)

    def _completion(self, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        documents, offset = self._at(params)
        if not documents:
            return []
        schema = self._schemas.last(documents)
        found = completions(documents[0], offset, schema, self._database)
        range_ = self._range(self._places(documents[0]), found.start, offset)
        return [
            lsp.CompletionItem(
                one.text.strip(), kind=_KINDS[one.kind], detail=one.detail or None,
                text_edit=lsp.TextEdit(range_, one.text),
            )
            for one in found.found
        ]  # fmt: skip

    def _symbols(self, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document = self._documents.open.get(params.text_document.uri)
        if document is None:
            return []
        places = self._places(document)
        return [
            lsp.DocumentSymbol(
                part.name, _SYMBOLS[part.kind], self._range(places, part.start, part.end),
                self._range(places, part.name_start, part.name_end), part.detail,
            )
            for part in outline(document)
        ]  # fmt: skip

    def _formatting(self, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        """One edit of all, or none if the text is as it should be, or cannot be read."""
        document = self._documents.open.get(params.text_document.uri)
        if document is None or document.is_shacl:
            return []
        try:
            new = formatted(document.text, document.name)
        except ProgramError:
            return []
        if new == document.text:
            return []
        return [lsp.TextEdit(self._range(self._places(document), 0, len(document.text)), new)]

    # Places

    def _at(self, params: Any) -> tuple[list[Document], int]:
        """The document that a position is in, with those beside it, and the place there."""
        document = self._documents.open.get(params.text_document.uri)
        if document is None:
            return [], 0
        position = params.position
        offset = self._places(document).offset(position.line, position.character)
        return self._documents.together(document), offset

    def _pointed(self, params: Any) -> tuple[list[Document], Mention | None]:
        """The name that a position points to."""
        documents, offset = self._at(params)
        return documents, documents[0].mentions.at(offset) if documents else None

    def _places(self, document: Document) -> Places:
        encoding = lsp.PositionEncodingKind(self._server.workspace.position_encoding or "utf-16")
        return Places(document.text, encoding.value)

    def _range(self, places: Places, start: int, end: int) -> lsp.Range:
        return lsp.Range(lsp.Position(*places.place(start)), lsp.Position(*places.place(end)))

    def _range_of(self, document: Document, name: Mention) -> lsp.Range:
        return self._range(self._places(document), name.start, name.end)

    def _locations(self, found: Sequence[Place]) -> list[lsp.Location]:
        return [
            lsp.Location(document.uri, self._range_of(document, name)) for document, name in found
        ]


_REQUEST_FAILED = -32803


def _is_unexpected(record: logging.LogRecord) -> bool:
    """Whether an error is to be logged: those that the editor is told on purpose are not."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


def _alone(answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A method as a function, which pygls can put its marks on."""

    def answered(params: Any) -> Any:
        return answer(params)

    return answered
