"""Every block of the Messages API survives decode and encode; what it means is canonical."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall import Media, Opaque, Text, Thinking, ToolCall, ToolResult
from canonicall.blocks import Code, Native, Summary, Unknown
from canonicall.errors import MalformedBody
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.blocks import decode_block, encode_block


def decoded(block, findings=None):
    return decode_block(block, "$", "anthropic", [] if findings is None else findings)


def encoded(block):
    return encode_block(block, TARGET)


MARK = {"type": "ephemeral", "ttl": "1h"}
SEARCH = {
    "type": "search_result",
    "source": "https://a.example/1",
    "title": "A title",
    "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}],
    "citations": {"enabled": True},
}
VOCABULARY = [
    {"type": "text", "text": "hi"},
    {"type": "text", "text": "", "cache_control": {"type": "ephemeral"}},
    {"type": "text", "text": "hi", "cache_control": MARK},
    {"type": "text", "text": "hi", "cache_control": MARK | {"scope": "global"}},
    {"type": "text", "text": "hi", "citations": [{"type": "char_location", "document_index": 0}]},
    {
        "type": "text",
        "text": "hi",
        "citations": [{"type": "web_search_result_location", "encrypted_index": "Eo8B"}],
    },
    {"type": "thinking", "thinking": "hm", "signature": "sig"},
    {"type": "thinking", "thinking": "", "signature": "sig"},
    {"type": "thinking", "thinking": "hm", "signature": ""},
    {"type": "thinking", "thinking": "hm", "signature": "sig", "update": 1},
    {"type": "redacted_thinking", "data": "EmwK"},
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": [1]}},
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "cache_control": MARK},
    {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "f",
        "input": {},
        "caller": {"type": "direct"},
        "toolset_name": "browser",
    },
    {"type": "tool_result", "tool_use_id": "toolu_1"},
    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42", "cache_control": MARK},
    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": True},
    {"type": "tool_result", "tool_use_id": "toolu_1", "toolset_name": "browser", "content": "x"},
    {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": [
            {"type": "text", "text": "see"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A"}},
            {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
            SEARCH,
            {"type": "tool_reference", "tool_name": "g"},
        ],
    },
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
    {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"query": "q"},
        "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_0"},
        "cache_control": MARK,
    },
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [{"type": "web_search_result", "encrypted_content": "Eq8", "page_age": None}],
    },
    {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "f", "server_name": "s", "input": {}},
    {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []},
    {"type": "compaction", "content": "So far ...", "encrypted_content": None},
    {"type": "fallback", "from": "a", "to": "b"},
    {"type": "container_upload", "file_id": "file_1", "cache_control": MARK},
    {"type": "never_seen_before", "x": {"y": None}},
    SEARCH,
]


@each("block", VOCABULARY, ids=lambda block: block["type"])
def test_every_block_comes_back_as_it_was(block):
    """Encode undoes decode, and decode undoes encode."""
    canonical = decoded(block)
    assert encoded(canonical) == block
    assert decoded(encoded(canonical)) == canonical


def test_a_null_field_is_a_missing_field():
    block = {"type": "text", "text": "hi", "citations": None, "cache_control": None}
    assert decoded(block) == Text(text="hi")


def test_a_signature_is_opaque_and_belongs_to_the_domain():
    block = {"type": "thinking", "thinking": "", "signature": "sig"}
    assert decode_block(block, "$", "other", []) == Thinking(
        opaque=(Opaque("other", "signature", "sig"),)
    )


def test_thinking_without_signature_holds_nothing_opaque():
    assert decoded({"type": "thinking", "thinking": "hm"}) == Thinking(text="hm")


def test_a_cache_mark_on_thinking_is_reported_and_left_out():
    findings = []
    block = {"type": "thinking", "thinking": "hm", "signature": "s", "cache_control": MARK}
    thinking = decoded(block, findings)
    assert [one.code for one in findings] == ["cache_mark_dropped"]
    assert "cache_control" not in encoded(thinking)


def test_sealed_citations_are_opaque_and_open_ones_native():
    """An encrypted index can be read by its issuer alone; other citations mean the same anywhere."""
    sealed = [{"encrypted_index": "Eo8B"}]
    text = decoded({"type": "text", "text": "a", "citations": sealed})
    assert text == Text(text="a", opaque=(Opaque("anthropic", "citations", sealed),))
    text = decoded({"type": "text", "text": "a", "citations": [{"document_index": 0}]})
    assert text.opaque == ()
    assert text.native == Native("anthropic", {"citations": [{"document_index": 0}]})


def test_a_call_keeps_its_object_and_no_text():
    call = decoded({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}})
    assert call == ToolCall(id="toolu_1", name="f", args={"a": 1})


def test_input_as_text_is_read_and_reported():
    findings = []
    block = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": '{"a": 1}'}
    call = decode_block(block, "$.messages[1].content[0]", "anthropic", findings)
    assert (call.raw, call.args) == ('{"a": 1}', {"a": 1})
    assert [(one.code, one.where) for one in findings] == [
        ("arguments_as_text", "$.messages[1].content[0].input")
    ]
    assert encoded(call)["input"] == {"a": 1}


def test_input_as_text_that_cannot_be_read_is_not_said_to_have_been():
    """What is wrong with it is reported where arguments are parsed."""
    findings = []
    block = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": '{"a": '}
    call = decode_block(block, "$.content[0]", "anthropic", findings)
    assert (call.raw, call.args, findings) == ('{"a": ', None, [])


@pytest.mark.parametrize("missing", [{}, {"id": None}, {"id": "null"}, {"id": ""}])
def test_a_missing_id_is_empty(missing):
    assert decoded({"type": "tool_use", "name": "f", "input": {}} | missing).id == ""


def test_missing_input_means_no_arguments():
    assert decoded({"type": "tool_use", "id": "a", "name": "f"}).args == {}


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (ToolCall(id="a", name="f", raw='{"a": 1}'), {"a": 1}),
        (ToolCall(id="a", name="f", raw=""), {}),
        (ToolCall(id="a", name="f", raw='{"a": '), {"_raw": '{"a": '}),
        (ToolCall(id="a", name="f", raw="ls -l", kind="custom"), {"input": "ls -l"}),
        (ToolCall(id="a", name="f", raw='{"a": 1}', kind="custom"), {"input": '{"a": 1}'}),
    ],
)
def test_input_is_always_an_object(call, given):
    assert encoded(call)["input"] == given


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}, {"content": []}])
def test_an_empty_result_is_complete_and_has_no_content_on_the_wire(content):
    block = {"type": "tool_result", "tool_use_id": "a"} | content
    assert decoded(block) == ToolResult(call_id="a", content=(), is_complete=True)
    assert encoded(decoded(block)) == {"type": "tool_result", "tool_use_id": "a"}


def test_one_plain_text_in_a_result_is_a_string():
    result = ToolResult(call_id="a", content=(Text(text="42"),))
    assert encoded(result)["content"] == "42"
    marked = ToolResult(call_id="a", content=(Text(text="42", cache="5m"),))
    assert encoded(marked)["content"] == [
        {"type": "text", "text": "42", "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    ]


def test_a_failed_result_with_media_is_sent_without_the_flag():
    """The API refuses anything but text beside is_error."""
    image = Media(media_type="image/png", data="AA==")
    assert "is_error" not in encoded(ToolResult(call_id="a", content=(image,), error=True))
    assert encoded(ToolResult(call_id="a", content=(), error=True))["is_error"] is True


def test_a_server_call_is_kept_whole_as_opaque_state():
    block = {"type": "mcp_tool_use", "id": "m1", "name": "f", "server_name": "s", "input": {"a": 1}}
    call = decoded(block)
    assert (call.kind, call.id, call.name, call.args) == ("server", "m1", "f", {"a": 1})
    assert call.opaque == (Opaque("anthropic", "server_block", block),)


@pytest.mark.parametrize(
    ("fields", "failed"),
    [
        ({"content": {"type": "web_fetch_tool_result_error", "error_code": "x"}}, True),
        ({"content": {"type": "web_fetch_result"}}, False),
        ({"content": [], "is_error": True}, True),
        ({}, False),
    ],
)
def test_a_server_result_says_whether_it_failed(fields, failed):
    result = decoded({"type": "web_fetch_tool_result", "tool_use_id": "s1"} | fields)
    assert (result.call_id, result.content, result.error) == ("s1", (), failed)
    assert result.is_complete is True


def test_the_mark_of_a_server_block_is_not_part_of_its_opaque_state():
    """Marks are counted and moved by the renderer, so they must not hide."""
    block = {"type": "server_tool_use", "id": "s", "name": "n", "input": {}, "cache_control": MARK}
    call = decoded(block)
    assert call.cache == "1h"
    assert "cache_control" not in call.opaque[0].value


def test_an_unknown_block_is_kept_whole():
    block = {"type": "never_seen_before", "x": 1}
    assert decoded(block) == Unknown(native=Native("anthropic", block))


def test_a_search_result_is_text_for_others_and_follows_a_change_of_its_text():
    text = decoded(SEARCH)
    assert text.text == "A title\nhttps://a.example/1\nOne.\nTwo."
    shortened = Text(text="A title", native=text.native)
    assert encoded(shortened) == {"type": "text", "text": "A title"}


def test_summaries_and_code_are_text():
    assert encoded(Summary(text="Before: ...")) == {"type": "text", "text": "Before: ..."}
    assert encoded(Code(code="x = 1", language="python"))["text"] == "```python\nx = 1\n```"


def test_fields_of_another_format_are_not_written():
    block = Text(text="a", native=Native("gemini", {"thought": True}))
    assert encoded(block) == {"type": "text", "text": "a"}


def test_native_fields_never_replace_canonical_ones():
    block = Text(text="a", native=Native("anthropic", {"text": "b", "type": "image"}))
    assert encoded(block) == {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("lifetime", "mark"),
    [
        ("default", {"type": "ephemeral"}),
        ("5m", {"type": "ephemeral", "ttl": "5m"}),
        ("12h", {"type": "ephemeral"}),
    ],
)
def test_lifetimes_the_api_has_no_word_for_are_the_default(lifetime, mark):
    assert encoded(Text(text="a", cache=lifetime))["cache_control"] == mark


@pytest.mark.parametrize(
    ("block", "where"),
    [
        ("text", "$"),
        ({"type": "text", "text": 1}, "$.text"),
        ({"type": "text", "text": "a", "citations": {}}, "$.citations"),
        ({"type": "text", "text": "a", "cache_control": "x"}, "$.cache_control"),
        ({"type": "text", "text": "a", "cache_control": {"ttl": 5}}, "$.cache_control.ttl"),
        ({"type": "thinking", "thinking": []}, "$.thinking"),
        ({"type": "thinking", "thinking": "", "signature": {}}, "$.signature"),
        ({"type": "redacted_thinking", "data": 1}, "$.data"),
        ({"type": "tool_use", "id": 1}, "$.id"),
        ({"type": "tool_result", "tool_use_id": "a", "content": {}}, "$.content"),
        ({"type": "tool_result", "tool_use_id": "a", "content": ["x"]}, "$.content[0]"),
        ({"type": "server_tool_use", "id": "a", "input": "q"}, "$.input"),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(block, where):
    with pytest.raises(MalformedBody) as error:
        decoded(block)
    assert error.value.where == where


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), json_values, max_size=4)


@given(objects, st.text())
def test_unknown_fields_and_any_text_survive(fields, text):
    """What a later version of the API adds to a block comes back; nulls count as absent."""
    fields = {
        name: value
        for name, value in fields.items()
        if name not in ("type", "text", "citations", "cache_control", "search_result")
    }
    block = {"type": "text", "text": text} | fields
    expected = {name: value for name, value in block.items() if value is not None}
    assert encoded(decoded(block)) == expected


@given(objects)
def test_any_arguments_survive(arguments):
    block = {"type": "tool_use", "id": "a", "name": "f", "input": arguments}
    assert encoded(decoded(block)) == block


@given(objects)
def test_any_block_of_a_type_nobody_knows_survives(fields):
    block = {name: value for name, value in fields.items() if name != "cache_control"}
    block["type"] = "of_tomorrow"
    assert encoded(decoded(block)) == block


@pytest.mark.parametrize(
    "wire",
    [
        {"type": "thinking", "thinking": "Hm.", "signature": "gAAAAABpGxyz"},
        {"type": "redacted_thinking", "data": "gAAAAABpGxyz"},
    ],
)
def test_a_seal_that_cannot_be_claudes_is_nobodys(wire):
    """It begins like OpenAI's encrypted reasoning. A compatible host may have seals of that form."""
    findings = []
    (seal,) = decode_block(wire, "$", TARGET.domain, findings).opaque
    assert (seal.domain, seal.value) == ("unknown", "gAAAAABpGxyz")
    (seal,) = decode_block(wire, "$", "another-host", findings).opaque
    assert seal.domain == "another-host"
    assert findings == []


@pytest.mark.parametrize(
    ("mark", "sound"),
    [
        ({"type": "ephemeral", "ttl": "2h"}, {"type": "ephemeral"}),
        ({"type": "persistent", "ttl": "1h"}, MARK),
        ({"ttl": "1h"}, MARK),
        (MARK | {"scope": "global", "priority": 1}, MARK | {"scope": "global"}),
    ],
)
def test_a_mark_that_is_not_known_becomes_a_usual_one(mark, sound):
    findings = []
    block = {"type": "text", "text": "hi", "cache_control": mark}
    read = decode_block(block, "$", "anthropic", findings)
    assert encode_block(read, TARGET)["cache_control"] == sound
    assert [(one.code, one.where) for one in findings] == [
        ("cache_mark_changed", "$.cache_control")
    ]


def test_a_summary_that_was_asked_for_is_sealed():
    signed = {"type": "compaction", "content": "So far ...", "signature": "x"}
    dumped = signed | {"citations": None, "text": None}
    read = decode_block(dumped, "$", "anthropic", [])
    assert read == Unknown(
        opaque=(Opaque("anthropic", "opening", "x"),), native=Native("anthropic", signed)
    )
    failed = decode_block(signed | {"content": None}, "$", "anthropic", [])
    assert not failed.opaque


def test_an_empty_summary_is_one_that_failed():
    findings = []
    read = decode_block({"type": "compaction", "content": ""}, "$", "anthropic", findings)
    assert encode_block(read, TARGET) == {"type": "compaction", "content": None}
    assert [one.code for one in findings] == ["blank_dropped"]


@pytest.mark.parametrize("kind", ["fallback", "mcp_tool_listing"])
def test_some_blocks_take_no_mark(kind):
    findings = []
    block = {"type": kind, "x": 1}
    assert decoded(block | {"cache_control": MARK}, findings) == decoded(block)
    assert [one.code for one in findings] == ["cache_mark_dropped"]
