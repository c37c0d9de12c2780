"""Sessions written back: what they lack is added, and every other byte stays as it was."""

import json

import pytest

from canonicall import encode_request, read_document, verify
from canonicall.importing.documents import kind_of
from importing.session_files import (
    AGENTS,
    as_lines,
    claude_entry,
    codex_item,
    codex_says,
    gemini_call,
    gemini_result,
    gemini_says,
    pi_call,
    pi_entry,
    pi_reply,
    pi_result,
    tool_result,
    tool_use,
)

WRITTEN = [one for one in AGENTS.values() if kind_of(one.session()).write_back]
EVERY = pytest.mark.parametrize("agent", WRITTEN, ids=lambda one: one.name)


def written_back(data):
    return kind_of(data).write_back(data)


def is_sound(data):
    """Whether the session needs no repair on its way to a provider."""
    request = read_document(data).request
    made_up = "result_made_up" in encode_request(request, "anthropic").report
    return not made_up and not request.conversation.ledger.open


def test_every_agent_that_does_not_close_calls_itself_is_written_back():
    assert [one.name for one in WRITTEN] == ["claude-code", "codex", "gemini-cli", "pi"]


@EVERY
def test_a_healthy_session_stays_as_it_is_to_the_byte(agent):
    done = written_back(agent.session())
    assert (done.data, done.findings) == (agent.session(), ())


@EVERY
def test_an_interrupted_session_gets_the_result_it_lacks(agent):
    before = agent.session(interrupted=True)
    done = written_back(before)
    assert [one.code for one in done.findings] == ["session_result_added"]
    assert done.data.startswith(before)
    assert done.data.endswith(b"\n")
    assert is_sound(done.data)
    *_, answered = read_document(done.data).request.conversation.messages
    assert "The tool may have run." in answered.results[0].text
    for provider in ("anthropic", "openai", "gemini", "mistral"):
        body = encode_request(read_document(done.data).request, provider).body
        assert not verify(body, provider)


@EVERY
def test_repairing_again_changes_nothing(agent):
    once = written_back(agent.session(interrupted=True)).data
    assert written_back(once).data == once
    assert written_back(agent.session(interrupted=True)).data == once


@EVERY
def test_a_last_line_that_was_cut_is_taken_off(agent):
    """What the agent writes next would otherwise be glued to it."""
    whole = agent.session(interrupted=True)
    done = written_back(whole + b'{"type":"us')
    assert [one.code for one in done.findings] == ["truncated_line", "session_result_added"]
    assert done.data.startswith(whole)
    assert is_sound(done.data)


@EVERY
def test_wherever_a_session_was_cut_it_can_be_repaired(agent):
    whole = agent.session(interrupted=True)
    first = whole.index(b"\n", whole.index(b"Run the tests.")) + 1
    for end in range(first, len(whole), 11):
        done = written_back(whole[:end])
        assert is_sound(done.data)
        assert done.data.startswith(whole[: whole.rindex(b"\n", 0, end) + 1])


@EVERY
def test_a_line_with_half_of_a_character_stays_as_it_is(agent):
    """Else its result would count as missing, and be given a second time."""
    data = agent.session().replace(b"2 passed", rb"2 passed \ud83d")
    assert written_back(data).data == data


@EVERY
def test_damage_in_the_middle_is_left_alone(agent):
    first, *rest = agent.session(interrupted=True).splitlines(keepends=True)
    data = b"".join([first, b"{damaged\n", *rest])
    assert written_back(data).data.startswith(data)


def test_codex_a_search_for_tools_has_found_none():
    """As Codex itself says of a search that was interrupted."""
    search = {"call_id": "s", "status": "completed", "arguments": {"query": "mail"}}
    asked = codex_says("user", "Which tools?")
    before = as_lines(
        [
            *AGENTS["codex"].healthy(),
            asked,
            codex_item("tool_search_call", execution="client", **search),
        ]
    )
    done = written_back(before)
    (result,) = added(before, done.data)
    assert (result["payload"]["type"], result["payload"]["tools"]) == ("tool_search_output", [])
    assert is_sound(done.data)
    hosted = codex_item("tool_search_call", execution="server", **search)
    before = as_lines([*AGENTS["codex"].healthy(), asked, hosted])
    assert written_back(before).data == before


def test_codex_an_id_that_another_item_has_too_is_answered_as_that_of_a_call():
    strange = codex_item("novelty", call_id="second")
    before = as_lines([*AGENTS["codex"].healthy(), *AGENTS["codex"].second_call(), strange])
    result = json.loads(written_back(before).data.splitlines()[-2])
    assert result["payload"]["type"] == "function_call_output"


def counted(entries):
    return [{**entry, "ordinal": at} for at, entry in enumerate(entries)]


def ordinals(data):
    return [json.loads(line)["ordinal"] for line in data.splitlines()]


def test_codex_lines_that_are_counted_stay_counted_to_the_end():
    """Codex opens no such file again whose last line has no number."""
    entries = AGENTS["codex"].healthy() + AGENTS["codex"].second_call()
    done = written_back(as_lines(counted(entries)))
    assert ordinals(done.data) == list(range(len(entries) + 1))
    assert is_sound(done.data)


def test_codex_lines_behind_one_that_is_added_or_dropped_are_counted_anew():
    entries = [
        *AGENTS["codex"].healthy(),
        codex_item("function_call_output", call_id="nobody", output="?"),
        *AGENTS["codex"].second_call(),
        codex_says("user", 'Say "ordinal":9 and no more.'),
    ]
    before = as_lines(counted(entries))
    done = written_back(before)
    assert ordinals(done.data) == list(range(len(entries)))
    *_, last = done.data.splitlines()
    assert json.loads(last) == counted(entries)[-1]


def added(before, after):
    """The lines of `after` that are not in `before`."""
    known = before.splitlines()
    return [json.loads(line) for line in after.splitlines() if line not in known]


def test_claude_in_the_middle_the_result_stands_behind_its_call_and_in_the_chain():
    entries = [
        *AGENTS["claude-code"].healthy(),
        *AGENTS["claude-code"].second_call(),
        claude_entry("u3", "a4", "user", "Never mind."),
    ]
    before = as_lines(entries)
    done = written_back(before)
    result, after = added(before, done.data)
    assert (result["parentUuid"], after["parentUuid"]) == ("a4", result["uuid"])
    assert {**after, "parentUuid": "a4"} == entries[-1]
    assert result["sessionId"] == "5f0c"
    assert is_sound(done.data)


def test_claude_one_of_several_calls_lacks_its_result():
    one = {"message": {"id": "msg_1"}}
    before = as_lines(
        [
            claude_entry("u1", None, "user", "Go."),
            claude_entry("a1", "u1", "assistant", [tool_use("x")], **one),
            claude_entry("a2", "a1", "assistant", [tool_use("y")], **one),
            claude_entry("r2", "a2", "user", [tool_result("y")]),
            claude_entry("a3", "r2", "assistant", [{"type": "text", "text": "Hm."}]),
        ]
    )
    done = written_back(before)
    roles = [one.role for one in read_document(done.data).request.conversation.messages]
    assert roles == ["user", "assistant", "tool", "tool", "assistant"]
    assert is_sound(done.data)


def test_claude_results_of_no_call_are_dropped_and_the_chain_is_closed():
    text = {"type": "text", "text": "And this."}
    entries = [
        claude_entry("u1", None, "user", "Go."),
        claude_entry("r1", "u1", "user", [tool_result("gone")]),
        claude_entry("u2", "r1", "user", [tool_result("gone"), text]),
        claude_entry("u3", "u2", "user", "Well?"),
    ]
    done = written_back(as_lines(entries))
    first, second, third = map(json.loads, done.data.splitlines())
    assert (first, third) == (entries[0], entries[3])
    assert second["message"]["content"] == [text]
    assert (second["parentUuid"], third["parentUuid"]) == ("u1", "u2")
    assert [one.code for one in done.findings] == ["session_entry_dropped"] * 2
    assert "orphan_result" not in read_document(done.data).request.conversation.report


@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("claude-code", claude_entry("r9", "a3", "user", [tool_result("first")])),
        ("codex", codex_item("function_call_output", call_id="first", output="2 passed")),
        ("pi", pi_result("e9", "e4", "first")),
    ],
)
def test_a_second_result_of_a_call_is_dropped(name, second):
    """A provider takes one for each call. (Gemini CLI keeps the result in its call.)"""
    done = written_back(AGENTS[name].session() + as_lines([second]))
    assert [one.code for one in done.findings] == ["session_entry_dropped"]
    assert done.data == AGENTS[name].session()


def test_claude_a_line_that_is_there_twice_keeps_its_place_in_the_chain():
    lines = AGENTS["claude-code"].session().splitlines(keepends=True)
    (answer,) = [line for line in lines if b"2 passed" in line]
    assert written_back(b"".join([*lines, answer])).data == b"".join(lines)


def test_codex_outputs_are_of_the_kind_of_their_call():
    call = codex_item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="p")
    lost = codex_item("function_call_output", call_id="gone", output="x")
    before = as_lines([*AGENTS["codex"].healthy(), lost, call, codex_says("user", "Stop.")])
    done = written_back(before)
    (output,) = added(before, done.data)
    assert output["payload"]["type"] == "custom_tool_call_output"
    assert json.dumps(lost, separators=(",", ":")).encode() not in done.data
    assert is_sound(done.data)


def test_pi_results_are_linked_into_the_tree():
    stray = pi_result("x1", "e6", "gone")
    entries = [
        *AGENTS["pi"].healthy(),
        *AGENTS["pi"].second_call(),
        stray,
        pi_entry("e7", "x1", role="user", content="Never mind."),
    ]
    before = as_lines(entries)
    done = written_back(before)
    assert is_sound(done.data)
    said = [one.text for one in read_document(done.data).request.conversation.messages]
    assert said[-1] == "Never mind."
    assert b'"gone"' not in done.data
    assert "session_branch_left" not in [one.code for one in read_document(done.data).findings]


def test_pi_a_reply_that_was_stopped_is_not_answered():
    """pi does not send it again: a result of its call would be the result of nothing."""
    stopped = pi_reply("e6", "e5", pi_call("second"), stopReason="aborted")
    asked = AGENTS["pi"].second_call()[0]
    before = as_lines([*AGENTS["pi"].healthy(), asked, stopped])
    assert written_back(before).data == before


def test_gemini_a_result_in_a_message_of_its_own_is_not_replaced():
    call = gemini_call("second")
    before = as_lines(
        [
            *AGENTS["gemini-cli"].healthy(),
            gemini_says("u2", "user", "Again."),
            gemini_says("g3", "gemini", "", toolCalls=[call]),
            gemini_says("u3", "user", gemini_result("second")),
        ]
    )
    assert written_back(before).data == before
    *_, answered = read_document(before).request.conversation.messages
    assert answered.results[0].text == "2 passed"


def test_pi_files_without_ids_are_mended_too():
    entries = [*AGENTS["pi"].healthy(), *AGENTS["pi"].second_call()]
    bare = [{name: one[name] for name in one if name != "parentId"} for one in entries]
    for one in bare[1:]:
        del one["id"]
    done = written_back(as_lines(bare))
    assert done.data.startswith(as_lines(bare))
    assert is_sound(done.data)


def test_gemini_a_file_that_is_one_document_is_left_as_it_is():
    header, *messages = [*AGENTS["gemini-cli"].healthy(), *AGENTS["gemini-cli"].second_call()]
    data = json.dumps({**header, "messages": messages}).encode()
    assert written_back(data).data == data
