"""Diagnostics: enough to tell where a refused request went wrong."""

from canonicall import Conversation, Outcome, ToolCall, get_target, render, translate


def damaged():
    conversation = Conversation()
    conversation.user("Go.")
    calls = conversation.assistant([ToolCall(id=f"call_{n}", name="f") for n in range(3)]).calls
    conversation.result("call_1", "real")
    conversation.result("call_1", "another")
    conversation.result("call_9", "orphan")
    conversation.close(calls[2].id, Outcome.DENIED, why="not allowed")
    return conversation, [call.id for call in calls]


def test_ids_in_and_out_and_every_decision():
    conversation, ids = damaged()
    told = render(conversation, "anthropic").diagnostics
    assert (told.format, told.provider) == ("anthropic", "anthropic")
    assert told.seen == tuple(ids)
    assert told.emitted_calls == told.emitted_results
    assert all(id.startswith("toolu_") for id in told.emitted_calls)
    assert told.made_up == {ids[0]: "result_lost", ids[2]: "denied"}
    assert told.set_aside == ("entries[3].blocks[0]", "entries[4].blocks[0]")
    assert told.faults == {"state": 1, "input": 2}


def test_it_prints_for_people():
    conversation, ids = damaged()
    text = str(render(conversation, get_target("mistral")).diagnostics)
    assert text.splitlines()[:2] == [
        "for mistral (openai-chat)",
        "3 calls seen, 3 sent, 3 results sent, 2 of them made up",
    ]
    assert f"made up: {ids[0]} told as result_lost" in text


def test_the_result_of_a_stored_call_is_not_taken_for_that_of_another():
    body = {
        "model": "gpt-5.2",
        "previous_response_id": "resp_1",
        "input": [
            {"type": "function_call_output", "call_id": "call_0", "output": "42"},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        ],
    }
    told = translate(body, "openai-responses", "openai/openai-responses").diagnostics
    assert told.emitted_results == ("call_0", "call_1")
    assert told.made_up == {told.seen[0]: "result_lost"}


def test_those_of_a_request_count_every_finding():
    """Also what was found while reading, and about tools and parameters."""
    body = {
        "model": "m",
        "messages": [{"role": "tool", "tool_call_id": "x", "content": "1"}],
        "tools": [{"type": "function", "function": {"name": "a.b"}}],
    }
    encoded = translate(body, "openai-chat", "anthropic:claude-sonnet-4-5")
    told = encoded.diagnostics
    assert sum(told.faults.values()) == len(encoded.report)
    assert told.faults["projection"] == 1
    assert told.model == "claude-sonnet-4-5"
    assert str(told).startswith("for anthropic:claude-sonnet-4-5 (anthropic)")


def test_a_sound_conversation_has_nothing_to_tell():
    conversation = Conversation()
    conversation.user("Go.")
    conversation.assistant([ToolCall(id="call_1", name="f")])
    conversation.result("call_1", "done")
    told = render(conversation, "openai").diagnostics
    assert (told.made_up, told.set_aside, told.faults) == ({}, (), {})
    assert told.emitted_calls == ("call_1",)
