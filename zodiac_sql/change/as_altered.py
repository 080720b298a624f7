"""What an RDF file states, as `alter` has written it: so that it can be unloaded afterwards.

A native column does not keep how a literal was written: `alter` makes `"2.5"` of what was
`"2.50"^^xsd:decimal`, and an instant in UTC of one with another time zone. So where a literal of a
file is not among the symbols of a column, the same value written as `alter` writes it may be. The
catalog marks the columns that `alter` has written: in others such a literal is another fact.
"""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import anti_join, create_temp, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.facts.rdf_values import rewritten
from zodiac_sql.facts.stage import scratch
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import EXPLICIT_SCHEMA
from zodiac_sql.sql.relations import Relation, columns_of
from zodiac_sql.storage.extensions import decoded
from zodiac_sql.storage.triples import is_rdf


def as_altered(store: Store, known: Predicate, staged: Staged) -> Staged | None:
    """The staged facts that are not explicit, with literals as `alter` writes them, if any are."""
    types = [column.type for column in staged.columns]
    if known.datatypes[-1:] in ((), (None,)) or not is_rdf(known):
        return None
    if types != [Type.SYMBOL, Type.SYMBOL] != [c.type for c in known.columns]:
        return None
    subject, object_ = (column.name for column in staged.columns)
    texts, table = store.temporary.fresh("texts"), store.temporary.fresh("staged")
    with scratch(store, texts):
        store.run(create_temp(texts, _absent(known, staged)))
        written = rewritten(store, texts, object_)
        if written is None:
            return None
        each = exp.func("unnest", written, dialect="duckdb")
        picked = exp.select(exp.column(subject, quoted=True), each.as_(object_, quoted=True))
        again = store.temporary.fresh("texts")
        with scratch(store, again):
            store.run(create_temp(again, picked.from_(temp_table(texts))))
            dictionary.encode(store, again, [subject, object_], table)
    return Staged(staged.predicate, staged.columns, staged.datatypes, table, named=False)


def _absent(known: Predicate, staged: Staged) -> exp.Select:
    """The staged facts that are not explicit, as texts."""
    relation = Relation(staged.columns, ())
    columns = columns_of(relation, "c")
    rows = exp.select(*columns).from_(temp_table(staged.table).as_("c"))
    explicit = exp.table_(known.sql_name, db=EXPLICIT_SCHEMA, quoted=True)
    return decoded(relation, anti_join(rows, columns, explicit), dictionary.KNOWN)
