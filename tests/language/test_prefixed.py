"""IRIs with prefixes mean what they meant in full."""

from __future__ import annotations

import time
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zodiac_sql.language.parse import parse_goals
from zodiac_sql.language.prefixed import PREFIXED, prefixed

PREFIXES = {
    "": "http://example.org/rooms#",
    "ex": "http://example.org/",
    "building": "http://example.org/",
    "not": "http://not.org/",
    "True": "http://true.org/",
    "tag": "tag:",
    "with.dot": "http://dot.org/",
    "geo": "http://geo.org/#",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(<http://example.org/wt1>)", "p(ex:wt1)"),
        ("not <http://example.org/p>(<tag:a>)", "not ex:p(tag:a)"),
        ("<http://example.org/rooms#r1> != 1", ":r1 != 1"),
        (
            'p("<http://example.org/a>", <http://example.org/a>)',
            'p("<http://example.org/a>", ex:a)',
        ),
        (r'p("a\"<tag:a>", <tag:a>)', r'p("a\"<tag:a>", tag:a)'),
        ('p("<a>"^^<http://geo.org/#wkt>)', 'p("<a>"^^geo:wkt)'),
        ("1 < X", "1 < X"),
        ("<http://example.org/a-b.c_d> = 漢", "ex:a-b.c_d = 漢"),
        ("<http://example.org/漢>(1)", "ex:漢(1)"),
    ],
)
def test_shorter(text: str, expected: str) -> None:
    assert prefixed(text, PREFIXES) == expected


@pytest.mark.parametrize(
    "iri",
    ["http://example.org/", "http://example.org/a/b", "http://example.org/a.", "http://example.org/-a",
     "http://example.org/a%20b", "http://not.org/a", "http://true.org/a", "http://dot.org/a",
     "http://other.org/a", "http://example.org/rooms#r/1", "urn:a", "",]
)  # fmt: skip
def test_left_in_full(iri: str) -> None:
    """Where the result could not be read, or would be something else."""
    assert prefixed(f"p(<{iri}>)", PREFIXES) == f"p(<{iri}>)"


def test_a_shorter_namespace_is_taken_if_the_longest_does_not_do() -> None:
    prefixes = {"a": "http://x/", "b": "http://x/y-"}
    assert prefixed("<http://x/y>", {"_": "http://x/"}) == "<http://x/y>"  # _:y is a blank node
    assert prefixed("<http://x/y-1> <http://x/y-->", prefixes) == "b:1 <http://x/y-->"
    assert prefixed("<http://x/y--1>", prefixes) == "a:y--1"


def test_nothing_is_known() -> None:
    assert prefixed("p(<http://example.org/a>)", {}) == "p(<http://example.org/a>)"


def test_it_is_the_prefixed_name_of_the_grammar() -> None:
    grammar = resources.files("zodiac_sql.language").joinpath("grammar.lark").read_text("utf-8")
    assert f"QNAME.5: /{PREFIXED}/\n" in grammar


WORDS = st.sampled_from(
    [
        "not",
        "NOT",
        "true",
        "false",
        "bind",
        "and",
        "as",
        "on",
        "with",
        "_",
        "a",
        "b",
        "a.b",
        "a-b",
        "é",
        "1",
        "-",
        ".",
        "#",
        "/",
        ":",
        "x:",
        "%41",
        "(",
        "~",
        "wt1",
        "urn:",
        "http://e/",
        "http://e/x#",
        "http://e/x",
    ]
)
IRIS = st.lists(WORDS, max_size=4).map("".join)
NAMES = st.sampled_from(
    [
        "",
        *[
            "not",
            "NOT",
            "True",
            "false",
            "bind",
            "comp",
            "and",
            "as",
            "On",
            "_",
            "a",
            "A",
            "é",
            "a-b",
            "a.b",
            "x1",
        ],
    ]
)


@given(
    prefixes=st.dictionaries(NAMES, IRIS, max_size=4), iris=st.lists(IRIS, min_size=3, max_size=3)
)
def test_it_means_the_same(prefixes: dict[str, str], iris: list[str]) -> None:
    predicate, first, second = iris
    text = (
        f'<{predicate}>(<{first}>, "<{second}>", "1"^^<{second}>, X), not <{predicate}>(<{first}>),'
        f" X != <{first}>, q()"
    )
    assert parse_goals(prefixed(text, prefixes), prefixes) == parse_goals(text, prefixes)


def test_it_is_quick() -> None:
    """As much as a proof of 700 facts has, with more prefixes than a file has."""
    prefixes = {f"p{n}": f"http://example.org/{n}#" for n in range(50)}
    texts = [f"<http://example.org/{n % 60}#p>(<http://example.org/7#a{n}>)" for n in range(700)]
    start = time.process_time()
    for text in texts:
        prefixed(text, prefixes)
    assert time.process_time() - start < 0.5
