"""Why a model stopped, told right to every client: E1 to E12 of the field catalogue."""

import pytest

from batches import each
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.reply import FILTER, LENGTH, STOP, TOOL_CALLS
from scenarios.finish_support import CUT, ENDED, FILTERED, FRONTS, WITH_CALLS

CALL = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
ITEM = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "run",
    "arguments": "{}",
}


def reply_of(format, reason, *, call=False, words="Hm."):
    """A response of `format` that ended with `reason`: words, and a call where one is wanted."""
    match format:
        case "openai-chat":
            message = {"role": "assistant", "content": words} | (
                {"tool_calls": [CALL]} if call else {}
            )
            body = {"choices": [{"message": message, "finish_reason": reason}]}
        case "openai-responses":
            said = {"type": "message", "id": "msg_1", "role": "assistant"}
            said["content"] = [{"type": "output_text", "text": words}]
            status = {"status": reason}
            if reason not in ("completed", "failed"):
                status = {"status": "incomplete", "incomplete_details": {"reason": reason}}
            body = {"output": [said, *([ITEM] if call else [])], **status}
        case "anthropic":
            use = {"type": "tool_use", "id": "toolu_1", "name": "run", "input": {}}
            content = [{"type": "text", "text": words}, *([use] if call else [])]
            body = {"content": content, "stop_reason": reason}
        case "gemini":
            parts = [
                *([{"functionCall": {"name": "run", "args": {}}}] if call else []),
                {"text": words},
            ]
            body = {
                "candidates": [
                    {"content": {"role": "model", "parts": parts}, "finishReason": reason}
                ]
            }
        case "bedrock":
            use = {"toolUse": {"toolUseId": "tooluse_1", "name": "run", "input": {}}}
            content = [{"text": words}, *([use] if call else [])]
            body = {
                "output": {"message": {"role": "assistant", "content": content}},
                "stopReason": reason,
            }
        case "cohere":
            message = {"role": "assistant", "content": [{"type": "text", "text": words}]}
            message |= {"tool_calls": [CALL]} if call else {}
            body = {"message": message, "finish_reason": reason}
        case _:
            message = {"role": "assistant", "content": words}
            made = [{"function": {"name": "run", "arguments": {}}}]
            message |= {"tool_calls": made} if call else {}
            body = {"message": message, "done": True, "done_reason": reason}
    return decode_response(body, format)


def told(reply, front):
    """The reason that a client of `front` reads."""
    match encode_response(reply, front):
        case {"choices": [{"finish_reason": reason}]} | {"candidates": [{"finishReason": reason}]}:
            return reason
        case {"incomplete_details": {"reason": reason}}:
            return reason
        case {"object": "response", "status": reason} | {"stop_reason": reason}:
            return reason
        case {"stopReason": reason} | {"finish_reason": reason} | {"done_reason": reason}:
            return reason


@pytest.mark.parametrize("back", FRONTS)
def test_e1_words_beside_a_call_do_not_make_it_an_end_of_turn(back):
    """A Claude client that reads `end_turn` stops, so a turn with a call is never one."""
    reply = reply_of(back, WITH_CALLS[back], call=True)
    assert reply.finish == TOOL_CALLS
    assert told(reply, "anthropic") == "tool_use"


@each("front", FRONTS)
@each("back", FRONTS)
def test_e2_a_call_is_a_call_for_every_front_whatever_the_back_says(back, front):
    """The back says plain stop beside a call; every client reads that there is one to run."""
    assert told(reply_of(back, ENDED[back], call=True), front) == WITH_CALLS[front]


@pytest.mark.parametrize("back", ["anthropic", "bedrock", "cohere", "gemini"])
def test_e3_a_chat_client_reads_its_own_word_for_calls(back):
    """`tool_use`, `TOOL_CALL` and `STOP` beside a call are all `tool_calls` there."""
    assert told(reply_of(back, WITH_CALLS[back], call=True), "openai-chat") == "tool_calls"


@pytest.mark.parametrize(
    ("back", "word"),
    [("gemini", "STOP"), ("ollama", "stop"), ("cohere", "COMPLETE"), ("openai-chat", "stop")],
)
def test_e4_a_stop_beside_calls_is_tool_calls(back, word):
    """Also where empty text stands behind the call, as Gemini's last part does."""
    for words in ("", "Hm."):
        reply = reply_of(back, word, call=True, words=words)
        assert reply.finish == TOOL_CALLS
        assert told(reply, "openai-chat") == "tool_calls"


def test_e5_a_completed_response_with_a_call_is_tool_calls():
    """The Responses API has one word for both; the items decide."""
    assert reply_of("openai-responses", "completed", call=True).finish == TOOL_CALLS
    assert reply_of("openai-responses", "completed").finish == STOP
    assert told(reply_of("openai-responses", "completed", call=True), "openai-chat") == "tool_calls"


@pytest.mark.parametrize("word", ["stop", "", None, "eos"])
def test_e6_no_weaker_word_overwrites_the_calls_of_a_whole_response(word):
    """What a host says, or leaves out, beside calls does not hide them."""
    assert told(reply_of("openai-chat", word, call=True), "openai-chat") == "tool_calls"


@pytest.mark.parametrize("call", [True, False])
def test_e7_googles_stop_means_what_the_parts_say(call):
    """STOP with a call is a call, STOP without one is an end; as number, too."""
    expected = TOOL_CALLS if call else STOP
    assert reply_of("gemini", "STOP", call=call).finish == expected
    assert reply_of("gemini", 1, call=call).finish == expected
    assert told(reply_of("gemini", "STOP", call=call), "anthropic") == (
        "tool_use" if call else "end_turn"
    )


@each("front", FILTERED)
@each(
    ("back", "word"),
    [
        ("gemini", "SAFETY"),
        ("gemini", "RECITATION"),
        ("openai-chat", "content_filter"),
        ("bedrock", "content_filtered"),
        ("openai-responses", "content_filter"),
    ],
)
def test_e8_a_filter_is_not_hidden_as_a_stop(back, word, front):
    """Whoever filtered: the client can tell it from an answer that is complete."""
    reply = reply_of(back, word)
    assert reply.finish == FILTER
    if (back, front) != ("gemini", "gemini"):
        assert told(reply, front) == FILTERED[front]


@pytest.mark.parametrize("front", ["openai-chat", "gemini", "bedrock", "cohere"])
def test_e8_a_refusal_of_claude_is_not_hidden_as_a_stop(front):
    """Clients of formats without the word read their word for a filter."""
    assert told(reply_of("anthropic", "refusal"), front) == FILTERED[front]


@pytest.mark.parametrize("back", ["openai-chat", "anthropic", "bedrock", "cohere"])
def test_e9_a_reason_that_announces_calls_without_any_is_an_end(back):
    """A client that waits for a call that does not exist hangs; it reads a plain end instead."""
    reply = reply_of(back, WITH_CALLS[back])
    assert reply.finish == STOP
    assert [one.code for one in reply.findings] == ["finish_corrected"]
    assert {front: told(reply, front) for front in FRONTS} == ENDED


@each("front", FRONTS)
@each("back", FRONTS)
def test_e11_a_reply_that_was_cut_is_cut_for_everybody(back, front):
    """The limit was reached, with a call or without: no client reads stop or tool_calls."""
    for call in (True, False):
        reply = reply_of(back, CUT[back], call=call)
        assert reply.finish == LENGTH
        assert told(reply, front) == CUT[front]
