"""The paths of findings: where in the body that came, and where in the body that goes out."""

import pytest

from batches import each
from canonicall import (
    Conversation,
    Policy,
    Request,
    ToolCall,
    decode_request,
    encode_request,
    translate,
)
from canonicall.codec import encode
from canonicall.codec.rereading import Rereader


def call(id, name="get", arguments="{}"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat(*messages, **fields):
    return {"model": "some-model", "messages": list(messages), **fields}


ASKED = {"role": "user", "content": "Go."}
DAMAGED = chat(
    {"role": "system", "content": "Be brief."},
    ASKED,
    {"role": "assistant", "content": "Well.", "tool_calls": [call("a"), call("b", "put", "no")]},
    {"role": "tool", "tool_call_id": "nobody", "content": "an orphan"},
    {"role": "tool", "tool_call_id": "toolu_b", "content": "1"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "See:"},
            {"type": "image_url", "image_url": {"url": "ftp://host/a.png"}},
        ],
    },
    {"role": "system", "content": "Later."},
    {"role": "user", "content": "And?"},
    seed=7,
    temperature=1.5,
    tools=[
        {"type": "function", "function": {"name": "get"}},
        {"type": "function", "function": {"name": "put"}},
        {"type": "function", "function": {"name": "get"}},
    ],
)

CASES = [
    ("orphan_not_sent", "anthropic", "$.messages[3]", ""),
    ("orphan_result", "anthropic", "$.messages[3]", ""),
    ("result_made_up", "anthropic", "", "$.messages[2].content[0]"),
    ("result_made_up", "openai", "", "$.messages[3]"),
    ("result_made_up", "gemini", "", "$.contents[2].parts[0]"),
    ("result_made_up", "openai-responses", "", "$.input[4]"),
    ("matched_by_spelling", "anthropic", "$.messages[4]", "$.messages[2].content[1]"),
    ("matched_by_spelling", "mistral", "$.messages[4]", "$.messages[4]"),
    ("matched_by_spelling", "bedrock", "$.messages[4]", "$.messages[2].content[1]"),
    ("matched_by_spelling", "openai-responses", "$.messages[4]", "$.input[5]"),
    ("arguments_wrapped", "anthropic", "$.messages[2].tool_calls[1]", "$.messages[1].content[2]"),
    ("arguments_wrapped", "gemini", "$.messages[2].tool_calls[1]", "$.contents[1].parts[2]"),
    ("arguments_wrapped", "ollama", "$.messages[2].tool_calls[1]", "$.messages[2].tool_calls[1]"),
    ("arguments_wrapped", "cohere", "$.messages[2].tool_calls[1]", "$.messages[2].tool_calls[1]"),
    ("media_dropped", "ollama", "$.messages[5].content[1]", ""),
    ("bridge_added", "mistral", "", "$.messages[5]"),
    ("instruction_as_user", "anthropic", "$.messages[6]", "$.messages[2].content[4]"),
    ("param_added", "anthropic", "", "$.max_tokens"),
    ("param_changed", "anthropic", "$.temperature", "$.temperature"),
    ("param_dropped", "anthropic", "$.seed", ""),
    ("tool_dropped", "gemini", "$.tools[2]", ""),
]


@each(("code", "target", "came", "went"), CASES)
def test_a_finding_has_its_places_in_both_bodies(code, target, came, went):
    report = translate(DAMAGED, "openai-chat", target).report
    found = next(one for one in report if one.code == code)
    assert (found.came, found.went) == (came, went)


def anthropic_body():
    results = [
        {"type": "text", "text": "Here:"},
        {"type": "tool_result", "tool_use_id": "zzz", "content": "?"},
        {"type": "tool_result", "tool_use_id": "b", "content": "2"},
    ]
    return {
        "model": "m",
        "max_tokens": 9,
        "system": "Be brief.",
        "messages": [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                    {"type": "tool_use", "id": "b", "name": "get", "input": {}},
                ],
            },
            {"role": "user", "content": results},
        ],
    }


def test_one_message_that_became_two_entries_is_one_place():
    report = translate(anthropic_body(), "anthropic", "openai").report
    places = {one.code: (one.came, one.went) for one in report}
    assert places["results_moved"] == ("$.messages[2].content[0]", "$.messages[4].content")
    assert places["orphan_not_sent"] == ("$.messages[2].content[1]", "")
    assert places["thinking_dropped"] == ("$.messages[1].content[0]", "")


def test_items_that_are_one_message_have_their_own_places():
    items = [
        ASKED,
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "call_id": "a", "name": "get", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "get", "arguments": "no"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
    ]
    report = translate({"model": "m", "input": items}, "openai-responses", "anthropic").report
    places = {one.code: (one.came, one.went) for one in report}
    assert places["thinking_dropped"] == ("$.input[1]", "")
    assert places["arguments_wrapped"] == ("$.input[3]", "$.messages[1].content[1]")
    assert places["result_made_up"] == ("", "$.messages[2].content[1]")


def test_calls_in_a_wrong_role_move_what_follows():
    wrong = {"role": "user", "content": "Go.", "tool_calls": [call("a")]}
    body = chat(wrong, {"role": "tool", "tool_call_id": "zzz", "content": "?"})
    report = translate(body, "openai-chat", "openai").report
    places = {one.code: one.came for one in report}
    assert places["call_in_wrong_role"] == "$.messages[0]"
    assert places["orphan_not_sent"] == "$.messages[1]"


def test_names_are_those_of_the_body_itself():
    body = {
        "contents": [],
        "generation_config": {"top_k": 3},
        "system_instruction": {"parts": [{}]},
    }
    report = translate(body, "gemini", "openai").report
    places = {one.code: one.came for one in report}
    assert places["param_dropped"] == "$.generation_config.top_k"
    assert places["empty_part"] == "$.system_instruction.parts[0]"


def test_an_orphan_that_is_sent_as_text_has_a_place():
    body = chat(ASKED, {"role": "tool", "tool_call_id": "zzz", "content": "?"})
    encoded = translate(body, "openai-chat", "openai", policy=Policy(orphans="text"))
    found = next(one for one in encoded.report if one.code == "orphan_not_sent")
    assert (found.came, found.went) == ("$.messages[1]", "$.messages[1]")


def test_a_request_made_by_hand_came_from_nowhere():
    talk = Conversation()
    talk.user("Go.")
    talk.assistant(ToolCall(id="a", name="get"))
    (found,) = encode_request(Request(talk), "openai").report
    assert (found.came, found.went) == ("", "$.messages[2]")


def test_a_conversation_that_is_not_what_was_read_has_no_place_in_the_body():
    request = decode_request(DAMAGED, "openai-chat")
    request.conversation.user("One more.")
    report = encode_request(request, "anthropic").report
    assert {one.came for one in report if one.where.startswith("entries")} == {""}


def test_requests_that_ask_the_same_are_equal_wherever_they_came_from():
    with_space = {**anthropic_body(), "system": "Be brief."}
    assert decode_request(with_space, "anthropic") == decode_request(anthropic_body(), "anthropic")


def test_a_request_that_is_read_again_has_its_places():
    reader = Rereader("openai-chat")
    reader.decode({**DAMAGED, "messages": DAMAGED["messages"][:4]})
    again = encode_request(reader.decode(DAMAGED), "anthropic").report
    assert again == encode_request(decode_request(DAMAGED, "openai-chat"), "anthropic").report


def test_a_request_without_findings_costs_nothing(monkeypatch):
    """Nothing is looked up unless there is a finding that needs it."""
    made = []
    monkeypatch.setattr(encode, "Sent", lambda *_: made.append(1) or pytest.fail("looked up"))
    body = chat(
        ASKED,
        {"role": "assistant", "content": None, "tool_calls": [call("call_a")]},
        {"role": "tool", "tool_call_id": "call_a", "content": "1"},
        ASKED,
    )
    assert not translate(body, "openai-chat", "openai").report
    assert not made
