"""Where things stand in a drawing: boxes in rows, every edge downwards. Pure geometry.

This is Sugiyama's method. Each step is a function, in the order of this file:

    layers   a box stands below all boxes it depends on; groups of boxes never mix
    wrap     a layer too wide for the page becomes several rows
    bends    an edge that passes rows gets a bend in each, so it never runs through a box
    order    barycenter sweeps within the rows, keeping the order with the fewest crossings
    place    each row as close to its neighbours as the order and the gaps allow

Edges of one kind to the same box share their bends: they join into one trunk, which is easier to
read than a bundle of parallel lines and says the same.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

GAP = 26.0  # between boxes of a row
BEND_GAP = 12.0  # on either side of a line that passes a row
PORT_GAP = 16.0  # between lines that leave or enter a box, at most
ROW_GAP = 38.0  # between rows, at least
GROUP_PADDING = 16.0  # between a group's border and its boxes
NARROW = 1500.0  # a layer up to this width is never wrapped
SWEEPS = 12  # down and up through the rows, to find an order with few crossings


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow from a box to a box that comes later; edges of different kinds are kept apart."""

    source: int
    target: int
    kind: str


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; x and y are its left upper corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Link:
    """One piece of one or more edges, from a row to the next.

    It runs straight down from (x0, y0) to `leave`, then over to x1 at `arrive`, then straight down
    to (x1, y1). `edges` have the same kind and the same target; `last` pieces reach it.
    """

    edges: tuple[Edge, ...]
    x0: float
    y0: float
    leave: float
    arrive: float
    x1: float
    y1: float
    last: bool


@dataclass(frozen=True, slots=True)
class BoxLayout:
    """Boxes by id, the bands of the groups (top and bottom), and the pieces of the edges."""

    boxes: dict[int, Box]
    bands: dict[int, tuple[float, float]]
    links: tuple[Link, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Bend:
    """Where the edges of a kind to a box pass a row."""

    edge_target: int
    kind: str
    row: int


Vertex = int | Bend


@dataclass(frozen=True, slots=True)
class _Rows:
    """Boxes and bends in rows, joined by pieces that each lead to the row below."""

    rows: list[list[Vertex]]
    pieces: dict[tuple[Vertex, Vertex, str], list[Edge]] = field(default_factory=dict)

    def neighbours(self) -> tuple[dict[Vertex, list[Vertex]], dict[Vertex, list[Vertex]]]:
        """For each vertex its neighbours above, and for each vertex its neighbours below."""
        above, below = defaultdict(list), defaultdict(list)
        for upper, lower, _ in self.pieces:
            above[lower].append(upper)
            below[upper].append(lower)
        return above, below


def layout(
    sizes: Mapping[int, tuple[float, float]], groups: Mapping[int, int], edges: Sequence[Edge]
) -> BoxLayout:
    """Lay out boxes of the given sizes.

    `groups` names the group of each box, in an order that respects the edges; groups do not
    decrease along edges.
    """
    layers = _layers(groups, edges)
    narrow = _page_width(sizes)
    boxes = [row for layer in layers for row in _wrap(layer, sizes, edges, narrow)]
    rows = _with_bends(boxes, edges)
    _order(rows, sizes)
    return _geometry(rows, _place(rows, sizes), sizes, groups)


def _layers(groups: Mapping[int, int], edges: Sequence[Edge]) -> list[list[int]]:
    """Layers from top to bottom: by group, then by the longest path inside the group."""
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        above[edge.target].append(edge.source)
        below[edge.source].append(edge.target)
    depth: dict[int, int] = {}
    for box, group in groups.items():
        depth[box] = max((depth[b] + 1 for b in above[box] if groups[b] == group), default=0)
    # A box without incoming edges may stand lower, next to the first box that needs it.
    for box, group in groups.items():
        if not above[box]:
            depth[box] = min((depth[b] - 1 for b in below[box] if groups[b] == group), default=0)
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    for box, group in groups.items():
        found[group, depth[box]].append(box)
    return [found[key] for key in sorted(found)]


def _page_width(sizes: Mapping[int, tuple[float, float]]) -> float:
    """The width at which the boxes, with room for the lines, fill a landscape page."""
    area = sum((width + GAP) * (height + 2 * ROW_GAP) for width, height in sizes.values())
    return max(NARROW, math.sqrt(1.6 * area))


def _wrap(
    layer: Sequence[int],
    sizes: Mapping[int, tuple[float, float]],
    edges: Sequence[Edge],
    limit: float,
) -> list[list[int]]:
    """A layer as rows of about equal width, none much wider than the limit."""
    targets = {edge.source: edge.target for edge in reversed(edges)}
    entered = {edge.target for edge in edges}
    # Boxes without outgoing lines stand high, boxes without incoming lines low, and boxes with the
    # same target together.
    ordered = sorted(layer, key=lambda b: (b in targets, b not in entered, targets.get(b, 0)))
    total = sum(sizes[box][0] + GAP for box in layer)
    count = math.ceil(total / limit)
    rows: list[list[int]] = [[] for _ in range(count)]
    passed = 0.0
    for box in ordered:
        middle = passed + (sizes[box][0] + GAP) / 2
        rows[min(count - 1, int(middle / total * count))].append(box)
        passed += sizes[box][0] + GAP
    return [row for row in rows if row]


def _with_bends(boxes: Sequence[Sequence[int]], edges: Sequence[Edge]) -> _Rows:
    """The rows with a bend wherever an edge passes a row."""
    found = _Rows([list(row) for row in boxes])
    row_of = {box: index for index, row in enumerate(boxes) for box in row}
    for edge in edges:
        between = range(row_of[edge.source] + 1, row_of[edge.target])
        bends = [Bend(edge.target, edge.kind, index) for index in between]
        path: list[Vertex] = [edge.source, *bends, edge.target]
        for upper, lower in pairwise(path):
            found.pieces.setdefault((upper, lower, edge.kind), []).append(edge)
        for bend in bends:
            if bend not in found.rows[bend.row]:
                found.rows[bend.row].append(bend)
    return found


def _order(found: _Rows, sizes: Mapping[int, tuple[float, float]]) -> None:
    """Reorder each row by the mean position of its neighbours, down and up in turns."""
    above, below = found.neighbours()
    best = [list(row) for row in found.rows]
    fewest = _crossings(found)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        neighbours = above if down else below
        at = _packed(found.rows, sizes)
        for row in found.rows if down else reversed(found.rows):
            wish = {v: _mean((at[n] for n in neighbours[v]), at[v]) for v in row}
            row.sort(key=wish.__getitem__)
            at.update(_packed([row], sizes))
        crossings = _crossings(found)
        if crossings < fewest:
            best, fewest = [list(row) for row in found.rows], crossings
    found.rows[:] = best


def _mean(values: Iterable[float], default: float) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else default


def _crossings(found: _Rows) -> int:
    """How many pairs of pieces cross: inversions between the order above and the order below."""
    at = {v: (index, i) for index, row in enumerate(found.rows) for i, v in enumerate(row)}
    between: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for upper, lower, _ in found.pieces:
        between[at[upper][0]].append((at[upper][1], at[lower][1]))
    count = 0
    for pairs in between.values():
        seen: list[int] = []
        for _, lower_place in sorted(pairs):
            count += len(seen) - bisect_right(seen, lower_place)
            insort(seen, lower_place)
    return count


def _offsets(row: Sequence[Vertex], sizes: Mapping[int, tuple[float, float]]) -> list[float]:
    """Centres of a row whose vertices stand as close as they may, the first one at 0."""
    offsets = [0.0]
    for left, right in pairwise(row):
        halves = sum(sizes[v][0] / 2 for v in (left, right) if isinstance(v, int))
        both = isinstance(left, int) and isinstance(right, int)
        offsets.append(offsets[-1] + halves + (GAP if both else BEND_GAP))
    return offsets


def _packed(
    rows: Iterable[Sequence[Vertex]], sizes: Mapping[int, tuple[float, float]]
) -> dict[Vertex, float]:
    """Centres when each row stands as close as it may, centred at 0."""
    at = {}
    for row in rows:
        offsets = _offsets(row, sizes)
        at.update({v: offset - offsets[-1] / 2 for v, offset in zip(row, offsets, strict=True)})
    return at


def _place(found: _Rows, sizes: Mapping[int, tuple[float, float]]) -> dict[Vertex, float]:
    """Centres: each vertex wishes to stand at the mean of its neighbours."""
    above, below = found.neighbours()
    at = _packed(found.rows, sizes)
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        first, second = (above, below) if down else (below, above)
        for row in found.rows if down else reversed(found.rows):
            wishes = [_mean((at[n] for n in first[v] or second[v]), 0.0) for v in row]
            # Long edges should be straight, even if boxes must give way.
            weights = [1.0 if isinstance(v, int) else 4.0 for v in row]
            at.update(zip(row, _nearest(wishes, weights, _offsets(row, sizes)), strict=True))
    return at


def _nearest(
    wishes: Sequence[float], weights: Sequence[float], offsets: Sequence[float]
) -> list[float]:
    """Positions nearest to the wishes (least squares) that keep the order and the gaps.

    Positions minus their offsets must not decrease from left to right. This is an isotonic
    regression, and pooling neighbours that violate the order solves it exactly.
    """
    blocks: list[tuple[float, float, int]] = []  # mean, weight, length
    for wish, weight, offset in zip(wishes, weights, offsets, strict=True):
        block = (wish - offset, weight, 1)
        while blocks and blocks[-1][0] >= block[0]:
            mean, heavy, length = blocks.pop()
            total = heavy + block[1]
            block = ((mean * heavy + block[0] * block[1]) / total, total, length + block[2])
        blocks.append(block)
    means = [mean for mean, _, length in blocks for _ in range(length)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _geometry(
    found: _Rows,
    at: dict[Vertex, float],
    sizes: Mapping[int, tuple[float, float]],
    groups: Mapping[int, int],
) -> BoxLayout:
    """Boxes, bands and links from the centres of the vertices, starting at (0, 0)."""
    spans = _spans(found, at, sizes, groups)
    left = min(at[v] - (sizes[v][0] / 2 if isinstance(v, int) else 0) for v in at)
    boxes: dict[int, Box] = {}
    bands: dict[int, tuple[float, float]] = {}
    for row, (top, bottom) in zip(found.rows, spans, strict=True):
        for v in row:
            at[v] -= left
            if isinstance(v, int):
                width, height = sizes[v]
                y = top + (bottom - top - height) / 2
                boxes[v] = Box(at[v] - width / 2, y, width, height)
                start = bands.get(groups[v], (top - GROUP_PADDING, 0.0))[0]
                bands[groups[v]] = (start, bottom + GROUP_PADDING)
    width = max([box.x + box.width for box in boxes.values()] + list(at.values()))
    height = spans[-1][1] + GROUP_PADDING
    return BoxLayout(boxes, bands, _links(found, at, boxes, spans), width, height)


def _spans(
    found: _Rows,
    at: Mapping[Vertex, float],
    sizes: Mapping[int, tuple[float, float]],
    groups: Mapping[int, int],
) -> list[tuple[float, float]]:
    """Top and bottom of each row. Rows stand further apart where lines go far sideways."""
    row_of = {v: index for index, row in enumerate(found.rows) for v in row}
    sideways = [0.0] * len(found.rows)
    for upper, lower, _ in found.pieces:
        distance = abs(at[upper] - at[lower])
        sideways[row_of[lower]] = max(sideways[row_of[lower]], distance)
    spans: list[tuple[float, float]] = []
    group = None
    for index, row in enumerate(found.rows):
        inside = [v for v in row if isinstance(v, int)]
        top = GROUP_PADDING
        if spans:
            extra = 1.5 * GROUP_PADDING if groups[inside[0]] != group else 0.0
            top = spans[-1][1] + ROW_GAP + extra + min(40.0, sideways[index] * 0.05)
        group = groups[inside[0]]
        spans.append((top, top + max(sizes[v][1] for v in inside)))
    return spans


def _links(
    found: _Rows,
    at: Mapping[Vertex, float],
    boxes: Mapping[int, Box],
    spans: Sequence[tuple[float, float]],
) -> tuple[Link, ...]:
    """The pieces as lines; those that meet one box are sorted there by their other ends."""
    row_of = {v: index for index, row in enumerate(found.rows) for v in row}
    pieces = list(found.pieces)
    leaving = _ports(pieces, 0, at, boxes)
    entering = _ports(pieces, 1, at, boxes)
    links = []
    for index, (upper, lower, _) in enumerate(pieces):
        (top, bottom), (arrive, _end) = spans[row_of[upper]], spans[row_of[lower]]
        y0 = boxes[upper].y + boxes[upper].height if isinstance(upper, int) else top
        y1 = boxes[lower].y if isinstance(lower, int) else arrive
        edges = tuple(found.pieces[pieces[index]])
        ends = (leaving[index], y0, bottom, arrive, entering[index], y1)
        links.append(Link(edges, *ends, isinstance(lower, int)))
    return tuple(links)


def _ports(
    pieces: Sequence[tuple[Vertex, Vertex, str]],
    end: int,
    at: Mapping[Vertex, float],
    boxes: Mapping[int, Box],
) -> list[float]:
    """For each piece, where it meets its upper (end 0) or lower (end 1) vertex."""
    meeting: dict[Vertex, list[int]] = defaultdict(list)
    for index, piece in enumerate(pieces):
        meeting[_end(piece, end)].append(index)
    ports = [0.0] * len(pieces)
    for vertex, indices in meeting.items():
        indices.sort(key=lambda index: at[_end(pieces[index], 1 - end)])
        step = 0.0
        if isinstance(vertex, int):
            step = min(PORT_GAP, (boxes[vertex].width - PORT_GAP) / len(indices))
        for place, index in enumerate(indices):
            ports[index] = at[vertex] + (place - (len(indices) - 1) / 2) * step
    return ports


def _end(piece: tuple[Vertex, Vertex, str], end: int) -> Vertex:
    return piece[1] if end else piece[0]
