"""What a crash test tells of a knowledge base."""

from __future__ import annotations

import clingo


def _value(symbol: clingo.Symbol) -> object:
    return symbol.number if symbol.type is clingo.SymbolType.Number else symbol.name
