"""Every recorded list of tools that a provider accepted: the judge finds nothing in it, and the
types of the format's own SDK take it.

The lists are judged alone, in the smallest request that can hold them. `complaints` is for any list
in any format's shape, so that a list made from another can be judged in the same way.
"""

import json
import re
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import pytest

from canonicall.errors import CanonicallError
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.verify import verify
from corpus.support import FORMATS, every_record, needs_corpus

pytestmark = needs_corpus


# A list of tools in the smallest request of its format, and what is said against it.

ASKED = [{"role": "user", "content": "Go."}]
REQUESTS: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m", "max_tokens": 9, "messages": ASKED},
    "bedrock": {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "Go."}]}]},
    "cohere": {"model": "m", "messages": ASKED},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Go."}]}]},
    "ollama": {"model": "m", "messages": ASKED},
    "openai-chat": {"model": "m", "messages": ASKED},
    "openai-responses": {"model": "m", "input": ASKED},
}
# The judges of whole bodies.
SDKS = {
    "anthropic": ("judges.test_anthropic", "beta_judge"),
    "bedrock": ("judges.test_bedrock", "judge"),
    "cohere": ("judges.test_cohere", "judge"),
    "gemini": ("judges.test_gemini", "models_judge"),
    "ollama": ("judges.ollama_request", "judge"),
    "openai-chat": ("judges.test_openai_chat", "judge"),
    "openai-responses": ("judges.test_openai_responses", "judge"),
}


def request_with(tools: Any, format: str) -> dict[str, Any]:
    """The smallest request that offers `tools`, a list in the shape of the format."""
    held = {"toolConfig": {"tools": tools}} if format == "bedrock" else {"tools": tools}
    return {**REQUESTS[format], **held}


def complaints(tools: Any, target: Target) -> list[str]:
    """What the target's provider would refuse in a list of tools, by the judge."""
    body = request_with(tools, target.format)
    if target.unstored:
        # What such a host wants of every request has nothing to do with its tools.
        body |= {"store": False, "stream": True, "instructions": ""}
    report = verify(body, target)
    return [f"{one.code} at {one.where}: {getattr(one, 'error', '')}" for one in report]


def typed_complaints(tools: Any, format: str) -> list[str]:
    """What the types of the format's own SDK have against a list of tools."""
    module, name = SDKS[format]
    told: list[str] = getattr(import_module(module), name)(request_with(tools, format))
    return told


# The recorded lists.


class Listed(NamedTuple):
    """A list of tools, and the request it was first seen in."""

    id: str
    host: str
    tools: Any


@cache
def recorded_lists(format: str) -> list[Listed]:
    """Every list of tools in accepted requests of a format, once for each host."""
    lists: dict[tuple[str, str], Listed] = {}
    for record in every_record():
        request, host = record["request"], record["provider"]
        if FORMATS.get(record["protocol"]) != format or record["status"] != 200:
            continue
        holder = (request or {}).get("toolConfig") if format == "bedrock" else request
        tools = (holder or {}).get("tools")
        if tools:
            key = (host, json.dumps(tools, sort_keys=True))
            lists.setdefault(key, Listed(record["id"], host, tools))
    return list(lists.values())


def own_target(host: str, format: str) -> Target:
    """The target that a host is; for one without a profile, what the format says."""
    try:
        return get_target(f"{host}/{format}")
    except CanonicallError:
        module = import_module(f"canonicall.wire.{format.replace('-', '_')}.target")
        base: Target = module.TARGET
        return base


@pytest.mark.parametrize("format", REQUESTS)
def test_the_provider_takes_its_own_lists(format):
    lists = recorded_lists(format)
    assert lists
    wrong = {
        listed.id: told
        for listed in lists
        if (told := complaints(listed.tools, own_target(listed.host, format)))
    }
    assert wrong == {}


# What was accepted although the types do not say it.
BEYOND_THE_TYPES = {
    "gemini": [r"^tools: Input should be a valid array"],  # One object stands for a list of one.
    "openai-chat": [
        r"^tools\.\d+: Input tag 'object'",  # Mistral takes functions without `type`.
        r"^tools\.\d+: Input tag 'openrouter:",  # OpenRouter's own tools,
        r"^tools\.\d+\.function\.cache_control: Extra",  # and its cache marks.
    ],
    "openai-responses": [
        r"^tools\.\d+\.function\.strict: Field required",  # The API chooses where it is left out.
        # Nested as in Chat Completions with the name beside: taken as a function without parameters.
        r"^tools\.\d+\.function\.(parameters: Field required|function: Extra)",
    ],
}
# Types as numbers, which protobuf's JSON has and the SDK cannot read: it raises.
NUMBERED_TYPES = {
    (
        "open-telemetry/opentelemetry-python-contrib:instrumentation-genai/"
        "opentelemetry-instrumentation-vertexai/tests/cassettes/test_function_call_choice_no_content.yaml#0"
    )
}


@pytest.mark.parametrize("format", SDKS)
def test_the_types_of_the_sdk_take_them(format):
    known = "|".join(BEYOND_THE_TYPES.get(format, ["(?!)"]))
    wrong = [
        (listed.id, line)
        for listed in recorded_lists(format)
        if listed.id not in NUMBERED_TYPES
        for line in typed_complaints(listed.tools, format)
        if not re.search(known, line)
    ]
    assert wrong == []


@pytest.mark.parametrize("format", [format for format in SDKS if format != "ollama"])
def test_a_tool_without_a_name_is_noticed_by_both(format):
    """Neither is content because it is blind."""
    listed = next(one for one in recorded_lists(format) if '"name"' in json.dumps(one.tools))
    nameless = json.loads(json.dumps(listed.tools).replace('"name":', '"label":'))
    assert complaints(nameless, own_target(listed.host, format))
    assert typed_complaints(nameless, format)


def test_properties_that_are_a_list_are_noticed_by_both():
    """The types of Ollama's SDK let a tool have no name, so they are tried with its schema."""
    function = {"name": "go", "parameters": {"type": "object", "properties": ["a"]}}
    tools = [{"type": "function", "function": function}]
    assert complaints(tools, get_target("ollama"))
    assert typed_complaints(tools, "ollama")


def test_there_are_enough_lists():
    counts = {format: len(recorded_lists(format)) for format in REQUESTS}
    print(counts)  # noqa: T201
    assert sum(counts.values()) > 400
