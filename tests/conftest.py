"""What all tests share: how hypothesis runs, and the one place where a knowledge base is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

# `make test` and CI run the same examples every time. To look for new ones:
#     pytest --hypothesis-profile=explore tests/test_against_clingo.py
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci",
    max_examples=140,
    derandomize=True,
    deadline=None,
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "explore",
    max_examples=1820,
    deadline=None,
    suppress_health_check=SLOW_IS_FINE,
    print_blob=True,
)
# To see a failure at once, unshrunk: --hypothesis-profile=first
settings.register_profile(
    "first",
    settings.get_profile("ci"),
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("ci")


STRATEGIES = ("auto", "support", "bf", "dred", "recompute")
"""How a hypernode may be told to react to a change of its inputs."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with an argument `strategy` runs once for each strategy."""
    if "strategy" in metafunc.fixturenames:
        metafunc.parametrize("strategy", STRATEGIES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where two processes share the tests, those that need Spark's session stay together, in two
    groups of about the same time: a session takes long to start."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            group = "cases" if "quick" in item.fixturenames else "spark"  # type: ignore[attr-defined]
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def strategies() -> tuple[str, ...]:
    """All strategies, for tests that compare them, or choose one."""
    return STRATEGIES


@pytest.fixture(scope="session")
def open_kb() -> OpenKb:
    """Opens a knowledge base: `open_kb()` in memory, `open_kb(path)` on a file.

    Tests never call zodiac_sql.connect themselves, so that there is one place to say how.
    """
    import zodiac_sql  # here, so that the oracle's own tests need no library

    def open_it(path: str | Path = ":memory:", strategy: str = "auto") -> KnowledgeBase:
        # Two processes share two cores: threads of DuckDB's own would take a quarter more time.
        return zodiac_sql.connect(path, strategy=strategy, threads=1)

    return open_it


@pytest.fixture(scope="session")
def java() -> None:
    """Java for Spark. `make test` installs it where it can; elsewhere tests that need it are skipped."""
    from zodiac_sql.errors import SparkError
    from zodiac_sql.spark.require import require_java

    try:
        require_java()
    except SparkError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def spark(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A real Spark session on two cores, one for all tests."""
    import warnings

    from zodiac_sql.spark import local_session

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # sockets of py4j
        session = local_session(
            spark__master="local[2]",
            spark__sql__shuffle__partitions="2",
            spark__driver__maxResultSize="8m",
            # The tests compile many small queries: without the optimizing compiler, that is faster.
            spark__driver__extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            spark__sql__warehouse__dir=str(tmp_path_factory.mktemp("warehouse")),
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
