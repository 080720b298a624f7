"""Look for new failures with all random tests: `make fuzz`, or

    python -m tests.fuzz --minutes 10 --processes 2 [what pytest understands, as -k texts]

Each process runs a part of the tests (see budget.py) and writes its output into a file under
build/fuzz. At the end this says what was tried and what was found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "build" / "fuzz"
NOTHING_TO_RUN = 5


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--processes", type=int, default=2)
    options, others = parser.parse_known_args(arguments)
    PLACE.mkdir(parents=True, exist_ok=True)
    parts = [_Part(number, options.processes) for number in range(options.processes)]
    print(f"{options.minutes:g} minutes; the output is in {PLACE.relative_to(ROOT)}", flush=True)
    running = [part.start(options.minutes, others) for part in parts]
    codes = [process.wait() for process in running]
    print(_said(parts, codes))
    return int(any(code not in (0, NOTHING_TO_RUN) for code in codes))


class _Part:
    def __init__(self, number: int, parts: int) -> None:
        self.name = f"{number}/{parts}"
        self.output = PLACE / f"part{number}.txt"
        self.tally = PLACE / f"part{number}.json"

    def start(self, minutes: float, others: list[str]) -> subprocess.Popen[bytes]:
        self.tally.write_text("{}")
        told = {
            "ZODIAC_FUZZ_MINUTES": str(minutes),
            "ZODIAC_FUZZ_PART": self.name,
            "ZODIAC_FUZZ_TALLY": str(self.tally),
        }
        command = [sys.executable, "-m", "pytest", "-v", "--tb=short", *others]
        with self.output.open("wb") as output:
            return subprocess.Popen(
                command, cwd=ROOT, env=os.environ | told, stdout=output, stderr=subprocess.STDOUT
            )


def _said(parts: list[_Part], codes: list[int]) -> str:
    tally: Counter[str] = Counter()
    found = []
    for part, code in zip(parts, codes, strict=True):
        tally.update(json.loads(part.tally.read_text()))
        output = part.output.read_text(errors="replace")
        failed = re.findall("^(?:FAILED|ERROR) .*", output, re.MULTILINE)
        if code not in (0, 1, NOTHING_TO_RUN):
            failed.append(f"pytest ended with {code}: see {part.output.relative_to(ROOT)}")
        found += failed
    tried = [f"{number:12,} {what}" for what, number in sorted(tally.items())]
    return "\n".join(["Tried:", *tried, "Found:", *(found or ["     nothing"])])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
