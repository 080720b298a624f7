"""Random graphs and random SPARQL queries of the fragment that is supported."""

from __future__ import annotations

import random
from collections.abc import Collection

PREFIXES = (
    "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
)

_NODES = [":a", ":b", ":c", ":d", ":e"]
_LINKS = [":p", ":q", ":r"]
_CLASSES = [":C", ":D"]
_MIXED = [
    '"x"',
    '"y"',
    '"x"@en',
    '"x"@de',
    "1",
    "2",
    "2.5",
    '"2.5"^^xsd:float',
    "true",
    '"z"^^:odd',
    '"w"^^:odd',
    ":a",
    '""',
]
PASSED_ON = ":v"
"""A property whose values are terms, to which rules copy those of others."""

_VALUES = {
    ":n": ["1", "2", "3", "-4"],
    ":d": ["0.5", "1.0", "2.0", "2.5"],
    ":k": ['"1.0"^^xsd:double', '"2.5"^^xsd:double', '"-0.5"^^xsd:double'],
    ":s": ['"x"', '"y"', '"xy"', '""'],
    ":l": ['"x"@en', '"x"@de', '"y"@en'],
    ":b1": ["true", "false"],
    ":t": ['"2020-01-01"^^xsd:date', '"2021-05-06"^^xsd:date'],
    ":u": ['"2020-01-01T00:00:00"^^xsd:dateTime', '"2021-05-06T01:02:03"^^xsd:dateTime'],
    ":z": [
        '"2019-12-31T23:30:00-08:00"^^xsd:dateTime',
        '"2023-05-06T01:02:03.5-08:00"^^xsd:dateTime',
    ],
    ":o": [
        '"2022-01-01T02:00:00+05:45"^^xsd:dateTime',
        '"2018-05-06T01:02:03+05:45"^^xsd:dateTime',
    ],
    ":m": _MIXED,
    PASSED_ON: ["1", '"x"', '"2.5"^^xsd:float', '"2020-01-01"^^xsd:date'],
    ":w": [
        '"2019-12-01T23:30:00"^^xsd:dateTime',
        '"2020-01-01T00:00:00Z"^^xsd:dateTime',
        '"2020-01-03T10:00:00"^^xsd:dateTime',
        '"2021-05-06T23:30:00-08:00"^^xsd:dateTime',
        '"2020-01-01"^^xsd:date',
        '"2"',
        '"1e1"',
        '"true"',
        '"-7"',
    ],
}
"""Local moments and those in time zones are more than 14 hours apart: else pyoxigraph decides what
the recommendation leaves open."""

_SPELLINGS = {
    ":n": ["01", "+2", '"003"^^xsd:integer', "-4"],
    ":d": [".5", "1.00", "+2.50", '"02.0"^^xsd:decimal'],
    ":k": ["1e0", "25e-1", "-.5E+0", "0.1e1"],
    ":b1": ['"1"^^xsd:boolean', '"0"^^xsd:boolean'],
    ":z": ['"2023-05-06T01:02:03.50-08:00"^^xsd:dateTime'],
}
"""Constants that native columns have in another spelling."""

_NUMERALS = ["1", "01", "+2", "2.5", "2.50", "1.0e0", "25E-1", "-.5"]
_CASTS = ["xsd:integer", "xsd:decimal", "xsd:double", "xsd:boolean", "xsd:string"]
_PARTS = ["year", "month", "day", "hours", "minutes", "seconds"]
_VARIABLES = ["?x", "?y", "?z", "?v", "?w"]


def random_graph(rng: random.Random) -> str:
    """Triples in Turtle."""
    lines = []
    for _ in range(rng.randint(3, 20)):
        lines.append(f"{rng.choice(_NODES)} {rng.choice(_LINKS)} {rng.choice(_NODES)} .")
    for _ in range(rng.randint(0, 8)):
        lines.append(f"{rng.choice(_NODES)} a {rng.choice(_CLASSES)} .")
    for _ in range(rng.randint(0, 16)):
        property_ = rng.choice(list(_VALUES))
        lines.append(f"{rng.choice(_NODES)} {property_} {rng.choice(_VALUES[property_])} .")
    if any(" :w " in line for line in lines):
        lines.append(':a :w "no moment" .')  # so it is a column of texts, which keeps time zones
    prefixes = "@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
    return prefixes + "\n".join(dict.fromkeys(lines))


def mixed_columns(rng: random.Random) -> list[str]:
    """Some properties, whose values are to be terms of all kinds, and not native."""
    return [name for name in _VALUES if name == PASSED_ON or rng.random() < 0.4]


def passed_on(rng: random.Random, graph: str) -> tuple[str, str]:
    """Rules that copy the values of some properties to one, and the triples that they derive."""
    copied = [name for name in _VALUES if name != PASSED_ON and rng.random() < 0.3]
    rules = [f"<http://e/{PASSED_ON[1:]}>(X, V) :- <http://e/{name[1:]}>(X, V)." for name in copied]
    triples = [
        line.replace(f" {name} ", f" {PASSED_ON} ", 1)
        for line in graph.splitlines()
        for name in copied
        if line.split(" ")[1] == name
    ]
    return "\n".join(rules), "\n".join(triples)


def declared(mixed: list[str]) -> str:
    """Declarations of these."""
    return "\n".join(f".decl <http://e/{name[1:]}>(s: symbol, o: any)." for name in mixed)


class RandomQuery:
    """Draws one query. Where SPARQL leaves the answer open, it is not drawn."""

    def __init__(self, rng: random.Random, mixed: Collection[str] = ()) -> None:
        self.rng = rng
        self.mixed = mixed
        """Properties whose values are terms: 1 and 01 are two, for us and in the recommendation."""
        self.alternatives = False
        """Whether paths have `|`: SPARQL then counts each way, and pyoxigraph does not."""

    def pair(self) -> tuple[str, str]:
        """A query whose answer is a bag, and one with the same answer that pyoxigraph takes.

        It takes no name of an aggregate in the SELECT that gives the name.
        """
        if self.rng.random() < 0.8:
            query = self.text()
            return query, query
        group = self.group(self.rng.randint(0, 2))
        what = self.rng.choice(["COUNT(*)", "COUNT(?x)", "COUNT(DISTINCT ?y)"])
        used = self.rng.choice(["(# * 2)", "(# + #)", "xsd:string(#)", "if(# > 1, #, -1)"])
        key = self.rng.choice(["?x", "?y", f"({self.expression(1)} AS ?k)"])
        shown = key.removesuffix(")").rpartition(" ")[2]
        head = f"{PREFIXES}SELECT {shown} ({what} AS ?g)"
        queries = [
            f"{head} ({used.replace('#', name)} AS ?h) WHERE {group} GROUP BY {key}"
            for name in ("?g", what)
        ]
        return queries[0], queries[1]

    def ordered(self) -> tuple[str, bool]:
        """A query that asks for the order of ?v, and whether it comes down."""
        down = self.rng.random() < 0.5
        group = self.group(self.rng.randint(0, 1)).removesuffix("}")
        property_ = self.rng.choice([*_VALUES, "?q"])
        query = f"SELECT ?v WHERE {group} OPTIONAL {{ ?x {property_} ?v }} }} ORDER BY "
        return PREFIXES + query + ("DESC(?v)" if down else "?v"), down

    def text(self) -> str:
        """A query whose answer is a bag, and the same for us and for pyoxigraph."""
        kind = self.rng.random()
        distinct = self.rng.choice(["", "", "DISTINCT "])
        self.alternatives = kind < 0.1 or (kind >= 0.25 and distinct != "")
        group = self.group(self.rng.randint(1, 3))
        if kind < 0.1:
            return f"{PREFIXES}ASK {group}"
        if kind < 0.25:
            key = self.rng.choice(_VARIABLES)
            other = self.rng.choice(_VARIABLES)
            what = self.rng.choice(["COUNT(*)", f"COUNT({other})", f"COUNT(DISTINCT {other})"])
            having = self.rng.choice(["", "", " HAVING(COUNT(*) > 1)"])
            grouped = self.rng.choice(
                [
                    f"SELECT {key} ({what} AS ?g) WHERE {group} GROUP BY {key}{having}",
                    f"SELECT ({what} AS ?g) WHERE {group}",
                    f"SELECT ({what} AS ?g) WHERE {group} GROUP BY ({self.expression(1)})",
                    f"SELECT ?k ({what} AS ?g) WHERE {group} GROUP BY ({self.expression(1)} AS ?k)",
                ]
            )
            return PREFIXES + grouped
        new = f"?x ({self.expression(1)} AS ?new)"
        again = f"({self.expression(1)} AS ?new) (coalesce(?new, 1) AS ?again)"
        what = self.rng.choice(["*", "*", "?x ?y", "?v ?x", new, again])
        return f"{PREFIXES}SELECT {distinct}{what} WHERE {group}"

    def group(self, depth: int) -> str:
        """A group graph pattern."""
        parts = [self.triples()] if self.rng.random() < 0.9 else []
        for _ in range(self.rng.randint(0, 2) if depth else 0):
            parts.append(self.part(depth - 1))
        if self.rng.random() < 0.5:
            parts.append(f"FILTER({self.expression(2, depth)})")
        return "{ " + " ".join(parts) + " }"

    def part(self, depth: int) -> str:
        kind = self.rng.random()
        if kind < 0.3:
            return f"OPTIONAL {self.group(depth)}"
        if kind < 0.5:
            return f"{self.group(depth)} UNION {self.group(depth)}"
        if kind < 0.6:
            return f"MINUS {self.group(depth)}"
        if kind < 0.7:
            return f"FILTER {self.rng.choice(['', 'NOT '])}EXISTS {self.group(depth)}"
        if kind < 0.8:
            return f"BIND({self.expression(2)} AS ?bound{self.rng.randint(1, 99999)})"
        if kind < 0.9:
            rows = " ".join(f"({self.term()} {self.term()})" for _ in range(self.rng.randint(0, 3)))
            one, other = self.rng.sample(_VARIABLES, 2)
            return f"VALUES ({one} {other}) {{ {rows} }}"
        return self.triples() if kind < 0.96 else self.group(depth)

    def term(self) -> str:
        plain = [*_NODES, "1", '"x"', "UNDEF", "2.5", '"x"@en', ":nowhere"]
        return self.rng.choice([*plain, "2.50", "-4", "1e0"])

    def triples(self) -> str:
        return " ".join(self.triple() for _ in range(self.rng.randint(1, 3)))

    def triple(self) -> str:
        rng = self.rng
        subject = rng.choice([*_VARIABLES, *_VARIABLES, *_NODES[:2]])
        kind = rng.random()
        if kind < 0.15:
            return f"{subject} a {rng.choice([*_CLASSES, '?c'])} ."
        if kind < 0.3:
            property_ = rng.choice(list(_VALUES))
            others = () if property_ in self.mixed else _SPELLINGS.get(property_, ())
            known = [*_VALUES[property_], *others]
            value = rng.choice([*_VARIABLES, *_VARIABLES, rng.choice(known)])
            return f"{subject} {property_} {value} ."
        object_ = rng.choice([*_VARIABLES, *_VARIABLES, *_NODES[:2]])
        if kind < 0.4:
            return f"{subject} {rng.choice(['?p', '?p', '?x'])} {object_} ."
        if kind < 0.6:
            return f"{subject} {self.path(2)} {object_} ."
        return f"{subject} {rng.choice(_LINKS)} {object_} ."

    def path(self, depth: int) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*_LINKS, ":m", "a"])
        kind = rng.random()
        if kind < 0.25:
            return f"({self.path(depth - 1)}/{self.path(depth - 1)})"
        if kind < 0.45 and self.alternatives:
            return f"({self.path(depth - 1)}|{self.path(depth - 1)})"
        if kind < 0.6:
            return f"^({self.path(depth - 1)})"
        if kind < 0.7:
            return rng.choice(["!:p", "!(:p|:q)", "!(a|:m)"])
        return f"({self.path(depth - 1)}){rng.choice('*+?')}"

    def ordering(self) -> str:
        """A comparison by order; not of booleans, which pyoxigraph does not order."""
        variable, operator = self.rng.choice(_VARIABLES), self.rng.choice(["<", "<=", ">", ">="])
        second = self.rng.choice(
            [
                *_NUMERALS,
                '"x"',
                f"({self.rng.choice(_VARIABLES)} + 0)",
                '"2020-01-20T00:00:00"^^xsd:dateTime',
                '"2020-01-20T00:00:00-08:00"^^xsd:dateTime',
                '"2020-02-01"^^xsd:date',
            ]
        )
        return f"({variable} {operator} {second})"

    def expression(self, depth: int, nested: int = 0) -> str:
        """An expression with a boolean or another value."""
        rng = self.rng
        if depth == 0:
            return rng.choice([*_VARIABLES, *_VARIABLES, "1", "2.5", '"x"', "true", ":a", '"x"@en'])
        one = self.expression(depth - 1)
        other = self.expression(depth - 1)
        kinds = [
            lambda: f"({one} {rng.choice(['=', '!='])} {other})",
            self.ordering,
            lambda: f"({one} && {other})",
            lambda: f"({one} || {other})",
            lambda: f"(!{one})",
            lambda: f"bound({rng.choice(_VARIABLES)})",
            lambda: f"({one} {rng.choice('+-*')} {other})",
            lambda: f"({one} {rng.choice(['IN', 'NOT IN'])} ({other}, {self.expression(0)}))",
            lambda: f"{rng.choice(['isIRI', 'isLiteral', 'isBlank', 'isNumeric'])}({one})",
            lambda: f"({rng.choice(['str', 'lang', 'datatype'])}({one}) = {other})",
            lambda: f'regex({rng.choice(["str(" + one + ")", one])}, "x")',
            lambda: f"sameTerm({one}, {other})",
            lambda: f"{rng.choice(_CASTS)}({one})",
            lambda: f"{rng.choice(_PARTS)}({one})",
            lambda: f"({one} {rng.choice('+-*')} {rng.choice(_NUMERALS)})",
            lambda: f"if({one}, {other}, {self.expression(0)})",
            lambda: f"coalesce({one}, {other})",
            lambda: f"{rng.choice(['strstarts', 'contains', 'strends'])}({one}, {other})",
            lambda: (
                f"{rng.choice(['ucase', 'lcase', 'strlen', 'abs', 'floor', 'str', 'lang'])}({one})"
            ),
        ]
        kinds += [
            lambda: f"{rng.choice(['strbefore', 'strafter', 'strlang'])}({one}, {other})",
            lambda: f"strdt({one}, {rng.choice(['xsd:integer', 'xsd:date', ':odd', other])})",
            lambda: f"{rng.choice(['tz', 'timezone', 'md5', 'sha256', 'encode_for_uri'])}({one})",
            lambda: f"{rng.choice(['iri', 'xsd:dateTime'])}({one})",
        ]
        if nested:
            kinds.append(lambda: f"{rng.choice(['', 'NOT '])}EXISTS {self.group(nested - 1)}")
        return rng.choice(kinds)()
