"""Sessions of Gemini CLI: documents and lines, rewinding, checkpoints."""

import json

from canonicall import ToolCall, read_document
from importing.session_files import (
    AGENTS,
    as_lines,
    gemini_call,
    gemini_header,
    gemini_result,
    gemini_says,
)
from importing.sessions_read import codes, conversation, told


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


def test_gemini_messages_of_a_kind_that_is_not_known_are_named():
    data = as_lines([*AGENTS["gemini-cli"].healthy(), gemini_says("x", "novelty", "What is this?")])
    assert told(data) == told(AGENTS["gemini-cli"].session())
    assert "novelty x 1" in str(read_document(data).findings)
