"""Texts of rules whose tokens stand in all kinds of space, with comments between them."""

from __future__ import annotations

from random import Random

from generators.odd_texts import TOKEN

SPACES = [
    " ", " ", "  ", "\t", "\n", "\n\n\n", "\r\n", " \n    ", "\f", " // why, p(X)\n",
    "\n% 50 % of\n",
    "\n# all: \r\n", " /* one */ ", "\n/* two\n   lines */\n", " // a\n // b\n\n // c\n",
    " /**/ % 3\n",
    "\n  % first\n\n  % second\n", " % at the end  \n",
]  # fmt: skip


def spaced(rng: Random, text: str) -> str:
    """A text in which other space stands where there was some, and in some more places."""
    found = []
    for token in TOKEN.findall(text):
        if token.isspace():
            found.append(rng.choice(SPACES) if rng.random() < 0.5 else token)
        elif token in "(),;." and rng.random() < 0.1:
            found.append(token + rng.choice(SPACES))
        else:
            found.append(token)
    return "".join(found)
