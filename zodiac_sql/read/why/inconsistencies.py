"""What contradicts itself: facts of `inconsistent`, each with its axiom, its things and a proof.

The rules of an ontology derive them (ontology/rules.py): `inconsistent(axiom, thing, other thing)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.language.escapes import unquoted
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.syntax import Atom, Type, Variable
from zodiac_sql.names import INCONSISTENT
from zodiac_sql.program.state import State
from zodiac_sql.read.query import Answer
from zodiac_sql.read.why.asked import Key
from zodiac_sql.read.why.known import known_of, prefixes_of, search_in
from zodiac_sql.read.why.proof import Explanation
from zodiac_sql.read.why.search import ProofSearch
from zodiac_sql.read.why.spelling import spelled
from zodiac_sql.read.why.why import answers, proof_of
from zodiac_sql.storage.extensions import count

_ATOM = Atom(INCONSISTENT, tuple(map(Variable, ("A", "B", "C"))))


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """Something that cannot be.

    `axiom` is what forbids it, as it is written with prefixes, `individuals` are the one or two
    things that it is about, and `rule` is the name of the rule that found it, which tells the rule
    of the W3C. `proof` is the answer of `why`.
    """

    axiom: str
    individuals: tuple[str, ...]
    rule: str
    proof: Explanation

    @property
    def headline(self) -> str:
        """The axiom and the individuals, as people read them."""
        prefixes = self.proof.prefixes
        named = (prefixed(spelled(name, Type.SYMBOL), prefixes) for name in self.individuals)
        return f"{self.axiom}: {', '.join(named)}"

    def __str__(self) -> str:
        return f"{self.headline}\n{self.proof}"

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists and texts: what `json.dumps` takes."""
        return {
            "axiom": self.axiom,
            "individuals": list(self.individuals),
            "rule": self.rule,
            "proof": self.proof.to_dict(),
        }


@dataclass(frozen=True, repr=False)
class Inconsistencies(Answer):
    """What contradicts itself, in the order of axioms. It is true if anything does.

    A table `axiom: string, individuals: list<string>, rule: string`, as `rules` and its like are.
    Iterated over, it gives an `Inconsistency` for each row, with its proof. `total` counts all;
    there can be more than were to be explained.
    """

    found: tuple[Inconsistency, ...] = ()
    total: int = 0

    def __bool__(self) -> bool:
        return self.total > 0

    def __iter__(self) -> Iterator[Inconsistency]:  # type: ignore[override]
        return iter(self.found)

    def __str__(self) -> str:
        if not self.total:
            return "nothing contradicts itself"
        left = self.total - len(self.found)
        more = [f"and {left} more"] if left else []
        return "\n".join([*map(str, self.found), *more])

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, texts and numbers: what `json.dumps` takes."""
        return {"total": self.total, "inconsistencies": [one.to_dict() for one in self.found]}


def inconsistencies(
    store: Store, state: State, functions: Functions, limit: int
) -> Inconsistencies:
    """The facts of `inconsistent`, of which at most `limit` are explained."""
    if limit < 0:
        raise QueryError(f"at most {limit} inconsistencies cannot be explained")
    columns = state.schema.get(INCONSISTENT)
    if columns is None or [c.type for c in columns.columns] != [Type.SYMBOL] * 3:
        return _listed((), 0)
    known = known_of(store, state, functions)
    total = count(store, known.sources.relation(INCONSISTENT))
    search = search_in(state, known)
    goals = answers(search, state, _ATOM, limit) if total else []
    return _listed(tuple(_explained(search, state, goal) for goal in goals), total)


def _listed(found: tuple[Inconsistency, ...], total: int) -> Inconsistencies:
    import pyarrow as pa

    columns = {
        "axiom": pa.array([one.axiom for one in found], pa.string()),
        "individuals": pa.array([one.individuals for one in found], pa.list_(pa.string())),
        "rule": pa.array([one.rule for one in found], pa.string()),
    }
    return Inconsistencies(pa.table(columns), found=found, total=total)


def _explained(search: ProofSearch, state: State, goal: Key) -> Inconsistency:
    proof = replace(proof_of(search, [goal]), prefixes=prefixes_of(state))
    (fact,) = proof.goals
    axiom, *things = map(str, fact.values)
    if axiom.startswith('"') and axiom.endswith('"'):
        axiom, _ = unquoted(axiom)  # a text that begins as an IRI does
    steps = proof.derivations.get(fact, ())
    rule = steps[0].rule if steps else ""
    return Inconsistency(axiom, tuple(dict.fromkeys(things)), rule, proof)
