"""Where the cause of a finding lies: one class for one cause, whoever reports it."""

from batches import each
from canonicall import (
    Action,
    CallClosed,
    CallDecided,
    Conversation,
    Fault,
    Media,
    Message,
    Outcome,
    Params,
    Policy,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    decode_request,
    encode_request,
    translate,
    validate_call,
    verify,
)
from canonicall.importing.documents import kind_of
from finding_codes import done_in_source
from importing.session_files import AGENTS, as_lines, claude_entry, tool_result

_ORPHAN = {"role": "tool", "tool_call_id": "call_9", "content": "42"}
_HI = {"role": "user", "content": "Hi"}
_CHAT = {"model": "m", "messages": [_HI, _ORPHAN, _HI]}
_CLAUDE = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_9"}]}],
}
_STORED = {
    "model": "gpt-5.2",
    "previous_response_id": "resp_1",
    "input": [{"type": "function_call_output", "call_id": "c" * 99, "output": "42"}],
}
_SESSION = AGENTS["claude-code"].session() + as_lines(
    [claude_entry("r9", "a3", "user", [tool_result("gone")])]
)


def _appended(entry):
    return Conversation.of([Message("user", (Text(text="Hi"),)), entry]).report


def _result(call_id=""):
    return Message("tool", (ToolResult(call_id=call_id, content=(Text(text="42"),)),))


def _sent(**fields):
    conversation = Conversation.of([Message("user", (Text(text="Hi"),)), _result("call_9")])
    return encode_request(Request(conversation, model="m"), "openai", **fields).report


ORPHANS = {
    "appended with an id": ("orphan_result", lambda: _appended(_result("call_9"))),
    "appended without an id": ("orphan_result", lambda: _appended(_result())),
    "closed": ("orphan_closing", lambda: _appended(CallClosed("call_9", Outcome.UNKNOWN))),
    "decided": ("orphan_decision", lambda: _appended(CallDecided("call_9", "allow"))),
    "read from a body": ("orphan_result", lambda: decode_request(_CHAT, "openai-chat").findings),
    "left out of a request": ("orphan_not_sent", _sent),
    "sent as text": ("orphan_not_sent", lambda: _sent(policy=Policy(orphans="text"))),
    "of a stored call that cannot be": (
        "orphan_not_sent",
        lambda: translate(_STORED, "openai-responses", "openai/openai-responses").report,
    ),
    "in a session file": (
        "session_entry_dropped",
        lambda: kind_of(_SESSION).write_back(_SESSION).findings,
    ),
    "judged in a Chat body": ("orphan_result_sent", lambda: verify(_CHAT, "openai")),
    "judged in an Anthropic body": ("orphan_result_sent", lambda: verify(_CLAUDE, "anthropic")),
}


@each(("code", "reported"), ORPHANS.values(), ids=ORPHANS)
def test_an_orphan_is_a_fault_of_the_input_wherever_it_is_reported(code, reported):
    found = [one for one in reported() if one.code == code]
    assert found
    assert {one.fault for one in found} == {Fault.INPUT}


def test_every_code_about_orphans_is_in_the_table():
    listed = {code for code, _ in ORPHANS.values()}
    assert {code for code in done_in_source() if "orphan" in code} <= listed


# What is added to a request: a fault only where something is wrong with what came in.

_F = ToolCall(id="call_1", name="f", args={})
_CALLED = Message("assistant", (_F,))
_ANSWERED = Message("tool", (ToolResult(call_id="call_1", content=(Text(text="1"),)),))
_EMPTY = Message("tool", (ToolResult(call_id="call_1", content=()),))
_DOCUMENT = Media(media_type="application/pdf", data="aGk=")


def _encoded(target, *blocks, entries=(), tools=(), **params):
    entries = entries or (Message("user", blocks or (Text(text="Hi"),)),)
    asked = Request(Conversation.of(entries), tools=tools, model="m", params=Params(**params))
    return encode_request(asked, target).report


_USER = Message("user", (Text(text="Hi"),))
_SAID = Message("assistant", (Text(text="Yes."),))
_TOOL = Tool("f", "f", {"type": "object", "properties": {}})
_NO_REASONING = "openai:gpt-5.6"

ADDED = {
    "a token limit that the format requires": (
        *("param_added", Fault.NONE),
        lambda: _encoded("anthropic"),
    ),
    "a stream, at a host that has no other replies": (
        *("param_added", Fault.NONE),
        lambda: _encoded("chatgpt-codex"),
    ),
    "that the model shall not reason, which it needs beside tools": (
        *("param_added", Fault.NONE),
        lambda: _encoded(_NO_REASONING, tools=(_TOOL,)),
    ),
    "a message of the other role": (
        *("bridge_added", Fault.NONE),
        lambda: _encoded("mistral", entries=(_USER, _CALLED, _ANSWERED, _USER)),
    ),
    "text beside a document": (
        *("words_added", Fault.NONE),
        lambda: _encoded("bedrock", _DOCUMENT),
    ),
    "the thought that the target wants beside calls": (
        *("placeholder_added", Fault.NONE),
        lambda: _encoded("gemini:gemini-3-pro", entries=(_USER, _CALLED, _ANSWERED)),
    ),
    "text for a result that is empty": (
        *("result_worded", Fault.NONE),
        lambda: _encoded("bedrock", entries=(_USER, _CALLED, _EMPTY)),
    ),
    "the id of a call that came without one": (
        *("missing_call_id", Fault.NONE),
        lambda: Conversation.of([_USER, Message("assistant", (ToolCall(name="f"),))]).report,
    ),
    "the id of a call that is checked": (
        *("missing_call_id", Fault.NONE),
        lambda: validate_call(ToolCall(name="f", args={}), [_TOOL]).findings,
    ),
    "tools that the history needs and the caller left out": (
        *("tool_stubs_added", Fault.RENDER),
        lambda: _encoded("bedrock", entries=(_USER, _CALLED, _ANSWERED)),
    ),
    "an end after text that the target does not continue": (
        *("ending_added", Fault.RENDER),
        lambda: _encoded("anthropic:claude-opus-5", entries=(_USER, _SAID)),
    ),
    "an end where there is nothing to answer": (
        *("ending_added", Fault.INPUT),
        lambda: encode_request(Request(Conversation(), model="m"), "openai").report,
    ),
    "the result of a call that has none": (
        *("result_made_up", Fault.STATE),
        lambda: _encoded("openai", entries=(_USER, _CALLED)),
    ),
    "the same in a session file": (
        *("session_result_added", Fault.STATE),
        lambda: (
            kind_of(_SESSION).write_back(AGENTS["claude-code"].session(interrupted=True)).findings
        ),
    ),
}


@each(("code", "fault", "reported"), ADDED.values(), ids=ADDED)
def test_what_every_such_request_needs_is_not_a_fault(code, fault, reported):
    found = [one for one in reported() if one.code == code and one.action is Action.ADDED]
    assert found
    assert {one.fault for one in found} == {fault}


def test_every_code_that_adds_something_is_in_the_table():
    """A code that is new here needs a decision: is something wrong with what came in?"""
    added = {code for code, done in done_in_source().items() if "added" in done}
    assert {code for code, *_ in ADDED.values()} == added


def test_a_parameter_of_the_caller_that_is_changed_is_a_fault():
    asked = Reasoning(effort="high")
    for report in (
        _encoded("chatgpt-codex", stream=False),
        _encoded(_NO_REASONING, tools=(_TOOL,), reasoning=asked),
    ):
        (found,) = [one for one in report if one.code == "param_changed"]
        assert found.fault is Fault.RENDER
