"""Lines of N-Triples with odd labels, IRIs, language tags, directions and datatypes."""

from __future__ import annotations

from random import Random

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"

_SUBTAGS = [
    "en", "de", "e", "x", "X", "i", "US", "us", "Latn", "419", "1996", "1abc", "variant", "a", "u",
    "ab", "abcdefgh", "abcdefghi", "klingon", "", "GB", "oed", "ext", "zh", "min", "nan", "sgn",
    "BE", "FR", "art", "lojban", "0", "12", "hakka", "default",
]  # fmt: skip
_DIRECTIONS = ["", "", "", "--ltr", "--rtl", "--unk", "--LTR", "--ltr-x"]
_LABEL = ["a", "b1", "_", ":", ".", "-", "é", "·", "x", "Z9", "\u203f", "\u0300", "\u2190", "𝒳"]
_IRIS = [
    "<http://e/a>", "<http://e/é>", "<a:b>", "<urn:x>", "<http://e/\\u00e9>", "<x>", "<>", "<1:b>",
    "<http://e/a b>", "<_:c>",
]  # fmt: skip
_DATATYPES = [
    f"{_RDF}langString", f"{_RDF}dirLangString", f"{_RDF}lang\\u0053tring", f"{_RDF}langstring",
    f"{_XSD}string", f"{_XSD}int", "http://e/#langString",
]  # fmt: skip
_TEXTS = ["x", "", '\\"', "\\u0041", "\\t", "a\tb", f"^^<{_RDF}langString>", "\\x", "\\uD800"]


def odd_triple(rng: Random) -> str:
    """A line that may be a triple."""
    last = _literal(rng) if rng.random() < 0.75 else _node(rng)
    return f"{_node(rng)} {rng.choice(_IRIS)} {last} ."


def _node(rng: Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(_IRIS)
    return "_:" + "".join(rng.choice(_LABEL) for _ in range(rng.choice((1, 1, 2, 3, 4))))


def _literal(rng: Random) -> str:
    text, kind = f'"{rng.choice(_TEXTS)}"', rng.random()
    if kind < 0.6:
        tags = [rng.choice(_SUBTAGS) for _ in range(rng.choice((1, 1, 2, 2, 3, 4)))]
        return f"{text}@{'-'.join(tags)}{rng.choice(_DIRECTIONS)}"
    return f"{text}^^<{rng.choice(_DATATYPES)}>" if kind < 0.8 else text
