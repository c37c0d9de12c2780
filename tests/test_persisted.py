"""The stored form: readable lines, clear refusals, migrations."""

import json

import pytest

from canonicall import (
    CallAsked,
    CallDecided,
    Conversation,
    Message,
    NewerVersion,
    Origin,
    Rule,
    Text,
    ToolCall,
    UnreadableConversation,
    UserWentOn,
    dump,
    dump_header,
    load,
)


def small():
    conversation = Conversation()
    conversation.user("Hello")
    conversation.assistant([ToolCall(id="c", name="f", raw='{"a": 1}')], origin=Origin("openai"))
    conversation.result("c", "done")
    return conversation


def test_one_line_for_the_header_and_one_for_each_entry():
    lines = dump(small()).decode().splitlines()
    assert json.loads(lines[0]) == {"canonicall": "conversation", "version": 3}
    assert json.loads(lines[1]) == {
        "entry": "message",
        "role": "user",
        "blocks": [{"type": "text", "text": "Hello"}],
    }
    assert len(lines) == 4


def test_text_with_line_breaks_stays_on_one_line():
    conversation = Conversation()
    conversation.user("a\nb\r\nc\u2028d\x85e")
    assert dump(conversation).count(b"\n") == 2
    assert load(dump(conversation)).conversation == conversation


def test_truncated_last_line_is_recovered_with_a_finding():
    loaded = load(dump(small())[:-5])
    assert len(loaded.conversation) == 2
    (finding,) = [one for one in loaded.report if one.code == "truncated_line"]
    assert finding.where == "line 4"
    assert "bytes" in finding.why


def test_last_line_without_its_end_but_whole_is_kept():
    assert load(dump(small())[:-1]).conversation == small()


@pytest.mark.parametrize("data", [b"", b"\n\n", b'{"canonica'])
def test_a_file_that_never_got_its_header_is_an_empty_conversation(data):
    assert len(load(data).conversation) == 0


def test_damage_in_the_middle_is_refused_with_its_line():
    lines = dump(small()).splitlines(keepends=True)
    lines[2] = b'{"entry":"message","role":"assis\n'
    with pytest.raises(UnreadableConversation, match="line 3") as caught:
        load(lines)
    assert caught.value.line == 3
    assert "recover=True" in str(caught.value)


def test_damage_in_the_middle_can_be_recovered():
    lines = dump(small()).splitlines(keepends=True)
    lines[2] = b"garbage\n"
    loaded = load(lines, recover=True)
    assert len(loaded.conversation) == 2
    assert loaded.report.counts == {"unreadable_line": 1, "orphan_result": 1}


@pytest.mark.parametrize(
    "line",
    [
        b'{"entry":"message","role":"user","blocks":[{"type":"hologram"}]}\n',
        b'{"entry":"message","role":"user","colour":"red"}\n',
        b'{"entry":"message","role":"robot"}\n',
        b'{"entry":"message","role":"user","blocks":[{"type":"media","media_type":"image/png"}]}\n',
        b"[]\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_what_is_no_entry_is_refused_with_its_place(line):
    data = [dump_header(), line]
    with pytest.raises(UnreadableConversation, match="line 2"):
        load(data)
    assert "unreadable_line" in load(data, recover=True).report


@pytest.mark.parametrize(
    "data", [b'{"role":"user"}\n', b"hello\n", b"[1]\n", b'{"canonicall":"conversation"}\n']
)
def test_other_files_are_refused(data):
    with pytest.raises(UnreadableConversation, match="line 1"):
        load(data)


def test_a_newer_version_is_refused_and_says_what_to_do():
    newer = dump(small()).replace(b'"version":3', b'"version":7')
    with pytest.raises(NewerVersion, match="version 7") as caught:
        load(newer, recover=True)
    assert (caught.value.found, caught.value.known) == (7, 3)
    assert "Upgrade" in str(caught.value)


def test_migrations_run_one_after_another():
    """A file of version 1 is read by a version 3 that knows both steps."""

    def rename_speaker(record):
        return {"role" if key == "speaker" else key: value for key, value in record.items()}

    def text_to_blocks(record):
        record = dict(record)
        record["blocks"] = [{"type": "text", "text": record.pop("text")}]
        return record

    old = b'{"canonicall":"conversation","version":1}\n{"entry":"message","speaker":"user","text":"Hi"}\n'
    loaded = load(old, version=3, migrations={1: rename_speaker, 2: text_to_blocks})
    assert list(loaded.conversation.entries) == [Message("user", (Text(text="Hi"),))]


def test_a_version_without_a_migration_is_refused():
    with pytest.raises(UnreadableConversation, match="version 3 cannot be read any more"):
        load(dump(small()), version=4, migrations={})


@pytest.mark.parametrize("version", [b"1", b"2"])
def test_files_of_earlier_versions_are_read(version):
    """Later versions have more kinds of entries and fields; the others are as they were."""
    old = dump(small()).replace(b'"version":3', b'"version":' + version)
    assert load(old).conversation == small()


def test_what_was_asked_and_decided_is_stored():
    conversation = small()
    (made,) = conversation.assistant(ToolCall(id="x", name="pay", args={"amount": 300})).calls
    rule = Rule("pay", {"amount": 3})
    for record in (
        CallAsked("x", "approval", "openai:gpt-5.2"),
        CallDecided("x", "allow", "rule", rule, {"amount": 3}, "it is little", "user"),
        UserWentOn("supersede", ("x",)),
    ):
        conversation.append(record)
    again = load(dump(conversation)).conversation
    assert again == conversation
    asked, decided, went_on = again.entries[-3:]
    assert (asked.call_id, decided.call_id, went_on.call_ids) == (made.id, made.id, (made.id,))
    assert (decided.rule, decided.args) == (rule, {"amount": 3})
    assert dump(again) == dump(conversation)
