"""Sessions of Codex: older files, compaction, turns that were rolled back."""

import pytest

from canonicall import encode_request, read_document, verify
from importing.session_files import AGENTS, as_lines, codex_call, codex_item, codex_line, codex_says
from importing.sessions_read import PROVIDERS, codes, conversation, told


def test_codex_files_of_older_versions_have_bare_items():
    first = {"id": "019a", "timestamp": "2025-05-01T00:00:00Z", "instructions": None}
    items = [one["payload"] for one in AGENTS["codex"].healthy() if one["type"] == "response_item"]
    data = as_lines([first, *items])
    assert read_document(data).format == "codex"
    assert told(data) == told(AGENTS["codex"].session())


@pytest.mark.parametrize("replaced", [False, True])
def test_codex_compaction_replaces_what_was_said(replaced):
    summary = codex_says("user", "We ran tests.")["payload"]
    more = {"replacement_history": [summary]} if replaced else {}
    compacted = codex_line("compacted", message="We ran tests.", **more)
    data = as_lines([*AGENTS["codex"].healthy(), compacted, codex_says("user", "And now?")])
    assert [words for _, words in told(data)] == ["We ran tests.", "And now?"]
    assert "session_compacted" in codes(data)


def test_codex_turns_that_were_rolled_back_do_not_count():
    undone = codex_line("event_msg", type="thread_rolled_back", num_turns=1)
    data = as_lines([*AGENTS["codex"].healthy(), *AGENTS["codex"].second_call(), undone])
    assert told(data) == told(AGENTS["codex"].session())
    assert "session_branch_left" in codes(data)


def test_codex_each_message_has_the_model_of_its_turn():
    data = as_lines(
        [
            *AGENTS["codex"].healthy(),
            codex_line("turn_context", cwd="/work", model="gpt-6"),
            codex_says("user", "Again."),
            codex_says("assistant", "Yes."),
        ]
    )
    models = [one.origin.model for one in conversation(data).messages if one.origin]
    assert models == ["gpt-5-codex", "gpt-5-codex", "gpt-6"]
    assert read_document(data).request.model == "gpt-6"


def test_codex_an_item_that_cannot_be_read_takes_no_other_with_it():
    bad = codex_item("function_call", name=7, arguments=7, call_id=7)
    data = as_lines([*AGENTS["codex"].healthy(), bad, codex_call("z")])
    assert codes(data).count("unreadable_line") == 1
    assert [one.call.raw_id for one in conversation(data).ledger.open] == ["z"]


def test_codex_shell_calls_of_the_api_are_calls():
    action = {"type": "exec", "command": ["pytest"]}
    call = codex_item("local_shell_call", call_id="s", status="completed", action=action)
    output = codex_item("function_call_output", call_id="s", output="2 passed")
    data = as_lines([*AGENTS["codex"].healthy(), call, output])
    for provider in PROVIDERS:
        assert not verify(encode_request(read_document(data).request, provider).body, provider)
