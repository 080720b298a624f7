"""Every name that zodiac_sql makes. No user can choose one of them.

    in rules, inside a hypernode   a NUL, which no predicate has: "p\\0external", "r3\\0node 1"
    positions of no stream         a NUL: "\\0clock", "\\0events 1 p" for the times in a column of p
    in the rules of a question     the same: "p\\0demanded bf", "p\\0asked bf"
    in rules with a variable for a predicate, and of rules made of them   "\\0?", r1[p, q]
    tables of idb and hd           the hypernode's number first: h7_p, "h7_p external", h7_r3_n1
    other tables of idb            zodiac$...
    tables of the change feed      feed_1, feed_2, ... in the catalog
    temporary tables               what is done, whose it is, and the user's name last: gone_h7_p
    columns                        zodiac$... and $rank, which are refused where a user gives them
    constraints                    urn:zodiac-sql:constraint:..., for what violates them
    class expressions              urn:zodiac-sql:expression:..., in the rules of ontologies
    what now() is compared with    urn:zodiac-sql:expression:now:..., for the facts that are kept

The part that a user has chosen stands last, and the part before it tells where it begins, so two
names are equal only if all their parts are. SQL that users write sees no temporary table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

RANK = "$rank"
"""Column of a recursive hypernode's tables: an order in which each fact comes after some facts that
it can be derived from. Ranks begin at FIRST; facts that are united with a table can have lower
ones. Facts from outside the hypernode count as OUTSIDE (sql/relations.py)."""

NUMBER = "zodiac$row"
"""Column that numbers rows while they are checked, before they become facts."""

TAG = "zodiac$tag"
"""Column of a table whose rows belong to many predicates: which of them a row belongs to."""

ORDER = "zodiac$mark"
"""Column of a query beside terms of all kinds: what puts them in order."""

ROUND = "zodiac$round"
"""Column of such a table in which one row counts the rounds of a recursion."""

COMMIT = "_commit"
TIME = "_time"
CHANGE_TYPE = "_change_type"
"""Columns of the change feed, as Delta Lake and DuckLake name them: which change it was, when, and
whether a fact entered ("insert") or left ("delete")."""


INSERTED = "_inserted"
"""The last of these as the file has it."""

RESERVED = (RANK, NUMBER, ORDER, "zodiac$entered")
"""Names that no column of a predicate can have, in whatever case. (The last one is not used any
more, but earlier versions refuse a file that has it.)"""

CHANGE_FACTS = "zodiac$change_"
"""Prefix of the temporary tables from which a Change reads its facts."""

RANKED = "zodiac$ranked_"
"""Prefix of the temporary views that give tables ranks."""

VIEWS = "zodiac$view_"
"""Prefix of the temporary views that show a table of classes after a change."""

ASIDE = "zodiac$aside_"
"""Prefix of the tables of idb that a change took away."""

TRIPLES = "zodiac$triples"
"""A name inside of the view of all triples, which tells it from somebody else's."""

INCONSISTENT = "inconsistent"
"""The predicate of what cannot be by an ontology: the axiom, and the two things it is about. Users
may read it, and state such facts and rules themselves."""

EXPLICIT_SCHEMA = "edb"
"""The schema for explicit facts in the file: a table for each predicate that has some."""

DERIVED_SCHEMA = "idb"
"""The schema for derived facts in the file, and for tables that a change set aside."""

NODE_SCHEMA = "hd"
"""The schema for the nodes of hypertrees in the file."""


EXPRESSION = "urn:zodiac-sql:expression:"
"""Prefix of the predicates that stand for class expressions without a name. Ontologies cannot have
such an IRI (ontology/triples.py), so these can be hidden from users."""


def beside(column: str, ours: Collection[str]) -> str:
    """The name of a column of facts beside such columns: another one if it has the name of one."""
    return f"{column}_" if column.lower() in ours else column


def is_expression(predicate: str) -> bool:
    """Whether a predicate stands for a class expression."""
    return predicate.startswith(EXPRESSION)


_FILTER = f"{EXPRESSION}now:"
"""Prefix of the predicates of facts whose times compare with now() in some way."""


def filter_(digest: str, name: str) -> str:
    """The predicate of those facts of a predicate that a comparison with now() keeps."""
    return f"{_FILTER}{digest}:{name}_now"


def is_filter(predicate: str) -> bool:
    """Whether a predicate is that of facts that a comparison with now() keeps."""
    return predicate.startswith(_FILTER)


CONSTRAINT = "urn:zodiac-sql:constraint:"
"""Prefix of the predicates of what violates constraints. No rule or fact of a user can be of such a
predicate (program/check.py, program/build.py), and it has no view."""


def constraint(digest: str) -> str:
    """The predicate of what violates a constraint."""
    return f"{CONSTRAINT}{digest}"


def is_constraint(predicate: str) -> bool:
    """Whether a predicate is that of what violates a constraint."""
    return predicate.startswith(CONSTRAINT)


# --- variables for predicates ---------------------------------------------------------------------

CLOCK = "\0clock"
"""The position of the clock, beside those of streams (program/state.py)."""


def events(place: int, predicate: str) -> str:
    """The position of the latest time in a column of a predicate, beside those of streams."""
    return f"\0events {place} {predicate}"


VARIES = "\0?"
"""The predicate of the atom ?P(X, Y), whose first term is P."""


def expanded(rule: str, predicates: Sequence[str]) -> str:
    """The name of the rule that is made of one with variables for predicates. No label has a [."""
    return f"{rule}[{', '.join(predicates)}]" if predicates else rule


# --- what a question asks for ---------------------------------------------------------------------

ALWAYS = "\0always"
"""The predicate without columns that holds: what goals ask for by constants is asked for always."""


def demanded(predicate: str, known: str) -> str:
    """The name of those facts of a predicate that are asked for by some columns ("bf")."""
    return f"{predicate}\0demanded {known}"


def asked(predicate: str, known: str) -> str:
    """The name of the values that these facts are asked for by."""
    return f"{predicate}\0asked {known}"


# --- predicates inside a hypernode ----------------------------------------------------------------


def given(predicate: str) -> str:
    """The name of the facts of a predicate that are known from outside the hypernode."""
    return f"{predicate}\0given"


def written(predicate: str) -> str:
    """The name of the facts of a predicate that stand in the texts of rules."""
    return f"{predicate}\0written"


def external(predicate: str) -> str:
    """The name of the facts that other rules derive of a predicate that a module closes."""
    return f"{predicate}\0external"


def is_external(name: str) -> bool:
    """Whether a name is one for external facts."""
    return name.endswith("\0external")


def steps(predicate: str) -> str:
    """The name of the facts that all facts of a transitive predicate follow from."""
    return f"{predicate}\0steps"


def classes(predicate: str) -> str:
    """The name of the classes that a closed predicate is made of."""
    return f"{predicate}\0classes"


def between(predicate: str) -> str:
    """The name of the pairs of classes whose nodes a closed predicate relates."""
    return f"{predicate}\0between"


def is_classes(name: str) -> bool:
    """Whether a name is that of classes, or of pairs of them."""
    return name.endswith(("\0classes", "\0between"))


def node(rule: str, number: int) -> str:
    """The name of the rows of a node of a rule's tree."""
    return f"{rule}\0node {number}"


def is_node(name: str) -> bool:
    """Whether a name is that of a node."""
    return "\0node " in name


def why_not(predicate: str) -> str | None:
    """Why no predicate can have this name; None if one can."""
    if not predicate:
        return "a predicate has a name"
    if "\0" in predicate:
        return "a name has no NUL character"
    if any("\ud800" <= character <= "\udfff" for character in predicate):
        return "a name is text, and this has half of a surrogate pair"
    return None


# --- tables ---------------------------------------------------------------------------------------


def derived(hypernode: int, sql_name: str) -> str:
    """The name in idb or hd of a table of what a hypernode derives."""
    return f"h{hypernode}_{sql_name}"


def external_table(sql_name: str) -> str:
    """The end of the name of a table of external facts: rules derive no predicate with a space."""
    return f"{sql_name} external"


def classes_table(sql_name: str) -> str:
    """The end of the name of a table of classes."""
    return f"{sql_name} classes"


def between_table(sql_name: str) -> str:
    """The end of the name of a table of pairs of classes."""
    return f"{sql_name} between"


def node_table(rule: str, number: int) -> str:
    """The end of the name of a node's table."""
    return f"{rule}_n{number}"


def set_aside(table: str) -> str:
    """The name in idb of a table that a change set aside, until the next change."""
    return f"{ASIDE}{table}"


def moving(number: int) -> str:
    """The name in idb of a table on its way from one hypernode to another."""
    return f"zodiac$moving_{number}"


def feed_table(number: int) -> str:
    """The name in the catalog of a table of entries of the change feed."""
    return f"feed_{number}"


# --- temporary tables -----------------------------------------------------------------------------


def stem(hypernode: int, name: str, sql_name: str) -> str:
    """The end of the names of temporary tables of a hypernode's predicate, or node."""
    return f"n{hypernode}_{sql_name}" if is_node(name) else derived(hypernode, sql_name)


def whole(sql_name: str, without: int | None = None) -> str:
    """The end of the names of temporary tables of an extension, or of one `without` a hypernode."""
    return f"x{'' if without is None else without}_{sql_name}"
