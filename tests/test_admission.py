"""The write boundary refuses wrong values with their path, and writes nothing then."""

import pytest

from batches import each
from canonicall import (
    CallClosed,
    Code,
    Conversation,
    InvalidValue,
    Media,
    Message,
    Native,
    Opaque,
    Outcome,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)


def stored(block, role="assistant"):
    conversation = Conversation()
    appended = conversation.append(Message(role, (block,)))
    return appended.entries[0].blocks[0], appended.findings


@each(
    ("entry", "where"),
    [
        ("hello", "entries[1]"),
        (Message("robot", ()), "entries[1].role"),
        (Message("user", "hello"), "entries[1].blocks"),
        (Message("user", (Text(text=3),)), "entries[1].blocks[0].text"),
        (Message("user", (Text(text="a"), {"type": "text"})), "entries[1].blocks[1]"),
        (Message("user", (), turn_key=7), "entries[1].turn_key"),
        (Message("user", (), origin="openai"), "entries[1].origin"),
        (Message("user", (), native={"a": 1}), "entries[1].native"),
        (Message("assistant", (ToolCall(name=3),)), "entries[1].blocks[0].name"),
        (Message("assistant", (ToolCall(args=[1]),)), "entries[1].blocks[0].args"),
        (Message("assistant", (ToolCall(args={"a": {1}}),)), "entries[1].blocks[0].args.a"),
        (Message("assistant", (ToolCall(raw=b"{}"),)), "entries[1].blocks[0].raw"),
        (Message("assistant", (ToolCall(kind="magic"),)), "entries[1].blocks[0].kind"),
        (Message("tool", (ToolResult(content="text"),)), "entries[1].blocks[0].content"),
        (
            Message("tool", (ToolResult(content=(Thinking(text="x"),)),)),
            "entries[1].blocks[0].content[0]",
        ),
        (Message("tool", (ToolResult(error="no"),)), "entries[1].blocks[0].error"),
        (Message("tool", (ToolResult(outcome="lost"),)), "entries[1].blocks[0].outcome"),
        (Message("user", (Media(media_type="image/png"),)), "entries[1].blocks[0]"),
        (
            Message("user", (Media(media_type="image/png", data=b"x"),)),
            "entries[1].blocks[0].data",
        ),
        (Message("user", (Text(text="a", opaque=("sig",)),)), "entries[1].blocks[0].opaque[0]"),
        (
            Message("user", (Text(text="a", opaque=(Opaque("d", "k", object()),)),)),
            "entries[1].blocks[0].opaque[0].value",
        ),
        (Message("user", (Text(text="a", cache=5),)), "entries[1].blocks[0].cache"),
        (
            Message("user", (Unknown(native=Native("anthropic", {"a": {1}})),)),
            "entries[1].blocks[0].native.fields.a",
        ),
        (CallClosed("x", "vanished"), "entries[1].outcome"),
        (CallClosed("x", None), "entries[1].outcome"),
        (CallClosed(5, Outcome.DENIED), "entries[1].call_id"),
    ],
)
def test_a_wrong_value_is_refused_with_its_path_and_nothing_is_written(entry, where):
    conversation = Conversation()
    conversation.user("hello")
    with pytest.raises(InvalidValue) as caught:
        conversation.append(entry)
    assert caught.value.where == where
    assert str(caught.value).startswith(f"{where}: ")
    assert len(conversation) == 1
    assert not conversation.ledger
    assert not conversation.report


def test_plain_text_where_blocks_belong_gets_a_hint():
    with pytest.raises(InvalidValue, match=r"Text\('\.\.\.'\)"):
        Conversation().append(Message("user", "hello"))


@pytest.mark.parametrize(
    ("raw", "args"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("  \n", {}),
        ("null", {}),
        (None, {}),
        ("[1]", None),
        ('"text"', None),
        ('{"a": ', None),
        ('{"a": 1} trailing', None),
        ('{"a": NaN}', None),
        ('{"a": 1e999}', None),
        ("[" * 100_000, None),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        ('{"a": "\\ud800"}', {"a": "\ufffd"}),
    ],
)
def test_raw_arguments_are_parsed_and_kept(raw, args):
    call, findings = stored(ToolCall(id="c", name="f", raw=raw))
    assert call.args == args
    assert call.raw == raw
    assert ("arguments_unreadable" in [one.code for one in findings]) == (args is None)


def test_freeform_input_is_not_read_as_json():
    call, findings = stored(ToolCall(id="c", name="apply_patch", raw="*** Begin", kind="custom"))
    assert (call.args, call.raw) == (None, "*** Begin")
    assert findings == ()


def test_arguments_are_a_snapshot():
    args = {"path": "a.py", "lines": [1]}
    call, _ = stored(ToolCall(id="c", name="f", args=args))
    args["lines"].append(2)
    assert call.args == {"path": "a.py", "lines": [1]}


def test_cyclic_arguments_are_cut_with_a_finding():
    args = {"path": "a.py"}
    args["self"] = args
    call, findings = stored(ToolCall(id="c", name="f", args=args))
    assert call.args == {"path": "a.py", "self": "[circular]"}
    assert [(one.code, one.where) for one in findings] == [
        ("circular_value", "entries[0].blocks[0].args.self")
    ]


def test_text_that_utf8_cannot_carry_is_mended():
    block, findings = stored(Text(text="a\ud800"), role="user")
    assert block.text == "a\ufffd"
    assert [one.code for one in findings] == ["lone_surrogate"]


def test_opaque_state_and_native_fields_come_through_unchanged():
    seal = Opaque("anthropic", "signature", "c2ln")
    native = Native("anthropic", {"citations": [{"n": 1}]})
    for block in (
        Text(text="a", opaque=(seal,), cache="1h", native=native),
        Thinking(text="", opaque=(seal,)),
        Code(code="1 + 1", language="python", native=native),
        Media(media_type="image/png", opaque=(Opaque("openai", "file_id", "file-1"),)),
        Unknown(native=native),
    ):
        assert stored(block) == (block, ())
