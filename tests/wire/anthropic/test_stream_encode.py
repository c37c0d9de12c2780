"""Events become the stream of a message, which the official SDK reads as it was meant."""

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import Message, Native, Opaque, Origin, Summary, Text, Thinking, ToolCall, Unknown
from canonicall.arguments import message_with_arguments
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamEncoder
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
    UsageReported,
)
from canonicall.folding import events_of, fold
from canonicall.reply import Reply, Usage
from canonicall.testing.strategies import calls, media, origins, results, texts, thoughts
from judges.anthropic_stream import accumulated, anthropic, follows_grammar, wire_events
from replies import with_calls, with_own_ids

from streaming import events_in

OWN = Origin("anthropic", "anthropic", model="claude", response_id="msg_1")
CALL = ToolCall(id="toolu_1", name="f", args={"a": 1})


def written(*events):
    return StreamEncoder("anthropic").feed_all(events)


decoded = partial(events_in, "anthropic")


def reply_of(*blocks, finish="", origin=OWN, **fields):
    return Reply(Message("assistant", blocks, origin=origin, finish=finish), **fields)


def deltas(stream):
    return [
        event["delta"] for event in wire_events(stream) if event["type"] == "content_block_delta"
    ]


def starts(stream):
    return [event["content_block"] for event in wire_events(stream) if "content_block" in event]


def inputs(stream):
    return [one["partial_json"] for one in deltas(stream)]


def test_the_stream_of_a_reply_in_full():
    reply = reply_of(
        Thinking(text="Hm.", opaque=(Opaque("anthropic", "signature", "sig"),)),
        Text(text="Hi"),
        CALL,
        finish="tool_calls",
        usage=Usage(input_tokens=3, output_tokens=2),
    )
    none = {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_creation": None,
        "cache_creation_input_tokens": None,
        "cache_read_input_tokens": None,
        "inference_geo": None,
        "iterations": None,
        "output_tokens_details": None,
        "server_tool_use": None,
        "service_tier": None,
        "speed": None,
    }
    cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    figures = none | cached | {"input_tokens": 3, "output_tokens": 2}
    stream = written(*events_of(reply))
    assert follows_grammar(stream)
    assert wire_events(stream) == [
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "stop_details": None,
                "container": None,
                "context_management": None,
                "diagnostics": None,
                "usage": none,
            },
        },
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "Hm."},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "signature_delta", "signature": "sig"},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "text", "text": "", "citations": None},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_stop", "index": 1},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "f",
                "input": {},
                "caller": {"type": "direct"},
            },
        },
        {
            "type": "content_block_delta",
            "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'},
        },
        {"type": "content_block_stop", "index": 2},
        {
            "type": "message_delta",
            "delta": {
                "stop_reason": "tool_use",
                "stop_sequence": None,
                "stop_details": None,
                "container": None,
            },
            "usage": figures,
            "context_management": None,
        },
        {"type": "message_stop"},
    ]


def test_pieces_are_written_as_they_come():
    encoder = StreamEncoder("anthropic")
    encoder.feed(MessageStarted(OWN))
    encoder.feed(BlockStarted(0, Text(text="")))
    stream = encoder.feed(TextAdded(0, 'a "b"\n'))
    assert stream == (
        b"event: content_block_delta\n"
        b'data: {"type":"content_block_delta","index":0,'
        b'"delta":{"type":"text_delta","text":"a \\"b\\"\\n"}}\n\n'
    )


def test_figures_known_from_the_start_stand_in_it():
    usage = {"input_tokens": 9, "output_tokens": 1, "service_tier": "standard"}
    stream = written(
        MessageStarted(OWN),
        UsageReported(Usage(input_tokens=9, output_tokens=1, native=usage)),
        StreamEnded(reply_of(usage=Usage(input_tokens=9, output_tokens=4))),
    )
    first, change, _ = wire_events(stream)
    told = first["message"]["usage"]
    assert {name: figure for name, figure in told.items() if figure is not None} == usage
    assert change["usage"]["output_tokens"] == 4


def test_there_is_one_start_however_often_it_is_told():
    reply = reply_of(Text(text="Hi"))
    assert follows_grammar(written(MessageStarted(), MessageStarted(OWN), *events_of(reply)))


def test_a_reply_of_nothing_is_a_stream():
    stream = written(StreamEnded(reply_of()))
    assert follows_grammar(stream)
    assert accumulated(stream)["stop_reason"] == "end_turn"


def test_a_ping_keeps_the_stream_alive():
    encoder = StreamEncoder("anthropic")
    stream = encoder.keep_alive() + encoder.feed_all(events_of(reply_of(Text(text="Hi"))))
    assert stream.startswith(b'event: ping\ndata: {"type":"ping"}\n\n')
    assert accumulated(stream)["content"][0]["text"] == "Hi"


# Calls.


def test_calls_that_overlap_follow_one_another():
    other = replace(CALL, id="toolu_2", args={"b": 2})
    stream = written(
        MessageStarted(OWN),
        BlockStarted(0, replace(CALL, args=None)),
        BlockStarted(1, replace(other, args=None)),
        ArgumentsAdded(1, '{"b"'),
        ArgumentsAdded(0, '{"a":'),
        ArgumentsAdded(1, ":2}"),
        ArgumentsAdded(0, "1}"),
        BlockStarted(2, Text(text="")),
        TextAdded(2, "Hi"),
        BlockEnded(2, Text(text="Hi")),
        BlockEnded(1, other),
        BlockEnded(0, CALL),
        StreamEnded(reply_of(CALL, other, finish="tool_calls")),
    )
    assert follows_grammar(stream)
    content = accumulated(stream)["content"]
    assert [one.get("input") or one.get("text") for one in content] == [{"a": 1}, {"b": 2}, "Hi"]


@pytest.mark.parametrize("raw", ["", None, "{}"])
def test_a_call_without_arguments_gets_an_empty_object(raw):
    call = ToolCall(id="toolu_1", name="f", raw=raw)
    assert inputs(written(*events_of(reply_of(call)))) == ["{}"]


@pytest.mark.parametrize(
    ("raw", "input"),
    [
        ("null", {}),
        (" \n ", {}),
        ("[1]", {"_raw": "[1]"}),
        ("list all", {"_raw": "list all"}),
        ('"{\\"a\\":1}"', {"a": 1}),
        (' {"a":1}', {"a": 1}),
    ],
)
def test_arguments_that_are_no_object_become_one(raw, input):
    """A client would fail on them; they are what a whole response has."""
    call = ToolCall(id="toolu_1", name="f", raw=raw)
    events = [MessageStarted(OWN), BlockStarted(0, replace(call, raw=None))]
    events += [ArgumentsAdded(0, letter) for letter in raw]
    stream = written(*events, BlockEnded(0, call), StreamEnded(reply_of(call)))
    assert accumulated(stream)["content"][0]["input"] == input


def test_freeform_input_is_a_field_that_grows():
    call = ToolCall(id="toolu_1", name="shell", raw='ls "a"\n', kind="custom")
    events = [MessageStarted(OWN), BlockStarted(0, replace(call, raw=None))]
    events += [ArgumentsAdded(0, letter) for letter in call.raw]
    stream = written(*events, BlockEnded(0, call), StreamEnded(reply_of(call)))
    assert accumulated(stream)["content"][0]["input"] == {"input": 'ls "a"\n'}
    assert len(deltas(stream)) == len(call.raw) + 1


def test_calls_without_an_id_get_different_ones():
    call = replace(CALL, id="")
    stream = written(*events_of(reply_of(call, call)))
    first, second = accumulated(stream)["content"]
    assert first["id"]
    assert first["id"] != second["id"]


# State and blocks of this format and of others.


def test_seals_of_another_format_are_not_written():
    foreign = Origin("gemini", "gemini")
    sealed = Thinking(text="Hm.", opaque=(Opaque("gemini-api", "signature", "x"),))
    hidden = Thinking(opaque=(Opaque("gemini-api", "signature", "x"),))
    search = ToolCall(id="1", name="search", args={}, kind="server")
    stream = written(*events_of(reply_of(sealed, hidden, search, CALL, origin=foreign)))
    assert follows_grammar(stream)
    assert [one["type"] for one in starts(stream)] == ["thinking", "tool_use"]
    assert "signature_delta" not in [one["type"] for one in deltas(stream)]


def test_what_the_provider_ran_comes_back():
    held = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": 1}}
    page = {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "x"}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]}
    hidden = {"type": "redacted_thinking", "data": "x"}
    compacted = {"type": "compaction", "content": "In short.", "encrypted_content": "x"}
    body = encode_response(reply_of(), "anthropic") | {"content": [held, result, hidden, compacted]}
    stream = written(*events_of(decode_response(body, "anthropic")))
    assert follows_grammar(stream)
    assert starts(stream)[0]["input"] == {}
    assert accumulated(stream)["content"] == body["content"]


def test_sealed_citations_come_back():
    cited = [{"type": "web_search_result_location", "encrypted_index": "x", "url": "u"}]
    block = {"type": "text", "text": "As said.", "citations": cited}
    body = encode_response(reply_of(), "anthropic") | {"content": [block]}
    reply = decode_response(body, "anthropic")
    stream = written(*events_of(reply))
    assert [one["type"] for one in deltas(stream)] == ["text_delta", "citations_delta"]
    assert fold(decoded(stream)) == reply


def test_words_that_came_whole_are_in_a_delta():
    stream = written(*events_of(reply_of(Summary(text="In short."))))
    assert deltas(stream) == [{"type": "text_delta", "text": "In short."}]


def test_a_thought_without_words_or_seal_is_not_written():
    stream = written(*events_of(reply_of(Thinking(), Text(text="Hi"))))
    assert starts(stream) == [{"type": "text", "text": "", "citations": None}]


def test_blocks_of_another_format_are_not_written():
    block = Unknown(native=Native("gemini", {"x": 1}))
    assert starts(written(*events_of(reply_of(block)))) == []


def test_fields_of_the_message_come_back():
    native = Native(
        "anthropic",
        {"container": {"id": "c"}, "context_management": {"applied_edits": []}},
    )
    reply = reply_of(Text(text="Hi"), native=native)
    change = wire_events(written(*events_of(reply)))[-2]
    assert change["delta"]["container"] == {"id": "c"}
    assert change["context_management"] == {"applied_edits": []}


# What was cut.


def broken(*events, why="it broke"):
    return written(*events, StreamEnded(reply_of(), complete=False, why=why))


def test_a_stream_that_was_cut_ends_in_an_error():
    stream = broken(MessageStarted(OWN), BlockStarted(0, CALL), ArgumentsAdded(0, '{"a":'))
    kinds = [event["type"] for event in wire_events(stream)]
    assert kinds == ["message_start", "content_block_start", "content_block_delta", "error"]
    with pytest.raises(anthropic.APIStatusError, match="it broke"):
        accumulated(stream)


def test_calls_that_waited_when_the_stream_was_cut_are_not_written():
    stream = broken(MessageStarted(OWN), BlockStarted(0, CALL), BlockStarted(1, CALL))
    assert len(starts(stream)) == 1
    assert b"content_block_stop" not in stream


def test_the_error_of_the_provider_is_passed_on():
    own = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    told = ErrorReported("Overloaded", "overloaded_error", own)
    foreign = ErrorReported("Busy", "server_error", {"error": {"message": "Busy"}})
    assert wire_events(broken(told))[-1] == own
    error = {"type": "api_error", "message": "Busy"}
    assert wire_events(broken(foreign))[-1] == {"type": "error", "error": error}


def test_an_encoder_that_is_closed_early_tells_of_the_cut():
    encoder = StreamEncoder("anthropic")
    encoder.feed(MessageStarted(OWN))
    assert wire_events(encoder.close())[-1]["type"] == "error"
    assert encoder.close() == b""


def test_a_block_that_nobody_ended_is_ended_with_a_stream_that_is_complete():
    stream = written(
        MessageStarted(OWN),
        BlockStarted(0, Text(text="")),
        TextAdded(0, "Hi"),
        BlockStarted(1, Thinking()),
        ThinkingAdded(1, "Hm."),
        FinishReported("stop"),
        StreamEnded(reply_of()),
    )
    assert follows_grammar(stream)
    assert len(starts(stream)) == 2


# The law.

own_thoughts = st.builds(
    lambda words, seal: Thinking(text=words, opaque=(Opaque("anthropic", "signature", seal),)),
    st.text(max_size=5),
    st.text(min_size=1, max_size=5),
)


def replies_of(blocks):
    return st.builds(
        lambda blocks, origin, finish, usage: Reply(
            Message("assistant", tuple(blocks), origin=origin, finish=finish), usage
        ),
        st.lists(blocks, max_size=5),
        origins() | st.just(OWN),
        st.sampled_from(["", "stop", "tool_calls", "stop_sequence", "refusal", "paused"]),
        st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
    )


said = texts() | thoughts() | own_thoughts | calls() | calls() | results()


def with_text_of_broken_input(reply):
    """A stream shows input that breaks off as it is; a whole response has to wrap it."""

    def shown(call):
        raw = (call.args or {}).get("_raw")
        return replace(call, args=None, raw=raw) if _breaks_off(raw) else call

    findings = []
    message = message_with_arguments(with_calls(reply, shown).message, findings)
    return replace(reply, message=message, findings=(*reply.findings, *findings))


def _breaks_off(raw):
    return isinstance(raw, str) and raw.startswith("{")


@given(replies_of(said | media()).map(with_own_ids))
def test_a_reply_as_a_stream_is_what_it_is_whole(reply):
    whole = decode_response(encode_response(reply, "anthropic"), "anthropic")
    stream = written(*events_of(reply))
    assert follows_grammar(stream)
    assert fold(decoded(stream)) == with_text_of_broken_input(whole)


@given(replies_of(said).map(with_own_ids))
def test_the_sdk_reads_every_stream(reply):
    """Input that breaks off is read by the SDK as far as it goes."""
    read = accumulated(written(*events_of(reply)))["content"]
    whole = json.loads(json.dumps(encode_response(reply, "anthropic")["content"]))
    for block in whole:
        if block["type"] == "tool_use" and _breaks_off(block["input"].get("_raw")):
            block["input"] = {}
    assert read == whole
