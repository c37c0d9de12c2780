"""The Cohere SDK reads a stream: its client over a transport that answers with our bytes.

The SDK gives typed events and no accumulator; what they add up to is put together here, in a few
lines that know nothing of ours.
"""

import pytest

from judges.sources import MISSING

cohere = pytest.importorskip("cohere", reason=MISSING)
httpx = pytest.importorskip("httpx", reason=MISSING)
types = pytest.importorskip("cohere.v2.types.v2chat_stream_response", reason=MISSING)


def sdk_events(data):
    """The events as a program gets them."""
    headers = {"content-type": "text/event-stream"}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, content=data))
    client = cohere.ClientV2(
        api_key="none",
        base_url="https://none.example",
        httpx_client=httpx.Client(transport=transport),
    )
    return list(client.chat_stream(model="m", messages=[{"role": "user", "content": "?"}]))


def check_grammar(events):
    """The order of events that clients rely on, and that the SDK knows every field."""
    names = [event.type for event in events]
    assert names[0] == "message-start"
    assert names[-1] == "message-end"
    assert names.count("message-start") == names.count("message-end") == 1
    seen = {"content": -1, "tool-call": -1, "citation": -1}
    is_open = ""
    for event in events:
        kind, _, what = event.type.rpartition("-")
        if kind not in seen:
            assert not is_open or kind == "message", event
            continue
        if what == "start":
            assert not is_open
            seen[kind] += 1
            is_open = kind
        assert (event.index, is_open) == (seen[kind], kind)
        if what == "end":
            is_open = ""
    assert not is_open


def accumulated(events):
    """Calls, the plan, words, thoughts, the reason and the figures."""
    calls, parts = {}, {}
    said = {
        "plan": "",
        "citations": [],
        "finish": None,
        "usage": None,
        "error": None,
        "id": events[0].id,
    }
    for event in events:
        match event.type:
            case "content-start":
                parts[event.index] = (event.delta.message.content.type, "")
            case "content-delta":
                kind, text = parts[event.index]
                parts[event.index] = kind, text + getattr(event.delta.message.content, kind)
            case "tool-plan-delta":
                said["plan"] += event.delta.message.tool_plan
            case "tool-call-start":
                call = event.delta.message.tool_calls
                calls[event.index] = [call.id, call.function.name, call.function.arguments]
            case "tool-call-delta":
                calls[event.index][2] += event.delta.message.tool_calls.function.arguments
            case "citation-start":
                said["citations"].append(event.delta.message.citations.text)
            case "message-end":
                said["finish"], said["error"] = event.delta.finish_reason, event.delta.error
                said["usage"] = event.delta.usage and event.delta.usage.tokens
    return said | {
        "calls": [tuple(calls[number]) for number in sorted(calls)],
        "text": [text for kind, text in map(parts.get, sorted(parts)) if kind == "text"],
        "thoughts": [text for kind, text in map(parts.get, sorted(parts)) if kind == "thinking"],
    }
