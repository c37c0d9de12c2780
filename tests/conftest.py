"""Settings for the whole suite."""

import asyncio
import inspect
import os

import pytest
from hypothesis import HealthCheck, settings

import postgres_server
from canonicall.providers import registry

settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=30
)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=3000)
settings.load_profile(os.environ.get("CANONICALL_HYPOTHESIS", "default"))


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


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a store is kept: a new file, or a new database."""
    if request.param == "sqlite":
        return str(tmp_path / "deep" / "store.db")
    return request.getfixturevalue("postgres").new_database()
