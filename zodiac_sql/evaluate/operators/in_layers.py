"""A closure along a relation without cycles, as sets, layer by layer (evaluate/layers.py)."""

from __future__ import annotations

from math import inf

from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.layers import CHEAPER_BY, in_layers, sampled
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name


def _cost(work: Evaluation) -> Cost:
    """Some times what sets take: a sample may err."""
    found = sampled(work)
    return Cost(CHEAPER_BY * found.in_layers if found else inf)


def _run(work: Evaluation) -> Fixpoint | Declined:
    found = sampled(work)
    assert found is not None
    layered = in_layers(work.store, found)
    if isinstance(layered, Declined):
        return layered
    (predicate,) = work.hypernode.derives
    part = layered.make(work.store, table_name(work.hypernode, predicate, work.schema))
    return Fixpoint({predicate: part} if part else {}, layered.depth, "layers")


IN_LAYERS: Evaluates = Operator(
    "layers", lambda work: sampled(work) is not None, _cost, lambda work, _: _run(work)
)
