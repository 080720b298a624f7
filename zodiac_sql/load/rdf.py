"""RDF -> Staged facts: one predicate per property, one unary predicate per class.

    lines -> zodiac_triple (ntriples.py) -> one profile of all properties -> a type for each
          -> zodiac_fact -> encoded -> one Staged per predicate

`s rdf:type C` is C(s); with a blank node or a literal for C it stays rdf:type(s, o).

**Blank nodes.** `_:b0` of a file becomes `_:z<12 hex digits>_b0`, where the digits are a digest
of the file's content. So nodes of different files never meet, the same file always gives the same
facts, however often it is loaded (and a file can be deleted again), and an edited file gives new
nodes. A label that already has this form, as in our own exports, is kept: it can only mean the
same node. In syntaxes other than N-Triples and N-Quads, where nodes need no label, they are
numbered in the order of the file.

**urn:zodiac:** IRIs, which export writes, are read as the symbols and predicates they stand for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

from sqlglot import exp

from zodiac_sql import dictionary, ntriples_names
from zodiac_sql.dictionary import create_temp, temp
from zodiac_sql.errors import DataError
from zodiac_sql.facts import SQL_TYPES, fresh, scratch
from zodiac_sql.load import literals, ntriples, syntaxes
from zodiac_sql.load.lines import open_bytes
from zodiac_sql.load.ntriples import LineFile, Reading
from zodiac_sql.load.result import SHOWN, Loaded
from zodiac_sql.rules import Column, Type
from zodiac_sql.schema import Predicate, Staged, default_columns
from zodiac_sql.store import Store
