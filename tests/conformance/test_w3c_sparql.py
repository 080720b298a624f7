"""W3C's tests of SPARQL 1.0 and 1.1: queries and their answers, and what is no query.

They are no part of this repository: ZODIAC_W3C names a folder with github.com/w3c/rdf-tests.
Numbers are compared by their values, because a column has one type: 1 among doubles is 1.0.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest
from rdflib import RDF, Graph, Namespace
from support.w3c_answers import Row, are_same, expected, match, untyped, value_of

import zodiac_sql
from zodiac_sql.errors import QueryError

_FOLDER = os.environ.get("ZODIAC_W3C", "")
_ROOT = Path(_FOLDER) / "sparql"
_TEST = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
_QUERY = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")

pytestmark = pytest.mark.skipif(
    not _ROOT.is_dir(), reason="ZODIAC_W3C names no folder with w3c/rdf-tests"
)

UNLIKE = {
    "sparql10/syntax-sparql3/syn-bad-26": "rdflib takes <?a&&?b> for operators, not for an IRI",
    "sparql10/distinct/distinct-1": "1, 1.0 and 1e0 are one value in a column of doubles",
}
"""The tests whose answers are others here, with the reasons."""


def _entries(*kinds: str) -> list[Any]:
    """The tests of some kinds, by their names."""
    found = []
    for path in sorted(_ROOT.glob("sparql1[01]/*/manifest.ttl")):
        if not _FOLDER or path.parent.name == "entailment":
            continue
        manifest = Graph().parse(path, publicID=path.as_uri())
        for listed in manifest.objects(None, _TEST.entries):
            for test in manifest.items(listed):
                kind = str(manifest.value(test, RDF.type)).partition("#")[2]
                if kind.startswith(kinds):
                    folder = f"{path.parent.parent.name}/{path.parent.name}"
                    name = f"{folder}/{str(test).rpartition('#')[2]}"
                    marks = [pytest.mark.xfail(reason=UNLIKE[name])] if name in UNLIKE else []
                    found.append(pytest.param(manifest, test, id=name, marks=marks))
    return found


def _path(iri: Any) -> Path:
    return Path(unquote(urlparse(str(iri)).path))


def _answered(kb: zodiac_sql.KnowledgeBase, query: str) -> Any:
    try:
        return kb.sparql(query)
    except QueryError as error:
        if "supported" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize(("manifest", "test"), _entries("QueryEvaluation", "CSVResultFormat"))
def test_answers(manifest: Graph, test: Any) -> None:
    action = manifest.value(test, _TEST.action)
    text = _path(manifest.value(action, _QUERY.query)).read_text()
    results = _path(manifest.value(test, _TEST.result))
    wanted = expected(results)
    with zodiac_sql.connect() as kb:
        for data in manifest.objects(action, _QUERY.data):
            kb.load(_path(data))
        answer = _answered(kb, text)
        if isinstance(wanted, bool):
            assert bool(answer) == wanted
            return
        names = answer.column_names if answer.column_names != ["holds"] else []
        found: list[Row] = [
            {n: value_of(value) for n, value in zip(names, row, strict=False) if value is not None}
            for row in answer
        ]
    if results.suffix == ".csv":
        found = [untyped(row) for row in found]
    assert are_same(wanted, found), f"{wanted}\n{found}"
    if "order by" in text.rpartition("}")[2].lower():
        pairs = zip(wanted, found, strict=True)
        assert all(match(row, other, {}) is not None for row, other in pairs), found


@pytest.mark.parametrize(("manifest", "test"), _entries("PositiveSyntax"))
def test_queries(manifest: Graph, test: Any) -> None:
    with zodiac_sql.connect() as kb:
        _answered(kb, _path(manifest.value(test, _TEST.action)).read_text())


@pytest.mark.parametrize(("manifest", "test"), _entries("NegativeSyntax"))
def test_what_is_no_query(manifest: Graph, test: Any) -> None:
    with zodiac_sql.connect() as kb, pytest.raises(QueryError):
        kb.sparql(_path(manifest.value(test, _TEST.action)).read_text())
