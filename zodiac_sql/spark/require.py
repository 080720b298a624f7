"""What Spark needs besides this package, and how to get it.

The extra brings pyspark, pandas and pyarrow; Java comes from the system.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from zodiac_sql.errors import EvaluationError, SparkError
from zodiac_sql.evaluate.rule_errors import NOT_EVALUATED, evaluating
from zodiac_sql.facts.spark_frames import said
from zodiac_sql.language.syntax import Rule

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTRA = "pip install 'zodiac-sql[spark]'"
_JAVA = 17
_INSTALL_JAVA = (
    "Debian and Ubuntu: apt-get install default-jre-headless; Fedora: dnf install "
    "java-latest-openjdk-headless; macOS: brew install openjdk@17. Or set JAVA_HOME to one that is "
    "there."
)
_WANTED = {"pyspark": ((4, 2), (5,)), "pandas": ((2, 2), (3,))}
"""The versions that work: from the first one, and below the second one."""


def require_packages() -> None:
    """Raise SparkError unless pyspark and pandas are installed in versions that work together."""
    for name, (least, below) in _WANTED.items():
        wanted = f"{name}>={_dotted(least)},<{_dotted(below)}"
        found = _version(name)
        if found is None:
            raise SparkError(f"zodiac_sql.spark needs {wanted}, which is not there: {EXTRA}")
        if not least <= _numbers(found)[: len(least)] or _numbers(found)[: len(below)] >= below:
            raise SparkError(f"zodiac_sql.spark needs {wanted}, and found {name} {found}: {EXTRA}")


def require_delta() -> None:
    """Raise SparkError unless the package of Delta Lake tables is there."""
    if importlib.util.find_spec("deltalake") is None:
        raise SparkError(
            "tables of Delta Lake need the package deltalake: pip install 'zodiac-sql[delta]'"
        )


def _version(name: str) -> str | None:
    """The version of a package; None if it is not there.

    The workers of a cluster have pyspark from Spark itself, where nothing tells of its version but
    the package.
    """
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        if importlib.util.find_spec(name) is None:
            return None
        return str(importlib.import_module(name).__version__)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def require_java() -> None:
    """Raise SparkError unless there is a Java version that Spark supports."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        raise SparkError(f"Spark needs Java {_JAVA} or later, and there is none. {_INSTALL_JAVA}")
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError) as error:
        raise SparkError(
            f"Spark needs Java {_JAVA} or later, and {java} does not run ({error}). {_INSTALL_JAVA}"
        ) from None
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    if found and int(found[1]) < _JAVA:
        raise SparkError(
            f"Spark needs Java {_JAVA} or later, and {java} is Java {found[1]}. {_INSTALL_JAVA}"
        )


def local_session(name: str = "zodiac_sql", **settings: str) -> SparkSession:
    """A Spark session on this machine, on all cores, whose Python workers run the same Python.

    For experiments. `settings` are Spark's, with `__` for dots: `spark__driver__memory="2g"`. If
    there is a session already, it is returned unchanged. Raises SparkError without Java.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark has no setting for this
    builder = SparkSession.builder.appName(name)
    defaults = {
        "spark.master": "local[*]",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
    }
    for key, value in {
        **defaults,
        **{k.replace("__", "."): v for k, v in settings.items()},
    }.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def explained() -> Iterator[None]:
    """Turn an error that Spark raises inside into a SparkError that users understand."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise SparkError(said(str(error))) from error


@contextmanager
def deriving(rules: Sequence[Rule]) -> Iterator[None]:
    """Turn an error about a value into one that names the rules.

    Spark's own about an integer beyond 64 bits advises a setting in which these overflow silently.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        text = str(error)
        in_duckdb = re.search(r"zodiac_sql\.[.\w]+\.(Evaluation|Pattern)Error: ", text)
        if not in_duckdb and "[ARITHMETIC_OVERFLOW]" not in text:
            raise
        told = said(text) if in_duckdb else "An integer has more than 64 bits."
        if NOT_EVALUATED in told:  # the engine that a worker has for a recursion knows the rules
            raise EvaluationError(told) from error
        with evaluating(rules):
            raise EvaluationError(told) from error


def is_local(spark: SparkSession) -> bool:
    """Whether the driver does the executors' work, too, so that both see the same files."""
    master = str(spark.conf.get("spark.master", ""))
    return master.startswith("local") and not master.startswith("local-cluster")
