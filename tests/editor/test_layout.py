"""The layout of texts of rules: one style, every token and comment kept, the same meaning."""

from __future__ import annotations

import re
from random import Random

import pytest
from generators.drawn_programs import programs, seeds
from generators.odd_texts import corpus, odd_text
from generators.programs import Program, program_text
from generators.spaced_texts import spaced
from hypothesis import given, note
from support.meaning import meaning

from zodiac_sql import ProgramError
from zodiac_sql.editor.layout import WIDTH, formatted

STYLES = {
    "p( X ):-q(X),r( X ) .": "p(X) :- q(X), r(X).",
    "p(a). p(b).\n\n\n\np(c).": "p(a).\np(b).\n\np(c).",
    "@prefix e:<http://e/>. .decl p(a:symbol,b : int) .": (
        "@prefix e: <http://e/> .\n.decl p(a: symbol, b: int)."
    ),
    "p(- 3, 1 .. 5). c: !- ! - 3=X, ! p(X) , ~q( X )": None,
    "c :  !-  p(X),! - 3=X,~q(X).": "c : !- p(X), ! -3 = X, ~q(X).",
    'y(Y):-Y=- X*3%2-"x" ^^ xsd:int , q(X)AND not X>1.': (
        'y(Y) :- Y = -X * 3 % 2 - "x"^^xsd:int, q(X) AND not X > 1.'
    ),
    'x(Y) :- Y=if(not(X>1)or X<2,1,"a" @en);q(X),(r(X) ; s(X)).': (
        'x(Y) :- Y = if(not (X > 1) or X < 2, 1, "a"@en) ; q(X), (r(X) ; s(X)).'
    ),
    "p(X) :- q(X), // why\n r(X). % done\n": "p(X) :-\n    q(X),  // why\n    r(X).  % done",
    "p(X) :- q(X,\n% the other one\nY).": (
        "p(X) :-\n    q(\n        X,\n        % the other one\n        Y\n    )."
    ),
    "% one\n\n\n% two\np(1).\n/* three\n   lines */ q(2)": None,
    "% one\n\n\n% two\np(1).\n/* three\n   lines */ q(2).": (
        "% one\n\n% two\np(1).\n/* three\n   lines */\nq(2)."
    ),
    "p(X) :- q(Y), X = Y /* k */ % 3.": "p(X) :-\n    q(Y),\n    X = Y  /* k */ % 3.",
    "": "",
    "% only this": "% only this",
}


@pytest.mark.parametrize("text", STYLES)
def test_styles(text: str) -> None:
    if (wanted := STYLES[text]) is None:
        with pytest.raises(ProgramError, match="syntax error"):
            formatted(text)
    else:
        assert formatted(text) == (f"{wanted}\n" if wanted else "")


def test_what_is_too_long_is_cut() -> None:
    rows, more = "r" * 40, "s" * 40
    assert formatted(f"p(X) :- {rows}(X), {more}(X), t(X).") == (
        f"p(X) :-\n    {rows}(X),\n    {more}(X),\n    t(X).\n"
    )
    assert formatted(f"l: p(X) :- AGGREGATE({rows}(X), {more}(Y)) ON X, Y WITH SUM(Y) AS S.") == (
        f"l: p(X) :-\n    AGGREGATE(\n        {rows}(X),\n        {more}(Y)\n"
        "    ) ON X, Y WITH SUM(Y) AS S.\n"
    )
    assert formatted(f".decl p({rows}: symbol, {more}: int)") == (
        f".decl p(\n    {rows}: symbol,\n    {more}: int\n)\n"
    )
    exact = f"p({'x' * (WIDTH - 4)}).\n"
    assert formatted(exact) == exact


def test_line_ends_and_marks_stay() -> None:
    assert formatted("p(1).\r\nq(2).   \r\n") == "p(1).\r\nq(2).\r\n"
    assert formatted("\ufeffp( 1 ).") == "\ufeffp(1).\n"


@given(programs(), seeds)
def test_programs_mean_the_same(program: Program, seed: int) -> None:
    rng = Random(seed)
    text = program_text((*program.rules, *program.spare), program.facts, program.style)
    for _ in range(5):
        require_the_same(spaced(rng, text))


@given(seeds)
def test_odd_texts_mean_the_same(seed: int) -> None:
    rng, texts = Random(seed), corpus()
    right = 0
    for _ in range(60):
        odd = rng.choice(texts) if rng.random() < 0.3 else odd_text(rng, texts)
        right += require_the_same(spaced(rng, odd) if rng.random() < 0.7 else odd)
    assert right > 5


def require_the_same(text: str) -> bool:
    """Whether a text can be read; then, formatted, it is still the same, and formatted."""
    note(text)
    bare = text.removeprefix("\ufeff")
    try:
        found = formatted(text)
    except ProgramError as error:
        assert error.problems
        return False
    bare_found = found.removeprefix("\ufeff")
    assert meaning(bare_found) == meaning(bare)
    assert re.sub(r"\s+", "", found) == re.sub(r"\s+", "", text)
    assert formatted(found) == found
    assert not re.search(r"[ \t]+$", found, re.MULTILINE)
    return True
