"""Everything that can be called of a knowledge base."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase


Call = Callable[["KnowledgeBase"], object]

RULES = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z). end(X) :- path(_, X)."


def unused(*_: object) -> None:
    raise AssertionError("never called")


def read_batches(kb: KnowledgeBase) -> int:
    with kb.batches("edge") as reader:
        return sum(batch.num_rows for batch in reader)


def entered(kb: KnowledgeBase, name: str) -> None:
    with getattr(kb, name)():
        pass


CALLS: dict[str, Call] = {
    "add_rules": lambda kb: kb.add_rules("q(X) :- edge(X, _)."),
    "drop_rules": lambda kb: kb.drop_rules("r1"),
    "replace_rules": lambda kb: kb.replace_rules("q(X) :- edge(X, _).", set="s"),
    "load_ontology": lambda kb: kb.load_ontology("nowhere.ttl", set="s"),
    "insert": lambda kb: kb.insert("edge", [("x", "y")]),
    "delete": lambda kb: kb.delete("edge", [("a", "b")]),
    "replace": lambda kb: kb.replace("edge", [("x", "y")]),
    "load": lambda kb: kb.load("nowhere.nt"),
    "unload": lambda kb: kb.unload("nowhere.nt"),
    "update": lambda kb: entered(kb, "update"),
    "preview": lambda kb: entered(kb, "preview"),
    "stream": lambda kb: kb.stream([{"insert": {"edge": [("x", "y")]}}]),
    "sql": lambda kb: kb.sql("SELECT 1"),
    "query": lambda kb: kb.query("path(X, Y)"),
    "sparql": lambda kb: kb.sparql("ASK { ?x ?p ?y }"),
    "why": lambda kb: kb.why("edge(a, b)"),
    "why_not": lambda kb: kb.why_not("path(a, z)"),
    "inconsistencies": lambda kb: kb.inconsistencies(),
    "table": lambda kb: kb.table("path"),
    "batches": read_batches,
    "constraints": lambda kb: kb.constraints(),
    "violations": lambda kb: kb.violations(),
    "rules": lambda kb: kb.rules(),
    "rule_sets": lambda kb: kb.rule_sets(),
    "predicates": lambda kb: kb.predicates(),
    "position": lambda kb: kb.position("s"),
    "hypernodes": lambda kb: kb.hypernodes(),
    "graph": lambda kb: kb.graph(),
    "explain": lambda kb: kb.explain(),
    "profile": lambda kb: kb.profile(),
    "export": lambda kb: kb.export("nowhere"),
    "verify": lambda kb: kb.verify(),
    "tick": lambda kb: kb.tick(0),
    "keep": lambda kb: kb.keep("edge"),
    "keep_feed": lambda kb: kb.keep_feed(["path"]),
    "alter": lambda kb: kb.alter("edge", {"s": "symbol"}),
    "compact": lambda kb: kb.compact(),
    "changes": lambda kb: kb.changes(),
    "feed": lambda kb: kb.feed(),
    "register_function": lambda kb: kb.register_function("f", unused, ["int"], "int"),
    "register_aggregate": lambda kb: kb.register_aggregate("f", unused, "int", "int"),
    "backup": lambda kb: kb.backup("nowhere"),
    "close": lambda kb: kb.close(),
}
