"""Calls that leaked into the words of a structured reply."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batches import each
from canonicall import (
    BlockEnded,
    BlockStarted,
    CallRecovery,
    Conversation,
    FinishReported,
    Message,
    Native,
    Opaque,
    Reply,
    Request,
    StreamDecoder,
    StreamEncoder,
    StreamEnded,
    Text,
    TextAdded,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    decode_response,
    events_of,
    fold,
    get_syntax,
    get_target,
    recover_calls,
    verify_stream,
)
from canonicall.syntax.detection import leaked_syntax
from canonicall.syntax.scanner import TextScanner, has_markers
from canonicall.testing.strategies import replies
from syntax import law_texts
from syntax.support import said, splits

TOOLS = [
    Tool(
        "get_weather",
        parameters={"type": "object", "properties": {"city": {"type": "string"}}},
    )
]
CALL = ToolCall(name="get_weather", args={"city": "Basel"})
LEAKING = (
    "deepseek_v32_dsml",
    "deepseek_v4_dsml",
    "kimi_k2",
    "glm45_xml",
    "minimax_m2",
    "hermes",
    "qwen3_coder_xml",
    "mistral",
    "deepseek_v31",
    "harmony",
)
HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Basel"}}\n</tool_call>'
DSML = (
    '< | DSML | tool_calls>< | DSML | invoke name="get_weather">'
    '< | DSML | parameter name="city" string="true">Basel</ | DSML | parameter>'
    "</ | DSML | invoke></ | DSML | tool_calls>"
)


def leaked(name):
    return get_syntax(name).print_calls((CALL,))


def reply(*blocks, finish="stop", **fields):
    told = [Text(text=block) if isinstance(block, str) else block for block in blocks]
    return Reply(Message("assistant", tuple(told), finish=finish, **fields))


def codes(found):
    return [finding.code for finding in found.findings]


@pytest.mark.parametrize("name", LEAKING)
def test_a_leaked_call_becomes_a_call_and_the_text_before_it_stays(name):
    found = recover_calls(reply(f"  I look.\n\n{leaked(name)}\n"), TOOLS)
    assert said(found.calls) == [("get_weather", {"city": "Basel"})]
    assert found.calls[0].recovered
    assert found.message.text == "  I look.\n\n"
    assert found.finish == "tool_calls"
    assert codes(found) == ["call_recovered"]
    (finding,) = found.findings
    assert (finding.where, finding.action) == ("blocks[0]", "changed")


@each("name", LEAKING)
def test_text_after_a_call_makes_it_a_quotation(name):
    told = reply(f"  I look.\n\n{leaked(name)}\n\nPlease wait.\n")
    found = recover_calls(told, TOOLS)
    assert found.message == told.message
    assert codes(found) == ["call_quoted"]
    assert found.findings[0].where.startswith("blocks[0].text[")
    check(told)


@each("name", LEAKING)
def test_only_the_run_at_the_end_is_calls(name):
    told = reply(f"One: {leaked(name)} Two: {leaked(name)}{leaked(name)} ")
    found = recover_calls(told, TOOLS)
    assert len(found.calls) == 2
    assert found.message.text == f"One: {leaked(name)} Two: "
    assert codes(found) == ["call_recovered", "call_quoted"]
    check(told)


@each("name", ["lfm2", "gemma4", "inkling"])
def test_models_that_write_text_after_their_calls(name):
    told = reply(f"I look. {leaked(name)} Please wait.")
    found = recover_calls(told, TOOLS)
    assert said(found.calls) == [("get_weather", {"city": "Basel"})]
    assert [type(block) for block in found.message.blocks] == [Text, ToolCall, Text]
    check(told)


def test_the_spellings_that_hosts_leak():
    assert said(recover_calls(reply(DSML), TOOLS).calls) == [("get_weather", {"city": "Basel"})]


@pytest.mark.parametrize("tools", [[], [Tool("other")]], ids=["none", "others"])
def test_nothing_is_called_that_was_not_offered(tools):
    told = reply(HERMES)
    found = recover_calls(told, tools)
    assert found.message == told.message
    assert codes(found) == (["call_not_offered"] if tools else [])


@pytest.mark.parametrize(
    "text",
    [
        "Hello.",
        "",
        "  \n",
        "  Hello. <think>so</think> </s> <|im_end|>",
        f"```\n{HERMES}\n```",
        f'He wrote "{HERMES}".',
        f"<think>I could say {HERMES}</think>No.",
        '{"name": "get_weather", "arguments": {"city": "Basel"}}',
        '[get_weather(city="Basel")]',
        '<invoke name="get_weather"><parameter name="city">Basel</parameter></invoke>',
        "<get_weather><city>Basel</city></get_weather>",
        "Action: get_weather\nAction Input: {}",
    ],
)
def test_words_that_hold_no_marked_call_are_left_alone(text):
    told = reply(text)
    assert recover_calls(told, TOOLS) is told


PIECES = st.sampled_from(
    ["<", "<|", "<tool", "[", "{", "`", "```", "\n", " ", "a", "get_weather", "|>"]
)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_words_without_a_marker_need_no_scanner(text):
    """What is left out because it cannot matter would not have mattered."""
    syntax = leaked_syntax()
    if not has_markers(text, syntax, TOOLS) and text.strip():
        scanner = TextScanner(syntax, tools=TOOLS)
        read = fold([*scanner.feed(text), *scanner.close()])
        assert read.message.blocks == (Text(text=text),)
        assert not read.findings


def test_structured_calls_beside_a_leaked_one_stay():
    told = reply(Thinking(text="hm"), HERMES, ToolCall(id="a", name="get_weather"), finish="length")
    found = recover_calls(told, TOOLS)
    assert [type(block).__name__ for block in found.message.blocks] == [
        "Thinking",
        "ToolCall",
        "ToolCall",
    ]
    assert found.finish == "length"


def test_native_ids_and_damage_are_told():
    kimi = "<|tool_call_begin|>functions.get_weather:3<|tool_call_argument_begin|>{'city': 'B',}"
    found = recover_calls(reply(kimi + "<|tool_call_end|>"), TOOLS)
    assert (found.calls[0].id, found.calls[0].args) == ("functions.get_weather:3", {"city": "B"})
    assert codes(found) == ["call_recovered", "arguments_repaired"]
    assert found.findings[1].where == "blocks[0].text[0]"


def test_a_call_that_was_cut_is_marked():
    found = recover_calls(reply(HERMES[:-20], finish="length"), TOOLS)
    assert found.calls[0].truncated
    assert found.finish == "length"


def test_markers_without_a_call_are_left_out_with_a_finding():
    found = recover_calls(reply("<|channel|>final<|message|>Hello."), TOOLS)
    assert (found.message.text, codes(found)) == ("Hello.", ["markers_removed"])


def test_what_belonged_to_the_words_as_a_whole_is_named():
    seal = Opaque("gemini-api", "signature", "x")
    found = recover_calls(reply(Text(text=HERMES, opaque=(seal,))), TOOLS)
    assert codes(found) == ["call_recovered", "fields_dropped"]
    told = reply(Text(text="Hi", opaque=(seal,)))
    assert recover_calls(told, TOOLS) is told


# The same in a stream.


def recovered(events, tools=TOOLS):
    recovery = CallRecovery(tools)
    return recovery.feed_all(events)


def told_blocks(events):
    """The blocks as the stream tells them, before its end."""
    ended = {event.index: event.block for event in events if isinstance(event, BlockEnded)}
    return tuple(ended[number] for number in sorted(ended))


def finish_of(events):
    return [event.finish for event in events if isinstance(event, FinishReported)]


def check(told, tools=TOOLS):
    """The stream says what its end says, and that is what the whole reply gives."""
    events = list(events_of(told))
    after = recovered(events, tools)
    whole = recover_calls(told, tools)
    assert fold(after) == whole
    assert told_blocks(after) == whole.message.blocks
    assert finish_of(after) == [whole.finish]
    numbers = [event.index for event in after if isinstance(event, BlockStarted)]
    assert numbers == list(range(len(whole.message.blocks)))
    ended = [event.index for event in after if isinstance(event, BlockEnded)]
    assert len(ended) == len(set(ended))
    return after


@pytest.mark.parametrize("name", LEAKING)
def test_streamed_is_whole(name):
    check(reply(Thinking(text="hm"), f" I look. {leaked(name)}\n ok", ToolCall(id="x", name="g")))


@given(replies())
def test_replies_that_leak_nothing_pass_through(told):
    assert recovered(events_of(told), []) == list(events_of(told))
    check(told)


@given(st.sampled_from(LEAKING), st.data())
def test_any_split_of_the_words_is_the_same(name, data):
    text = f"  I look. {leaked(name)} And {HERMES}"
    told = reply(text)
    start, end = BlockStarted(0, Text(text="")), BlockEnded(0, Text(text=text))
    pieces = [TextAdded(0, piece) for piece in data.draw(splits(text))]
    events = [start, *pieces, end, FinishReported("stop"), StreamEnded(told)]
    after = recovered(events)
    assert told_blocks(after) == recover_calls(told, TOOLS).message.blocks
    assert fold(after) == recover_calls(told, TOOLS)


def test_a_stream_that_breaks_off_inside_a_leaked_call():
    told = reply(f"I look. {HERMES[:-20]}", finish="", partial=True)
    events = [event for event in events_of(told) if not isinstance(event, BlockEnded)]
    after = recovered(events)
    assert fold(after).calls[0].truncated
    assert [type(block) for block in told_blocks(after)] == [Text]


def test_a_seal_on_words_that_held_nothing_is_passed_on():
    seal = Opaque("gemini-api", "signature", "x")
    check(reply(Text(text="Hi", opaque=(seal,)), Text(text=" ", opaque=(seal,))))


def test_words_come_as_they_come():
    recovery = CallRecovery(TOOLS)
    recovery.feed(BlockStarted(0, Text(text="")))
    assert recovery.feed(TextAdded(0, "Hello"))[-1] == TextAdded(0, "Hello")


def chat_stream(text, size):
    """A chat stream whose host left the model's own syntax in the words."""

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        data = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
        return f"data: {json.dumps(data)}\n\n".encode()

    words = [text[at : at + size] for at in range(0, len(text), size)]
    return b"".join(
        [
            chunk({"role": "assistant", "content": ""}),
            *(chunk({"content": word}) for word in words),
            chunk({}, "stop"),
            b"data: [DONE]\n\n",
        ]
    )


@each("size", [1, 7, 1000])
@each("name", LEAKING)
def test_a_leaked_chat_stream_becomes_a_proper_stream_of_another_format(name, size):
    decoder, recovery, encoder = (
        StreamDecoder("openai-chat"),
        CallRecovery(TOOLS),
        StreamEncoder("anthropic", seed="turn 1"),
    )
    data = chat_stream(f"I look. {leaked(name)}", size)
    sent = b""
    for event in (*decoder.feed(data), *decoder.close()):
        sent += encoder.feed_all(recovery.feed(event))
    sent += encoder.close()
    assert not verify_stream(sent, "anthropic")
    assert b'"stop_reason":"tool_use"' in sent
    reader = StreamDecoder("anthropic")
    read = fold([*reader.feed(sent), *reader.close()])
    assert said(read.calls) == [("get_weather", {"city": "Basel"})]
    assert read.message.text == "I look. "


def test_a_whole_body():
    body = {"choices": [{"message": {"content": HERMES}, "finish_reason": "stop"}]}
    found = recover_calls(decode_response(body, "openai-chat"), TOOLS)
    assert said(found.calls) == [("get_weather", {"city": "Basel"})]


# What makes a call a quotation.

OTHER = leaked("kimi_k2")
QUOTED = {
    "straight quotes": f'It says "look: {OTHER}',
    "single quotes": f"It says 'look: {OTHER}",
    "typographic quotes": f"It says \u201clook: {OTHER}",
    "guillemets": f"It says \u00ab look: {OTHER}",
    "right after a quote": f'It says "{OTHER}',
    "ticks": f"It says `look {OTHER}",
    "block quote": f"It says:\n\n> {OTHER}",
    "block quote that goes on": f"> It says:\n{OTHER}",
    "fence": f"```\n{OTHER}",
    "fence of tildes": f"~~~ text\n{OTHER}",
    "indented": f"It says:\n\n    {OTHER}",
    "indented by a tab": f"\t{OTHER}",
    "element": f"<document>\nIt says: {OTHER}",
    "comment": f"<!-- It says: {OTHER}",
    "element with attributes": f'See <file path="a">x</file> and <file path="b">\n{OTHER}',
}
PLAIN = {
    "nothing": OTHER,
    "a sentence": f"I look. {OTHER}",
    "closed quotes": f"The \"one\", 'two' and \u201cthree\u201d. {OTHER}",
    "an inch and apostrophes": f"A 27\" screen. It's the users' choice. {OTHER}",
    "a quote that was not closed in its paragraph": f'He said "yes.\n\n{OTHER}',
    "a block quote before": f"> It says so.\n\n{OTHER}",
    "closed elements": f"<a>x</a> <br> <p>One <b>two</b> List<int> a < b {OTHER}",
    "closed comment": f"<!-- so --> {OTHER}",
    "closed code": f"`one` and\n```\ntwo\n```\n{OTHER}",
    "code before": f"    one\n\n{OTHER}",
    "a list": f"- {OTHER}",
}


@each("text", [pytest.param(text, id=name) for name, text in QUOTED.items()])
def test_a_call_that_is_shown_is_no_call(text):
    found = recover_calls(reply(text), TOOLS)
    assert not found.calls
    assert found.message.text == text
    check(reply(text))


@each("text", [pytest.param(text, id=name) for name, text in PLAIN.items()])
def test_what_is_closed_before_a_call_does_not_quote_it(text):
    assert said(recover_calls(reply(text), TOOLS).calls) == [("get_weather", {"city": "Basel"})]
    check(reply(text))


SAME = ToolCall(id="a", name="get_weather", args={"city": "Basel"})
ANOTHER = ToolCall(id="a", name="get_weather", args={"city": "Bern"})
BLOCKS = {
    "a structured call follows": ((HERMES, ANOTHER), 2),
    "blank text follows": ((HERMES, " \n", ANOTHER, "\n"), 2),
    "a thought follows": ((HERMES, Thinking(text="hm")), 1),
    "another run follows": ((f"One. {HERMES}", OTHER), 2),
    "text follows in the next block": ((HERMES, "So it is."), 0),
    "text follows a structured call": ((HERMES, ANOTHER, "So it is."), 1),
    "text and a run follow": ((HERMES, f"So it is. {OTHER}"), 1),
    "the same call is structured": ((HERMES, SAME), 1),
    "the same call was structured": ((SAME, HERMES), 1),
}


@each("blocks, count", [pytest.param(*row, id=name) for name, row in BLOCKS.items()])
def test_a_run_ends_with_the_reply_and_not_with_its_block(blocks, count):
    told = reply(*blocks)
    found = recover_calls(told, TOOLS)
    assert len(found.calls) == count
    recovered_calls = [call for call in found.calls if call.recovered]
    assert (codes(found) == ["call_quoted"]) == (not recovered_calls)
    check(told)


def test_calls_of_a_reply_that_was_cut_must_not_be_run():
    for told in (reply(HERMES, finish="length"), reply(HERMES, finish="", partial=True)):
        assert [call.truncated for call in recover_calls(told, TOOLS).calls] == [True]
        after = recovered(events_of(told))
        assert fold(after) == recover_calls(told, TOOLS)


def asking(text="Hi", **fields):
    conversation = Conversation.of((Message("user", (Text(text=text),)),))
    return Request(conversation, tuple(TOOLS), **fields)


def test_what_the_provider_keeps_cannot_be_compared():
    continued = asking(continues=Native("openai-responses", {"previous_response_id": "r"}))
    found = recover_calls(reply(HERMES), TOOLS, request=continued)
    assert not found.calls
    assert codes(found) == ["call_quoted"]
    assert recover_calls(reply(HERMES), TOOLS, request=asking()).calls


def test_only_tools_that_may_be_chosen_are_called():
    choices = (ToolChoice("none"), ToolChoice("auto", names=("other",)))
    for choice in choices:
        told = reply(HERMES)
        found = recover_calls(told, TOOLS, request=asking(tool_choice=choice))
        assert found.message == told.message
    chosen = asking(tool_choice=ToolChoice("required", names=("get_weather",)))
    assert recover_calls(reply(HERMES), TOOLS, request=chosen).calls


def test_what_the_model_said_before_is_no_source():
    before = asking()
    before.conversation.append(Message("assistant", (Text(text=HERMES),)))
    before.conversation.user("Again.")
    assert recover_calls(reply(HERMES), TOOLS, request=before).calls


def test_what_a_tool_of_the_provider_brought_into_the_reply_is_a_source():
    page = ToolResult(call_id="s", content=(Text(text=f"Do {HERMES}"),), kind="server")
    told = reply(ToolCall(id="s", name="web_search", kind="server"), page, HERMES)
    assert [call.name for call in recover_calls(told, TOOLS, request=asking()).calls] == [
        "web_search"
    ]
    check(told)


def test_a_run_is_called_as_a_whole_or_not_at_all():
    both = f"{HERMES}\n{HERMES.replace('Basel', 'Bern')}"
    told = reply(both)
    assert len(recover_calls(told, TOOLS, request=asking()).calls) == 2
    assert not recover_calls(told, TOOLS, request=asking(f"See {HERMES}")).calls


def test_a_target_is_read_only_in_what_it_prints():
    for target, count in (("kimi", 0), ("openai:gpt-5", 0), ("vllm:Qwen/Qwen3-32B", 1)):
        told = reply(HERMES)
        found = recover_calls(told, TOOLS, target=get_target(target))
        assert len(found.calls) == count
        assert count or found is told


@given(st.data(), st.sampled_from(law_texts.NAMES))
def test_any_text_is_read_alike_whole_and_in_pieces(data, name):
    text, _ = data.draw(law_texts.texts_of(name))
    target = replace(get_target("vllm"), leaks=(name,))
    tools = law_texts.OFFERS[3]
    whole = recover_calls(reply(text), tools, target=target)
    pieces = [TextAdded(0, piece) for piece in data.draw(splits(text))]
    start, end = BlockStarted(0, Text(text="")), BlockEnded(0, Text(text=text))
    recovery = CallRecovery(tools, target=target)
    ended = [FinishReported("stop"), StreamEnded(reply(text))]
    after = recovery.feed_all([start, *pieces, end, *ended])
    assert fold(after) == whole
    assert told_blocks(after) == tuple(
        block for block in whole.message.blocks if not getattr(block, "truncated", False)
    )
    if not {"call_recovered", "markers_removed"} & set(codes(whole)):
        assert whole.message.blocks == (Text(text=text),)
