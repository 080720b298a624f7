"""A closure along a relation without cycles, as sets, layer by layer (evaluate/layers.py)."""

from __future__ import annotations

from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.layers import in_layers, sampled
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name


def _cost(work: Evaluation) -> Cost:
    found = sampled(work)
    assert found is not None
    return Cost(found.in_sets)


def _run(work: Evaluation) -> Fixpoint:
    found = sampled(work)
    assert found is not None
    (predicate,) = work.hypernode.derives
    name = table_name(work.hypernode, predicate, work.schema)
    part = in_layers(work.store, found, name)
    return Fixpoint({predicate: part} if part else {}, found.depth, "layers")


IN_LAYERS: Evaluates = Operator(
    "layers", lambda work: sampled(work) is not None, _cost, lambda work, _: _run(work)
)
