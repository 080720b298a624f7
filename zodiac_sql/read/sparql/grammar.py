"""rdflib's grammar of SPARQL, in a copy of our own: it keeps each literal as it is written.

rdflib's own would make 1.0 of 1.0e0, refuse -2.5, and never end where one SERVICE is in another.
Nobody else who uses rdflib in this process sees the copy.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from functools import cache, partial
from typing import Any

SERVICE = "Service"
"""The name of a SERVICE in a parse tree. By rdflib's name for it, a part of rdflib would be called
that looks for it in the whole text, at each SERVICE once more."""

_NUMBERS = {"INTEGER": "integer", "DECIMAL": "decimal", "DOUBLE": "double"}
_SIGNS = {"": "", "_POSITIVE": "+", "_NEGATIVE": "-"}
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


def parse_tree(text: str) -> Any:
    """The prologue and the query. Raises ImportError without rdflib, and what pyparsing raises."""
    return _grammar().Query.parse_string(_ESCAPE.sub(_character, text), parse_all=True)


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1] or escape[2], 16)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise ValueError(f"{escape[0]} is no character: U+{number:04X} stands for none")
    return chr(number)


@cache
def _grammar() -> Any:
    origin = importlib.import_module("rdflib.plugins.sparql.parser")
    spec = importlib.util.spec_from_file_location(f"{origin.__name__}_of_zodiac", origin.__file__)
    assert spec is not None and spec.loader is not None
    grammar = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(grammar)
    for kind, datatype in _NUMBERS.items():
        for name, sign in _SIGNS.items():
            element = getattr(grammar, kind + name)
            if sign:
                element.exprs[1].set_parse_action()
            element.set_parse_action(partial(_numeral, sign, datatype))
    grammar.ServiceGraphPattern.set_name(SERVICE)
    return grammar


def _numeral(sign: str, datatype: str, tokens: Any) -> Any:
    from rdflib import XSD, Literal

    return Literal(sign + tokens[0], datatype=XSD[datatype], normalize=False)
