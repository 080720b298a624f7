"""The house is as ARCHITECTURE.md says, and no room in it is too large to be read."""

from __future__ import annotations

import ast
import re
import statistics
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from support.places import ROOT

PACKAGE = ROOT / "zodiac_sql"
MAP = (ROOT / "ARCHITECTURE.md").read_text()

# --- the map --------------------------------------------------------------------------------------


def test_every_file_on_the_map_exists() -> None:
    named = set(re.findall(r"`([\w/]+\.\w+)`", MAP))
    missing = [
        name for name in named if not (PACKAGE / name).exists() and not (ROOT / name).exists()
    ]
    assert len(named) > 40 and not missing


def test_every_room_is_on_the_map() -> None:
    packages = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("*/__init__.py")}
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py"}
    rooms = {f"{package}/" for package in packages} - {"./"} | modules
    assert not {room for room in rooms if f"`{room}`" not in MAP}


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports a file of tests by its name alone, and refuses the second of one name."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)


def test_what_the_source_cites_is_in_the_bibliography() -> None:
    texts = [
        path.read_text() for path in PACKAGE.rglob("*") if path.suffix in (".py", ".sql", ".lark")
    ]
    cited = {number for text in texts for number in re.findall(r"[Pp]apers? (\d+)", text)}
    assert cited == set(re.findall(r"\*\*Paper (\d+)\.\*\*", MAP))
    assert not any("DESIGN" in text for text in texts)


def test_the_readme_leads_to_the_map() -> None:
    assert "](ARCHITECTURE.md)" in (ROOT / "README.md").read_text()


QUESTIONS = [
    ("Where is a rule's safety checked?", "check", "program/check.py"),
    ("Where does a symbol become a number?", "dictionary", "database/dictionary.py"),
    ("What happens to a table whose hypernode is dropped?", "remove", "storage/remove_tables.py"),
    ("Where are the ways to maintain a hypernode?", "registry", "maintain/registry.py"),
    ("What does a strategy have to promise?", "contract", "maintain/contract.py"),
    ("Where is the grammar of rules?", "grammar", "language/grammar.lark"),
    ("Where are the types of columns found?", "types", "language/types.py"),
    ("When are two rules equivalent?", "equivalence", "language/equivalence.py"),
    (
        "What becomes of hypernodes when rules come and go?",
        "restructuring",
        "graph/restructuring.py",
    ),
    ("Where is a transitive closure recognised?", "transitive", "rewrite/closures/transitive.py"),
    ("How is a cyclic rule decomposed?", "decompose", "rewrite/hypertree/decompose.py"),
    ("Where does a rule become a SELECT?", "select", "sql/select.py"),
    ("Where is the loop of semi-naive evaluation?", "semi_naive", "evaluate/semi_naive.py"),
    ("Where are facts overdeleted?", "overdelete", "maintain/steps/overdelete.py"),
    ("In which ways can an update be carried out?", "registry", "change/registry.py"),
    (
        "In which order are hypernodes maintained, and the outcome published?",
        "hypernodes",
        "change/operators/hypernodes.py",
    ),
    ("Which file migrates an old database?", "migrate", "database/migrate.py"),
    ("Where are N-Triples read?", "ntriples", "facts/load/ntriples.py"),
    ("Where are facts written to files?", "export", "facts/export.py"),
    ("Where is a query answered?", "query", "read/query.py"),
    ("Where is a proof of a fact looked for?", "proof", "read/why/find_proof.py"),
    ("Where does an ontology become rules?", "ontology", "ontology/translate.py"),
    ("How do several updates of a stream become one?", "coalesce", "stream/coalesce.py"),
]


@pytest.mark.parametrize(("question", "word", "file"), QUESTIONS, ids=[q[1] for q in QUESTIONS])
def test_a_stranger_finds_it(question: str, word: str, file: str) -> None:
    """One file whose path contains the word has the answer."""
    assert question.endswith("?") and word in file and (PACKAGE / file).exists()


# --- imports --------------------------------------------------------------------------------------


def test_contract_of_imports_is_short() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    (rooms,) = (contract for contract in contracts if contract["type"] == "layers")
    assert len(rooms["layers"]) <= 20 and "ignore_imports" not in rooms


def test_no_cycle_of_imports() -> None:
    """Those inside functions count, too: a late import of ours hides a cycle or is fast to do at
    the top. Those for type checkers only do not count."""
    imports = nx.DiGraph(
        (name, other) for name, tree in modules().items() for other in imported(tree)
    )
    imports.remove_edges_from(list(nx.selfloop_edges(imports)))
    assert len(imports) > 100 and not [
        part for part in nx.strongly_connected_components(imports) if len(part) > 1
    ]


@cache
def modules() -> dict[str, ast.Module]:
    """All modules of the package by name."""
    return {name_of(path): ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules of ours that a module imports anywhere."""
    for node in executed(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (
                name if name in modules() else node.module
                for name in found
                if node.module in modules()
            )
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())


def executed(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from executed(node)


def test_no_relative_imports() -> None:
    nodes = [node for tree in modules().values() for node in ast.walk(tree)]
    assert not any(isinstance(node, ast.ImportFrom) and node.level for node in nodes)


# --- sizes ----------------------------------------------------------------------------------------

MEDIAN = 130


def test_modules_are_short() -> None:
    lengths = {
        name_of(path).removeprefix("zodiac_sql."): len(path.read_text().splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert not {name for name, lines in lengths.items() if lines > 450}
    assert statistics.median(lengths.values()) < MEDIAN


def named(*kinds: type[ast.AST]) -> Iterator[tuple[str, Any]]:
    """The classes, or functions, of all modules."""
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield f"{name}.{vars(node)['name']}".removeprefix("zodiac_sql."), node


def test_functions_are_short() -> None:
    functions = named(ast.FunctionDef, ast.AsyncFunctionDef)
    long = {name for name, node in functions if node.end_lineno - node.lineno >= 50}
    assert not long


def test_classes_have_few_public_methods() -> None:
    """Except for the two that users call, which have one for each verb."""
    wide = {name for name, node in named(ast.ClassDef) if len(set(public_methods(node))) > 15}
    assert wide <= {"knowledge_base.KnowledgeBase", "questions.Questions"}


def public_methods(class_: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(class_):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(
            "_"
        ):
            yield node.name
