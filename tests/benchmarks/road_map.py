"""A town, and drives through it: the third program of paper 4, "B/F with marking", figure 2.

The paper follows GPS tracks through real maps. Here is a town of jittered blocks: each street is
cut into ways, and each way is a row of nodes. A position knows what of the map is near it; an
update is what comes and goes on the way to the next position.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from .session import Batch

RULES = """\
connection(Z1, Z2) :- nextInWay(X, Y1, Z1), nextInWay(X, Y2, Z2), Z1 != Z2.
connection(Z1, Z2) :- nextInWay(X, Y1, Z1), nextInWay(X2, X, Z2), Z1 != Z2.
connection(Z1, Z2) :- nextInWay(X1, Y, Z1), nextInWay(Y, Y2, Z2), Z1 != Z2.
connection(Z1, Z2) :- nextInWay(X1, Y, Z1), nextInWay(X2, Y, Z2), Z1 != Z2.
connection(X, Z) :- connection(X, Y), connection(Y, Z).
"""

RADIUS = 50
"""What is known of the map around a position, in m."""

BLOCKS = 20
BLOCK = 80
"""A town has so many blocks each way, and each is so long, in m."""

Segment = tuple[int, int, int]
"""A node, the next one, and their way."""


@dataclass(frozen=True)
class Track:
    """So many positions, and about so many m from one to the next."""

    positions: int
    step: float


TRACKS = (Track(55, 62), Track(83, 46), Track(114, 27))
"""As in the paper, about 18, 14 and 8 facts come in an update, and as many go."""


@dataclass(frozen=True)
class Town:
    """Where nodes are, as complex numbers; which follow each other in which way; and for a crossing
    the roads, node by node, that lead to others.
    """

    places: dict[int, complex]
    segments: list[Segment]
    roads: dict[int, list[list[int]]]

    def near(self, position: complex) -> set[Segment]:
        """The segments that begin within the radius."""
        return {s for s in self.segments if abs(self.places[s[0]] - position) <= RADIUS}


def updates(track: int) -> Iterator[tuple[Batch, Batch]]:
    """What goes and what comes on a track: the same each time."""
    map_of = town()
    known: set[Segment] = set()
    for position in _positions(map_of, TRACKS[track], seed=track):
        near = map_of.near(position)
        yield {"nextInWay": sorted(known - near)}, {"nextInWay": sorted(near - known)}
        known = near


@cache
def town(seed: int = 1) -> Town:
    """Streets along all rows and columns of a grid, with some blocks left out."""
    rng = random.Random(seed)
    side = range(BLOCKS + 1)
    grid = {(x, y): _number(x, y) for x in side for y in side}
    places = {
        node: complex(BLOCK * x + rng.uniform(-20, 20), BLOCK * y + rng.uniform(-20, 20))
        for (x, y), node in grid.items()
    }
    made = Town(places, [], {node: [] for node in grid.values()})
    streets = [[grid[x, y] for x in side] for y in side] + [
        [grid[x, y] for y in side] for x in side
    ]
    way = 0
    for street in streets:
        for crossings in _cut(street, rng):
            way += 1
            _build(made, way, crossings, rng)
    return made


def _number(x: int, y: int) -> int:
    return x * (BLOCKS + 1) + y


def _cut(street: list[int], rng: random.Random) -> Iterator[list[int]]:
    """The crossings of each way: one to four blocks, now and then with a gap behind it."""
    at = 0
    while at < len(street) - 1:
        end = at + rng.randint(1, 4)
        yield street[at : end + 1]
        at = end + (rng.random() < 0.3)


def _build(made: Town, way: int, crossings: list[int], rng: random.Random) -> None:
    """A way along some crossings, with nodes in between where it bends; drawn either way round."""
    nodes = crossings[:1]
    for a, b in pairwise(crossings):
        road = [a, *_between(made, a, b, rng), b]
        made.roads[a].append(road)
        made.roads[b].append(road[::-1])
        nodes += road[1:]
    nodes = nodes[:: rng.choice((1, -1))]
    made.segments.extend((node, after, way) for node, after in pairwise(nodes))


def _between(made: Town, a: int, b: int, rng: random.Random) -> list[int]:
    """New nodes on a slight curve from one crossing to the next, every 4 to 10 m."""
    start, end = made.places[a], made.places[b]
    parts = max(1, round(abs(end - start) / rng.uniform(4, 10)))
    bend = 1j * (end - start) / abs(end - start) * rng.uniform(-6, 6)
    found = []
    for k in range(1, parts):
        node = len(made.places)
        made.places[node] = start + (end - start) * k / parts + bend * math.sin(math.pi * k / parts)
        found.append(node)
    return found


def _positions(made: Town, track: Track, seed: int) -> Iterator[complex]:
    """A drive from the middle of the town, seen at uneven steps."""
    rng = random.Random(seed)
    left, wait = track.positions, 0.0
    for a, b in pairwise(_drive(made, rng)):
        length = abs(b - a)
        while wait <= length:
            yield a + (b - a) * wait / length
            left -= 1
            if not left:
                return
            wait += track.step * rng.uniform(0.5, 1.5)
        wait -= length


def _drive(made: Town, rng: random.Random) -> Iterator[complex]:
    """Along one road after the other, without end, turning back in dead ends only."""
    before, at = -1, _number(BLOCKS // 2, BLOCKS // 2)
    yield made.places[at]
    while True:
        onwards = [road for road in made.roads[at] if road[-1] != before]
        road = rng.choice(onwards or made.roads[at])
        before, at = at, road[-1]
        yield from (made.places[node] for node in road[1:])
