"""What errors and notes advise, as the command line says it.

Messages are written where the fault is found, for programs in Python. Where the command line has an
option or a command for the same, or nothing like it, it says so instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Said = str | Callable[[re.Match[str]], str]

_ONLY_IN_PYTHON = "Only a program in Python can register it: "


def _option(said: str) -> Callable[[re.Match[str]], str]:
    """What is said, with the option whose name in Python was found."""
    return lambda found: said % ("--" + found[1].replace("_", "-"))


def _options(found: re.Match[str]) -> str:
    """Names of options in Python, "header and null_string", as those of the command line."""
    names = found[0].replace("header", "no_header").replace("_", "-").split(" and ")
    return " and ".join(f"--{name}" for name in names)


_IN_SHELL: tuple[tuple[str, Said], ...] = (
    (
        r"or open it with read_only=True in all of them",
        "or run only commands that read, such as query, why and export",
    ),
    (r"Register it first: (?=kb\.register_)", _ONLY_IN_PYTHON),
    (r"Register it with (?=kb\.register_)", f"{_ONLY_IN_PYTHON}with "),
    (
        r" connect\(external_access=True\) allows it",
        " In Python, connect(external_access=True) allows it",
    ),
    (r'kb\.alter\("(.+?)", \{"(.+?)": "(\w+)"\}\)', r"zodiac alter DB \1 \2=\3"),
    (r"With check=False \(--no-check\)", "With --no-check"),
    (r"\bask why_not\b", "ask why-not"),
    (r"\bor why_not$", "or why-not"),
    (r"\bsee keep_feed$", "see zodiac keep-feed"),
    (r"; skip_bad (leaves|loads)\b", r"; --skip-bad \1"),
    (r"^skip_bad works\b", "--skip-bad works"),
    (r"\((max_rows|max_iterations|timeout)\)\.", _option(r"(%s).")),
    (r"\bA larger (max_rows|max_iterations|timeout) allows", _option("A larger %s allows")),
    (r"\bit needs a larger (max_rows|max_iterations)\.$", _option("it needs a larger %s.")),
    (r"(?<=is no CSV: )[a-z_ ]+(?= (?:is|are) for CSV)", _options),
    (r'\b(encoding|decimal|thousands|comment|delimiter|skip)=("[^"\n]*"|[0-9]+)', r"--\1 \2"),
    (r"\(memory_limit\)", "(zodiac run --memory-limit)"),
    (r"\(temp_directory\)", "(zodiac run --temp-directory)"),
    (r"In Python kb\.keep_feed\(\[\"anomaly\"\]\), in a shell: ", ""),
    (r"say which with keep_feed, and", "say which with keep-feed, and"),
)
"""Patterns of what is said for Python, and what is said instead."""


def in_shell(text: str) -> str:
    """A message of an error, with the advice that the command line can give."""
    for pattern, said in _IN_SHELL:
        text = re.sub(pattern, said, text, flags=re.MULTILINE)
    return text
