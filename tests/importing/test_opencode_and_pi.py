"""Sessions of opencode and pi: summaries, branches, failed replies."""

import json

import pytest

from canonicall import dump
from importing.session_files import (
    AGENTS,
    as_export,
    as_lines,
    opencode_message,
    opencode_tool,
    pi_call,
    pi_entry,
    pi_reply,
    pi_result,
)
from importing.sessions_read import codes, conversation, told

# opencode.


def test_opencode_a_summary_stands_for_what_was_before():
    data = as_export(
        [
            *AGENTS["opencode"].healthy(),
            opencode_message("m3", "user", 3, {"type": "compaction", "auto": True}),
            opencode_message(
                "m4",
                "assistant",
                4,
                {"type": "text", "text": "We ran tests."},
                summary=True,
                parentID="m3",
            ),
            opencode_message("m5", "user", 5, {"type": "text", "text": "And now?"}),
        ]
    )
    assert told(data) == [("user", "We ran tests."), ("user", "And now?")]
    assert next(conversation(data).messages).blocks[0].covers == 2
    assert "session_compacted" in codes(data)


def test_opencode_errors_are_results_and_failed_replies_are_set_aside():
    data = as_export(
        [
            opencode_message("m1", "user", 1, {"type": "text", "text": "Go."}),
            opencode_message("m2", "assistant", 2, opencode_tool("x", status="error", error="No.")),
            opencode_message("m3", "assistant", 3, error={"name": "APIError"}),
        ]
    )
    *_, answered = conversation(data).messages
    assert (answered.results[0].error, answered.results[0].text) == (True, "No.")
    assert "session_error_left_out" in codes(data)


def test_opencode_messages_are_in_the_order_of_their_time():
    data = as_export(AGENTS["opencode"].healthy()[::-1])
    assert told(data) == told(AGENTS["opencode"].session())


@pytest.mark.parametrize(
    ("revert", "left"),
    [
        ({"messageID": "m3"}, ["Run the tests.", "", "", "They pass."]),
        ({"messageID": "m2", "partID": "p2"}, ["Run the tests.", "Hm."]),
        ({"messageID": "gone"}, ["Run the tests.", "", "", "They pass.", "Again."]),
    ],
)
def test_opencode_what_was_taken_back_does_not_count(revert, left):
    """The user went back; opencode takes it out with the next prompt."""
    messages = [*AGENTS["opencode"].healthy(), AGENTS["opencode"].second_call()[0]]
    if "partID" in revert:
        parts = [{"type": "text", "id": "p1", "text": "Hm."}, {"type": "text", "id": "p2"}]
        messages[1] = opencode_message("m2", "assistant", 2, *parts)
    session = json.loads(as_export(messages))
    session["info"]["revert"] = revert
    data = json.dumps(session).encode()
    assert [words for _, words in told(data)] == left
    assert ("session_branch_left" in codes(data)) == (revert["messageID"] != "gone")


# pi.


def test_pi_only_the_branch_of_the_last_entry_counts():
    data = as_lines(
        [
            *AGENTS["pi"].healthy(),
            pi_entry("x1", "e4", role="user", content="Wrong way."),
            pi_entry("e5", "e4", role="user", content="Mend it."),
        ]
    )
    assert [words for _, words in told(data)][-2:] == ["They pass.", "Mend it."]
    assert "session_branch_left" in codes(data)


def test_pi_goes_on_behind_a_summary_with_what_was_kept():
    compaction = {
        "type": "compaction",
        "id": "e5",
        "parentId": "e4",
        "summary": "We ran tests.",
        "firstKeptEntryId": "e4",
    }
    asked = pi_entry("e6", "e5", role="user", content="And now?")
    data = as_lines([*AGENTS["pi"].healthy(), compaction, asked])
    assert [words for _, words in told(data)] == ["We ran tests.", "They pass.", "And now?"]
    assert "session_compacted" in codes(data)


def test_pi_files_of_the_first_version_have_no_ids():
    places = ("id", "parentId")
    header, *rest = AGENTS["pi"].healthy()
    bare = [{name: one[name] for name in one if name not in places} for one in rest]
    assert told(as_lines([header, *bare])) == told(AGENTS["pi"].session())


def test_pi_a_reasoning_item_is_read_from_its_signature():
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z2Vo"}
    thought = {"type": "thinking", "thinking": "Hm.", "thinkingSignature": json.dumps(item)}
    made_by = {"api": "openai-responses", "provider": "openai", "model": "gpt-5"}
    asked = pi_entry("e1", None, role="user", content="Go.")
    data = as_lines([AGENTS["pi"].healthy()[0], asked, pi_reply("e2", "e1", thought, **made_by)])
    *_, said = conversation(data).messages
    assert {(one.kind, one.value) for one in said.blocks[0].opaque} == {
        ("encrypted", "Z2Vo"),
        ("item_id", "rs_1"),
    }
    assert {one.domain for one in said.blocks[0].opaque} == {"openai"}


def test_pi_commands_of_the_user_and_failed_results():
    data = as_lines(
        [
            *AGENTS["pi"].healthy()[:1],
            pi_entry("e1", None, role="bashExecution", command="ls", output="a.py", exitCode=1),
            pi_reply("e2", "e1", pi_call("x")),
            pi_result("e3", "e2", "x", isError=True),
        ]
    )
    ran, _, answered = conversation(data).messages
    assert "Ran `ls`" in ran.text
    assert "a.py" in ran.text
    assert answered.results[0].error


def pi_edit(id, parent, target, replacement):
    place = {"type": "context_edit", "id": id, "parentId": parent}
    return {**place, "targetId": target, "replacement": replacement}


def test_pi_what_was_edited_counts_in_its_last_form():
    data = as_lines(
        [
            *AGENTS["pi"].healthy(),
            pi_entry("e5", "e4", role="user", content="The key is 123."),
            pi_entry("e6", "e5", role="user", content="Use it."),
            pi_edit("e7", "e6", "e4", {"content": "All of them pass."}),
            pi_edit("e8", "e7", "e5", {"content": "A key."}),
            pi_edit("e9", "e8", "e5", None),
        ]
    )
    assert told(data)[-2:] == [("assistant", "All of them pass."), ("user", "Use it.")]
    assert "session_edited" in codes(data)
    assert b"123" not in dump(conversation(data))


def test_pi_instructions_are_those_of_the_last_compaction():
    header, *rest = AGENTS["pi"].healthy()
    first = pi_entry("e0", None, role="system", content="Be brief.")
    whole = as_lines([header, first, {**rest[0], "parentId": "e0"}, *rest[1:]])
    assert told(whole)[0] == ("system", "Be brief.")
    place = {"type": "compaction", "id": "e5", "parentId": "e4", "firstKeptEntryId": "e0"}
    anew = {"role": "system", "content": "Be precise."}
    compaction = {**place, "summary": "We ran tests.", "systemMessage": anew}
    assert told(whole + as_lines([compaction]))[:3] == [
        ("system", "Be precise."),
        ("user", "We ran tests."),
        ("user", "Run the tests."),
    ]


def test_pi_replies_that_failed_or_were_stopped_are_set_aside():
    said = {"type": "text", "text": "I wi"}
    for reason in ("error", "aborted"):
        reply = pi_reply("e5", "e4", said, pi_call("x"), stopReason=reason)
        data = as_lines([*AGENTS["pi"].healthy(), reply])
        assert told(data) == told(AGENTS["pi"].session())
        assert "session_error_left_out" in codes(data)


def test_pi_a_thought_that_is_hidden_goes_back_as_it_came():
    hidden = {"type": "thinking", "thinking": "", "thinkingSignature": "Z2Vo", "redacted": True}
    said = {"type": "text", "text": "Yes."}
    data = as_lines([*AGENTS["pi"].healthy(), pi_reply("e5", "e4", hidden, said)])
    *_, answer = conversation(data).messages
    assert [(one.kind, one.value) for one in answer.blocks[0].opaque] == [("redacted", "Z2Vo")]
