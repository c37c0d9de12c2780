"""Which syntax a text is in, where nobody said so; and that prose stays prose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batches import each
from canonicall import (
    CallRecovery,
    Message,
    Reply,
    Text,
    Tool,
    ToolCall,
    UnknownName,
    detect_syntax,
    fold,
    get_profile,
    get_syntax,
    get_target,
    parse,
    provider_names,
    recover_calls,
    syntax_names,
)
from canonicall.folding import events_of
from canonicall.syntax.detection import FAMILY, auto_syntax, leaked_syntax, printed_by
from canonicall.syntax.scanner import TextScanner
from syntax.support import codes, events_of_pieces, said, splits, streamed, work

WEATHER = Tool(
    "get_weather",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    },
)
TOOLS = [WEATHER, Tool("now", parameters={"type": "object", "properties": {}})]
CALLS = (
    ToolCall(name="get_weather", args={"city": "Basel", "days": 2}),
    ToolCall(name="now", args={}),
)
PRINTING = [name for name in syntax_names() if name != "generic_none"]
"""All but the one that can say no call."""


def printed(name):
    return get_syntax(name).print_calls(CALLS)


def auto(text, tools=TOOLS):
    """What a text says, read whole and by characters."""
    parsed = parse(text, tools=tools)
    assert streamed(text, auto_syntax(with_tools=tools is not None), tools=tools) == parsed.reply
    return parsed


def expected(name):
    return get_syntax(name).kin_of or name


@each("name", PRINTING)
def test_a_printed_call_is_found_and_known(name):
    """By its own name, or by that of the syntax it cannot be told from."""
    parsed = auto(f"I look.\n{printed(name)}" if _may_stand_behind_words(name) else printed(name))
    assert said(parsed.calls) == [(call.name, call.args) for call in CALLS]
    assert parsed.syntax == {"llama3_json": "json_plain"}.get(name, expected(name))
    assert parsed.findings == ()


def _may_stand_behind_words(name):
    """Not those whose calls are known by standing at the start."""
    openers = get_syntax(name).openers
    begins = [one for one in openers if printed(name).lstrip().startswith(one.marker)]
    return not openers or any((one.detected_place or one.place) != "start" for one in begins)


@each("name", [one for one in PRINTING if get_syntax(one).is_marked])
def test_marked_calls_are_known_without_a_tool_list(name):
    text = printed(name)
    own = [one for one in get_syntax(name).openers if not (one.only_named or one.is_common)]
    is_marked = any(one.marker in text for one in own)
    assert detect_syntax(text) == (expected(name) if is_marked else None)


@pytest.mark.parametrize("name", [one for one in PRINTING if not get_syntax(one).is_marked])
def test_calls_that_nothing_marks_are_text_without_a_tool_list(name):
    parsed = auto(printed(name), tools=None)
    assert (parsed.calls, parsed.syntax, parsed.text) == ((), "", printed(name).lstrip())


def test_siblings_have_the_markers_of_the_one_they_are_known_by():
    for name in syntax_names():
        kin = get_syntax(name).kin_of
        if kin:
            assert not get_syntax(kin).kin_of
            own = {one.marker for one in get_syntax(name).openers if not one.only_named}
            known = {one.marker for one in get_syntax(kin).openers}
            assert own - {"[TOOL_CALLS]", "<tool_call>"} <= known


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<tool_call>{"name": "now", "arguments": {}}</tool_call>', "hermes"),
        ("<tool_call>now</tool_call>", "glm45_xml"),
        ("<tool_call>\n<function=now>\n</function>\n</tool_call>", "qwen3_coder_xml"),
        ('<tool_calls>[{"name": "now", "arguments": {}}]</tool_calls>', "jamba"),
        ("<tool_calls><tool_call>now<tool_sep></tool_call></tool_calls>", "hunyuan_v3"),
        ("[TOOL_CALLS]now[ARGS]{}", "mistral"),
        ('[TOOL_CALLS] [{"name": "now", "arguments": {}}]', "mistral_pre_v11"),
        ("<function=now>{}</function>", "functionary_v31"),
        ("<function=get_weather><parameter=city>B</parameter></function>", "qwen3_coder_xml"),
        ('<|python_tag|>{"name": "now", "parameters": {}}', "llama3_json"),
        ("<|python_tag|>now.call()", "llama3_builtin"),
        ("<function_calls>\nnow()\n</function_calls>", "olmo3"),
        ('<function_calls><invoke name="now"></invoke></function_calls>', "anthropic_invoke"),
        (
            "<function_calls><invoke><tool_name>now</tool_name></invoke></function_calls>",
            "anthropic_legacy",
        ),
        ("<|tool_calls|>[{'name': 'now', 'arguments': {}}]", "sarashina"),
        (
            "<|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>",
            "harmony",
        ),
    ],
)
def test_what_follows_a_marker_that_several_have_decides(text, name):
    parsed = auto(text)
    assert (parsed.syntax, said(parsed.calls)[0][0]) == (
        name,
        "get_weather" if "get_weather" in text else "now",
    )
    assert parsed.text == ""


def test_it_is_known_as_soon_as_the_name_is():
    scanner = TextScanner(auto_syntax(with_tools=True), tools=TOOLS)
    known = []
    for char in 'Yes. <tool_call>{"name": "now", "arguments": {"a": 1}}</tool_call>':
        scanner.feed(char)
        known.append(scanner.detected)
    first = known.index("hermes")
    assert set(known[:first]) == {None}
    assert first < len(known) - len('{"a": 1}}</tool_call>') + 2


@given(st.sampled_from(PRINTING), st.data())
def test_any_split_is_the_same(name, data):
    text = f"{printed(name)}\n"
    auto_known = auto_syntax(with_tools=True)
    whole = streamed([text], auto_known, tools=TOOLS)
    assert streamed(data.draw(splits(text)), auto_known, tools=TOOLS) == whole


CALL = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'


@each("tools", [None, TOOLS], ids=["no list", "offered"])
@each(
    "text",
    [
        f"```\n{CALL}\n```",
        f"```xml\n{CALL}```",
        f"````\n```\n{CALL}\n```\n````",
        f"Write `{CALL}`.",
        f"Write ``{CALL}``.",
        f'Write "{CALL}".',
        f"Write '{CALL}'.",
        f"Write \u201c{CALL}\u201d.",
        f"Write \u00ab{CALL}\u00bb.",
        f'Write "`{CALL}`".',
        f"<think>I could say {CALL}</think>",
    ],
)
def test_what_is_quoted_is_not_meant(text, tools):
    parsed = auto(text, tools)
    assert (parsed.calls, parsed.syntax) == ((), "")
    assert text in (parsed.text, f"<think>{parsed.thinking}</think>")


@pytest.mark.parametrize("text", ["`a` ", "`a\n", "```\na\n```\n", "``` a ``` ", "````a````", "`"])
def test_behind_code_calls_count_again(text):
    text = text if text != "`" else "a ` tick\n"
    assert said(auto(text + CALL).calls) == [("now", {})]


def test_a_fence_that_was_never_closed_holds_the_rest():
    assert auto(f"```\n{CALL}").text == f"```\n{CALL}"


def test_only_tools_that_were_offered_are_called_and_others_are_named():
    text = '<tool_call>{"name": "rm", "arguments": {}}</tool_call>'
    parsed = auto(text)
    assert (parsed.calls, parsed.text) == ((), text)
    (finding,) = parsed.findings
    assert (finding.code, finding.action) == ("call_not_offered", "kept")
    assert "'rm'" in finding.why


@each("name", PRINTING)
def test_no_syntax_calls_what_was_not_offered(name):
    text = printed(name)
    parsed = auto(text, tools=[Tool("other")])
    assert (parsed.calls, parsed.syntax) == ((), "")
    assert "tool_unknown" not in codes(parsed)
    for word in ("get_weather", "city", "Basel", "now"):
        assert word in parsed.text


def test_an_empty_list_of_tools_offers_nothing():
    assert auto(CALL, tools=[]).text == CALL


def test_calls_of_several_syntaxes_in_one_text_all_count():
    parsed = auto(f"{CALL} and <|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{{}}")
    assert said(parsed.calls) == [("now", {})] * 2
    assert parsed.syntax == "hermes"


def test_a_marker_that_begins_like_a_longer_one_is_still_read():
    text = "<|channel|>analysis<|message|>so<|end|><|start|>assistant to=functions.now<|message|>{}"
    assert said(auto(text).calls) == [("now", {})]


def test_a_block_that_fails_does_not_hide_the_next():
    parsed = auto(f"<tool_call>oops</tool_call> {CALL}")
    assert said(parsed.calls) == [("now", {})]


def test_json_in_a_fence_is_a_call_only_where_nothing_was_said_before():
    fenced = '```json\n{"name": "now", "arguments": {}}\n```'
    assert said(auto(fenced).calls) == [("now", {})]
    assert auto(f"For example:\n{fenced}").calls == ()
    assert auto(fenced, tools=None).calls == ()


def test_a_thought_that_the_prompt_opened_ends_at_any_mark():
    for close in ("</think>", "[/THINK]", "</seed:think>"):
        parsed = parse(f"so {CALL}{close}{CALL}", tools=TOOLS, starts_in_thinking=True)
        assert said(parsed.calls) == [("now", {})]
        assert parsed.thinking == f"so {CALL}"


def test_a_call_ends_a_thought_where_its_marker_belongs_to_models_that_call_while_thinking():
    kimi = "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
    parsed = auto(f"<think>so{kimi}")
    assert (parsed.thinking, said(parsed.calls)) == ("so", [("now", {})])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Fine.<|im_end|>", "Fine."),
        ("<|START_RESPONSE|>Fine.<|END_RESPONSE|><|END_OF_TURN_TOKEN|>", "Fine."),
        (f"{CALL}</s>", ""),
        ("Old: <s>5</s>", "Old: <s>5</s>"),
        ("The token <|im_end|> ends it.", "The token <|im_end|> ends it."),
        ("<response>5</response>", "<response>5</response>"),
    ],
)
def test_what_frames_is_left_out_and_what_is_spoken_of_is_kept(text, words):
    assert auto(text).text == words


PROSE = [
    "To call a tool, the model writes <tool_call> and a JSON object, then </tool_call>.",
    "Hermes wraps calls in <tool_call></tool_call> tags.",
    "The tag <tool_call> is followed by {name, arguments}, not by a list.",
    'A call looks like {"name": "get_weather", "arguments": {"city": "Basel"}} in JSON.',
    'Here is the JSON:\n\n{"name": "get_weather", "arguments": {"city": "Basel"}}',
    'The list [{"name": "get_weather", "arguments": {}}] is what you would send.',
    'Example:\n```json\n{"name": "get_weather", "arguments": {"city": "Basel"}}\n```\nDone.',
    '```python\nprint("<tool_call>")\nget_weather(city="Basel")\n```',
    "In ReAct the model writes Thought, then Action: get_weather, then its input.",
    "Action: get_weather is what I would do next.",
    "Thought: I should explain this first. Then we talk about actions.",
    "My list is [1, 2, 3] and [get_weather] is a name.",
    "In Python you would write [get_weather(city)] or get_weather('Basel').",
    "[see the docs](https://example.org/get_weather) for more.",
    "[x] get_weather\n[ ] now",
    '<invoke name="build"> is how Ant calls a target.',
    '<tool name="hammer"><weight>2</weight></tool>',
    "An XML document has <function_calls> as its root, and <invoke> below it.",
    "<parameters><city>Basel</city></parameters>",
    "Claude 2 wrote <function_calls> around its calls; this is history.",
    "Use [TOOL_CALLS] with care: it is a control token of Mistral.",
    "The markers <|tool_calls_section_begin|> and <|tool_calls_section_end|> frame a section.",
    "DeepSeek writes <\uff5cDSML\uff5cinvoke> with an attribute; see its paper.",
    "The channel <|channel|> commentary is for tools, <|channel|> final is for you.",
    "functools.reduce and functools[0] are not the same thing.",
    ">>> get_weather\nTraceback (most recent call last):",
    ">>>now I reply to your mail",
    "| marker | model |\n|---|---|\n| `<tool_call>` | Hermes |\n| `[TOOL_CALLS]` | Mistral |",
    'He said "<tool_call>{"name": "now"}</tool_call>" and meant it.',
    "The word <think> is a tag, and so is </think>.",
    "now\nis the time",
    "to=everybody: lunch is ready.",
    "<|python_tag|> is followed by code in Llama 3.1.",
    "<minimax:tool_call> opens MiniMax's block.",
    "a < b and b > c; x | y; <| and |> are operators in F#.",
    "{not json} at all",
    '{"city": "Basel", "days": 2}',
]


@each("tools", [None, TOOLS], ids=["no list", "offered"])
@each("text", PROSE)
def test_prose_stays_prose(text, tools):
    parsed = auto(text, tools)
    assert (parsed.calls, parsed.text, parsed.thinking) == ((), text, "")


@each("text", PROSE)
def test_prose_flows_through(text):
    """What is no call is not held back for long: words between come as they come."""
    events = events_of_pieces(text + " And so on. " * 40, auto_syntax(with_tools=True), tools=TOOLS)
    assert len(events) > 100


_BITS = (
    *("<tool_call>", "</tool_call>", "<tool_calls>", "<function_calls>", "<now>", "</now>"),
    *("<tool>", '<invoke name="now">', "</invoke>", "[TOOL_CALLS]", "[ARGS]", "<function=now>"),
    *("<|channel|>", "<|message|>", "to=functions.now", "<|start|>assistant", "<|im_end|>", "</s>"),
    *(
        "<|tool_call_begin|>",
        "<\uff5cDSML\uff5ctool_calls>",
        "<think>",
        "</think>",
        "Action: now\n",
    ),
    *("Action Input:", ">>>now\n", "```", "```json", "`", '"', "{", "}", "[", "]", "(", ")", "\n"),
    *('{"name": "now", "arguments": {}}', "now()", "now", " ", *["w"] * 12),
)
GARBAGE = st.lists(st.sampled_from(_BITS), max_size=14)


@given(GARBAGE, st.booleans(), st.data())
def test_whatever_the_text_no_word_is_lost_and_any_split_is_the_same(bits, with_tools, data):
    numbered = [f"w{at}q" if one == "w" else one for at, one in enumerate(bits)]
    text, tools = "".join(numbered), TOOLS if with_tools else None
    whole = streamed([text], auto_syntax(with_tools=with_tools), tools=tools)
    pieces = data.draw(splits(text))
    assert streamed(pieces, auto_syntax(with_tools=with_tools), tools=tools) == whole
    for word in (one for one in numbered if one[0] == "w"):
        kept = repr(whole.message.blocks) + repr(whole.findings)
        assert word in kept


@each("bit", [*_BITS, "````````", "<|im_end|>    ", "[now(a="])
def test_work_is_linear(bit):
    """Twice the text makes twice the steps, however many syntaxes look at it."""
    known = auto_syntax(with_tools=True)
    steps, _ = work(known, [bit * (2_000 // len(bit))], tools=TOOLS)
    more_steps, _ = work(known, [bit * (4_000 // len(bit))], tools=TOOLS)
    assert more_steps < 2.3 * steps + 500


def openings(target):
    """The markers that are watched in the text of a target."""
    syntax = printed_by(get_target(target))
    return None if syntax is None else {opener.marker for opener in syntax.openers}


def test_what_a_target_prints_is_a_fact_of_its_profile():
    assert openings("openai:gpt-5") is None
    assert openings("anthropic:claude-sonnet-4-5") is None
    assert openings("openrouter:openai/gpt-5") is None
    hermes = openings("vllm:Qwen/Qwen3-32B")
    assert "<tool_call>" in hermes
    assert "[TOOL_CALLS]" not in hermes
    assert openings("openrouter:qwen/qwen3-32b") == hermes
    assert openings("kimi:kimi-k2-0905-preview") == openings("kimi")
    assert "<|tool_call_begin|>" in openings("kimi")
    assert "<tool_call>" not in openings("kimi")


def test_an_engine_with_an_unknown_model_may_print_any_marked_syntax():
    assert openings("vllm:my-own-model") == {one.marker for one in leaked_syntax().openers}
    target = replace(get_target("vllm:my-own-model"), leaks=("family", "react"))
    watched = {opener.marker for opener in printed_by(target).openers}
    assert watched == openings("vllm:my-own-model") | {"Action:", "Thought:", "Final Answer:"}


def test_a_leak_that_no_syntax_has_the_name_of_is_refused():
    with pytest.raises(UnknownName, match="hermse"):
        printed_by(replace(get_target("vllm"), leaks=("hermse",)))


@each("name", provider_names())
def test_every_leak_of_a_profile_is_a_syntax(name):
    profile = get_profile(name)
    rules = [profile.rules, *(one.rules for one in profile.models)]
    for leaks in (one["leaks"].value for one in rules if "leaks" in one):
        assert {*leaks} <= {FAMILY, *syntax_names()}


@each("name", PRINTING, least=80)
def test_every_syntax_can_be_a_leak_of_a_host(name):
    """Those without markers of their own as well: the name is enough. Whole, and as a stream."""
    target = replace(get_target("generic:some"), leaks=(name,))
    text = get_syntax(name).print_calls(CALLS)
    told = Reply(Message("assistant", (Text(text=text),), finish="stop"))
    whole = recover_calls(told, TOOLS, target=target)
    assert said(whole.calls) == said(CALLS), text
    assert all(call.recovered for call in whole.calls)
    recovery = CallRecovery(TOOLS, target=target)
    assert fold(recovery.feed_all(events_of(told))) == whole


@each("name", PRINTING, least=80)
def test_a_scanner_detects_while_it_streams(name):
    """Any pieces give what the whole text gives, and a call is known before the text has ended."""
    text = get_syntax(name).print_calls(CALLS)
    whole = parse(text, tools=TOOLS)
    scanner = TextScanner(tools=TOOLS)
    events = [event for char in text for event in scanner.feed(char)]
    assert (scanner.detected or "") == whole.syntax
    events += scanner.close()
    assert fold(events) == whole.reply


@given(st.sampled_from(PRINTING), st.booleans(), st.data())
def test_any_split_is_detected_alike(name, with_tools, data):
    text = f"Well.\n{get_syntax(name).print_calls(CALLS)}\nDone."
    tools = TOOLS if with_tools else None
    scanner = TextScanner("auto", tools=tools)
    events = [event for piece in data.draw(splits(text)) for event in scanner.feed(piece)]
    assert fold([*events, *scanner.close()]) == parse(text, tools=tools).reply
    assert (scanner.detected or "") == parse(text, tools=tools).syntax
