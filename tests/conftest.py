"""What all tests share: how hypothesis runs, and the one place where a knowledge base is made."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, settings
from support import budget
from support.quick_spark import QUICK
from support.strategies import STRATEGIES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

# `make test` and CI run the same examples every time. To look for new ones:
#     pytest --hypothesis-profile=explore tests/random/test_against_clingo.py
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci",
    max_examples=6,
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
# `make fuzz` runs each test as often as its share of the time allows (budget.py): one run is short.
settings.register_profile("fuzz", settings.get_profile("explore"), max_examples=140)
settings.load_profile("fuzz" if budget.FUZZING else "ci")

# A shell lets what it runs in the background ignore Ctrl-C, and so would programs that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with an argument `strategy` runs for `auto` and, turn and turn about, for every third
    other strategy, and a random one for every third of all: some tests for these, and some for
    those. `make fuzz` runs random ones for all.
    """
    if "strategy" in metafunc.fixturenames:
        first = len(metafunc.function.__name__) % 3
        is_random = hasattr(metafunc.function, "hypothesis")
        some = STRATEGIES[first::3] if is_random else ("auto", *STRATEGIES[1 + first :: 3])
        metafunc.parametrize("strategy", STRATEGIES if budget.FUZZING else some)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        _require_examples(item)
    if budget.FUZZING:
        random_ones = [item for item in items if _share(item)]
        mine = random_ones[budget.PART :: budget.PARTS]
        config.hook.pytest_deselected(items=[item for item in items if item not in mine])
        items[:] = mine
        for item in items:
            _count_examples(item)
    # One of several processes: a long test at the end would leave the others idle. One of them has
    # all tests with a Spark session, because each session needs a Java of its own to warm up.
    if hasattr(config, "workerinput"):
        for item in items:
            if _needs_spark(item):
                item.add_marker(pytest.mark.xdist_group("spark"))
        items.sort(key=lambda item: (_needs_spark(item), _share(item)), reverse=True)


def pytest_collection_finish() -> None:
    """Python need not look for garbage among what stands until the end: 7 % less time."""
    gc.collect()
    gc.freeze()


def _require_examples(item: pytest.Item) -> None:
    """Refuse a random test with one example: the simplest (support/examples.py)."""
    limits = getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", None)
    if limits is not None and limits.max_examples < 2:
        raise pytest.UsageError(f"{item.nodeid} has one example, which is the simplest")


def _needs_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ())


def _share(item: pytest.Item) -> float:
    """What part of the time of `make fuzz` belongs to a test: none, if nothing in it is random."""
    mark = item.get_closest_marker("fuzz")
    if mark:
        return float(mark.kwargs.get("share", 1))
    return float(hasattr(getattr(item, "obj", None), "hypothesis"))


def _count_examples(item: pytest.Item) -> None:
    """Each example of hypothesis counts for what the test's file is about."""
    test = item.obj  # type: ignore[attr-defined]
    if not hasattr(test, "hypothesis") or hasattr(test, "counted"):
        return
    inner, test.counted = test.hypothesis.inner_test, True

    @wraps(inner)
    def counted(*args: Any, **kwargs: Any) -> None:
        budget.tried(f"examples of {item.path.stem}")
        inner(*args, **kwargs)

    test.hypothesis.inner_test = counted


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Under `make fuzz`, run a test until its share of the time is up, or it fails."""
    if not budget.FUZZING:
        return None
    left = item.session.items[item.session.items.index(item) :]
    end = monotonic() + budget.share([_share(one) for one in left])
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    while True:
        item._initrequest()  # type: ignore[attr-defined]  # fixtures anew
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        budget.tried("runs of tests")
        budget.write_tally()
        if monotonic() >= end or not all(report.passed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


TOGETHER = {
    **dict.fromkeys(("test_examples", "test_numbers", "test_readme"), "spark"),
    **{file: file for file in ("test_module_verify", "test_old_files", "test_wheel", "test_wide")},
}
"""Files that one process runs, and what they are called: those that need Spark's session, too,
those that make something for all their tests, and one that takes long."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where two processes share the tests, what is set up once for several is set up in one only.

    Spark's session takes long to start. Larger groups run first, so that none is left for the end.
    (xdist's own marks of groups have no effect with pytest 9.2: it keeps the names of tests
    elsewhere.)
    """
    from xdist.scheduler import LoadGroupScheduling

    class Together(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = Path(nodeid.partition("::")[0]).stem
            return "spark" if file.startswith("test_spark_") else TOGETHER.get(file, nodeid)

    return Together(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture(scope="session")
def strategies() -> tuple[str, ...]:
    """All strategies, for tests that compare them, or choose one."""
    return STRATEGIES


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new file in which nothing is yet."""
    import zodiac_sql

    file = tmp_path_factory.mktemp("empty").resolve() / "empty.duckdb"
    zodiac_sql.connect(file, threads=1).close()
    return file


def copy_of(file: Path, path: Path) -> None:
    """Copy a file that this process has closed, and let the copy be known as one, too.

    Else it is looked through when it is opened, which takes half of the time (as_left.py).
    """
    import zodiac_sql
    from zodiac_sql.database.as_left import as_left, identity_of, note_left

    shutil.copyfile(file, path)
    left = as_left(file)
    if left is None:  # others have been closed since, a thousand
        zodiac_sql.connect(file, threads=1).close()
        left = as_left(file)
    assert left is not None
    for each in (file, path.resolve()):
        note_left(each, identity_of(each), left.macros)


@pytest.fixture(scope="session")
def open_kb(empty_file: Path) -> OpenKb:
    """Opens a knowledge base: `open_kb()` in memory, `open_kb(path)` on a file.

    Tests call zodiac_sql.connect themselves only where it is about how a file is made or opened, so
    that there is one place to say how. To make a file takes a tenth of the time of a usual test:
    one called case.duckdb or the like is a copy of the empty one.
    """
    import zodiac_sql  # here, so that the oracle's own tests need no library

    def open_it(
        path: str | Path = ":memory:",
        strategy: str = "auto",
        external_access: bool = False,
        **limits: Any,
    ) -> KnowledgeBase:
        if _would_be_made(Path(path)):
            copy_of(empty_file, Path(path))
        # Two processes share two cores: threads of DuckDB's own would take a quarter more time.
        return zodiac_sql.connect(
            path, strategy=strategy, threads=1, external_access=external_access, **limits
        )

    return open_it


def _would_be_made(path: Path) -> bool:
    """Whether opening this makes a file, and nothing about its name or its place is odd."""
    plain = path.suffix == ".duckdb" and path.stem.isidentifier() and path.parent.is_dir()
    named_as_a_schema = path.stem.lower() in ("zodiac", "edb", "idb", "hd")
    log = path.with_name(f"{path.name}.wal")
    return plain and not (named_as_a_schema or os.path.lexists(path) or os.path.lexists(log))


@pytest.fixture(scope="session")
def java() -> None:
    """Java for Spark. `make test` installs it where it can; elsewhere tests that need it are
    skipped.
    """
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
            spark__driver__maxResultSize="8m",
            # Plans are not made anew while they run. `make fuzz` has these, as users do.
            spark__sql__adaptive__enabled=str(budget.FUZZING).lower(),
            spark__sql__warehouse__dir=str(tmp_path_factory.mktemp("warehouse")),
            **QUICK,
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
