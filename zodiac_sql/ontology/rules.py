"""Collects rules and what is to be said of axioms, and gives the rules names and texts.

A rule's name tells the rule of the W3C and what it is about: `cax_sco.Sensor.Point`. Of rules that
would have the same name, each gets a digest of its text besides, so the names do not depend on the
order of axioms.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from zodiac_sql.language import symbols
from zodiac_sql.language.syntax import Atom, Comparison, Constant, Rule, Term, Type, Variable
from zodiac_sql.names import INCONSISTENT, is_expression
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.translation import ReportRow, Row, TranslatedRule
from zodiac_sql.ontology.triples import Triple
from zodiac_sql.ontology.wording import Wording
from zodiac_sql.ontology.writing import Writing

Part = Atom | Comparison
Parts = tuple[Part, ...]

Names = Callable[[], Variable]
"""Gives a new variable whenever it is called."""


def new_variables() -> Names:
    """Names for the variables of one rule."""
    counted = iter(range(1, 1_000_000))
    return lambda: Variable(f"V{next(counted)}")


NO_EQUALITY = "rules for equality are left out"


@dataclass(slots=True)
class _Made:
    """A rule without a name, and where it comes from."""

    rule: Rule
    w3c: dict[str, None] = field(default_factory=dict)
    axioms: dict[Triple, None] = field(default_factory=dict)


class Collector:
    """The rules made so far, and the report."""

    def __init__(
        self, writing: Writing, wording: Wording, arities: Mapping[str, int], *, equality: bool
    ) -> None:
        self._writing, self._wording, self._equality = writing, wording, equality
        self._arities = dict(arities)
        self._made: dict[str, _Made] = {}
        self._remarks: dict[Triple, dict[str, None]] = defaultdict(dict)
        self.facts: dict[str, dict[Row, None]] = defaultdict(dict)

    def rule(
        self, w3c: Iterable[str], axioms: Iterable[Triple], head: Atom, body: Sequence[Part]
    ) -> None:
        """Add a rule, unless its head stands in its body; a rule without a body is a fact."""
        axioms = tuple(axioms)
        simple = _simplified(head, body, self._equality)
        if simple is None:
            return
        head, parts = simple
        if head in parts:
            return
        for axiom in axioms:
            self.note(axiom)
        if why := self._refused(head, parts):
            for axiom in axioms:
                self.leave_out(axiom, why)
        elif not parts:
            terms = (term for term in head.terms if isinstance(term, Constant))
            self.facts[head.predicate][tuple(term.value for term in terms)] = None
        else:
            self._keep(w3c, axioms, head, parts)

    def _keep(self, w3c: Iterable[str], axioms: Iterable[Triple], head: Atom, parts: Parts) -> None:
        rule, key = self._writing.once((head, parts), lambda: self._written(head, parts))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = _Made(rule)
        made.w3c.update(dict.fromkeys(w3c))
        made.axioms.update(dict.fromkeys(axioms))

    def leave_out(self, axiom: Triple, why: str) -> None:
        """Say why something of an axiom became no rule."""
        self._remarks[axiom][why] = None

    @property
    def has_axioms(self) -> bool:
        """Whether any axiom is in the report."""
        return bool(self._remarks)

    def note(self, axiom: Triple) -> None:
        """List an axiom in the report."""
        self._remarks[axiom]

    def _refused(self, head: Atom, parts: Parts) -> str:
        """Why there cannot be a rule."""
        if head.predicate == v.SAME_AS and not self._equality:
            return NO_EQUALITY
        atoms = [head, *(part for part in parts if isinstance(part, Atom))]
        for atom in atoms:
            if why := self.misused(atom.predicate, len(atom.terms)):
                return why
        terms = [term for atom in atoms for term in atom.terms]
        if parts and any(isinstance(t, Constant) and str(t.value).startswith("_:") for t in terms):
            return "a rule cannot name a blank node"
        return ""

    def misused(self, predicate: str, arity: int) -> str:
        """Why a name cannot be a class, or a property: it is the other one already."""
        known = self._arities.setdefault(predicate, arity)
        if known == arity:
            return ""
        kinds = ("a class", "a property")
        said = self._wording.iri(predicate)
        return f"{said} is {kinds[known - 1]}, and cannot be {kinds[arity - 1]} as well"

    @property
    def classes(self) -> frozenset[str]:
        """The unary predicates of rules and facts that have names."""
        atoms = (a for rule in self.made_rules for a in (rule.head, *rule.positive_atoms()))
        found = {atom.predicate for atom in atoms if len(atom.terms) == 1}
        found |= {name for name, rows in self.facts.items() if len(next(iter(rows))) == 1}
        return frozenset(name for name in found if not is_expression(name))

    @property
    def made_rules(self) -> list[Rule]:
        """The rules made so far, without names."""
        return [made.rule for made in self._made.values()]

    def _written(self, head: Atom, parts: Parts) -> tuple[Rule, str]:
        """A rule with its text, and its key."""
        head, parts = _renamed(head, parts)
        text, prefixes = self._writing.rule(head, parts)
        rule = Rule("", head, parts, text, prefixes)
        return rule, _key(rule)

    # The result

    def named(self) -> tuple[TranslatedRule, ...]:
        """The rules with their names."""
        wanted: dict[str, list[_Made]] = defaultdict(list)
        for made in self._made.values():
            wanted[self._name(made)].append(made)
        found = []
        for name, alike in wanted.items():
            for made in alike:
                own = f"{name}.{_digest(made.rule.text)}" if len(alike) > 1 else name
                axioms = tuple(self._wording.axiom(axiom) for axiom in made.axioms)
                named = partial(replace, made.rule, name=own)
                rule = self._writing.once((own, made.rule.text), named)
                found.append(TranslatedRule(own, rule.text, tuple(made.w3c), axioms, rule))
        return tuple(found)

    def report(self, rules: Sequence[TranslatedRule]) -> Iterator[ReportRow]:
        """A row for each axiom, in the order of the files."""
        names = defaultdict(list)
        by_text = {rule.text: rule.name for rule in rules}
        for made in self._made.values():
            for axiom in made.axioms:
                names[axiom].append(by_text[made.rule.text])
        for axiom in sorted(self._remarks, key=lambda a: (a.file, a.line or 0)):
            why = "; ".join(self._remarks[axiom])
            said = self._wording.axiom(axiom)
            yield ReportRow(said, axiom.file, axiom.line, tuple(names[axiom]), why)

    def _name(self, made: _Made) -> str:
        """The W3C's rule, and the local names of what the body and the head speak of."""
        about = [atom.predicate for atom in made.rule.positive_atoms()]
        own = made.rule.head.predicate
        if own not in (INCONSISTENT, v.SAME_AS) and own not in about:
            about.append(own)
        words = dict.fromkeys(word for iri in about if (word := _local(iri)))
        w3c = next(iter(made.w3c)).replace("-", "_")
        return ".".join([w3c, *list(words)[:_MOST_WORDS]])


_MOST_WORDS = 4


def inconsistent(axiom: str, first: Term, second: Term) -> Atom:
    """The head of a rule for what cannot be.

    The axiom is a string. It may begin as an IRI does, and must not be read as one.
    """
    return Atom(INCONSISTENT, (Constant(Type.SYMBOL, symbols.plain(axiom)), first, second))


@lru_cache(maxsize=20_000)
def _local(iri: str) -> str:
    """The last part of an IRI as a part of a rule's name."""
    if is_expression(iri):
        return ""
    local = re.split(r"[#/:]", iri.rstrip("#/"))[-1]
    return re.sub(r"\W", "_", local).strip("_")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _key(rule: Rule) -> str:
    """Equal for rules that differ only in the order of their bodies."""
    parts = sorted(map(str, rule.body))
    return f"{rule.head} :- {', '.join(parts)}"


# --- rules made simple ----------------------------------------------------------------------------


def _simplified(head: Atom, body: Sequence[Part], equality: bool) -> tuple[Atom, Parts] | None:
    """A rule with its `V = constant` put in, without repetitions and needless owl:Thing.

    If a value must be two constants, these must be the same; None if nothing is said to be.
    """
    values: dict[str, Constant] = {}
    parts: list[Part] = []
    for part in body:
        if isinstance(part, Comparison) and part.operator == "=":
            assert isinstance(part.left, Variable) and isinstance(part.right, Constant)
            known = values.setdefault(part.left.name, part.right)
            if known != part.right and not equality:
                return None
            if known != part.right:
                parts.append(Atom(v.SAME_AS, (known, part.right)))
        else:
            parts.append(part)
    head = _atom_with(head, values)
    parts = list(dict.fromkeys(_put_in(part, values) for part in parts))
    kept = [part for part in parts if not _needless(part, parts)]
    return head, tuple(kept)


def _needless(part: Part, parts: Sequence[Part]) -> bool:
    """Whether a part says only that something is a thing, which other parts say as well."""
    if not isinstance(part, Atom) or part.predicate != v.THING:
        return False
    others = (other for other in parts if isinstance(other, Atom) and other is not part)
    return isinstance(part.terms[0], Constant) or any(part.terms[0] in o.terms for o in others)


def _put_in(part: Part, values: Mapping[str, Constant]) -> Part:
    if isinstance(part, Atom):
        return _atom_with(part, values)
    sides = (values.get(side.name, side) for side in _variables(part))
    return Comparison(next(sides), part.operator, next(sides))


def _atom_with(atom: Atom, values: Mapping[str, Constant]) -> Atom:
    terms = (values.get(t.name, t) if isinstance(t, Variable) else t for t in atom.terms)
    return Atom(atom.predicate, tuple(terms))


_LETTERS = ("X", "Y", "Z", "U", "V", "W")


def _renamed(head: Atom, parts: Parts) -> tuple[Atom, Parts]:
    """The rule with variables called X, Y, Z, ...; `_` for those that join nothing."""
    uses: dict[str, int] = defaultdict(int)
    for term in [*head.terms, *(t for part in parts for t in _terms(part))]:
        if isinstance(term, Variable):
            uses[term.name] += 1
    names: dict[str, Variable] = {}
    anonymous = iter(range(1, 1_000_000))

    def renamed(term: Term) -> Term:
        if isinstance(term, Constant):
            return term
        if uses[term.name] == 1:
            return Variable(f"_:{next(anonymous)}")
        if term.name not in names:
            turn, place = divmod(len(names), len(_LETTERS))
            names[term.name] = Variable(f"{_LETTERS[place]}{turn or ''}")
        return names[term.name]

    new_head = Atom(head.predicate, tuple(map(renamed, head.terms)))
    return new_head, tuple(_with_terms(part, list(map(renamed, _terms(part)))) for part in parts)


def _terms(part: Part) -> tuple[Term, ...]:
    if isinstance(part, Atom):
        return part.terms
    assert isinstance(part.left, Term) and isinstance(part.right, Term)
    return part.left, part.right


def _variables(part: Comparison) -> Iterator[Variable]:
    return (side for side in (part.left, part.right) if isinstance(side, Variable))


def _with_terms(part: Part, terms: list[Term]) -> Part:
    if isinstance(part, Atom):
        return Atom(part.predicate, tuple(terms))
    return Comparison(terms[0], part.operator, terms[1])
