"""Simulated providers on a port of this machine, for the official clients to talk to."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from canonicall.testing.script import ScriptedModel
from canonicall.testing.server import serve
from canonicall.testing.simulator import Simulator


class Simulated(NamedTuple):
    """Where a simulated provider is, and the simulator itself."""

    url: str
    simulator: Simulator

    @property
    def statuses(self) -> list[int]:
        """How the requests for replies were answered."""
        return [one.status for one in self.simulator.seen]


@pytest.fixture(scope="session")
def port() -> Iterator[tuple[str, dict[str, Simulator]]]:
    """One server for all tests: what is put into its table is served under its name."""
    table: dict[str, Simulator] = {}
    with serve(table) as server:
        yield server.url, table


@pytest.fixture
def simulate(port) -> Callable[..., Simulated]:
    """Starts a simulated provider of its own for the test."""
    url, table = port

    def start(provider: str, *, script: Any = None, **options: Any) -> Simulated:
        if script is not None:
            options["model"] = ScriptedModel(script)
        name = f"{provider}-{len(table)}"
        table[name] = Simulator(provider, **{"call_tools": "*", **options})
        return Simulated(f"{url}/{name}", table[name])

    return start
