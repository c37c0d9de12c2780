"""Forms that models drift to, or that hosts make of calls: read as they are meant, or marked.

Every text is read whole, by characters and cut in two at every place, and gives the same reply.
"""

import pytest

from batches import each
from canonicall import parse
from canonicall.request import Tool
from syntax.readings import codes, printed, read, read_at_every_cut, said, tool

WEATHER = tool("weather", city="string", days="integer")
NOW = tool("now")
ODD = tool("a<b", city="string")
NEEDY = Tool("needy", parameters={"properties": {"x": {"type": "string"}}, "required": ["x"]})
TOOLS = [WEATHER, NOW, ODD, NEEDY]
BASEL = [("weather", {"city": "Basel"})]
BAR = "\uff5c"
DSML = f"{BAR}DSML{BAR}"
TAIL = (
    f'<{DSML}parameter name="city" string="true">Basel</{DSML}parameter>\n'
    f"</{DSML}invoke>\n</{DSML}function_calls>"
)
BEGIN, END = "<|tool_call_begin|>", "<|tool_call_end|>"
ARGUMENTS = '<|tool_call_argument_begin|>{"city": "Basel"}'
SECTION, SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
V31 = (
    f"<{BAR}tool\u2581calls\u2581begin{BAR}><{BAR}tool\u2581call\u2581begin{BAR}>weather"
    f'<{BAR}tool\u2581sep{BAR}>{{"city": "Basel"}}<{BAR}tool\u2581call\u2581end{BAR}>'
    f"<{BAR}tool\u2581calls\u2581end{BAR}>"
)


def kimi_k3(head, argument='argument key="city" type="string"', block=True):
    inside = (
        f"<|open|>{head}<|sep|><|open|>{argument}<|sep|>Basel<|close|>argument<|sep|>"
        "<|close|>call<|sep|>"
    )
    return f"<|open|>tools<|sep|>{inside}<|close|>tools<|sep|>" if block else inside


READ = [
    # Kimi K3: attributes glued to each other and to the tag, names with `<`.
    *(
        ("kimi_k3_xtml", kimi_k3(head, block=block), BASEL)
        for head in ('calltool="weather"index="1"', 'call tool="weather"index="1"')
        for block in (True, False)
    ),
    ("kimi_k3_xtml", kimi_k3('call tool="a<b" index="1"'), [("a<b", {"city": "Basel"})]),
    (
        "kimi_k3_xtml",
        kimi_k3('call tool="weather"', 'argumentkey="c<d"type="string"'),
        [("weather", {"c<d": "Basel"})],
    ),
    # Kimi K2: calls without their opening token.
    ("kimi_k2", f"functions.weather:0{ARGUMENTS}{END}", BASEL),
    ("kimi_k2", f"<think>Hm.</think>functions.weather:0{ARGUMENTS}", BASEL),
    ("kimi_k2", f"{SECTION}functions.weather:0{ARGUMENTS}{END}{SECTION_END}", BASEL),
    ("kimi_k2", f"{SECTION}weather{ARGUMENTS}{END}{SECTION_END}", BASEL),
    (
        "kimi_k2",
        f"{BEGIN}functions.weather:0{ARGUMENTS}{END}functions.weather:1{ARGUMENTS}{END}",
        BASEL * 2,
    ),
    # DeepSeek: what is left of a block whose beginning was taken; the form of V3.1 for V3.2.
    ("deepseek_v32_dsml", f'invoke name="weather">\n{TAIL}', BASEL),
    ("deepseek_v32_dsml", f'{DSML}invoke name="weather">\n{TAIL}', BASEL),
    ("deepseek_v32_dsml", f' name="weather">\n{TAIL}', BASEL),
    ("deepseek_v4_dsml", f'DSML{BAR}invoke name="weather">\n{TAIL}', BASEL),
    ("deepseek_v32_dsml", V31, BASEL),
    # Harmony: the header without its first token.
    *(
        ("harmony", f"{lead}to=functions.weather{rest}", BASEL)
        for lead in (" ", "", "assistant ", "commentary ")
        for rest in (
            ' <|channel|>commentary <|constrain|>json<|message|>{"city": "Basel"}<|call|>',
            '<|channel|>commentary json<|message|>{"city": "Basel"}',
            ' <|constrain|>json<|message|>{"city": "Basel"}<|call|>',
        )
    ),
    # Mistral: names without arguments.
    *(
        ("mistral", text, [("now", {})])
        for text in (
            "[TOOL_CALLS]now",
            "[TOOL_CALLS]now</s>",
            "[TOOL_CALLS]now[ARGS]</s>",
            "[TOOL_CALLS]now[ARGS]",
            "[TOOL_CALLS] now [/TOOL_CALLS]",
        )
    ),
    ("mistral", '[TOOL_CALLS]now[TOOL_CALLS]weather[ARGS]{"city": "Basel"}', [("now", {}), *BASEL]),
    # Phi-4 mini: bare calls, as its template prints them.
    ("phi4_mini", '{"name": "weather", "arguments": {"city": "Basel"}}<|end|>', BASEL),
    ("phi4_mini", '[{"name": "weather", "arguments": {"city": "Basel"}}]', BASEL),
    (
        "phi4_mini",
        '{"name": "weather", "arguments": {\'city\': \'Basel\'}},{"name": "now", "arguments": {}}',
        [*BASEL, ("now", {})],
    ),
    # MiniCPM3, Functionary 2, FireFunction 1, GLM-4.
    (
        "minicpm3",
        (
            "<|thought_start|>\nHm.\n<|thought_end|>\n<|tool_call_start|>\n```python\n"
            'weather(city="Basel")\nnow()\n```\n<|tool_call_end|>\n'
        ),
        [*BASEL, ("now", {})],
    ),
    ("functionary_v2", 'weather\n<|content|>{"city": "Basel"}<|stop|>', BASEL),
    (
        "functionary_v2",
        (
            "all\n<|content|>I look.\n<|from|>assistant\n<|recipient|>weather\n<|content|>"
            '{"city": "Basel"}\n<|from|>assistant\n<|recipient|>now\n<|content|>{}<|stop|>'
        ),
        [*BASEL, ("now", {})],
    ),
    (
        "firefunction_v1",
        (
            '<functioncall>{"name": "weather", "arguments": {"city": "Basel"}}'
            '<functioncall> {"name": "now", "arguments": {}}</s>'
        ),
        [*BASEL, ("now", {})],
    ),
    ("glm4", 'weather\n{"city": "Basel"}', BASEL),
    (
        "glm4",
        'weather\n{"city": "Basel"}<|assistant|>now\n{}<|observation|>',
        [*BASEL, ("now", {})],
    ),
]


@each(("syntax", "text", "calls"), READ)
def test_a_form_is_read(syntax, text, calls):
    parsed = read_at_every_cut(text, syntax, TOOLS)
    assert said(parsed) == calls
    assert parsed.text.replace("I look.", "").strip() == ""
    if not (syntax == "phi4_mini" and "'" in text):
        assert not [one for one in codes(parsed) if one != "thought_unopened"]
    assert not any(one.truncated for one in parsed.calls)


PROSE = [
    ("kimi_k2", "functions.weather:0 is the id of the first call."),
    ("kimi_k2", "functions. They take arguments."),
    ("deepseek_v32_dsml", 'invoke name="weather"> opens a call.'),
    ("deepseek_v32_dsml", 'name="weather"></a> is HTML.'),
    ("harmony", "to=functions.weather is the recipient of a message."),
    ("harmony", "assistant to=functions.weather"),
    ("mistral", "[TOOL_CALLS]now I go home."),
    ("mistral", "[TOOL_CALLS]needy"),
    ("mistral", "[TOOL_CALLS]later"),
    ("phi4_mini", 'A call looks so: {"name": "later", "arguments": {}}.'),
    ("glm4", "weather\nIt rains."),
    ("glm4", 'later\n{"city": "Basel"}'),
    ("functionary_v2", "weather\nIt rains."),
    ("minicpm3", "<|tool_call_start|> opens a call, ```python\nprint(1)\n``` is code."),
    ("firefunction_v1", "The tag <functioncall> opens a call."),
]


@each(("syntax", "text"), PROSE)
def test_prose_that_begins_alike_is_no_call(syntax, text):
    parsed = read_at_every_cut(text, syntax, TOOLS)
    assert (parsed.calls, parsed.text) == ((), text)
    detected = parse(text, tools=TOOLS)
    assert (detected.calls, detected.text) == ((), text)


@each(
    ("syntax", "text"),
    [
        ("kimi_k2", f"Ok. functions.weather:0{ARGUMENTS}{END}"),
        ("deepseek_v32_dsml", TAIL),
        ("mistral", "[TOOL_CALLS]needy"),
    ],
)
def test_what_cannot_be_read_is_text_with_a_finding(syntax, text):
    parsed = read_at_every_cut(text, syntax, TOOLS)
    assert not parsed.calls
    assert parsed.text == text.removesuffix(END)
    assert codes(parsed) == ["call_unreadable"]


@each(
    ("inside", "city"),
    [
        ('city="say "hi", bob"', 'say "hi", bob'),
        ('city="say "hi" bob"', 'say "hi" bob'),
        ('city="(say "hi") now"', '(say "hi") now'),
        ('city="say "hi""', 'say "hi"'),
        ("city='it's'", "it's"),
        ("city='the dogs', he said'", "the dogs', he said"),
    ],
)
def test_quotes_that_were_not_escaped_are_kept_and_told(inside, city):
    for syntax, before, after in (
        ("lfm2", "<|tool_call_start|>", "<|tool_call_end|>"),
        ("pythonic", "", ""),
        ("llama4_pythonic", "<|python_start|>", "<|python_end|>"),
    ):
        for more, args in (("", {}), (", days=2", {"days": 2})):
            text = f"{before}[weather({inside}{more}), now()]{after}"
            parsed = read_at_every_cut(text, syntax, TOOLS)
            assert said(parsed) == [("weather", {"city": city, **args}), ("now", {})], text
            assert codes(parsed) == ["arguments_repaired"]
            assert not parsed.text


@pytest.mark.parametrize(
    "text",
    [
        '[weather(city="Basel), now(days="2")]',
        '[weather(city="Basel", days="2)]',
        '[weather(city="Basel, days=2)]',
        '[weather(city="where n="x" and", days=1)]',
    ],
)
def test_texts_whose_quotes_are_missing_make_no_whole_call(text):
    for syntax, before, after in (
        ("pythonic", "", ""),
        ("lfm2", "<|tool_call_start|>", "<|tool_call_end|>"),
    ):
        parsed = read_at_every_cut(f"{before}{text}{after}", syntax, TOOLS)
        assert all(one.truncated for one in parsed.calls)
        assert "call_unreadable" in codes(parsed)


@each(
    ("between", "value"),
    [
        ("a\n", "a\n"),
        ("a\n\nb\n", "a\n\nb\n"),
        ("\na\n", "a"),
        ("\na\n\n", "a\n"),
        ("a", "a"),
        ("\n", ""),
        ("", ""),
    ],
)
def test_seed_keeps_a_line_end_that_only_stands_behind_a_value(between, value):
    text = (
        f"<seed:tool_call>\n<function=weather>\n<parameter=city>{between}</parameter>\n"
        "</function>\n</seed:tool_call>"
    )
    for tools in (TOOLS, [tool("weather", city="object")]):
        (call,) = read(text, "seed_oss", tools).calls
        assert call.args == {"city": value}
    assert said(read(printed("seed_oss", ("weather", {"city": value})), "seed_oss", TOOLS)) == [
        ("weather", {"city": value})
    ]


def test_qwen_prints_true_and_null_from_3_6_on():
    args = {"a": True, "b": None, "c": 0.5}
    assert "\ntrue\n" in printed("qwen36_xml", ("f", args))
    assert "\nnull\n" in printed("qwen36_xml", ("f", args))
    assert "\nTrue\n" in printed("qwen3_coder_xml", ("f", args))
