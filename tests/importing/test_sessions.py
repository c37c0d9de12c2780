"""Sessions of coding agents: what is read of each, and that every provider accepts it."""

import contextlib
import json

import pytest

from canonicall import (
    MalformedBody,
    Media,
    Summary,
    Thinking,
    ToolCall,
    encode_request,
    read_document,
    verify,
)
from canonicall.importing.documents import kind_of
from canonicall.importing.pieces import pieces
from importing.session_files import (
    AGENTS,
    PNG,
    as_export,
    as_lines,
    claude_entry,
    codex_call,
    codex_item,
    codex_line,
    codex_says,
    gemini_call,
    gemini_header,
    gemini_result,
    gemini_says,
    opencode_message,
    opencode_tool,
    pi_call,
    pi_entry,
    pi_reply,
    pi_result,
    tool_result,
    tool_use,
)

PROVIDERS = ("anthropic", "openai", "gemini", "mistral")
EVERY = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
OF_LINES = pytest.mark.parametrize(
    "agent", [one for one in AGENTS.values() if one.is_lines], ids=lambda one: one.name
)


def conversation(data):
    return read_document(data).request.conversation


def told(data):
    return [(message.role, message.text) for message in conversation(data).messages]


def codes(data):
    return [finding.code for finding in read_document(data).findings]


@EVERY
def test_a_session_is_known_by_its_beginning(agent):
    data = agent.session()
    assert kind_of(data).name == read_document(data).format == agent.name
    (piece,) = pieces(data.splitlines(keepends=True))
    assert (piece.data, piece.line) == (data, 0)


@EVERY
def test_all_that_was_said_is_read(agent):
    data = agent.session()
    asked, called, answered, said = conversation(data).messages
    assert [one.role for one in (asked, called, answered, said)] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert (asked.text, said.text) == ("Run the tests.", "They pass.")
    thought, call = called.blocks
    assert isinstance(thought, Thinking)
    assert thought.text.endswith("Run them.")
    assert (call.raw_id, call.args["command"]) in (("first", "pytest"), ("first", ["pytest"]))
    (result, *_) = answered.results
    assert "2 passed" in result.text
    assert PNG in [
        block.data
        for message in conversation(data).messages
        for one in (*message.blocks, *(result.content or ()))
        for block in (one, *(getattr(one, "content", None) or ()))
        if isinstance(block, Media)
    ]
    assert called.origin.model == said.origin.model
    assert read_document(data).request.model == said.origin.model != ""
    assert not conversation(data).ledger.open


@pytest.mark.parametrize(
    ("name", "domain", "kind"),
    [
        ("claude-code", "anthropic", "signature"),
        ("codex", "openai", "encrypted"),
        ("opencode", "anthropic", "signature"),
        ("pi", "anthropic", "signature"),
    ],
)
def test_a_signature_is_kept_with_its_domain(name, domain, kind):
    called = list(conversation(AGENTS[name].session()).messages)[1]
    (seal,) = called.blocks[0].opaque
    assert (seal.domain, seal.kind) == (domain, kind)


@EVERY
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("interrupted", [False, True])
def test_every_provider_accepts_what_is_rendered(agent, provider, interrupted):
    request = read_document(agent.session(interrupted=interrupted)).request
    encoded = encode_request(request, provider)
    assert not verify(encoded.body, provider)
    assert ("result_made_up" in encoded.report) == interrupted


@EVERY
def test_an_interrupted_session_has_an_open_call(agent):
    (one,) = conversation(agent.session(interrupted=True)).ledger.open
    assert one.call.raw_id == "second"


@OF_LINES
def test_a_damaged_line_is_left_out(agent):
    """Wherever the damage is, the other lines are read."""
    first, *rest = agent.session().splitlines(keepends=True)
    data = b"".join([first, b'{"type": "user", \xff\n', b"[1]\n", *rest])
    assert codes(data).count("unreadable_line") == 2
    assert told(data) == told(agent.session())


@OF_LINES
def test_a_last_line_that_was_cut_is_told(agent):
    data = agent.session(interrupted=True)[:-5]
    assert "truncated_line" in codes(data)
    assert [text for _, text in told(data)][-1] == "Again."


@EVERY
@pytest.mark.parametrize("data", [b"", b"\n\n"])
def test_an_empty_file_is_no_session(agent, data):
    with pytest.raises(MalformedBody):
        read_document(data, agent.name)


@OF_LINES
def test_a_session_in_which_nothing_was_said_is_said_to_be_one(agent):
    first = agent.session().partition(b"\n")[0]
    with pytest.raises(MalformedBody, match=f"no message in this session of {agent.name}"):
        read_document(first, agent.name)


@EVERY
@pytest.mark.parametrize("value", [None, 7, "x", [], [7], {"type": 7}, {"message": {"role": 1}}])
def test_fields_of_any_shape_raise_nothing_of_their_own(agent, value):
    """Each field of each entry in turn is something else. Only the project's errors come out."""
    entries = agent.healthy()
    for at, entry in enumerate(entries):
        for name in entry:
            damaged = [*entries[:at], {**entry, name: value}, *entries[at + 1 :]]
            data = as_lines(damaged) if agent.is_lines else as_export(damaged)
            with contextlib.suppress(MalformedBody):
                encode_request(read_document(data, agent.name).request, "anthropic")
            write_back = kind_of(data, agent.name).write_back
            if write_back is not None:
                write_back(data + as_lines(agent.second_call()))


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


def test_bodies_are_not_taken_for_sessions():
    body = {"messages": [{"role": "user", "content": '"sessionId" "session" "info"'}]}
    for extra in ({}, {"instructions": "x"}, {"metadata": {"sessionId": "x", "type": "user"}}):
        assert not kind_of(json.dumps({**extra, **body}).encode()).is_session
    items = {"input": [], "instructions": "x", "id": "y", "timestamp": "z"}
    assert not kind_of(json.dumps(items).encode()).is_session


# Claude Code.


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


def test_claude_goes_on_behind_a_summary_with_what_was_kept():
    kept = {"preservedMessages": {"anchorUuid": "c2", "uuids": ["a3"]}}
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "c1",
        "parentUuid": None,
        "sessionId": "5f0c",
        "compactMetadata": kept,
    }
    data = as_lines(
        [
            *AGENTS["claude-code"].healthy(),
            boundary,
            claude_entry("c2", "c1", "user", "We ran tests.", isCompactSummary=True),
            claude_entry("u2", "c2", "user", "And now?"),
        ]
    )
    assert told(data) == [
        ("user", "We ran tests."),
        ("assistant", "They pass."),
        ("user", "And now?"),
    ]
    assert isinstance(next(conversation(data).messages).blocks[0], Summary)
    assert "session_compacted" in codes(data)


def test_claude_errors_of_the_program_are_not_the_models_words():
    text = [{"type": "text", "text": "API Error: 529"}]
    error = claude_entry("x1", "a3", "assistant", text, isApiErrorMessage=True)
    data = as_lines([*AGENTS["claude-code"].healthy(), error])
    assert "session_error_left_out" in codes(data)
    assert told(data)[-1] == ("assistant", "They pass.")


# Codex.


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


# Gemini CLI.


def test_gemini_one_document_says_the_same_as_lines():
    header, *messages = AGENTS["gemini-cli"].healthy()
    data = json.dumps({**header, "messages": messages}, indent=2).encode()
    assert read_document(data).format == "gemini-cli"
    assert told(data) == told(AGENTS["gemini-cli"].session())


def test_gemini_a_later_record_takes_the_place_of_the_first():
    done = gemini_call("second", result=gemini_result("second"))
    again = gemini_says("g3", "gemini", "", toolCalls=[done])
    data = AGENTS["gemini-cli"].session(interrupted=True) + as_lines([again])
    assert not conversation(data).ledger.open
    assert len(conversation(data).ledger) == 2


def test_gemini_rewinding_and_replacing():
    healthy = AGENTS["gemini-cli"].session()
    second = AGENTS["gemini-cli"].second_call()
    back = as_lines([*second, {"$rewindTo": "u2"}])
    assert told(healthy + back) == told(healthy)
    assert "session_branch_left" in codes(healthy + back)
    new = as_lines([{"$set": {"messages": [gemini_says("u9", "user", "Anew.")]}}])
    assert told(healthy + new) == [("user", "Anew.")]


def test_gemini_parts_in_the_content_count_before_the_fields_beside_it():
    call = {"functionCall": {"id": "x", "name": "bash", "args": {}}, "thoughtSignature": "c2ln"}
    record = gemini_says("g1", "gemini", [call], toolCalls=[gemini_call("x", result="fine")])
    data = as_lines([gemini_header(), gemini_says("u1", "user", "Go."), record])
    _, called, answered = conversation(data).messages
    (one,) = called.blocks
    assert isinstance(one, ToolCall)
    assert one.opaque[0].value == "c2ln"
    assert "fine" in answered.results[0].text


def test_gemini_commands_and_messages_of_the_program_are_set_aside():
    extra = [gemini_says("i1", "info", "Update!"), gemini_says("c1", "user", "/help")]
    data = AGENTS["gemini-cli"].session() + as_lines(extra)
    assert told(data) == told(AGENTS["gemini-cli"].session())
    assert {"session_error_left_out", "session_bookkeeping"} <= set(codes(data))


def test_gemini_a_checkpoint_holds_the_history():
    history = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "bash", "args": {}}}]},
    ]
    call = {"name": "bash", "args": {}}
    data = json.dumps({"history": [], "clientHistory": history, "toolCall": call}, indent=2)
    assert read_document(data.encode()).format == "gemini-cli"
    assert len(conversation(data.encode()).ledger.open) == 1


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
