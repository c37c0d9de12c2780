"""Prompt-cache marks and the bytes they stand for: J1 to J7 of the field catalogue."""

import json
import os
import subprocess
import sys

import pytest

from canonicall.gateway.config import Choice, ModelSettings
from scenarios.field_support import sent
from scenarios.scripted_hosts import Hosts, asked, model, question

MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}


def claude(*, system=None, tool=None, user=None, result=None):
    """A Messages request with a call; each argument is a mark for that place."""
    use = {"type": "tool_use", "id": "toolu_1", "name": "run", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done", **(result or {})}
    return {
        "model": "m",
        "max_tokens": 99,
        "system": [{"type": "text", "text": "Rules.", **(system or {})}],
        "tools": [{"name": "run", "input_schema": SCHEMA, **(tool or {})}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Go.", **(user or {})}]},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [answer]},
        ],
    }


# Long marks stand before short ones: tools, system, messages.
EVERYWHERE = claude(system=HOUR, tool=HOUR, user=MARK, result=MARK)


def marks(node, key):
    """How many marks of a name are in a body."""
    if isinstance(node, dict):
        return (key in node) + sum(marks(part, key) for part in node.values())
    return sum(marks(part, key) for part in node) if isinstance(node, list) else 0


def test_j1_marks_come_back_to_claude_where_they_were():
    """On the system, a tool, words and a result, with their time to live."""
    made = sent(EVERYWHERE, "anthropic", "anthropic").body
    assert {name: made[name] for name in EVERYWHERE} == EVERYWHERE


def test_j1_marks_of_a_chat_client_reach_claude():
    """Clients of the chat format write them on parts, messages and tools."""
    function = {"name": "run", "parameters": SCHEMA}
    call = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "Rules.", **MARK}]},
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "done", **MARK},
    ]
    tools = [{"type": "function", "function": function, **MARK}]
    body = {"model": "m", "messages": messages, "tools": tools}
    made = sent(body, "openai-chat", "anthropic").body
    assert made["system"] == [{"type": "text", "text": "Rules.", **MARK}]
    assert made["tools"] == [{"name": "run", "input_schema": SCHEMA, **MARK}]
    assert made["messages"][2]["content"][0]["cache_control"] == MARK["cache_control"]


@pytest.mark.parametrize("target", ["openai", "gemini", "openai/openai-responses:gpt-5.6"])
def test_j1_every_mark_that_is_not_sent_is_reported(target):
    """Four marks: those that are not in the body are in the report, one by one."""
    encoded = sent(EVERYWHERE, "anthropic", target)
    kept = marks(encoded.body, "cache_control") + marks(encoded.body, "prompt_cache_breakpoint")
    assert kept + encoded.report.counts.get("cache_mark_dropped", 0) == 4


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "openai", "openrouter"])
def test_j2_a_mark_that_is_null_is_no_mark(target):
    """It is not sent on, and it breaks nothing."""
    null = {"cache_control": None}
    body = claude(system=null, tool=null, user=null, result=null)
    made = sent(body, "anthropic", target).body
    assert marks(made, "cache_control") == marks(made, "cachePoint") == 0
    assert "done" in str(made)


POINT = {"cachePoint": {"type": "default"}}


def test_j3_marks_are_elements_of_their_own_for_bedrock():
    """Behind the marked element, never inside a tool's definition or a result."""
    made = sent(EVERYWHERE, "anthropic", "bedrock").body
    long = {"cachePoint": {"type": "default", "ttl": "1h"}}
    assert made["system"] == [{"text": "Rules."}, long]
    spec = {"name": "run", "inputSchema": {"json": SCHEMA}}
    assert made["toolConfig"]["tools"] == [{"toolSpec": spec}, long]
    assert made["messages"][0]["content"] == [{"text": "Go."}, POINT]
    result, point = made["messages"][2]["content"]
    assert (result.keys(), point) == ({"toolResult"}, POINT)


def test_j3_the_points_of_bedrock_are_marks_for_claude():
    """And the other way round: each is on the element before it."""
    body = {
        "system": [{"text": "Rules."}, POINT],
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "run", "inputSchema": {"json": SCHEMA}}}, POINT]
        },
        "messages": [{"role": "user", "content": [{"text": "Go."}, POINT]}],
    }
    made = sent(body, "bedrock", "anthropic").body
    assert made["system"] == [{"type": "text", "text": "Rules.", **MARK}]
    assert made["tools"] == [{"name": "run", "input_schema": SCHEMA, **MARK}]
    assert made["messages"][0]["content"] == [{"type": "text", "text": "Go.", **MARK}]
    home = sent(body, "bedrock", "bedrock").body
    assert {name: home[name] for name in body} == body


def test_j3_marks_on_tools_count_towards_the_limit():
    """Claude takes four in all; with two tools marked, two of the others are left."""
    body = claude(tool=MARK, system=MARK, user=MARK, result=MARK)
    body["tools"].append({"name": "look", "input_schema": SCHEMA, **MARK})
    assert marks(sent(body, "anthropic", "anthropic").body, "cache_control") == 4


def test_j3_a_model_without_caching_gets_no_point_behind_its_tools():
    """Bedrock refuses cache points for models that have no cache."""
    made = sent(EVERYWHERE, "anthropic", "bedrock:meta.llama3-3-70b-instruct-v1:0").body
    assert marks(made, "cachePoint") == 0


SCRIPT = """
import json, sys
from canonicall.codec import translate
sys.stdout.buffer.write(translate(json.loads(sys.argv[1]), "anthropic", sys.argv[2]).data)
"""


@pytest.mark.parametrize("target", ["openai", "gemini", "bedrock"])
def test_j4_keys_and_tools_keep_their_order_in_every_process(target):
    """Other hash seeds, the same bytes, and properties in the order the client wrote them."""
    body = claude()
    body["tools"] = [{"name": name, "input_schema": SCHEMA} for name in ("zeta", "middle", "alpha")]
    command = [sys.executable, "-c", SCRIPT, json.dumps(body), target]
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2", "77")]
    first, *others = (subprocess.check_output(command, env=seed) for seed in seeds)
    assert others == [first, first]
    assert first == sent(body, "anthropic", target).data
    assert first.index(b'"zeta"') < first.index(b'"middle"') < first.index(b'"alpha"')
    assert first.index(b'"b":') < first.index(b'"a":')


def test_j5_the_bridge_from_messages_to_chat_keeps_the_marks():
    """Claude behind OpenRouter reads them on the parts of chat messages."""
    made = sent(EVERYWHERE, "anthropic", "openrouter:anthropic/claude-sonnet-5").body
    system, user, _, result = made["messages"]
    assert system["content"] == [{"type": "text", "text": "Rules.", **HOUR}]
    assert user["content"] == [{"type": "text", "text": "Go.", **MARK}]
    assert result["cache_control"] == MARK["cache_control"]
    assert made["tools"][0]["cache_control"] == HOUR["cache_control"]


def test_j5_openais_own_chat_models_get_its_own_kind_of_mark():
    """From GPT-5.6 on the field is `prompt_cache_breakpoint`; `cache_control` is not OpenAI's."""
    made = sent(EVERYWHERE, "anthropic", "openai:gpt-5.6").body
    assert marks(made, "cache_control") == 0
    assert marks(made, "prompt_cache_breakpoint") > 0


def test_j6_a_deferred_tool_carries_no_mark():
    """It is not part of the cached prefix: Claude refuses the two together."""
    body = claude()
    body["tools"].append({"name": "later", "input_schema": SCHEMA, "defer_loading": True, **MARK})
    body["tools"].append(
        {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
    )
    later = sent(body, "anthropic", "anthropic").body["tools"][1]
    assert later["defer_loading"] is True
    assert "cache_control" not in later


@pytest.mark.parametrize("back", ["openai:gpt-x", "gemini:g", "bedrock:b"])
async def test_j7_the_same_request_is_the_same_bytes_through_every_gateway(back):
    """A cache behind the gateway is asked with a hash of them; tools and history are in it."""
    sent_bytes = set()
    for _ in range(2):
        hosts = Hosts()
        gateway = hosts.gateway(model(back))
        for _ in range(2):
            assert (await asked(gateway, "anthropic", EVERYWHERE)).status == 200
        sent_bytes |= {data for _, data in hosts.sent}
        await gateway.close()
    assert len(sent_bytes) == 1


def turned(value):
    """The same JSON with the keys of all objects in the other order."""
    if isinstance(value, list):
        return [turned(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: turned(value[name]) for name in reversed(value)}


@pytest.mark.parametrize("front", ["openai-chat", "anthropic", "gemini"])
async def test_j7_a_session_is_known_in_whatever_order_its_keys_come(front):
    """The hash of a request was made of a map: equal requests went to other backs and caches."""
    shared = tuple(Choice(target=one) for one in ("mistral:m", "kimi:k"))
    hosts = Hosts()
    gateway = hosts.gateway({"m": ModelSettings(choices=shared)})
    for number in range(8):
        body = question(front, f"Question {number}.")
        await asked(gateway, front, body)
        await asked(gateway, front, turned(body))
    answered_by = [to for to, _ in hosts.sent]
    assert answered_by[::2] == answered_by[1::2]
    assert set(answered_by) == {"mistral", "kimi"}
    await gateway.close()


async def test_j1_a_session_is_known_when_its_cache_mark_moves_on():
    """The check of where to route looked at the marks: the cache was there, and not asked."""
    shared = tuple(Choice(target=one) for one in ("mistral:m", "kimi:k"))
    hosts = Hosts()
    gateway = hosts.gateway({"m": ModelSettings(choices=shared)})
    for number in range(8):
        first = {"type": "text", "text": f"Question {number}."}
        marked = {"role": "user", "content": [first | MARK]}
        later = [
            {"role": "user", "content": [first]},
            {"role": "assistant", "content": "Well."},
            {"role": "user", "content": [{"type": "text", "text": "And?", **MARK}]},
        ]
        for messages in ([marked], later):
            await asked(gateway, "anthropic", {"max_tokens": 9, "messages": messages})
    answered_by = [to for to, _ in hosts.sent]
    assert answered_by[::2] == answered_by[1::2]
    assert set(answered_by) == {"mistral", "kimi"}
    await gateway.close()
