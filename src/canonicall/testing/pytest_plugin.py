"""The pytest fixture `simulator`: providers for the length of one test.

def test_my_agent(simulator):
    server = simulator("anthropic", script=[says(call("weather", city="Paris")), "Sunny."])
    run_my_agent(base_url=server.url)
    assert [one.status for one in server.simulators.seen] == [200, 200]

Without a script the built-in model answers, and calls the tools that the user's message is about.
`call_tools=()` makes it call none.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from canonicall.testing.script import Step
    from canonicall.testing.server import serve


@pytest.fixture
def simulator() -> "Iterator[Callable[..., serve]]":
    """Starts simulated providers; all of them are stopped after the test."""
    from canonicall.testing.script import ScriptedModel  # noqa: PLC0415  only where it is used
    from canonicall.testing.server import serve  # noqa: PLC0415
    from canonicall.testing.simulator import Simulator  # noqa: PLC0415
    from canonicall.testing.small_model import ALL_TOOLS  # noqa: PLC0415

    running: list[serve] = []

    def start(
        provider: str = "openai", *, script: "Iterable[Step] | None" = None, **options: Any
    ) -> serve:
        if script is not None:
            options["model"] = ScriptedModel(script)
        options.setdefault("call_tools", ALL_TOOLS)
        running.append(serve(Simulator(provider, **options)).start())
        return running[-1]

    yield start
    for server in running:
        server.stop()
