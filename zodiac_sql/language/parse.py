"""Text -> Program. Only this room knows lark.

A text is parsed as one; only if that fails is it cut into clauses, each parsed by itself, so that
all syntax problems are reported at once and a correct text pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from lark import Lark, UnexpectedInput

from zodiac_sql.errors import Problem, ProgramError, QueryError, Source
from zodiac_sql.language.clauses import clauses
from zodiac_sql.language.made_parsers import parser
from zodiac_sql.language.reader import Reader
from zodiac_sql.language.syntax import Literal, Program
from zodiac_sql.language.syntax_errors import half_a_character, syntax_problem


def parse(
    text: str,
    name: str = "<rules>",
    prefixes: Mapping[str, str] | None = None,
    *,
    plain: bool = False,
) -> Program:
    """Parse rules, facts, declarations and prefixes.

    `name` is how problems call the text; `prefixes` are known beforehand (prefix -> IRI). If
    `plain`, no variable stands for a predicate. Raises ProgramError with every problem of the
    syntax.
    """
    program, problems = parse_what_can_be(text, name, prefixes, plain=plain)
    if problems:
        raise ProgramError(problems)
    return program


def parse_what_can_be(
    text: str,
    name: str = "<rules>",
    prefixes: Mapping[str, str] | None = None,
    *,
    own_triple: bool = False,
    plain: bool = False,
) -> tuple[Program, list[Problem]]:
    """Like `parse`, but leave out clauses that are wrong, and return the problems.

    `own_triple` tells whether there is a predicate named triple: then `triple(X, P, Y)` does not
    stand for the facts of all predicates.
    """
    source = Source(name, text)
    if half := half_a_character(source):
        return Program(), [half]
    reader = Reader(source, prefixes or {}, own_triple=own_triple, plain=plain)
    try:
        reader.read(parser_of_rules().parse(text, start="start"), 0, 0)
    except UnexpectedInput:
        reader = Reader(source, prefixes or {}, own_triple=own_triple, plain=plain)
        _read_clause_by_clause(reader, source)
    return reader.program(), reader.problems


def parse_goals(
    text: str, prefixes: Mapping[str, str] | None = None, name: str = "<query>"
) -> tuple[Literal, ...]:
    """Parse what must hold together: literals as in a rule's body, with or without a final period.

    Raises ProgramError, and QueryError for alternatives.
    """
    goals, *others = parse_choices(text, prefixes, name)
    if others:
        raise QueryError(f"{text.strip()}: alternatives are for queries, so ask one by one")
    return goals


def parse_choices(
    text: str, prefixes: Mapping[str, str] | None = None, name: str = "<query>"
) -> list[tuple[Literal, ...]]:
    """Parse a query: the alternatives that `;` stands for, each as in `parse_goals`.

    Raises ProgramError.
    """
    text = text.removeprefix("\ufeff")  # the byte order mark of a file
    source = Source(name, text)
    if half := half_a_character(source):
        raise ProgramError([half])
    reader = Reader(source, prefixes or {})
    try:
        tree = parser_of_rules().parse(text.rstrip().removesuffix("."), start="alternatives")
    except UnexpectedInput as error:
        raise ProgramError([syntax_problem(error, source, 0, 0)]) from None
    goals = reader.choices(tree)
    if problems := [*reader.problems, *reader.inexact_moments]:
        raise ProgramError(list(dict.fromkeys(problems)))
    return goals


def in_other_words(
    text: str, prefixes: Mapping[str, str], *, former: bool, floats: bool = False
) -> str:
    """A text as it is kept, or, if it was kept when the language was another, in today's words.

    With `floats`, decimals become floats. Parentheses can be missing where it begins
    (program/state.py). See kept_texts.py.
    """
    for lost in range(text.count(")") + 1):
        source = Source("<kept>", "(" * lost + text)
        reader = Reader(source, prefixes, former=former)
        reader.floats = floats
        with suppress(UnexpectedInput):
            reader.read(parser_of_rules().parse(source.text, start="start"), 0, 0)
            return reader.edits.applied(lost, len(source.text))
    return text


def parser_of_rules() -> Lark:
    """The parser of rules and of goals: one for both, for two would take twice as long to make."""
    return parser("zodiac_sql.language", "start", "alternatives", placeholders=True)


def _read_clause_by_clause(reader: Reader, source: Source) -> None:
    """Read what can be read, and note a problem for each clause that cannot."""
    for start, end in clauses(source.text):
        line, column = source.place(start)
        try:
            tree = parser_of_rules().parse(source.text[start:end], start="start")
        except UnexpectedInput as error:
            reader.problems.append(syntax_problem(error, source, line - 1, column - 1))
        else:
            reader.read(tree, line - 1, column - 1)
