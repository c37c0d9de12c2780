"""Sessions of Claude Code: side chains, branches, summaries."""

import pytest

from canonicall import Summary, read_document
from importing.session_files import AGENTS, as_lines, claude_entry, tool_result, tool_use
from importing.sessions_read import codes, conversation, told


@pytest.mark.parametrize(
    "first",
    [
        {"type": "summary", "summary": "Tests", "leafUuid": "a3"},
        {"type": "permission-mode", "permissionMode": "default", "sessionId": "5f0c"},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "5f0c"},
    ],
)
def test_claude_files_may_begin_with_records_of_the_program(first):
    data = as_lines([first, *AGENTS["claude-code"].healthy()])
    assert read_document(data).format == "claude-code"


def test_claude_parallel_calls_on_lines_of_their_own_are_one_message():
    """The result of the first may stand before the second call."""
    one = {"message": {"id": "msg_1"}}
    data = as_lines(
        [
            claude_entry("u1", None, "user", "Go."),
            claude_entry("a1", "u1", "assistant", [tool_use("x")], **one),
            claude_entry("r1", "a1", "user", [tool_result("x")]),
            claude_entry("a2", "a1", "assistant", [tool_use("y")], **one),
            claude_entry("r2", "a2", "user", [tool_result("y")]),
        ]
    )
    _, called, *_ = conversation(data).messages
    assert [call.raw_id for call in called.calls] == ["x", "y"]
    assert not conversation(data).ledger.open


def test_claude_side_chains_are_set_aside_unless_they_are_all_there_is():
    main = AGENTS["claude-code"].healthy()
    side = claude_entry("s1", "a2", "user", "Look around.", isSidechain=True, agentId="7")
    data = as_lines([*main, side])
    assert told(data) == told(as_lines(main))
    assert codes(data).count("session_side_chain") == 1
    assert told(as_lines([side])) == [("user", "Look around.")]


def test_claude_a_prompt_that_was_rewritten_leaves_its_branch():
    text = [{"type": "text", "text": "Wrong way."}]
    data = as_lines(
        [
            *AGENTS["claude-code"].healthy(),
            claude_entry("u2", "a3", "user", "Break it."),
            claude_entry("a5", "u2", "assistant", text),
            claude_entry("u3", "a3", "user", "Mend it."),
        ]
    )
    said = [words for _, words in told(data)]
    assert said[-2:] == ["They pass.", "Mend it."]
    assert "session_branch_left" in codes(data)


def test_claude_parents_that_were_never_written_lose_nothing():
    entries = AGENTS["claude-code"].healthy() + AGENTS["claude-code"].second_call()
    loose = [{**one, "parentUuid": "gone"} if "parentUuid" in one else one for one in entries]
    assert told(as_lines(loose)) == told(as_lines(entries))
    assert "session_branch_left" not in codes(as_lines(loose))


def _compacted(**metadata):
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "c1",
        "parentUuid": None,
        "sessionId": "5f0c",
        "compactMetadata": metadata,
    }
    return as_lines(
        [
            *AGENTS["claude-code"].healthy(),
            boundary,
            claude_entry("c2", "c1", "user", "We ran tests.", isCompactSummary=True),
            claude_entry("u2", "c2", "user", "And now?"),
        ]
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"preservedMessages": {"anchorUuid": "c2", "uuids": ["a3"]}},
        {"preservedSegment": {"anchorUuid": "c2", "headUuid": "a3", "tailUuid": "a3"}},
    ],
    ids=["messages", "segment"],
)
def test_claude_goes_on_behind_a_summary_with_what_was_kept(metadata):
    data = _compacted(**metadata)
    assert told(data) == [
        ("user", "We ran tests."),
        ("assistant", "They pass."),
        ("user", "And now?"),
    ]
    assert isinstance(next(conversation(data).messages).blocks[0], Summary)
    assert "session_compacted" in codes(data)


def test_claude_a_summary_of_the_later_part_stands_behind_what_was_kept():
    segment = {"anchorUuid": "c1", "headUuid": "u1", "tailUuid": "u1"}
    data = _compacted(preservedSegment=segment)
    assert [words for _, words in told(data)] == ["Run the tests.", "We ran tests.", "And now?"]


def test_claude_a_compaction_that_kept_nothing_leaves_the_summary():
    gone = {"anchorUuid": "c2", "headUuid": "gone", "tailUuid": "a3"}
    for data in (_compacted(), _compacted(preservedSegment=gone)):
        assert [words for _, words in told(data)] == ["We ran tests.", "And now?"]


def test_claude_errors_of_the_program_are_not_the_models_words():
    text = [{"type": "text", "text": "API Error: 529"}]
    error = claude_entry("x1", "a3", "assistant", text, isApiErrorMessage=True)
    data = as_lines([*AGENTS["claude-code"].healthy(), error])
    assert "session_error_left_out" in codes(data)
    assert told(data)[-1] == ("assistant", "They pass.")


def test_claude_a_result_that_was_too_long_is_what_the_model_sees_of_it():
    one = {"kind": "tool-result", "toolUseId": "first", "replacement": "2 ... (saved to a file)"}
    replaced = {"type": "content-replacement", "sessionId": "5f0c", "replacements": [one]}
    data = as_lines([*AGENTS["claude-code"].healthy(), replaced])
    (answered,) = [one for one in conversation(data).messages if one.results]
    assert answered.results[0].text == "2 ... (saved to a file)"
    assert "session_edited" in codes(data)
