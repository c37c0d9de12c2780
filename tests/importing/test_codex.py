"""Sessions of Codex: older files, compaction, turns that were rolled back."""

from canonicall import encode_request, read_document, verify
from importing.session_files import AGENTS, as_lines, codex_call, codex_item, codex_line, codex_says
from importing.sessions_read import PROVIDERS, codes, conversation, told


def test_codex_files_of_older_versions_have_bare_items():
    first = {"id": "019a", "timestamp": "2025-05-01T00:00:00Z", "instructions": None}
    items = [one["payload"] for one in AGENTS["codex"].healthy() if one["type"] == "response_item"]
    data = as_lines([first, *items])
    assert read_document(data).format == "codex"
    assert told(data) == told(AGENTS["codex"].session())


CONTEXT = codex_says("user", "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>")


def test_codex_compaction_replaces_what_was_said():
    summary = codex_says("user", "We ran tests.")["payload"]
    compacted = codex_line("compacted", message="", replacement_history=[summary])
    data = as_lines([*AGENTS["codex"].healthy(), compacted, codex_says("user", "And now?")])
    assert [words for _, words in told(data)] == ["We ran tests.", "And now?"]
    assert "session_compacted" in codes(data)


def test_codex_a_summary_alone_stands_behind_what_the_user_said():
    """Older versions wrote no history with it; Codex puts it together in this way."""
    header, turn, *said = AGENTS["codex"].healthy()
    compacted = codex_line("compacted", message="We ran tests.")
    data = as_lines([header, turn, CONTEXT, *said, compacted, codex_says("user", "And now?")])
    words = [words for _, words in told(data)]
    assert words == ["Run the tests.", "We ran tests.", "And now?"]
    assert "session_compacted" in codes(data)


def test_codex_what_the_program_says_for_the_user_is_no_turn():
    """It goes with the turn that it stands before, and does not count for one that is undone."""
    undone = codex_line("event_msg", type="thread_rolled_back", num_turns=1)
    told_about = [codex_says("developer", "You may write files."), CONTEXT]
    second, call = AGENTS["codex"].second_call()
    after = codex_says("user", "<turn_aborted>\nIt was stopped.\n</turn_aborted>")
    data = as_lines([*AGENTS["codex"].healthy(), *told_about, second, call, after, undone])
    assert told(data) == told(AGENTS["codex"].session())


def test_codex_what_other_agents_say_is_told_to_the_model():
    words = {"type": "input_text", "text": "Look at the tests."}
    item = codex_item("agent_message", author="/lead", recipient="/lead/a", content=[words])
    said = {"author": "/lead/a", "recipient": "/lead", "content": "I did.", "trigger_turn": True}
    line = codex_line("inter_agent_communication", **said)
    data = as_lines([*AGENTS["codex"].healthy(), item, line])
    assert told(data)[-2:] == [("user", "Look at the tests."), ("user", "I did.")]
    undone = codex_line("event_msg", type="thread_rolled_back", num_turns=2)
    undone_data = as_lines([*AGENTS["codex"].healthy(), item, line, undone])
    assert told(undone_data) == told(AGENTS["codex"].session())


def test_codex_what_another_agent_sealed_is_kept_as_it_is():
    said = {"author": "/lead", "recipient": "/lead/a", "content": "", "encrypted_content": "Z2Vo"}
    line = codex_line("inter_agent_communication", **said)
    data = as_lines([*AGENTS["codex"].healthy(), line])
    assert "unknown_item" in codes(data)
    body = encode_request(read_document(data).request, "openai/openai-responses").body
    assert body["input"][-1]["content"][0]["encrypted_content"] == "Z2Vo"


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
