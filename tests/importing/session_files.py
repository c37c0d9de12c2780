"""Sessions of each coding agent, in the shape that its sources document, made for these tests.

Every session says the same: the user asks for the tests, the model thinks, calls `bash`, gets a
result with an image, and answers. An interrupted one ends with a second call that has no result.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

PNG = "iVBORw0KGgo="
STAMP = "2026-01-02T03:04:05.000Z"
Entries = list[dict[str, Any]]


class Agent(NamedTuple):
    """How an agent's sessions are made."""

    name: str
    healthy: Callable[[], Entries]
    second_call: Callable[[], Entries]
    """A turn with the call `second`, behind what is healthy."""
    is_lines: bool = True

    def session(self, *, interrupted: bool = False) -> bytes:
        entries = self.healthy() + (self.second_call() if interrupted else [])
        return as_lines(entries) if self.is_lines else as_export(entries)


def as_lines(entries: Entries) -> bytes:
    return b"".join(json.dumps(entry, separators=(",", ":")).encode() + b"\n" for entry in entries)


def as_export(messages: Entries) -> bytes:
    info = {"id": "ses_1", "projectID": "p", "directory": "/work", "title": "Tests"}
    return json.dumps({"info": info, "messages": messages}, indent=2).encode()


# Claude Code.


def claude_entry(uuid: str, parent: str | None, kind: str, content: Any, **fields: Any) -> Any:
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{uuid}", "model": "claude-sonnet-4-6", "type": "message"}
        message |= fields.pop("message", {})
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/work",
        "sessionId": "5f0c",
        "version": "2.1.0",
        "type": kind,
        "message": message,
        "uuid": uuid,
        "timestamp": STAMP,
        **fields,
    }


def tool_use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "bash", "input": {"command": "pytest"}}


def tool_result(id: str) -> dict[str, Any]:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    content = [{"type": "text", "text": "2 passed"}, image]
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def _claude_healthy() -> Entries:
    one = {"message": {"id": "msg_1"}}
    thought = {"type": "thinking", "thinking": "Run them.", "signature": "c2lnbmVk"}
    return [
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
        claude_entry("u1", None, "user", "Run the tests."),
        claude_entry("a1", "u1", "assistant", [thought], **one),
        claude_entry("a2", "a1", "assistant", [tool_use("first")], **one),
        claude_entry("r1", "a2", "user", [tool_result("first")]),
        claude_entry("a3", "r1", "assistant", [{"type": "text", "text": "They pass."}]),
    ]


def _claude_second() -> Entries:
    return [
        claude_entry("u2", "a3", "user", "Again."),
        claude_entry("a4", "u2", "assistant", [tool_use("second")]),
    ]


# Codex.


def codex_line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": STAMP, "type": kind, "payload": payload}


def codex_item(kind: str, **fields: Any) -> dict[str, Any]:
    return codex_line("response_item", type=kind, **fields)


def codex_says(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return codex_item("message", role=role, content=[{"type": kind, "text": text}])


def codex_call(id: str) -> dict[str, Any]:
    arguments = json.dumps({"command": ["pytest"]})
    return codex_item("function_call", name="shell", arguments=arguments, call_id=id)


def _codex_healthy() -> Entries:
    summary = [{"type": "summary_text", "text": "Run them."}]
    parts = [
        {"type": "input_text", "text": "2 passed"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
    ]
    return [
        codex_line("session_meta", id="019a", timestamp=STAMP, cwd="/work", cli_version="0.90.0"),
        codex_line("turn_context", cwd="/work", model="gpt-5-codex"),
        codex_says("user", "Run the tests."),
        codex_line("event_msg", type="user_message", message="Run the tests."),
        codex_item("reasoning", summary=summary, encrypted_content="Z2Vo"),
        codex_call("first"),
        codex_item("function_call_output", call_id="first", output=parts),
        codex_says("assistant", "They pass."),
    ]


def _codex_second() -> Entries:
    return [codex_says("user", "Again."), codex_call("second")]


# Gemini CLI.


def gemini_says(id: str, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": STAMP, "type": kind, "content": content, **fields}


def gemini_call(id: str, **fields: Any) -> dict[str, Any]:
    return {"id": id, "name": "bash", "args": {"command": "pytest"}, "status": "success", **fields}


def gemini_result(id: str) -> Entries:
    image = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    response = {"id": id, "name": "bash", "response": {"output": "2 passed"}, "parts": [image]}
    return [{"functionResponse": response}]


def gemini_header() -> dict[str, Any]:
    return {"sessionId": "s1", "projectHash": "h", "startTime": STAMP, "lastUpdated": STAMP}


def _gemini_healthy() -> Entries:
    thoughts = [{"subject": "Tests", "description": "Run them.", "timestamp": STAMP}]
    call = gemini_call("first", result=gemini_result("first"))
    return [
        gemini_header(),
        gemini_says("u1", "user", "Run the tests."),
        gemini_says("g1", "gemini", "", thoughts=thoughts, toolCalls=[call], model="gemini-3-pro"),
        gemini_says("g2", "gemini", "They pass.", model="gemini-3-pro"),
    ]


def _gemini_second() -> Entries:
    call = gemini_call("second", status="cancelled")
    return [
        gemini_says("u2", "user", [{"text": "Again."}]),
        gemini_says("g3", "gemini", "", toolCalls=[call], model="gemini-3-pro"),
    ]


# opencode.


def opencode_message(id: str, role: str, at: int, *parts: dict[str, Any], **info: Any) -> Any:
    known = {"id": id, "sessionID": "ses_1", "role": role, "time": {"created": at}}
    if role == "assistant":
        known |= {"providerID": "anthropic", "modelID": "claude-sonnet-4-6"}
    return {"info": {**known, **info}, "parts": list(parts)}


def opencode_tool(id: str, **state: Any) -> dict[str, Any]:
    held = {"input": {"command": "pytest"}, **state}
    return {"type": "tool", "callID": id, "tool": "bash", "state": held}


def _opencode_healthy() -> Entries:
    image = {"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{PNG}"}
    signed = {"anthropic": {"signature": "c2lnbmVk"}}
    done = {"status": "completed", "output": "2 passed", "attachments": [image], "time": {}}
    return [
        opencode_message("m1", "user", 1, {"type": "text", "text": "Run the tests."}),
        opencode_message(
            "m2",
            "assistant",
            2,
            {"type": "step-start"},
            {"type": "reasoning", "text": "Run them.", "metadata": signed},
            opencode_tool("first", **done),
            {"type": "step-finish", "reason": "tool-calls"},
            {"type": "step-start"},
            {"type": "text", "text": "They pass."},
        ),
    ]


def _opencode_second() -> Entries:
    return [
        opencode_message("m3", "user", 3, {"type": "text", "text": "Again."}),
        opencode_message("m4", "assistant", 4, opencode_tool("second", status="running")),
    ]


# pi.


def pi_entry(id: str, parent: str | None, **message: Any) -> dict[str, Any]:
    place = {"type": "message", "id": id, "parentId": parent, "timestamp": STAMP}
    return {**place, "message": {**message, "timestamp": 1767322445000}}


def pi_reply(id: str, parent: str, *content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    made_by = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-6"}
    known = {**made_by, "stopReason": "toolUse", **fields}
    return pi_entry(id, parent, role="assistant", content=list(content), **known)


def pi_call(id: str) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": "pytest"}}


def pi_result(id: str, parent: str, call: str, **fields: Any) -> dict[str, Any]:
    image = {"type": "image", "data": PNG, "mimeType": "image/png"}
    known = {"toolCallId": call, "toolName": "bash", "isError": False, **fields}
    content = [{"type": "text", "text": "2 passed"}, image]
    return pi_entry(id, parent, role="toolResult", content=content, **known)


def _pi_healthy() -> Entries:
    thought = {"type": "thinking", "thinking": "Run them.", "thinkingSignature": "c2lnbmVk"}
    said = {"type": "text", "text": "They pass."}
    return [
        {"type": "session", "version": 3, "id": "s1", "timestamp": STAMP, "cwd": "/work"},
        pi_entry("e1", None, role="user", content="Run the tests."),
        pi_reply("e2", "e1", thought, pi_call("first")),
        pi_result("e3", "e2", "first"),
        pi_reply("e4", "e3", said, stopReason="stop"),
    ]


def _pi_second() -> Entries:
    return [
        pi_entry("e5", "e4", role="user", content=[{"type": "text", "text": "Again."}]),
        pi_reply("e6", "e5", pi_call("second")),
    ]


AGENTS = {
    agent.name: agent
    for agent in (
        Agent("claude-code", _claude_healthy, _claude_second),
        Agent("codex", _codex_healthy, _codex_second),
        Agent("gemini-cli", _gemini_healthy, _gemini_second),
        Agent("opencode", _opencode_healthy, _opencode_second, is_lines=False),
        Agent("pi", _pi_healthy, _pi_second),
    )
}
