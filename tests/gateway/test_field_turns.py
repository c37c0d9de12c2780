"""Rows of the field catalogue where users met them: at a gateway, over several turns.

What a request or a reply becomes is tested row by row in `scenarios/`. Here stand those that need a
gateway to go wrong: ids and names that clients give back, stored turns, silence.
"""

import json

import pytest

from canonicall.gateway.config import ServerSettings
from canonicall.streams import StreamEncoder
from canonicall.testing.exchange import Pause
from canonicall.testing.script import call, says, thought
from gateway_faults import Faulty, Play, Upstream
from scenarios import upstreams
from scenarios.scripted_hosts import Hosts, asked, model, question, saying, stream
from scenarios.streaming_support import READERS

FRONTS = ["openai-chat", "openai-responses", "anthropic", "gemini"]
ONE = {"type": "object", "properties": {"id": {"type": "string"}}}
CLAUDE_TOOL = {"name": "look", "input_schema": ONE}


LOOKS = says(thought("I look."), call("look", id="a"), call("look", id="b"))


def claude(*messages, **fields):
    return {"max_tokens": 99, "tools": [CLAUDE_TOOL], "messages": list(messages), **fields}


USER = {"role": "user", "content": "Go."}


@pytest.mark.parametrize("streams", [False, True])
async def test_a5_c1_a_signature_is_in_no_id_and_comes_back_to_gemini(streams):
    """The id that a Claude client saw was a kilobyte of signature, or the signature was lost."""
    hosts = Hosts(make=saying(LOOKS, "Done."))
    gateway = hosts.gateway(model("gemini:gemini-3-pro"))
    answer = await asked(gateway, "anthropic", claude(USER), streams=streams)
    if streams:
        seen = READERS["anthropic"](answer.body)
        uses = [
            {"type": "tool_use", "id": id, "name": name, "input": given}
            for id, (name, given) in zip(seen.ids, seen.calls, strict=True)
        ]
    else:
        uses = [one for one in answer.json["content"] if one["type"] == "tool_use"]
    assert len({one["id"] for one in uses}) == 2
    assert all(one["id"].startswith("toolu_") and len(one["id"]) <= 40 for one in uses)
    results = [{"type": "tool_result", "tool_use_id": one["id"], "content": "1"} for one in uses]
    turns = ({"role": "assistant", "content": uses}, {"role": "user", "content": results})
    answer = await asked(gateway, "anthropic", claude(USER, *turns))
    assert answer.status == 200, answer.body
    (made,) = [one for one in hosts.bodies("gemini")[-1]["contents"] if one["role"] == "model"]
    signed = [part.get("thoughtSignature") for part in made["parts"] if "functionCall" in part]
    assert signed[0] not in (None, "skip_thought_signature_validator")
    await gateway.close()


async def test_a2_ids_are_repaired_on_the_way_to_their_own_format_too():
    """The native path was taken for one that needs no repair."""
    id = "functions.look:0"
    use = {"type": "tool_use", "id": id, "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": id, "content": "1"}
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model("anthropic:c"))
    turns = ({"role": "assistant", "content": [use]}, {"role": "user", "content": [result]})
    answer = await asked(gateway, "anthropic", claude(USER, *turns))
    assert answer.status == 200, answer.body
    _, called, answered = hosts.bodies("anthropic")[-1]["messages"]
    (sent,) = {called["content"][0]["id"], answered["content"][0]["tool_use_id"]}
    assert sent.replace("_", "").replace("-", "").isalnum()
    await gateway.close()


@pytest.mark.parametrize("back", ["openai:gpt-x", "anthropic:c", "mistral:m"])
async def test_a13_a15_a_gemini_client_without_ids_has_its_results_at_their_calls(back):
    """Calls of one function shared an id, or their results had ids that no call had."""
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model(back))
    contents = [{"role": "user", "parts": [{"text": "Go."}]}]
    for turn in ("a", "b"):
        names = [f"{turn}{at}" for at in (1, 2)]
        calls = [{"functionCall": {"name": "look", "args": {"id": one}}} for one in names]
        results = [{"name": "look", "response": {"seen": one}} for one in names]
        contents.append({"role": "model", "parts": [{"text": f"Turn {turn}."}, *calls]})
        answers = [{"functionResponse": one} for one in results]
        contents.append({"role": "user", "parts": answers})
    tools = [{"functionDeclarations": [{"name": "look", "parameters": ONE}]}]
    answer = await asked(gateway, "gemini", {"contents": contents, "tools": tools})
    assert answer.status == 200, answer.body
    (body,) = hosts.bodies(back.partition(":")[0])
    assert _pairs(body) == [(one, one) for one in ("a1", "a2", "b1", "b2")]
    assert "Turn b." in json.dumps(body)
    await gateway.close()


def _pairs(body):
    """What each call asked for, and what the result with its id says."""
    asked_for, told = {}, {}
    for message in body["messages"]:
        for made in message.get("tool_calls") or ():
            asked_for[made["id"]] = json.loads(made["function"]["arguments"])["id"]
        if message["role"] == "tool":
            told[message["tool_call_id"]] = json.loads(message["content"])["seen"]
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                asked_for[block["id"]] = block["input"]["id"]
            if block["type"] == "tool_result":
                said = block["content"]
                text = said if isinstance(said, str) else said[0]["text"]
                told[block["tool_use_id"]] = json.loads(text)["seen"]
    return [(one, told.get(id)) for id, one in asked_for.items()]


@pytest.mark.parametrize("back", ["anthropic:c", "bedrock:b", "openai:gpt-x", "gemini:g"])
async def test_b4_b5_a_call_without_a_result_is_repaired_by_default_and_told(back):
    """The repair was there, but switched off, and for two backs only."""
    use = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    turns = ({"role": "assistant", "content": [use]}, {"role": "user", "content": "And now?"})
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model(back))
    answer = await asked(gateway, "anthropic", claude(USER, *turns))
    assert answer.status == 200, answer.body
    assert answer.headers["x-canonicall-changes"] != "none"
    assert [one.status for one in hosts.of(back.partition(":")[0]).seen] == [200]
    await gateway.close()


@pytest.mark.parametrize("back", ["anthropic:c", "gemini:g", "openai:gpt-x"])
async def test_b26_b27_stored_turns_have_every_call_once(back):
    """The second tool turn failed, or a call that had been answered was asked for again."""
    hosts = Hosts(make=saying(LOOKS, says(call("look", id="c")), "Done.", "Bye."))
    gateway = hosts.gateway(model(back))
    tool = {"type": "function", "name": "look", "parameters": ONE}
    items = [{"role": "user", "content": "Go."}]
    before = None
    for _ in range(4):
        body = {"input": items, "tools": [tool]}
        if before is not None:
            body["previous_response_id"] = before
        answer = await asked(gateway, "openai-responses", body)
        assert answer.status == 200, answer.body
        before = answer.json["id"]
        made = [one for one in answer.json["output"] if one["type"] == "function_call"]
        items = [
            {"type": "function_call_output", "call_id": one["call_id"], "output": "1"}
            for one in made
        ] or [{"role": "user", "content": "Thanks."}]
    last = json.dumps(hosts.bodies(back.partition(":")[0])[-1])
    for id in "abc":
        found = last.count(f'"id": "{id}"') + last.count(f'\\"id\\":\\"{id}\\"')
        assert found == 1, id
    await gateway.close()


@pytest.mark.parametrize("front", FRONTS)
async def test_d16_a_silent_model_does_not_look_dead(front):
    """Two minutes without a byte while a call was written, and the client hung up."""
    start = upstreams.sse({"type": "message-start", "id": "r", "delta": {"message": {}}})
    begun = {"id": "c", "type": "function", "function": {"name": "look", "arguments": ""}}
    more = {"function": {"arguments": '{"id":"a"}'}}
    end = {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}
    frames = [
        start,
        upstreams.cohere("tool-call-start", 0, tool_calls=begun),
        Pause(0.1),
        upstreams.cohere("tool-call-delta", 0, tool_calls=more),
        upstreams.cohere("tool-call-end", 0),
        upstreams.sse(end),
    ]
    hosts = Hosts({"cohere": [stream(*frames)]})
    gateway = hosts.gateway(model("cohere:c"), server=ServerSettings(keep_alive_seconds=0.01))
    answer = await asked(gateway, front, question(front), streams=True)
    assert READERS[front](answer.body).calls == [("look", {"id": "a"})]
    # Where a sign is an empty line, it stands behind the end of an event.
    assert b"\n\n" + StreamEncoder(front).keep_alive() in answer.body
    await gateway.close()


LONG = "mcp__some.server__" + "look_" * 12


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("back", ["anthropic:c", "gemini:g", "openai:gpt-x", "bedrock:b"])
async def test_h9_a_client_reads_the_names_that_it_wrote(back, streams):
    """Names were shortened on the way there and not restored on the way back."""
    names = [LONG + "a", LONG + "b", "look.at"]

    def calls_all(request):
        return says(*(call(tool.name, id=str(at)) for at, tool in enumerate(request.tools)))

    tools = [{"type": "function", "function": {"name": one, "parameters": ONE}} for one in names]
    gateway = Hosts(make=saying(calls_all)).gateway(model(back))
    body = {"messages": [USER], "tools": tools}
    answer = await asked(gateway, "openai-chat", body, streams=streams)
    assert answer.status == 200, answer.body
    if streams:
        made = [name for name, _ in READERS["openai-chat"](answer.body).calls]
    else:
        calls = answer.json["choices"][0]["message"]["tool_calls"]
        made = [one["function"]["name"] for one in calls]
    assert made == names
    await gateway.close()


SEARCHED = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    {"type": "text", "text": "Found."},
]


@pytest.mark.parametrize("back", ["anthropic:claude-sonnet-4-5", "zai/anthropic:glm-4.6"])
@pytest.mark.parametrize("front", ["openai-chat", "openai-responses", "anthropic", "gemini"])
async def test_d24_what_a_provider_ran_itself_is_told_of_where_the_client_cannot_see_it(
    front: str, back: str
) -> None:
    whole = {"type": "message", "role": "assistant", "content": SEARCHED, "stop_reason": "end_turn"}
    upstream = Upstream(Play.json(json.dumps(whole).encode()))
    world = Faulty(upstream, back)
    answer = await world.ask(front, streams=False)
    assert answer.status == 200, answer.body
    is_seen = b"srvtoolu_1" in answer.body
    assert is_seen is (front == "anthropic" and back.startswith("anthropic"))
    lost = [one["code"] for one in (await world.report(answer))["response"]]
    assert ("block_dropped" in lost) is not is_seen
    assert ("block_dropped=1" in answer.headers["x-canonicall-changes"]) is not is_seen
