"""The parser registry, the transformers and the capability matrix, as a user meets them."""

import re

import pytest

from batches import each
from canonicall import (
    InvalidValue,
    MalformedBody,
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolCallAccumulator,
    ToolParser,
    UnknownName,
    decode_response,
    detect_syntax,
    encode_response,
    get_profile,
    get_syntax,
    get_target,
    parse,
    provider_names,
    syntax_names,
)
from canonicall.calls import to_anthropic, to_generic, to_openai
from canonicall.facts.capabilities import get_capabilities
from canonicall.facts.target import FORMATS
from canonicall.parsers import get_parser, register_parser, unregister_parser


def test_anthropic_parser():
    response = '{"content": [{"type": "tool_use", "id": "123", "name": "calc", "input": {"x": 5}}]}'
    (call,) = get_parser("anthropic").parse(response)
    assert (call.id, call.name, call.args["x"]) == ("123", "calc", 5.0)


def test_openai_parser():
    response = (
        '{"choices": [{"message": {"tool_calls": [{"id": "call_1", "type": "function",'
        ' "function": {"name": "calc", "arguments": "{\\"x\\": 5}"}}]}}]}'
    )
    (call,) = get_parser("openai").parse(response)
    assert (call.id, call.name, call.raw) == ("call_1", "calc", '{"x": 5}')


def test_google_parser():
    response = '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "calc", "args": {"x": 5}}}]}}]}'
    (call,) = get_parser("google").parse(response)
    assert (call.name, call.args) == ("calc", {"x": 5})


def in_chat(text):
    """A response of a chat API with this text."""
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def leaks():
    """Every syntax that a provider is known to print, whatever its model."""
    for provider in provider_names():
        target = get_target(provider)
        if target.format == "openai-chat":
            yield from ((provider, name) for name in target.leaks if name != "family")


@each(("provider", "syntax"), leaks, least=10)
def test_a_parser_reads_the_text_forms_of_its_provider(provider, syntax):
    """Wire format first, then the text; as text alone, and as the content of a response."""
    made = ToolCall(name="now", args={"zone": "CET"})
    text = get_syntax(syntax).print_calls((made,))
    parser = get_parser(provider)
    for response in (text, text.encode(), in_chat(text)):
        (call,) = parser.parse(response)
        assert (call.name, call.args) == ("now", {"zone": "CET"})
    structured = encode_response(Reply(Message("assistant", (made,))), "openai-chat")
    assert [one.name for one in parser.parse(structured)] == ["now"]


def test_the_parsers_of_xai_and_deepseek_read_text_and_json():
    block = '<x.ai:tool_call><invoke name="now"><parameter name="zone">CET</parameter></invoke></x.ai:tool_call>'
    (call,) = get_parser("xai").parse(block)
    assert (call.name, call.args) == ("now", {"zone": "CET"})
    (call,) = get_parser("deepseek").parse("<tool><name>now</name><zone>CET</zone></tool>")
    assert (call.name, call.args) == ("now", {"zone": "CET"})
    assert get_parser("deepseek").parse("It is noon.") == []


def test_a_parser_reads_no_text_of_a_provider_that_prints_none():
    text = "<tool><name>now</name></tool>"
    with pytest.raises(MalformedBody):
        get_parser("openai").parse(text)
    assert get_parser("openai").parse(in_chat(text)) == []
    with pytest.raises(MalformedBody):
        get_parser("deepseek").parse('{"choices": [')


CALLED = Reply(Message("assistant", (ToolCall(id="call_1", name="calc", args={"x": 5}),)))


@pytest.mark.parametrize("format", FORMATS)
def test_the_calls_of_a_reply_are_found_in_every_format_of_its_provider(format):
    """By the name of the format, and by that of every provider that speaks it."""
    body = encode_response(CALLED, format)
    speakers = [name for name in provider_names() if format in get_profile(name).formats]
    for name in (format, *speakers):
        (call,) = get_parser(name).parse(body)
        assert (call.name, call.args) == ("calc", {"x": 5}), name


def test_an_item_of_the_responses_api_is_a_call():
    item = {"type": "function_call", "call_id": "call_1", "name": "calc", "arguments": '{"x": 5}'}
    for name in ("openai", "openai-responses", "azure"):
        (call,) = get_parser(name).parse(item)
        assert (call.id, call.name, call.args) == ("call_1", "calc", {"x": 5})


@pytest.mark.parametrize("other", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
def test_a_reply_of_another_format_is_refused_or_read(format, other):
    """Never is it taken for a reply without calls."""
    body = encode_response(CALLED, format)
    try:
        calls = decode_response(body, other).calls
    except MalformedBody:
        assert other != format
    else:
        assert [call.name for call in calls] == ["calc"]


def test_an_unknown_provider_has_no_parser_and_says_so():
    with pytest.raises(UnknownName, match="no parser for provider is called 'nobody'"):
        get_parser("nobody")


@each("name", syntax_names())
def test_a_syntax_has_a_parser_that_says_how_arguments_are_written(name):
    parser = get_parser(name)
    assert isinstance(parser, ToolParser)
    assert parser.provider_id == name
    print_calls = get_syntax(name).print_calls
    assert print_calls is not None
    if name == "generic_none":
        assert parser.format == "custom"
        return
    text = print_calls((ToolCall(name="calc", args={"x": "five"}),))
    is_json = '"x": "five"' in text or '"x":"five"' in text
    is_xml = not is_json and re.search(r">\s*five", text) is not None and ">call:" not in text
    assert parser.format == (
        "json" if is_json and name != "react" else "xml" if is_xml else "custom"
    )


def test_calls_in_text_are_parsed_by_the_name_of_their_syntax():
    text = '<tool_call>{"name": "calc", "arguments": {"x": 5}}</tool_call>'
    for response in (text, text.encode()):
        (call,) = get_parser("hermes").parse(response)
        assert (call.name, call.args) == ("calc", {"x": 5})
    with pytest.raises(MalformedBody, match="text of a model"):
        get_parser("hermes").parse({"name": "calc"})


CALC = Tool("calc", parameters={"type": "object", "properties": {"x": {"type": "integer"}}})


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        (
            '<x.ai:tool_call>{"name": "calc", "arguments": {"x": 5}}</x.ai:tool_call>',
            "xai_tool_call",
        ),
        ("<tool><tool_name>calc</tool_name><x>5</x></tool>", "tool_tag"),
        (
            (
                '{"tool_calls": [{"id": "call_1", "type": "function",'
                ' "function": {"name": "calc", "arguments": "{\\"x\\": 5}"}}]}'
            ),
            "json_plain",
        ),
        (
            '{"content": [{"type": "tool_use", "id": "t1", "name": "calc", "input": {"x": 5}}]}',
            "json_plain",
        ),
    ],
)
def test_the_four_patterns_of_auto_detection(text, syntax):
    """A tag of Grok, a tag of anybody, the JSON of OpenAI and that of Anthropic."""
    assert detect_syntax(text, tools=[CALC]) == syntax
    parsed = parse(text, tools=[CALC])
    assert [(call.name, call.args) for call in parsed.calls] == [("calc", {"x": 5})]
    (call,) = get_parser(syntax).parse(text)
    assert call.name == "calc"


def test_text_in_none_of_the_patterns_is_no_error():
    """Not knowing is an answer."""
    assert detect_syntax("Hello.") is None
    assert detect_syntax('The key "tool_use" is Anthropic\'s.', tools=[CALC]) is None


def test_a_parser_of_ones_own():
    class Shouting:
        provider_id = "shouting"
        format = "custom"

        def parse(self, response):
            return [ToolCall(name=response.lower())]

    register_parser("shouting", Shouting())
    try:
        assert get_parser("shouting").parse("LS")[0].name == "ls"
    finally:
        unregister_parser("shouting")
    with pytest.raises(InvalidValue, match=r"parse\(response\)"):
        register_parser("broken", object())


def test_transformers():
    call = ToolCall(id="1", name="test", args={"x": 5})
    assert to_anthropic(call) == {"type": "tool_use", "id": "1", "name": "test", "input": {"x": 5}}
    assert to_openai(call) == {
        "id": "1",
        "type": "function",
        "function": {"name": "test", "arguments": '{"x":5}'},
    }
    assert to_generic(call) == {"tool_call_id": "1", "tool_name": "test", "parameters": {"x": 5}}


@pytest.mark.parametrize(
    ("provider", "transform"), [("anthropic", to_anthropic), ("openai", to_openai)]
)
def test_transformers_round_trip_through_the_parsers(provider, transform):
    call = ToolCall(id="1", name="test", args={"x": 5})
    (parsed,) = get_parser(provider).parse(transform(call))
    assert (parsed.id, parsed.name, parsed.args) == (call.id, call.name, call.args)
    assert get_parser(provider).parse(transform(parsed)) == [parsed]


ANTHROPIC_CALL = {"type": "tool_use", "id": "toolu_1", "name": "calc", "input": {"x": [5, None]}}
OPENAI_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "calc", "arguments": '{"x": [5, null]}'},
}


@pytest.mark.parametrize(
    ("provider", "body", "transform", "written"),
    [
        ("anthropic", {"content": [ANTHROPIC_CALL]}, to_anthropic, ANTHROPIC_CALL),
        (
            "openai",
            {"choices": [{"message": {"tool_calls": [OPENAI_CALL]}}]},
            to_openai,
            OPENAI_CALL,
        ),
    ],
)
def test_a_call_of_a_reply_is_written_as_it_came(provider, body, transform, written):
    """A provider's reply to canonical form, to the provider's form: equal. And once more."""
    (call,) = get_parser(provider).parse(body)
    assert call.args == {"x": [5, None]}
    assert transform(call) == written
    assert get_parser(provider).parse(written) == [call]


def test_a_call_of_one_provider_is_written_for_the_other():
    """The arguments of OpenAI's text are Anthropic's object, not an empty one."""
    (call,) = get_parser("openai").parse(OPENAI_CALL)
    assert to_anthropic(call)["input"] == ANTHROPIC_CALL["input"]
    assert to_generic(call)["parameters"] == ANTHROPIC_CALL["input"]
    (call,) = get_parser("anthropic").parse(ANTHROPIC_CALL)
    assert to_openai(call)["function"]["arguments"] == '{"x":[5,null]}'


def test_a_streamed_call_of_one_provider_is_written_for_the_other():
    accumulator = ToolCallAccumulator("openai-chat")
    accumulator.add_chunk(STREAMED)
    accumulator.close()
    assert [to_anthropic(call)["input"] for call in accumulator.get_completed()] == [
        {"x": 5, "why": "to know"},
        {},
    ]


def test_arguments_that_cannot_be_read_are_never_written_as_none():
    """The call says something, and what it says must not be lost."""
    broken = ToolCall(id="1", name="calc", raw='{"x": ')
    assert to_anthropic(broken)["input"] == {"_raw": '{"x": '}
    assert to_generic(broken)["parameters"] == {"_raw": '{"x": '}
    assert to_openai(broken)["function"]["arguments"] == '{"x": '
    text = ToolCall(id="1", name="calc", raw='{"x": 5}')
    assert to_anthropic(text)["input"] == {"x": 5}
    free = ToolCall(id="1", name="shell", raw="ls", kind="custom")
    assert to_anthropic(free)["input"] == {"input": "ls"}
    assert get_parser("openai").parse(to_openai(free)) == [free]


def test_capabilities_are_conservative_for_unknown_providers():
    unknown = get_capabilities("nobody")
    assert (unknown.format, unknown.supports_parallel, unknown.stream_support) == (
        "unknown",
        False,
        False,
    )
    assert get_capabilities("anthropic").supports_parallel


STREAMED = """\
data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"One moment."}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"calc","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"x\\": 5, \\"why\\": \\"to"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":" know\\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"list","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"""


def test_a_stream_of_chunks_gives_its_calls_as_they_complete():
    """Chunk by chunk: nothing twice, nothing early, a partial call to look at in between."""
    accumulator = ToolCallAccumulator("openai-chat")
    completed, partial = [], []
    for line in STREAMED.splitlines(keepends=True):
        completed += accumulator.add_chunk(line)
        partial += [dict(call.args) for call in accumulator.in_progress.values()]
    assert [(call.id, call.name, call.args) for call in completed] == [
        ("call_1", "calc", {"x": 5, "why": "to know"}),
        ("call_2", "list", {}),
    ]
    assert {"x": 5, "why": "to"} in partial
    assert accumulator.get_completed() == completed
    assert accumulator.in_progress == {}
    assert accumulator.close() == []


@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
def test_the_calls_of_a_stream_do_not_depend_on_how_it_is_cut(size):
    accumulator = ToolCallAccumulator("openai-chat")
    for at in range(0, len(STREAMED), size):
        accumulator.add_chunk(STREAMED[at : at + size])
    accumulator.close()
    assert [call.name for call in accumulator.get_completed()] == ["calc", "list"]


def test_a_stream_that_breaks_off_gives_only_the_calls_that_others_follow():
    lines = STREAMED.splitlines(keepends=True)
    for end, expected in ((4, []), (8, []), (9, ["calc"]), (10, ["calc"])):
        accumulator = ToolCallAccumulator("openai-chat")
        accumulator.add_chunk("".join(lines[:end]))
        accumulator.close()
        assert [call.name for call in accumulator.get_completed()] == expected
