"""Atoms that name their columns: `reading(turbine: X, celsius: T)`.

Once the columns of the predicate are known, such an atom becomes one with a term for each column,
in the rule and in its text. So the text can be read again whatever becomes of the columns' names.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from zodiac_sql.errors import Problem, ProgramError, Span
from zodiac_sql.language.constraints import says_never, with_body
from zodiac_sql.language.head_names import head_names
from zodiac_sql.language.schema import Predicate, default_columns
from zodiac_sql.language.syntax import Atom, Best, Literal, Program, Rule, Term, Variable, atoms_of
from zodiac_sql.language.templates import with_atoms

Names = Mapping[str, Sequence[str]]
"""The names of the columns of predicates."""


def known_columns(schema: Mapping[str, Predicate], program: Program | None = None) -> Names:
    """The names of columns that a schema knows, and a program declares."""
    names = {
        name: columns
        for name, known in schema.items()
        if (columns := [column.name for column in known.columns])
        and (known.declared or any(known.settled) or columns != [*default_columns(known.arity)])
    }
    declarations = program.declarations if program else ()
    return {**names, **{d.predicate: [c.name for c in d.columns] for d in declarations}}


def all_positional(
    programs: Sequence[Program], schema: Mapping[str, Predicate]
) -> tuple[list[Program], list[Problem]]:
    """Programs without names of columns, now that nothing more is coming, and what is wrong.

    What is wrong is left out. Heads name the columns of predicates that the schema does not know.
    """
    rules = [rule for program in programs for rule in program.rules]
    facts = (fact for program in programs for fact in program.facts)
    if not any(map(has_names, rules)) and not any(fact.names for fact in facts):
        return [*programs], []
    new = {name: names for name, names in head_names(rules).items() if name not in schema}
    names, found, problems = {**new, **known_columns(schema)}, [], []
    for program in programs:
        whole, wrong = positional(program, names)
        whole, unknown = unknown_columns(whole)
        found.append(whole)
        problems += [*wrong, *unknown]
    return found, problems


def has_names(rule: Rule) -> bool:
    """Whether an atom of a rule names its columns."""
    return any(atom.names for atom in (rule.head, *atoms_of(rule.body)))


def positional(program: Program, names: Names) -> tuple[Program, list[Problem]]:
    """A program without names of columns, as far as these are known, and what is wrong with it.

    What is wrong is left out.
    """
    named = [one for one in program.rules if has_names(one)]
    facts = [fact for fact in program.facts if fact.names]
    if not named and not facts:
        return program, []
    problems: list[Problem] = []
    rules = (_rule(rule, names, problems) if has_names(rule) else rule for rule in program.rules)
    stated = (_fact(fact, names, problems) if fact.names else fact for fact in program.facts)
    return replace(
        program,
        rules=tuple(rule for rule in rules if rule is not None),
        facts=tuple(fact for fact in stated if fact is not None),
    ), problems


def unknown_columns(program: Program) -> tuple[Program, list[Problem]]:
    """A program without the rules and facts that still name columns, and a problem for each."""
    rules = (atom for rule in program.rules for atom in (rule.head, *atoms_of(rule.body)))
    problems = [
        Problem(
            f"the names of the columns of {atom.predicate} are not known", atom.span,
            f"Declare them: .decl {atom.predicate}(name: type, ...), or load a table.",
        )
        for atom in (*rules, *program.facts)
        if atom.names
    ]  # fmt: skip
    if not problems:
        return program, []
    return replace(
        program,
        rules=tuple(rule for rule in program.rules if not has_names(rule)),
        facts=tuple(fact for fact in program.facts if not fact.names),
    ), problems


def facts_in_place(program: Program) -> tuple[Program, list[Problem]]:
    """A program without facts that still name columns: only rules can wait for the names."""
    bare, problems = unknown_columns(replace(program, rules=()))
    return (replace(program, facts=bare.facts) if problems else program), problems


def goal(atom: Atom, known: Predicate) -> Atom:
    """An atom of a query with all columns of its predicate. Raises ProgramError."""
    places = _Places({known.name: [column.name for column in known.columns]})
    atom = places.filled(atom)
    if places.problems:
        raise ProgramError(places.problems)
    return atom


def _fact(fact: Atom, names: Names, problems: list[Problem]) -> Atom | None:
    places = _Places(names)
    places.require_all(fact)
    fact = places.filled(fact)
    problems += places.problems
    return None if places.problems else fact


def _rule(rule: Rule, names: Names, problems: list[Problem]) -> Rule | None:
    """A rule whose named columns are in place, where they are known, with its text."""
    places = _Places(names)
    places.require_all(rule.head)
    best = places.best_of(rule)
    head = places.filled(rule.head, best)
    body = tuple(_filled(literal, places) for literal in rule.body)
    problems += places.problems
    if places.problems:
        return None
    text = with_pieces(rule, places.pieces)
    if says_never(rule):
        return with_body(rule, body, text)
    return replace(rule, head=head, body=body, text=text, best=best)


def _filled(literal: Literal, places: _Places) -> Literal:
    return with_atoms((literal,), places.filled)[0]


@dataclass(slots=True)
class _Places:
    """Puts named columns in their places, and notes the text of each atom that it changes."""

    names: Names
    problems: list[Problem] = field(default_factory=list)
    pieces: list[tuple[Span, str]] = field(default_factory=list)

    def require_all(self, atom: Atom) -> None:
        """A head and a fact say what stands in each column."""
        known = self.names.get(atom.predicate)
        if not atom.names or known is None:
            return
        given = {_folded(name) for name in atom.names}
        if missing := [name for name in known if _folded(name) not in given]:
            self._problem(atom, f"{atom.predicate} gets no value for {', '.join(missing)}",
                          "A head and a fact name all columns.")  # fmt: skip

    def best_of(self, rule: Rule) -> Best | None:
        """What MIN or MAX in the head says, with the place of its column."""
        known, head = self.names.get(rule.head.predicate), rule.head
        if rule.best is None or not head.names or known is None:
            return rule.best
        name, folded = head.names[rule.best.place], [_folded(one) for one in known]
        there = _folded(name) in folded
        return replace(rule.best, place=folded.index(_folded(name))) if there else rule.best

    def filled(self, atom: Atom, best: Best | None = None) -> Atom:
        """An atom with a term for each column, if it names some, and all of them are known."""
        known = self.names.get(atom.predicate)
        if not atom.names or known is None:
            return atom
        folded = [_folded(name) for name in known]
        terms: dict[int, Term] = {}
        for name, term in zip(atom.names, atom.terms, strict=True):
            if _folded(name) not in folded:
                close = difflib.get_close_matches(_folded(name), folded, n=1)
                near = f" Did you mean {known[folded.index(close[0])]}?" if close else ""
                columns = f"The columns are {', '.join(known)}.{near}"
                self._problem(atom, f"{atom.predicate} has no column {name}", columns)
            elif terms.setdefault(folded.index(_folded(name)), term) is not term:
                self._problem(atom, f"the column {name} of {atom.predicate} is given twice", "")
        whole = tuple(terms.get(place) or _anonymous(atom, place) for place in range(len(known)))
        if atom.span and not self.problems:
            self.pieces.append((atom.span, _spelled(atom, whole, best)))
        return replace(atom, terms=whole, names=())

    def _problem(self, atom: Atom, message: str, hint: str) -> None:
        self.problems.append(Problem(message, atom.span, hint))


def _anonymous(atom: Atom, place: int) -> Variable:
    """A variable of its own for a column that an atom leaves out."""
    start = _start(atom.span) if atom.span else 0
    return Variable(f"_:{start}.{place}")


def _folded(name: str) -> str:
    return name.lower()  # SQL ignores case in names


# --- texts ----------------------------------------------------------------------------------------

_PREDICATE = re.compile(r"`[^`\n]+`|<[^>]*>|[^(]*")


def _spelled(atom: Atom, terms: Sequence[Term], best: Best | None) -> str:
    """The text of an atom with all its columns."""
    assert atom.span is not None
    written = _PREDICATE.match(_slice(atom.span))
    assert written is not None
    texts = ["_" if term.span is None else _slice(term.span) for term in terms]
    if best is not None:
        texts[best.place] = f"{best.function.upper()}({texts[best.place]})"
    return f"{written[0]}({', '.join(texts)})"


def with_pieces(rule: Rule, pieces: Sequence[tuple[Span, str]]) -> str:
    """The text of a rule with pieces of it replaced."""
    assert rule.head.span is not None
    text, first = rule.text, _start(rule.head.span)
    if rule.part:  # its text is put together of pieces of the source
        for span, piece in pieces:
            alone = rf"(?<![\w:.`>-]){re.escape(_slice(span))}"
            text = re.sub(alone, lambda _, by=piece: by, text)  # type: ignore[misc]
        return text
    several = dict.fromkeys(pieces)  # two values of an aggregate share its body
    for span, piece in sorted(several, key=lambda pair: _start(pair[0]), reverse=True):
        start, end = _start(span) - first, _end(span) - first
        text = text[:start] + piece + text[end:]
    return text


def _slice(span: Span) -> str:
    return span.source.text[_start(span) : _end(span)]


def _start(span: Span) -> int:
    return span.source.offset(span.line, span.column)


def _end(span: Span) -> int:
    return span.source.offset(span.end_line, span.end_column)
