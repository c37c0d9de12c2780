"""The five counters, read by operators in every form there is."""

import json
import subprocess
import sys

import pytest

from canonicall.agent.counters import Tally
from canonicall.agent.limits import RunLimits
from canonicall.runtime.agent import Agent
from canonicall.runtime.model import LocalModel
from canonicall.telemetry.counters import HELP, counters_json, counters_text, export_counters
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool


@tool
async def weather(city: str) -> str:
    """The weather."""
    return f"sunny in {city}"


@pytest.fixture
def tally():
    """Two agents that count together: a good call, a bad one, one too many."""
    tally = Tally()
    for target in ("openai", "gemini"):
        steps = says(call("weather", city="Rome")), says(call("weather")), "Done."
        model = LocalModel(ScriptedModel(steps))
        agent = Agent(model, target, tools=[weather], tally=tally, limits=RunLimits(turns=2))
        agent.ask_sync("Go.")
    return tally


COUNTED = {
    "tool_calls_total": 2,
    "tool_calls_invalid_args": 1,
    "tool_calls_repaired": 0,
    "tool_api_400_total": 0,
    "tool_loop_max_iterations": 1,
}


def test_as_json(tally):
    assert json.loads(counters_json(tally)) == {"gemini": COUNTED, "openai": COUNTED}


def test_as_text(tally):
    lines = counters_text(tally).splitlines()
    for name, count in COUNTED.items():
        at = lines.index(f"# TYPE {name} counter")
        assert lines[at - 1] == f"# HELP {name} {HELP[name]}"
        assert lines[at + 1 : at + 3] == [
            f'{name}{{provider="gemini"}} {count}',
            f'{name}{{provider="openai"}} {count}',
        ]


def test_a_name_cannot_break_out_of_its_line():
    tally = Tally()
    tally.add('a"b\\c\nd', "tool_calls_total")
    assert 'tool_calls_total{provider="a\\"b\\\\c\\nd"} 1\n' in counters_text(tally)


def test_as_metrics_that_are_read_when_they_are_collected(tally):
    metrics = pytest.importorskip("opentelemetry.sdk.metrics")
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    reader = export.InMemoryMetricReader()
    provider = metrics.MeterProvider([reader])
    assert export_counters(tally, provider.get_meter("test"))
    tally.add("openai", "tool_calls_total")
    (resource,) = reader.get_metrics_data().resource_metrics
    (scope,) = resource.scope_metrics
    found = {
        metric.name: {
            point.attributes["gen_ai.provider.name"]: point.value
            for point in metric.data.data_points
        }
        for metric in scope.metrics
    }
    expected = {name: {"openai": count, "gcp.gemini": count} for name, count in COUNTED.items()}
    expected["tool_calls_total"]["openai"] += 1
    assert found == expected
    provider.shutdown()


WITHOUT = """
import sys
from canonicall.runtime.agent import Agent
from canonicall.runtime.model import LocalModel
from canonicall.testing.script import ScriptedModel
assert "Hi." in Agent(LocalModel(ScriptedModel(["Hi."])), "openai").ask_sync("Hello?")
print(any(name.startswith("opentelemetry") for name in sys.modules))
sys.modules["opentelemetry"] = None
from canonicall.agent.counters import Tally
from canonicall.telemetry.counters import export_counters
from canonicall.telemetry.observing import genai_observer
observer = genai_observer(agent="a", content=True)
agent = Agent(LocalModel(ScriptedModel(["Hi."])), "openai", observer=observer)
print(export_counters(Tally()), type(observer).__name__, agent.ask_sync("Hello?"))
"""


def test_without_opentelemetry_nothing_is_loaded_and_nothing_breaks():
    shown = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert shown.stdout.splitlines() == ["False", "False Observer Hi."]
