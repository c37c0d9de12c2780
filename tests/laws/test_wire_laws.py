"""Laws of the wire formats: what a format has a word for comes back as it was. L8."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from canonicall import Conversation, Message, Text, ToolCall
from canonicall.codec.decode import decode_request, decode_response
from canonicall.codec.encode import encode_request, encode_response
from canonicall.reply import LENGTH, STOP, TOOL_CALLS, Reply, Usage
from canonicall.request import Reasoning, Request, ToolChoice
from canonicall.testing.strategies import choices, json_objects, offers, params, texts

from bodies import BASES, every_target

NO_ARGUMENTS = {"type": "object", "properties": {}}
replies = st.builds(
    lambda words, made: Message(
        "assistant",
        (
            *words,
            *(ToolCall(id=f"call_{n}", name=f"f_{n}", args=args) for n, args in enumerate(made)),
        ),
        finish=TOOL_CALLS if made else STOP,
    ),
    st.lists(texts(sound=True), min_size=1, max_size=2),
    st.lists(json_objects(), max_size=3),
)
with_choices = offers(least=1).flatmap(
    lambda offered: st.tuples(st.just(offered), st.none() | choices(offered))
)
STREAMED_BY_ADDRESS = ("bedrock", "gemini")
every_format = pytest.mark.parametrize("format", BASES)


def ask(target, **fields):
    conversation = Conversation.of([Message("user", (Text(text="Go on."),))])
    made = encode_request(Request(conversation, model="some-model", **fields), target)
    back = decode_request(made.data, target.format, provider=target.provider)
    return made, back


def meant(value):
    """An effort or a budget says that the model shall think."""
    if not isinstance(value, Reasoning):
        return value
    return (value.enabled or bool(value.effort or value.budget), value.effort, value.budget)


@settings(max_examples=40)
@given(params())
@every_target
def test_parameters_come_back_or_a_finding_names_them(target, wanted):
    made, back = ask(target, params=wanted)
    told_about = str(made.report)
    for name, value in asdict(wanted).items():
        if name == "stream" and target.format in STREAMED_BY_ADDRESS:
            continue
        words = ("reasoning", "effort", "budget") if name == "reasoning" else (name,)
        got = getattr(back.params, name)
        assert meant(got) == meant(value) or any(word in told_about for word in words)


@settings(max_examples=40)
@given(with_choices)
@every_target
def test_the_offer_comes_back_or_a_finding_names_it(target, wanted):
    offered, choice = wanted
    made, back = ask(target, tools=offered, tool_choice=choice)
    names = made.transcript.names
    codes = made.report.counts.keys()
    own = {names.get(tool.name, tool.name): tool for tool in back.tools}
    if "choice_weakened" not in codes:
        assert list(own) == [tool.name for tool in offered]
    for tool in offered:
        if tool.name in own:
            got = own[tool.name]
            assert got.description == tool.description
            assert (got.parameters or NO_ARGUMENTS) == tool.parameters
            told = "strict_dropped" in codes or "strict is not sent" in str(made.report)
            assert bool(got.strict) == bool(tool.strict) or told
    if choice is not None and "choice_weakened" not in codes:
        got = back.tool_choice or ToolChoice("auto")
        assert (got.mode or "auto") == choice.mode
        assert {names.get(name, name) for name in got.names} == set(choice.names)


@every_format
@settings(max_examples=25)
@given(replies, st.integers(1, 900), st.integers(1, 900))
def test_a_reply_comes_back(format, message, read, written):
    """Words, calls, the reason to stop and the usage, from canonical form and back."""
    usage = Usage(input_tokens=read, output_tokens=written)
    back = decode_response(encode_response(Reply(message, usage), format), format)
    assert back.message.text == message.text
    recorded = Conversation().append(back.message).calls
    assert [(call.name, call.args) for call in recorded] == [
        (call.name, call.args) for call in message.calls
    ]
    assert back.finish == message.finish
    assert (back.usage.input_tokens, back.usage.output_tokens) == (read, written)


@every_format
def test_a_reply_cut_by_its_limit_comes_back(format):
    message = Message("assistant", (Text(text="And so"),), finish=LENGTH)
    back = decode_response(encode_response(Reply(message), format), format)
    assert (back.message.text, back.finish) == ("And so", LENGTH)
