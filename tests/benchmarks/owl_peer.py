"""A reasoner of OWL 2 RL from scratch: `python owl_peer.py ENGINE FILE...` prints a line of JSON.

It imports nothing of ours, so the Python of another environment can run it. The seconds are those
from files to all consequences in memory; to import the reasoner is not included.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version


def reasonable(files: list[str]) -> tuple[float, int]:
    """The reasoner of https://github.com/gtfierro/reasonable."""
    import reasonable as package  # type: ignore[import-not-found, import-untyped, unused-ignore]

    started = time.perf_counter()
    reasoner = package.PyReasoner()
    for file in files:
        reasoner.load_file(file)
    triples = reasoner.reason()
    return time.perf_counter() - started, len(triples)


def owlrl(files: list[str]) -> tuple[float, int]:
    """The reasoner of https://github.com/RDFLib/OWL-RL, without axiomatic triples."""
    import owlrl as package  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import rdflib

    started = time.perf_counter()
    graph = rdflib.Graph()
    for file in files:
        graph.parse(file, format="turtle")
    package.DeductiveClosure(
        package.OWLRL_Semantics, rdfs_closure=False, axiomatic_triples=False, datatype_axioms=False
    ).expand(graph)
    return time.perf_counter() - started, len(graph)


ENGINES: dict[str, Callable[[list[str]], tuple[float, int]]] = {
    "reasonable": reasonable,
    "owlrl": owlrl,
}


def main() -> None:
    """Measure one engine."""
    warnings.simplefilter("ignore")
    engine, *files = sys.argv[1:]
    seconds, triples = ENGINES[engine](files)
    print(json.dumps({"seconds": seconds, "facts": triples, "version": version(engine)}))


if __name__ == "__main__":
    main()
