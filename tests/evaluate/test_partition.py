"""Connected components, partitions that change, and membership in their pairs, by brute force.

To look for new examples: pytest --hypothesis-profile=explore tests/evaluate/test_partition.py
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from random import Random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp
from support.examples import share

from zodiac_sql.database.open_store import open_store
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.partition import components
from zodiac_sql.evaluate.partition.closure import Closure, begin_closure
from zodiac_sql.evaluate.partition.partition import (
    Partition,
    compare,
    connect,
    count_since_change,
    nodes,
    part,
    repeated_nodes,
    rows_changed,
)
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.class_pairs import Pairs, count_pairs, joined
from zodiac_sql.sql.relations import Part, Reading, Relation, part_query

Edge = tuple[int, int]
Link = tuple[int, int, bool]
"""Two nodes; and of one from a node to itself, whether it is a fact that rules derive."""

GRAPHS = share(11)
SEQUENCES = share(14)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with open_store() as opened:
        yield opened


@pytest.fixture(scope="module", autouse=True, params=["few", "many"])
def as_if_many(request: pytest.FixtureRequest) -> Iterator[None]:
    """Components are found in Python, or by rounds of SQL."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "many":
            patch.setattr(components, "ROUND", -1)
        yield


# --- connected components -------------------------------------------------------------------------


def roots(store: Store, edges: Iterable[Edge]) -> dict[int, int]:
    """The roots that are found, after a check that edges are as they must be."""
    listed = sorted({(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]})
    store.run(
        'CREATE OR REPLACE TEMP TABLE "zodiac$edges" AS SELECT unnest($1::BIGINT[]) AS a,'
        " unnest($2::BIGINT[]) AS b",
        [[a for a, _ in listed], [b for _, b in listed]],
    )
    components.find_roots(store, len(listed))
    rows = store.rows('SELECT node, root FROM "zodiac$roots"')
    found = dict(rows)
    assert len(found) == len(rows)
    return found


def assert_components(store: Store, edges: Collection[Edge]) -> None:
    found = roots(store, edges)
    graph = nx.Graph([edge for edge in edges if edge[0] != edge[1]])
    classes: dict[int, set[int]] = {}
    for node, root in found.items():
        classes.setdefault(root, set()).add(node)
    assert sorted(map(sorted, classes.values())) == sorted(
        sorted(component) for component in nx.connected_components(graph)
    )
    assert all(root in members for root, members in classes.items())


def chain(size: int, order: str) -> list[Edge]:
    return list(pairwise(numbers(size, order)))


def numbers(size: int, order: str) -> list[int]:
    ascending = list(range(size))
    if order == "shuffled":
        Random(size).shuffle(ascending)
    return ascending[::-1] if order == "descending" else ascending


ORDERS = ("ascending", "descending", "shuffled")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", [2, 3, 4, 17, 300])
def test_chains(store: Store, size: int, order: str) -> None:
    assert_components(store, chain(size, order))


@pytest.mark.parametrize("order", ORDERS)
def test_chains_take_few_rounds(store: Store, order: str) -> None:
    """The number of rounds is logarithmic: each numbers a chain's nodes by a fraction of it."""
    seen: list[str] = []
    store.connection.tracer = lambda text, _: seen.append(text)
    roots(store, chain(300, order))
    store.connection.tracer = None
    assert sum("zodiac$next_graph" in text and "CREATE" in text for text in seen) <= 6


@pytest.mark.parametrize("order", ORDERS)
def test_stars_cliques_rings_and_grids(store: Store, order: str) -> None:
    names = numbers(300, order)
    shapes: list[list[Edge]] = [
        [(names[0], other) for other in names[1:]],
        list(combinations(names[:40], 2)),
        [*pairwise(names), (names[-1], names[0])],
        [
            edge
            for row in range(15)
            for column in range(20)
            for edge in (
                (names[row * 20 + column], names[row * 20 + (column + 1) % 20]),
                (names[row * 20 + column], names[(row + 1) % 15 * 20 + column]),
            )
        ],
        [(names[i], names[i + 1]) for i in range(0, 300, 2)],  # 150 components
        [(names[i], names[i // 2]) for i in range(1, 300)],  # a tree
    ]
    for edges in shapes:
        assert_components(store, edges)
    disjoint = [(a + 1000 * number, b + 1000 * number) for number, edges in enumerate(shapes)
                for a, b in edges]  # fmt: skip
    assert_components(store, disjoint)


def test_no_edges(store: Store) -> None:
    assert roots(store, []) == {}


def test_large_numbers(store: Store) -> None:
    assert_components(store, [(2**62, 2**62 + 1), (2**62 + 1, 5), (7, 2**61)])


@settings(max_examples=GRAPHS)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 300), degree=st.floats(0.2, 3))
def test_random_graphs(store: Store, seed: int, size: int, degree: float) -> None:
    rng = Random(seed)
    some = rng.sample(range(10 * size), size)
    edges = [(rng.choice(some), rng.choice(some)) for _ in range(int(size * degree) + 1)]
    assert_components(store, edges)


# --- partitions -----------------------------------------------------------------------------------

COLUMNS = (Column("s", Type.INT), Column("o", Type.INT))
NOTHING = Relation(COLUMNS, ())


@dataclass
class Model:
    """What a partition should be: classes of nodes, and nodes that are related to themselves."""

    unequal: bool
    classes: list[set[int]] = field(default_factory=list)
    loops: set[int] = field(default_factory=set)

    def pairs(self) -> set[Edge]:
        return {
            (a, b)
            for nodes_ in self.classes
            for a in nodes_
            for b in nodes_
            if a != b or not self.unequal or a in self.loops
        }

    def connect(self, links: Iterable[Link]) -> None:
        for a, b, looping in links:
            touched = [nodes_ for nodes_ in self.classes if a in nodes_ or b in nodes_]
            self.classes = [nodes_ for nodes_ in self.classes if nodes_ not in touched]
            self.classes.append({a, b}.union(*touched))
            self.loops |= {a} if a == b and looping else set()

    def part(self, lost: Iterable[Link], kept: Iterable[Link]) -> None:
        """Classes that lost a link fall into what the links that were kept connect."""
        ends = {a for a, _, _ in lost}
        hit = [nodes_ for nodes_ in self.classes if nodes_ & ends]
        self.classes = [nodes_ for nodes_ in self.classes if nodes_ not in hit]
        inside = set().union(*hit)
        self.loops -= inside
        self.connect(link for link in kept if link[0] in inside)

    def copy(self) -> Model:
        return Model(self.unequal, [set(nodes_) for nodes_ in self.classes], set(self.loops))


def values(links: Collection[Link]) -> exp.Query:
    rows = [exp.tuple_(*map(exp.convert, link)) for link in links]
    return exp.select("*").from_(exp.values(rows, alias="v", columns=["a", "b", "looping"]))


def facts(store: Store, part_: Part | None) -> set[Edge]:
    """The pairs of a part, each of which it shows once, and as many as it says."""
    if part_ is None:
        return set()
    query = part_query(part_, Relation(COLUMNS, (part_,)))
    rows = store.rows(query)
    assert len(rows) == len(set(rows)) == part_.rows > 0
    return set(rows)


def members(store: Store, partition: Partition) -> set[int]:
    return {node for (node,) in store.rows(f'SELECT node FROM "{partition.name}"')}


def among(pairs: set[Edge], some: set[int]) -> set[Edge]:
    return {pair for pair in pairs if some.issuperset(pair)}


def row_of(unequal: bool) -> ModuleRow:
    return ModuleRow(
        kind="stc", predicate="p", fed=False, parted=True, unequal=unequal, covers=True
    )


def begin(store: Store, unequal: bool, alone: bool, stored: Part | None) -> Closure:
    row = row_of(unequal)
    return begin_closure(
        store, row, columns=COLUMNS, stem="h1_p", given=NOTHING, alone=alone, stored=stored
    )


def assert_is(
    store: Store, closure: Closure, now: Model, prev: Model | None, before: Model | None
) -> None:
    """It tells what it is now, was before the last step (prev) and before the change."""
    partition = closure.partition
    whole = now.pairs()
    assert partition.rows == len(whole)
    assert facts(store, closure.now if closure.now.rows else None) == whole
    touched = members(store, partition)
    assert facts(store, partition.part("class")) == among(whole, touched)
    if prev is not None:
        assert facts(store, partition.part("prev")) == among(prev.pairs(), touched)
        assert facts(store, partition.part("class", "prev")) == whole - prev.pairs()
        assert facts(store, partition.part("prev", "class")) == prev.pairs() - whole
        assert partition.rests == (whole == prev.pairs())
    if before is not None:
        assert facts(store, partition.part("before")) == among(before.pairs(), touched)
        assert facts(store, partition.part("class", "before")) == whole - before.pairs()
        assert facts(store, partition.part("before", "class")) == before.pairs() - whole


def written(store: Store, closure: Closure, rows: int, first: bool) -> Part:
    """Do to the table in the file what the change says, as publish.py does."""
    left, came = rows_changed(closure.partition, "zodiac$test_left", "zodiac$test_came")
    if first:
        assert left == 0
        store.run("CREATE OR REPLACE TABLE idb.classes (node BIGINT, class BIGINT, loop BOOLEAN)")
    gone = store.count('DELETE FROM idb.classes AS c USING "zodiac$test_left" AS l'
                       " WHERE (c.node, c.class, c.loop) = (l.node, l.class, l.loop)")  # fmt: skip
    assert gone == left
    assert store.count('INSERT INTO idb.classes FROM "zodiac$test_came"') == came
    assert repeated_nodes(store, "classes") == 0
    assert count_pairs(store, "classes", closure.row.unequal) == rows
    pairs = Pairs(unequal=closure.row.unequal)
    return Part("idb", "classes", rows, read=Reading(pairs=pairs), covers=True)


def random_links(rng: Random, size: int, count: int) -> list[Link]:
    """Links between few nodes, from nodes to themselves, too. All from outside, or all derived."""
    ends = [(rng.randrange(size), rng.randrange(size)) for _ in range(count)]
    ends += [(a, a) for a, _ in ends if rng.random() < 0.15]
    looping = rng.random() < 0.5
    return [(a, b, looping) for a, b in ends]


@settings(max_examples=SEQUENCES)
@given(
    seed=st.integers(0, 2**32),
    unequal=st.booleans(),
    alone=st.booleans(),
    size=st.integers(2, 14),
    changes=st.integers(1, 3),
)
def test_a_partition_changes(
    store: Store, seed: int, unequal: bool, alone: bool, size: int, changes: int
) -> None:
    """Some changes, each of some steps. From the second one on, the file has a table."""
    rng = Random(seed)
    model, links, stored = Model(unequal), set[Link](), None
    for change in range(changes):
        closure = begin(store, unequal, alone, stored)
        before = model.copy()
        for _ in range(rng.randrange(1, 5)):
            prev = model.copy()
            _step(rng, closure.partition, model, links, size)
            if not alone:
                assert_is(store, closure, model, prev, before if stored else None)
        count_since_change(closure.partition)
        assert_is(store, closure, model, None, before if stored or alone else None)
        stored = written(store, closure, len(model.pairs()), first=change == 0)


def _step(rng: Random, partition: Partition, model: Model, links: set[Link], size: int) -> None:
    """Connect or part something. `links` are those that nobody has taken away."""
    what = rng.choice(("connect", "connect", "part", "part", "nothing"))
    if what == "nothing":
        connect(partition, None)
    elif what == "connect":
        new = random_links(rng, size, rng.choice((1, 2, 5)))
        links.update(new)
        connect(partition, values(new))
        model.connect(new)
    else:
        lost = set(rng.sample(sorted(links), min(len(links), rng.choice((1, 2, 4)))))
        lost |= set(random_links(rng, size, 1)) if rng.random() < 0.2 or not lost else set()
        links -= lost
        kept = values(sorted(links)) if links else None
        part(partition, values(sorted(lost)), kept)
        model.part(lost, links)


@pytest.mark.parametrize("unequal", [False, True])
def test_a_node_that_is_related_to_itself(store: Store, unequal: bool) -> None:
    closure = begin(store, unequal, False, None)
    model = Model(unequal)
    steps: list[list[Link]] = [[(1, 1, False)], [(1, 1, True)], [(1, 2, True)], [(2, 2, True)]]
    for links in steps:
        prev = model.copy()
        connect(closure.partition, values(links))
        model.connect(links)
        assert_is(store, closure, model, prev, None)
    assert model.pairs() == {(1, 1), (1, 2), (2, 1), (2, 2)}
    kept: list[Link] = [(1, 1, True), (2, 2, False)]
    prev = model.copy()
    part(closure.partition, values([(1, 2, True)]), values(kept))
    model.part([(1, 2, True)], kept)
    assert_is(store, closure, model, prev, None)
    assert model.pairs() == ({(1, 1)} if unequal else {(1, 1), (2, 2)})


@pytest.mark.parametrize("unequal", [False, True])
def test_a_large_class_falls_apart_and_comes_together(store: Store, unequal: bool) -> None:
    """The larger part keeps its number, so that few rows change."""
    left = [(a, a + 1, False) for a in range(150)]
    right = [(a, a + 1, False) for a in range(200, 299)]
    bridge = [(70, 220, False)]
    closure = begin(store, unequal, True, None)
    connect(closure.partition, values([*left, *right, *bridge]))
    count_since_change(closure.partition)
    size = 251
    rows = size * (size - unequal)
    assert closure.partition.rows == rows
    stored = written(store, closure, rows, first=True)

    closure = begin(store, unequal, True, stored)
    part(closure.partition, values(bridge), values([*left, *right]))
    count_since_change(closure.partition)
    lost = closure.partition.part("before", "class")
    assert lost is not None and lost.rows == 2 * 151 * 100
    assert closure.partition.part("class", "before") is None
    assert rows_changed(closure.partition, "zodiac$test_left", "zodiac$test_came") == (100, 100)
    facts(store, lost)
    stored = written(store, closure, rows - lost.rows, first=False)

    closure = begin(store, unequal, False, stored)
    connect(closure.partition, values(bridge))
    count_since_change(closure.partition)
    assert closure.partition.rows == rows
    assert rows_changed(closure.partition, "zodiac$test_left", "zodiac$test_came") == (100, 100)


def test_what_a_change_does_not_touch_stays_in_the_file(store: Store) -> None:
    closure = begin(store, False, False, None)
    connect(closure.partition, values([(a, a + 1, False) for a in range(0, 100, 2)]))
    stored = written(store, closure, 200, first=True)
    closure = begin(store, False, False, stored)
    connect(closure.partition, values([(0, 2, False), (0, 1000, False)]))
    assert members(store, closure.partition) == {0, 1, 2, 3, 1000}
    assert closure.partition.rows == 192 + 25
    part(closure.partition, values([(98, 99, False)]), None)
    assert members(store, closure.partition) == {0, 1, 2, 3, 1000, 98, 99}
    assert closure.partition.rows == 192 + 25 - 4


@settings(max_examples=share(28))
@given(seed=st.integers(0, 2**32), unequal=st.booleans(), size=st.integers(2, 14))
def test_compared_with_what_was_there_before(
    store: Store, seed: int, unequal: bool, size: int
) -> None:
    """One evaluated anew has other numbers of classes than that in the file."""
    rng = Random(seed)
    models = []
    stored: Part | None = None
    for _ in range(2):
        model, links = Model(unequal), random_links(rng, size, rng.randrange(1, 12))
        closure = begin(store, unequal, True, None)
        connect(closure.partition, values(links))
        model.connect(links)
        models.append(model)
        if stored is None:
            count_since_change(closure.partition)
            stored = written(store, closure, len(model.pairs()), first=True)
    assert nodes(closure.partition, "zodiac$test_nodes") == sum(map(len, models[1].classes))
    compare(closure.partition, stored)
    assert facts(store, closure.partition.part("before")) == models[0].pairs()
    gained = facts(store, closure.partition.part("class", "before"))
    lost = facts(store, closure.partition.part("before", "class"))
    assert gained == models[1].pairs() - models[0].pairs()
    assert lost == models[0].pairs() - models[1].pairs()


@pytest.mark.parametrize(
    ("type_", "names"),
    [
        (Type.SYMBOL, "1 2 3 4"),
        (Type.BOOL, "true false true false"),
        (Type.DATE, "'2024-02-29'::DATE '1900-01-01'::DATE 'infinity'::DATE '9999-12-31'::DATE"),
        (Type.TIMESTAMP, "'2024-02-29'::TIMESTAMP '1900-01-01'::TIMESTAMP 'infinity' '-infinity'"),
    ],
)  # fmt: skip
def test_nodes_of_other_types(store: Store, type_: Type, names: str) -> None:
    row = row_of(unequal=False)
    columns = (Column("s", type_), Column("o", type_))
    closure = begin_closure(
        store, row, columns=columns, stem="h1_p", given=Relation(columns, ()), alone=False
    )
    a, b, c, d = names.split()
    store.run(f"CREATE OR REPLACE TEMP TABLE given AS SELECT * FROM (VALUES ({a}, {b}, false), "
              f"({c}, {d}, false), ({b}, {c}, false)) AS v(a, b, looping)")  # fmt: skip
    distinct = len({a, b, c, d})
    connect(closure.partition, exp.select("*").from_(exp.to_table("temp.main.given")))
    assert closure.partition.rows == distinct**2


# --- membership -----------------------------------------------------------------------------------


@settings(max_examples=share(28))
@given(seed=st.integers(0, 2**32), unequal=st.booleans(), size=st.integers(2, 10))
def test_joined_tells_what_is_related(store: Store, seed: int, unequal: bool, size: int) -> None:
    """By each column of classes; of nodes that nobody knows, too."""
    rng = Random(seed)
    closure = begin(store, unequal, False, None)
    models = [Model(unequal)]
    for _ in range(2):
        links = random_links(rng, size, rng.randrange(1, 6))
        models.append(models[-1].copy())
        there = [link for link in links if any({*link[:2]} <= c for c in models[-1].classes)]
        if rng.random() < 0.4 and there:  # links that are lost were there
            part(closure.partition, values(there), values(there[:1]))
            models[-1].part(there, there[:1])
        else:
            connect(closure.partition, values(links))
            models[-1].connect(links)
    asked = {(a, b) for a in range(-1, size + 1) for b in range(-1, size + 1)}
    store.run(f"CREATE OR REPLACE TEMP TABLE asked AS SELECT a::BIGINT AS s, b::BIGINT AS o, 7 AS x"
              f" FROM range(-1, {size + 1}) AS q(a), range(-1, {size + 1}) AS r(b)")  # fmt: skip
    for by, model in (("class", models[-1]), ("prev", models[-2])):
        found = {holds: _asked(store, closure, Pairs(by, unequal=unequal), holds)
                 for holds in (True, False)}  # fmt: skip
        assert found == {True: model.pairs(), False: asked - model.pairs()}


def _asked(store: Store, closure: Closure, pairs: Pairs, holds: bool) -> set[Edge]:
    query = exp.select("f.s", "f.o").from_("asked AS f").where("f.x = 7")
    columns = [exp.column(name, table="f") for name in "so"]
    there = exp.table_(closure.partition.name, db="main", catalog="temp", quoted=True)
    rows = store.rows(joined(query, pairs, there, columns, "y", holds))
    assert len(rows) == len(set(rows))
    return set(rows)
