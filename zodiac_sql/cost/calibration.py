"""What work costs in DuckDB, in milliseconds: all estimates follow from it.

Two cores, DuckDB 2.0.1, CPU time. Measured are STATEMENT (changes of closures and rules of 50 to
20,000 facts: 1.3 to 3.5 ms each), what products cost (on RS2), what sets of closures cost (on
random graphs), and rounds. The others are taken from what whole evaluations and rounds took, by the
number of their rows, and are rough. Only their ratios decide.
"""

from __future__ import annotations

MARGIN = 2
"""Estimates may err by this factor: what replaces the usual way must promise so many times less."""

# --- statements ---------------------------------------------------------------------------------

STATEMENT = 2.0
"""Planning and running a statement that has little to look at."""

HYPERNODE = 4 * STATEMENT
"""What is done for a hypernode in which little moves."""

PLANNED_JOIN = 0.1
"""Planning one join of a statement that has many."""

PLANNED_BODY = 3.0
"""Planning one body in a statement that has several."""

ALONE = 8
"""So many times as much as by a loop each fact costs that one thread derives with tags."""

AROUND = 4
"""What a statement about best values costs for each predicate besides its bodies, in what it costs
to plan one: its better values are told from what is known, and what is found is put in the place of
that."""

WITH_TEXTS = 3
"""So many times as much a round costs if rules make texts: these get their ids by more statements.
"""

BEFORE_IT = 8
"""How many times as much as planning it a statement with a key costs before it begins
(evaluate/rest_at_once.py), and when what it has found is compared with what there was."""

ROUND = 5 * STATEMENT
"""A round that has little to do: some four statements, each planned anew."""

ROUND_BY_KEY = 0.3
"""A round with little to do in a statement that joins it with all that it has found."""

# --- rows ---------------------------------------------------------------------------------------

HASHED = 50e-6
"""Putting a row into a hash table."""

READ = 0.1e-3
"""Looking at a row while rules are evaluated."""

DERIVED = 0.3e-3
"""Deriving a fact: finding its heads, of which there are some, and keeping it once."""

HEAD = 0.1e-3
"""Finding a head in a recursive statement, and looking it up."""

JOINED = 1e-3
"""Joining a row of the last round with what is known, and keeping what that finds."""

COMPARED = 0.06e-3
"""Comparing a fact with those that were there before."""

SCANNED = 0.04e-3
"""Looking at a row of a table that a round reads from its beginning to its end."""

SKIMMED = 1e-6
"""Looking at a row in a round that needs few of them."""

KEYED = 16e-6
"""Looking, in each round, at a row that a statement has found and keeps by a key."""

SPELLED = 0.5e-3
"""Putting the texts of a row in the place of their ids, and ids in the place of texts again."""

# --- joins of dense relations, and their products -------------------------------------------------

JOIN_ROW = 14e-6
"""A row of a join."""

CHECKED_ROW = 25e-6
"""A row that a join looks at to check a head."""

ROW_IN_SETS = 60e-6
"""A row of a relation that a product makes sets of."""

BIT_UNITED = 1e-6 / 80
"""A bit of a set that a product unites with others."""

BIT_LISTED = 6e-6
"""A bit that is looked at to list what a product has."""

ROW_APART = 30e-6
"""A row of a table whose sets are compared with those of a product."""

COUNTING = 3 * STATEMENT
"""Counting the rows and the different values of two relations."""

# --- closures as sets -----------------------------------------------------------------------------

ARC = 1.5e-3
"""Going through an arc of a graph in Python, as often as finding its components takes."""

WORD_UNITED = 13e-6
"""64 bits of a node that are united with those of the nodes before it."""

CELL = 10e-6
"""A bit that is looked at to list what a closure has."""

# --- look-ups in copies ---------------------------------------------------------------------------

COPY = 3 * STATEMENT
"""Beginning to copy another predicate to SQLite."""

COPIED = 1e-3
"""Copying a fact. (An editing history of 1.6 million facts: 0.9 µs.)"""

INDEXED = 0.25e-3
"""Indexing a fact that is copied."""

FOLLOWED = 6e-3
"""Changing a fact in a copy after the file has changed."""

MOVED = 12e-3
"""Moving a fact by look-ups, and writing it to the file. (8,000 facts of four columns: 10 to 14 µs
each; of one column 5 to 8.)"""

STEP = 33e-6
"""A step of SQLite."""
