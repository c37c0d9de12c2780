"""Settings for the whole suite."""

import asyncio
import gc
import inspect
import os
import signal
import warnings
from collections.abc import Iterator
from itertools import chain

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

import batches
import components
import loopback
import postgres_server
from canonicall.facts import registry

settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=30,
    # The verdict of CI is about the commit: the same examples each time. Elsewhere they are new.
    derandomize=components.IN_CI,
)
settings.load_profile("default")
IS_DEEP = os.environ.get("CANONICALL_HYPOTHESIS") == "deep"
OPEN_BEFORE = pytest.StashKey[int]()
DEEPER = 10
"""As many times the examples are generated where the tests are run deep."""


def pytest_configure() -> None:
    """Shells start background jobs with Ctrl-C ignored; programs that tests start obey it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--case", default="", metavar="TEXT", help="of batches, only the cases named so"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With CANONICALL_HYPOTHESIS=deep, laws are deep tests, and have more examples."""
    generated = [one for one in items if IS_DEEP and is_hypothesis_test(getattr(one, "obj", None))]
    for item in generated:
        item.add_marker("deep")
    for test in {item.obj for item in generated}:
        own = test._hypothesis_internal_use_settings
        more = settings(own, max_examples=own.max_examples * DEEPER)
        test._hypothesis_internal_use_settings = more


def pytest_collection_finish() -> None:
    """What is loaded by now stays: the collector of garbage need not look at it again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    run = (terminalreporter.stats.get(outcome, ()) for outcome in ("passed", "failed", "xfailed"))
    for line in batches.summary(one for one in chain(*run) if one.when == "call"):
        terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    item.stash[OPEN_BEFORE] = loopback.open_files()
    for mark in item.iter_markers("needs"):
        components.component(*mark.args)
    yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """What a test leaves open fails this test; the collector of garbage would find it in another."""
    yield
    if loopback.open_files() <= item.stash[OPEN_BEFORE]:
        return
    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always", ResourceWarning)
        gc.collect()
    if left:
        pytest.fail("left open: " + "; ".join(str(one.message) for one in left), pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, each in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.fixture(autouse=True)
def providers_as_they_were():
    """What a test registers is gone behind it: others look at all providers."""
    before = set(registry._registered)
    yield
    for name in set(registry._registered) - before:
        registry.unregister_provider(name)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server."""
    with postgres_server.running() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.deep)])
def place(request, tmp_path):
    """Where a store is kept: a new file, or a new database."""
    if request.param == "sqlite":
        return str(tmp_path / "deep" / "store.db")
    return request.getfixturevalue("postgres").new_database()
