"""llm-comply asks the gateway's fronts and the simulators, and checks replies by official schemas.

It is a program of its own: OpenAI's and Anthropic's OpenAPI, Open Responses, and what Google's
clients look for. It runs in a process of its own, as its users run it.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from canonicall.gateway.config import Choice, ModelSettings
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.testing import Simulator, call, says, thought
from canonicall.testing.server import serve
from components import needs
from gateway_support import World

pytestmark = [pytest.mark.deep, needs("llm-comply")]

HEADERS = {
    "openai-chat": (),
    "open-responses": (),
    "anthropic": (
        "--auth-header",
        "x-api-key",
        "--no-bearer",
        "-H",
        "anthropic-version:2023-06-01",
    ),
    "google-genai": ("--auth-header", "x-goog-api-key", "--no-bearer"),
}
"""The formats, and how their clients show a key."""
BACKS = {
    "openai/openai-chat": "gpt-5",
    "openai/openai-responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-3-pro",
    "mistral": "magistral-medium-latest",
    "bedrock": "anthropic.claude-sonnet-4-5",
    "cohere": "command-a-reasoning-08-2025",
}
SIMULATED = {
    "openai": {"openai-chat": "gpt-5", "open-responses": "gpt-5"},
    "azure": {"open-responses": "gpt-5"},
    "xai": {"open-responses": "gpt-5-like"},
    "deepseek": {"openai-chat": "deepseek-chat", "anthropic": "claude-sonnet-4-like"},
    "mistral": {"openai-chat": "magistral-medium-latest"},
    "anthropic": {"anthropic": "claude-sonnet-4-5"},
    "gemini": {"google-genai": "gemini-3-pro"},
}
FOREIGN = "It sends `reasoning`, a field of Responses, to Chat Completions: an unknown parameter."
SKIPPED = "It asks only models whose names it knows as those of models that think."
KNOWN = {
    ("openai", "chat-reasoning-summary"): FOREIGN,
    ("azure", "error-handling"): "An address of Azure names the model: the body need not do so.",
    ("azure", "compact-missing-model"): "As above.",
    ("deepseek", "chat-image-input"): "DeepSeek takes no images.",
    ("deepseek", "chat-reasoning-summary"): SKIPPED,
    ("mistral", "chat-reasoning-summary"): SKIPPED,
    ("mistral", "chat-streaming-usage"): "Mistral has no `stream_options`: it always counts.",
}
"""What a simulator cannot pass because its provider does not."""


def complying(request: Request) -> Reply:
    """A model that thinks where it is asked to, calls what it has to, and else answers."""
    asked = request.params.reasoning
    thinks = asked is not None and asked.enabled is not False
    before = (thought("The question is easy."),) if thinks else ()
    if request.tools:
        return says(*before, call(request.tools[0].name, location="San Francisco"))
    return says(*before, "One, two, three, four, five.")


def alias(back: str) -> str:
    """The judge looks at a model's name to see whether it thinks: these do."""
    return f"gpt-5-and-claude-sonnet-4-by-{back.replace('/', '-')}"


@pytest.fixture(scope="module")
def gateway() -> Iterator[str]:
    models = {
        alias(back): ModelSettings(choices=(Choice(target=f"{back}:{model}"),))
        for back, model in BACKS.items()
    }
    world = World(lambda provider: Simulator(provider, model=complying))
    with serve(world.gateway(models)) as server:
        yield server.url


@pytest.fixture(scope="module")
def simulators() -> Iterator[str]:
    with serve({name: Simulator(name, model=complying) for name in SIMULATED}) as server:
        yield server.url


def judged(format: str, url: str, model: str) -> dict[str, dict[str, Any]]:
    """What the judge says of each of its tests."""
    base = url if format == "google-genai" else f"{url}/v1"
    given = ("--json", "--format", format, "-u", base, "-k", "key", "-m", model, *HEADERS[format])
    command = (sys.executable, "-W", "ignore", "-m", "llm_comply.cli", *given)
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout, ran.stderr
    results = json.loads(ran.stdout)["results"]
    assert len(results) >= 9
    return {one["id"]: one for one in results}


@pytest.mark.parametrize("back", BACKS)
@pytest.mark.parametrize("format", HEADERS)
def test_a_front_passes_whoever_answers(gateway: str, format: str, back: str) -> None:
    results = judged(format, gateway, alias(back))
    assert {id: one for id, one in results.items() if one["status"] != "passed"} == {}


@pytest.mark.parametrize(
    ("provider", "format"), [(name, format) for name in SIMULATED for format in SIMULATED[name]]
)
def test_a_simulator_passes_as_its_provider_does(
    simulators: str, provider: str, format: str
) -> None:
    url = f"{simulators}/{provider}"
    results = judged(format, url, SIMULATED[provider][format])
    known = {id for name, id in KNOWN if name == provider} & results.keys()
    not_passed = {id: one for id, one in results.items() if one["status"] != "passed"}
    assert not_passed.keys() == known, not_passed
