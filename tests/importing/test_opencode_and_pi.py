"""Sessions of opencode and pi: summaries, branches, failed replies."""

import json

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
