"""What texts say of predicates: their columns, with the types that follow from rules and facts.

Texts that somebody is about to write are mostly wrong somewhere. So what is wrong is left out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from zodiac_sql.editor.documents import Document
from zodiac_sql.errors import ZodiacError
from zodiac_sql.language.head_names import named_by_heads
from zodiac_sql.language.infer import infer
from zodiac_sql.language.named_columns import all_positional
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Program, Rule
from zodiac_sql.language.templates import fixed_atoms, is_template
from zodiac_sql.program.arrivals import Arrival, arrive
from zodiac_sql.program.build import SqlNames, with_mentioned
from zodiac_sql.program.check_files import declared
from zodiac_sql.program.fact_types import facts_with_moments, settle_facts
from zodiac_sql.program.rule_sets import SetLabels
from zodiac_sql.program.typed_program import typed

Schema = Mapping[str, Predicate]


class Schemas:
    """What the texts of each folder say of predicates, until one of them changes."""

    def __init__(self) -> None:
        self._found: dict[object, tuple[frozenset[Document], Schema]] = {}

    def of(self, documents: Sequence[Document]) -> Schema:
        """The predicates of some documents together."""
        key, these = _folder(documents), frozenset(documents)
        last = self._found.get(key)
        if last is not None and last[0] == these:
            return last[1]
        found = known_predicates([document.program for document in documents])
        self._found[key] = these, found
        return found

    def last(self, documents: Sequence[Document]) -> Schema:
        """What was known of the predicates of some documents when somebody asked last."""
        last = self._found.get(_folder(documents))
        return last[1] if last is not None else self.of(documents)


def _folder(documents: Sequence[Document]) -> object:
    path = documents[0].path
    return path.parent if path else documents[0].uri


def known_predicates(programs: Sequence[Program]) -> Schema:
    """The predicates of some programs together."""
    try:
        return _known(programs)
    except ZodiacError:  # a name that no predicate can have
        return {}


def _known(programs: Sequence[Program]) -> Schema:
    schema, _ = declared(programs)
    programs, _ = all_positional(programs, schema)
    arrived = arrive([Arrival(program) for program in programs], (), (), SetLabels())
    arities = {name: known.arity for name, known in schema.items()}
    facts = [
        fact
        for program in programs
        for fact in facts_with_moments(program, schema).facts
        if _fits(arities, [fact])
    ]
    rules = [r for r in arrived.rules if not is_template(r) and _fits(arities, fixed_atoms(r))]
    atoms = [*facts, *(atom for rule in rules for atom in fixed_atoms(rule))]
    names = SqlNames(frozenset)
    schema = with_mentioned(schema, atoms, lambda name: names.name(name, {}))
    return _typed(schema, rules, facts)


def _fits(arities: dict[str, int], atoms: Iterable[Atom]) -> bool:
    """Whether atoms have the arities that are known; those of new predicates are noted."""
    fit = [arities.setdefault(atom.predicate, len(atom.terms)) == len(atom.terms) for atom in atoms]
    return all(fit)


def _typed(schema: Mapping[str, Predicate], rules: Sequence[Rule], facts: Sequence[Atom]) -> Schema:
    """A schema with the types that facts and rules tell, and the names that heads give."""
    explicit = {fact.predicate for fact in facts}
    settled, _ = settle_facts(named_by_heads(schema, rules, (), explicit), facts)
    strict = {name for name, known in settled.items() if known.declared}
    named = [replace(rule, name=f"r{number}") for number, rule in enumerate(rules)]
    columns, _ = infer(named, {name: known.told for name, known in settled.items()}, {}, strict)
    return {name: typed(known, columns[name]) for name, known in settled.items()}
