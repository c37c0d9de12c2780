"""Tags that prompts ask for: tags named like tools, YAML between them, the tag `tool`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.request import Tool
from canonicall.syntax.parsing import parse
from syntax.readings import (
    arguments_with,
    codes,
    plain_keys,
    printed,
    read,
    said,
    tool,
)

READ = tool("read_file", path="string", lines="integer", tags="array", more="object")
BASH = tool("bash", command="string")
STOP = tool("stop")
TOOLS = [READ, BASH, STOP]
DEEP = Tool(
    "deep",
    parameters={
        "type": "object",
        "properties": {
            "n": {"type": "array", "items": {"type": "number"}},
            "s": {"type": "array", "items": {"type": "string"}},
            "o": {
                "type": "object",
                "properties": {"zip": {"type": "string"}, "ok": {"type": "boolean"}},
            },
            "l": {
                "type": "array",
                "items": {"type": "object", "properties": {"a": {"type": "integer"}}},
            },
        },
    },
)


def arguments(inside: str, offered: Tool = READ, syntax: str = "toolname_as_tag_xml") -> object:
    """The arguments that are read between the tags of a tool."""
    text = f"Before <{offered.name}>{inside}</{offered.name}> after"
    parsed = read(text, syntax, [offered])
    assert parsed.text.split() == ["Before", "after"]
    (call,) = parsed.calls
    assert not call.truncated
    return call.args


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<path>a.txt</path><lines>3</lines>", {"path": "a.txt", "lines": 3}),
        ("\n  <path> a.txt </path>\n  <lines>\n3\n</lines>\n", {"path": "a.txt", "lines": 3}),
        ('{"path": "</x>", "lines": 3}', {"path": "</x>", "lines": 3}),
        ("", {}),
        ("a.txt", {"path": "a.txt"}),
        ("<path/>", {"path": ""}),
        ('<path kind="x > y">a</path>', {"path": "a"}),
        ("<path>a &lt;b&gt; &amp;amp; &#x41; & c</path>", {"path": "a <b> &amp; A & c"}),
        ("<path><![CDATA[ <b> &amp; ]]></path>", {"path": " <b> &amp; "}),
        ("<path><html><b>x</b></html></path>", {"path": "<html><b>x</b></html>"}),
        (
            "<path>say </path> twice</path><lines>1</lines>",
            {"path": "say </path> twice", "lines": 1},
        ),
        ("<path>\n    if x:\n        y\n</path>", {"path": "    if x:\n        y"}),
        ("<path>a", {"path": "a"}),
        ("<lines>1</lines></lines><path>b</path>", {"lines": 1, "path": "b"}),
        ("<parameter=path>a</parameter>", {"path": "a"}),
        ('<parameter name="path">a</parameter>', {"path": "a"}),
        ("<other>1</other>", {"other": "1"}),
        ("<other><a>1</a><a>2</a><b>3</b></other>", {"other": {"a": ["1", "2"], "b": "3"}}),
        ("<other><item>1</item></other>", {"other": ["1"]}),
    ],
)
def test_elements_json_and_words(inside, expected):
    assert arguments(inside) == expected


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<n>1</n><n>2</n>", {"n": [1, 2]}),
        ("<n>1</n>", {"n": [1]}),
        ("<n><item>1</item><item>2.5</item></n>", {"n": [1, 2.5]}),
        ("<n><0>1</0><1>2</1></n>", {"n": [1, 2]}),
        ("<n>[1, 2]</n>", {"n": [1, 2]}),
        ("<n>1, 2</n>", {"n": [1, 2]}),
        ("<n> </n>", {"n": []}),
        ("<s>a, b</s>", {"s": ["a, b"]}),
        ("<o><zip>01</zip><ok>true</ok></o>", {"o": {"zip": "01", "ok": True}}),
        ('<o>{"zip": "01"}</o>', {"o": {"zip": "01"}}),
        ("<l><a>1</a></l>", {"l": [{"a": 1}]}),
        ("<l><item><a>1</a></item><item><a>2</a></item></l>", {"l": [{"a": 1}, {"a": 2}]}),
        ("<l><item>{'a': 1}</item></l>", {"l": [{"a": 1}]}),
    ],
)
def test_lists_and_objects_follow_the_schema(inside, expected):
    assert arguments(inside, DEEP) == expected


@pytest.mark.parametrize("text", ["<stop/>", "<stop />", "<stop></stop>", "<stop >\n</stop>"])
def test_calls_without_arguments(text):
    for syntax in ("toolname_as_tag_xml", "yaml_in_xml"):
        assert said(read(text, syntax, TOOLS)) == [("stop", {})]


@pytest.mark.parametrize(
    "text",
    [
        "Use the <read_file> tag.",
        "<stop>words for nobody</stop>",
        "<other><path>a</path></other>",
        "<stopper/>",
        "<stop now>",
        "<bash>rm",
    ],
)
def test_tags_that_are_only_mentioned_stay_text(text):
    parsed = read(text, "toolname_as_tag_xml", TOOLS)
    assert parsed.text == text
    assert not parsed.calls
    assert not parsed.findings


def test_several_calls_with_words_between():
    text = "One <bash>ls -la</bash> two <read_file><path>a</path></read_file><stop/>"
    parsed = read(text, "toolname_as_tag_xml", TOOLS)
    assert said(parsed) == [
        ("bash", {"command": "ls -la"}),
        ("read_file", {"path": "a"}),
        ("stop", {}),
    ]
    assert parsed.text.split() == ["One", "two"]


def test_an_argument_said_twice():
    text = "<read_file><path>a</path><path>b</path></read_file>"
    parsed = read(text, "toolname_as_tag_xml", TOOLS)
    assert said(parsed) == [("read_file", {"path": "b"})]
    assert codes(parsed) == ["arguments_repaired"]


def test_what_stands_between_elements_is_kept():
    text = "<read_file><path>a</path><!-- so it is --><lines>1</lines></read_file>"
    parsed = read(text, "toolname_as_tag_xml", TOOLS)
    assert said(parsed) == [("read_file", {"path": "a", "lines": 1})]
    assert parsed.text == "<!-- so it is -->"
    assert codes(parsed) == ["text_in_call"]


@pytest.mark.parametrize(
    "text",
    ["<read_file><path>a", '<read_file>{"path": "a', "<read_file><path>a</path><lines>1"],
)
def test_a_cut_call_is_kept_and_marked(text):
    parsed = read(text, "toolname_as_tag_xml", TOOLS)
    assert said(parsed) == [("read_file", {"path": "a"})]
    assert parsed.calls[0].truncated


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("\npath: a b\nlines: 3\n", {"path": "a b", "lines": 3}),
        ("\n  path: '01'\n  more:\n    deep: true\n", {"path": "01", "more": {"deep": True}}),
        ("\ntags:\n- 1\n- x\npath: 01\n", {"tags": [1, "x"], "path": "01"}),
        ("\npath: |\n  <stop/>\n  b\n", {"path": "<stop/>\nb\n"}),
        ("\n<path> a</path>\n<lines>3\n", {"path": "a", "lines": 3}),
    ],
)
def test_yaml_between_tags(inside, expected):
    assert arguments(inside, syntax="yaml_in_xml") == expected


def test_yaml_in_a_tag_that_was_never_closed():
    parsed = read("<read_file\npath: a\nlines: 3\n/>", "yaml_in_xml", TOOLS)
    assert said(parsed) == [("read_file", {"path": "a", "lines": 3})]


def test_what_is_no_yaml_map_stays_text():
    for inside in ("- a", "[invalid: yaml:", "words", "path: ["):
        text = f"<read_file>\n{inside}\n</read_file>"
        assert read(text, "yaml_in_xml", TOOLS).text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '<tool><tool_name>read_file</tool_name><tool_param name="path">a</tool_param></tool>',
            ("read_file", {"path": "a"}),
        ),
        (
            "<tool>\n<name>read_file</name>\n<parameters>\n<path>a</path></parameters>\n</tool>",
            ("read_file", {"path": "a"}),
        ),
        (
            '<tool>{"name": "read_file", "arguments": {"path": "a"}}</tool>',
            ("read_file", {"path": "a"}),
        ),
        ("<tool><read_file><path>a</path></read_file></tool>", ("read_file", {"path": "a"})),
        ('<tool name="read_file"><path>a</path></tool>', ("read_file", {"path": "a"})),
        ('<tool name="read_file" path="a" lines="3"/>', ("read_file", {"path": "a", "lines": 3})),
        ('<tool name="read_file" path="a"></tool>', ("read_file", {"path": "a"})),
        ("<tool><tool_name>stop</tool_name></tool>", ("stop", {})),
    ],
)
def test_the_tag_tool(text, expected):
    parsed = read(text, "tool_tag", TOOLS)
    assert said(parsed) == [expected]
    assert not parsed.text
    assert not parsed.findings


@pytest.mark.parametrize(
    "text", ["<tool>ls</tool>", "<tool></tool>", "<tool>ls", "<tool kind='x'>"]
)
def test_a_command_for_nobody_stays_text_and_says_so(text):
    parsed = read(text, "tool_tag", [READ, STOP])
    assert parsed.text == text
    assert codes(parsed) == ["call_unreadable"]


@given(arguments_with(plain_keys, "</f>", "<f>", "<k>", "]]>", "<![CDATA[", "&lt;"))
def test_what_was_printed_is_read_as_it_was(args):
    text = printed("toolname_as_tag_xml", ("f", args))
    properties = {key: {"const": value} for key, value in args.items()}
    offered = Tool("f", parameters={"type": "object", "properties": properties})
    parsed = read(text, "toolname_as_tag_xml", [offered])
    assert said(parsed) == [("f", args)]
    assert not parsed.findings


@pytest.mark.parametrize("syntax", ["toolname_as_tag_xml", "yaml_in_xml", "tool_tag"])
@given(
    st.lists(
        st.sampled_from(
            ["<bash>", "</bash>", "<read_file", ">", "/>", "<path>", "</path>", "<tool>"]
        )
        | st.sampled_from(
            ["</tool>", "<tool ", 'name="bash"', "<lines>", "a: ", "\n", " ", "{", "}"]
        )
        | st.sampled_from(
            ['"', "&lt;", "&", "<![CDATA[", "]]>", "\ud800", "<", "x", "<tool_name>"]
        ),
        max_size=14,
    ).map("".join)
)
def test_any_text_is_read_the_same_in_any_pieces(syntax, text):
    read(text, syntax, TOOLS)


def test_attributes_of_elements_in_elements_are_told_when_they_are_left_out():
    tool = Tool(
        "f", parameters={"properties": {"many": {"type": "array"}, "one": {"type": "object"}}}
    )
    text = '<f><many><item id="1">a</item><item>b</item></many><one><k x="2">c</k></one></f>'
    parsed = parse(text, syntax="toolname_as_tag_xml", tools=[tool])
    assert [one.args for one in parsed.calls] == [{"one": {"k": "c"}, "many": ["a", "b"]}]
    assert [one.code for one in parsed.findings] == ["text_in_call", "text_in_call"]
    told = " ".join(one.why for one in parsed.findings)
    assert 'id="1"' in told
    assert 'x="2"' in told
