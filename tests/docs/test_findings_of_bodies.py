"""The tables of docs/findings.md about bodies: each code is provoked, and what is done is as said there."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from batches import each
from canonicall import (
    Conversation,
    Finding,
    Media,
    Message,
    Native,
    Opaque,
    Origin,
    Params,
    Policy,
    Reasoning,
    Request,
    StreamDecoder,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolingMiddleware,
    ToolResult,
    Unknown,
    decode_request,
    decode_response,
    encode_request,
    fold,
    read_document,
    render,
    translate,
)
from finding_codes import ABOUT_BODIES, documented

# Reading: bodies as they come.


def _chat(*messages: dict[str, Any], **fields: Any) -> Iterable[Finding]:
    return decode_request({"messages": list(messages), **fields}, "openai-chat").findings


def _chat_reply(*choices: dict[str, Any], **fields: Any) -> Iterable[Finding]:
    return decode_response({"choices": list(choices), **fields}, "openai-chat").findings


def _responses(*items: dict[str, Any], **fields: Any) -> Iterable[Finding]:
    return decode_request({"input": list(items), **fields}, "openai-responses").findings


def _claude(*content: dict[str, Any], role: str = "user", **fields: Any) -> Iterable[Finding]:
    body = {"messages": [{"role": role, "content": list(content)}], **fields}
    return decode_request(body, "anthropic").findings


def _gemini(*parts: Any, role: str = "user", **fields: Any) -> Iterable[Finding]:
    body = {"contents": [{"role": role, "parts": list(parts)}], **fields}
    return decode_request(body, "gemini").findings


def _converse(*content: dict[str, Any], **fields: Any) -> Iterable[Finding]:
    body = {"messages": [{"role": "user", "content": list(content)}], **fields}
    return decode_request(body, "bedrock").findings


def _split_reply() -> Iterable[Finding]:
    call = {"id": "x", "function": {"name": "f", "arguments": "{}"}}
    return _chat_reply(
        {"message": {"content": "Let me see."}, "finish_reason": "tool_calls"},
        {"message": {"tool_calls": [call]}},
    )


def _streamed(data: bytes, format: str = "openai-chat") -> Iterable[Finding]:
    decoder = StreamDecoder(format)
    return fold([*decoder.feed(data), *decoder.close()]).findings


_WORDS = {"message": {"content": "Hi"}, "finish_reason": "stop"}
_CALL = {"type": "tool_use", "id": "x", "name": "f"}
_ANSWER = {"type": "tool_result", "tool_use_id": "x", "content": "1"}
_FUNCTION = {"name": "f", "parameters": {"type": "object"}}

READING: dict[str, Callable[[], Iterable[Finding]]] = {
    "format_assumed": lambda: (
        read_document(b'{"messages": [{"role": "user", "content": "Hi"}]}').findings
    ),
    "missing_content": lambda: _chat({"role": "user"}),
    "no_messages": _chat,
    "untyped_part": lambda: (
        *_chat({"role": "user", "content": ["Hi"]}),
        *_gemini("Hi"),
    ),
    "unknown_part": lambda: (
        *_chat({"role": "user", "content": [{"type": "smell"}]}),
        *_responses({"role": "user", "content": [{"type": "smell"}]}),
    ),
    "foreign_part": lambda: _chat({"role": "user", "content": [_ANSWER]}),
    "call_twice": lambda: _chat(
        {
            "role": "assistant",
            "content": [_CALL],
            "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "{}"}}],
        }
    ),
    "unknown_item": lambda: (
        *_responses({"type": "smell"}),
        *_responses({"type": "input_text", "text": "Hi"}),
    ),
    "empty_part": lambda: _gemini({}),
    "part_split": lambda: _gemini({"text": "Hi", "inlineData": {"mimeType": "a/b", "data": ""}}),
    "signature_moved": lambda: _gemini(
        {"functionCall": {"name": "f", "args": {}, "thoughtSignature": "s"}}
    ),
    "partial_call": lambda: _gemini(
        {"functionCall": {"name": "f", "willContinue": True}}, role="model"
    ),
    "arguments_as_text": lambda: _claude({**_CALL, "input": "{}"}, role="assistant"),
    "arguments_not_text": lambda: _responses(
        {"type": "function_call", "call_id": "x", "name": "f", "arguments": {}}
    ),
    "legacy_function": lambda: (
        *_chat(functions=[_FUNCTION]),
        *_chat({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}),
        *_chat({"role": "function", "name": "f", "content": "1"}),
    ),
    "legacy_field": lambda: _claude(output_format={"type": "json_schema", "schema": {}}),
    "results_moved": lambda: (
        *_claude({"type": "text", "text": "Hi"}, _ANSWER),
        *_converse({"text": "Hi"}, {"toolResult": {"toolUseId": "x", "content": []}}),
    ),
    "result_in_wrong_role": lambda: _gemini(
        {"functionResponse": {"name": "f", "response": {}}}, role="model"
    ),
    "response_not_object": lambda: _gemini({"functionResponse": {"name": "f", "response": "1"}}),
    "reasoning_twice": lambda: _chat(
        {"role": "assistant", "reasoning": "One.", "reasoning_content": "Two."}
    ),
    "flat_tool": lambda: _chat(tools=[{"type": "function", **_FUNCTION}]),
    "tool_nested": lambda: _responses(tools=[{"type": "function", "function": _FUNCTION}]),
    "two_schemas": lambda: _gemini(
        tools=[
            {
                "functionDeclarations": [
                    {"name": "f", "parameters": {}, "parametersJsonSchema": {}},
                ]
            }
        ]
    ),
    "value_changed": lambda: (
        *_converse({"toolResult": {"toolUseId": "x", "content": [], "status": "ok"}}),
        *_converse({"text": "Hi"}, {"cachePoint": {"type": "ephemeral"}}),
        *_converse(toolConfig={"tools": [{"toolSpec": {"name": "f"}}, {"cachePoint": {}}]}),
    ),
    "two_limits": lambda: _chat(max_tokens=1, max_completion_tokens=2),
    "unknown_choice": lambda: (
        *_chat(tool_choice="perhaps"),
        *_responses(tool_choice="perhaps"),
        *_claude(tool_choice={"type": "perhaps"}),
        *_gemini(toolConfig={"functionCallingConfig": {"mode": "PERHAPS"}}),
        *_converse(toolConfig={"toolChoice": {"perhaps": {}}}),
        *decode_request({"messages": [], "tool_choice": "PERHAPS"}, "cohere").findings,
        *decode_request({"messages": [], "tool_choice": "auto"}, "ollama").findings,
    ),
    "name_cleaned": lambda: (
        decode_response(
            {"content": [{**_CALL, "name": "get<|channel|>commentary"}]}, "anthropic"
        ).findings
    ),
    "unknown_finish": lambda: (
        *_chat_reply({**_WORDS, "finish_reason": "perhaps"}),
        *decode_response({"content": [], "stop_reason": "perhaps"}, "anthropic").findings,
        *decode_response({"content": [_CALL], "stop_reason": "perhaps"}, "anthropic").findings,
        *decode_response({"candidates": [{"finishReason": "PERHAPS"}]}, "gemini").findings,
        *decode_response({"output": {}, "stopReason": "perhaps"}, "bedrock").findings,
        *decode_response({"message": {}, "finish_reason": "PERHAPS"}, "cohere").findings,
        *decode_response({"message": {}, "done_reason": "perhaps"}, "ollama").findings,
    ),
    "finish_corrected": lambda: (
        *_chat_reply({**_WORDS, "native_finish_reason": "MAX_TOKENS"}),
        *_chat_reply({**_WORDS, "finish_reason": "tool_calls"}),
        *decode_response({"content": [], "stop_reason": "tool_use"}, "anthropic").findings,
        *decode_response({"output": {"message": {}}, "stopReason": "tool_use"}, "bedrock").findings,
        *decode_response({"message": {}, "finish_reason": "TOOL_CALL"}, "cohere").findings,
    ),
    "split_reply": _split_reply,
    "more_choices": lambda: (
        *_chat_reply(_WORDS, _WORDS),
        *decode_response({"candidates": [{}, {}]}, "gemini").findings,
    ),
    "reply_missing": lambda: (
        *_chat_reply(),
        *decode_response({"candidates": []}, "gemini").findings,
        *decode_response({"stopReason": "end_turn"}, "bedrock").findings,
    ),
    "frame_dropped": lambda: _streamed(b"data: {oops\n\n"),
    "item_unfinished": lambda: _streamed(
        b'data: {"type": "response.output_item.added", "item": {"type": "web_search_call"}}\n\n',
        "openai-responses",
    ),
    "error_in_reply": lambda: (
        *_chat_reply(error={"message": "Overloaded"}),
        *decode_response({"error": {"message": "Overloaded"}}, "gemini").findings,
        *decode_response({"output": [], "error": {"code": "x"}}, "openai-responses").findings,
    ),
}

# Rendering: conversations for targets that cannot take them as they are.


def _said(
    *blocks: Any,
    target: str = "anthropic",
    origin: Origin | None = None,
    policy: Policy | None = None,
    then: Iterable[Message] = (),
) -> Iterable[Finding]:
    """A user's question, a reply of these blocks, and what follows, rendered."""
    reply = Message("assistant", tuple(blocks), origin=origin)
    return _rendered(_user("Hi"), reply, *then, target=target, policy=policy)


def _rendered(
    *entries: Message, target: str = "anthropic", policy: Policy | None = None
) -> Iterable[Finding]:
    return render(Conversation.of(entries), target, policy=policy or Policy()).findings


def _user(*blocks: Any) -> Message:
    return Message("user", tuple(Text(text=b) if isinstance(b, str) else b for b in blocks))


def _result(text: str = "1", **fields: Any) -> Message:
    return Message("tool", (ToolResult(call_id="x", content=(Text(text=text),), **fields),))


_TEXT = Policy(orphans="text", foreign_thinking="text", server_tools="text")
_GEMINI = Origin("gemini", "gemini")
_F = ToolCall(id="x", name="f", args={})
_SEARCH = ToolCall(
    id="s", name="search", args={}, kind="server", opaque=(Opaque("openai", "server_block", {}),)
)
_OPENAI = Origin("openai", "openai-responses")
_IMAGE = Media(media_type="image/png", data="aGk=")
_DOCUMENT = Media(media_type="application/pdf", data="aGk=")

RENDERING: dict[str, Callable[[], Iterable[Finding]]] = {
    "result_made_up": lambda: _said(_F),
    "result_worded": lambda: _said(
        _F, then=[Message("tool", (ToolResult(call_id="x", content=()),))], target="bedrock"
    ),
    "orphan_not_sent": lambda: (
        *_rendered(_user("Hi"), _result()),
        *_rendered(_user("Hi"), _result(), policy=_TEXT),
    ),
    "result_not_sent": lambda: _said(_F, then=(_result(), _result("2"))),
    "id_replaced": lambda: _said(
        ToolCall(id="toolu_x", name="f", args={}), ToolCall(id="toolu_x", name="f", args={})
    ),
    "arguments_wrapped": lambda: _said(ToolCall(id="x", name="f", raw='{"city": "Ba')),
    "call_converted": lambda: _said(ToolCall(id="x", name="f", raw="ls", kind="custom")),
    "placeholder_added": lambda: (
        *_said(_F, then=[_result()], target="gemini"),
        *_said(_F, then=[_result()], target="deepseek:deepseek-reasoner"),
    ),
    "thinking_dropped": lambda: (
        *_said(Thinking(text="Hm."), Text(text="Yes."), origin=_GEMINI),
        *_said(Thinking(opaque=(Opaque("anthropic", "signature", "s"),)), origin=None),
    ),
    "thinking_as_text": lambda: _said(Thinking(text="Hm."), origin=_GEMINI, policy=_TEXT),
    "opaque_dropped": lambda: _said(
        Text(text="Yes.", opaque=(Opaque("gemini-api", "signature", "s"),)), origin=_GEMINI
    ),
    "fields_dropped": lambda: (
        *_said(Text(text="Yes.", native=Native("gemini", {"videoMetadata": {}}))),
        *_written(native=Native("gemini", {"safetySettings": []}), target="openai"),
        *_written(native=Native("openai-chat", {"enable_search": True}), target="openai"),
        *_said(Text(text="No.", native=Native("openai-chat", {"refusal": True})), target="groq"),
    ),
    "instruction_moved": lambda: _said(
        Text(text="Yes."),
        then=[Message("system", (Text(text="Be brief."),))],
        target="anthropic:claude-opus-5",
    ),
    "ending_trimmed": lambda: _said(Text(text="So "), target="anthropic:claude-haiku-4-5"),
    "speaker_renamed": lambda: _rendered(
        Message("user", (Text(text="Hi"),), native=Native("openai-chat", {"name": "a b"})),
        target="openai",
    ),
    "server_tool_dropped": lambda: (
        *_said(_SEARCH, Text(text="Found."), origin=_OPENAI),
        *_said(_SEARCH, Text(text="Found."), origin=_OPENAI, policy=_TEXT),
    ),
    "summary_as_text": lambda: _said(
        Unknown(native=Native("anthropic", {"type": "compaction", "content": "So far."})),
        target="openai",
    ),
    "block_dropped": lambda: _said(Unknown(native=Native("gemini", {"smell": 1}))),
    "blank_dropped": lambda: _said(Text(text=" "), Text(text="Yes.")),
    "media_dropped": lambda: _rendered(_user("Hi", _DOCUMENT), target="deepseek"),
    "media_moved": lambda: _rendered(
        Message("assistant", (ToolCall(id="x", name="f", args={}),)),
        Message("tool", (ToolResult(call_id="x", content=(_IMAGE,)),)),
        target="openai",
    ),
    "cache_mark_dropped": lambda: (
        *_rendered(_user(Text(text="Hi", cache="default")), target="openai"),
        *_rendered(_user(*(Text(text="Hi", cache="5m") for _ in range(5)))),
        *_claude({"type": "thinking", "thinking": "Hm.", "cache_control": {"type": "ephemeral"}}),
    ),
    "instruction_as_user": lambda: (
        *_rendered(_user("Hi"), Message("system", (Text(text="Be kind."),))),
        *_rendered(Message("system", (Text(text="Like this:"), _IMAGE))),
    ),
    "text_before_calls": lambda: _said(_F, Text(text="One moment.")),
    "words_added": lambda: _rendered(_user(_DOCUMENT), target="bedrock"),
    "bridge_added": lambda: (
        *_rendered(Message("assistant", (Text(text="Hello."),))),
        *_said(_F, target="mistral", then=(_result(), _user("And?"))),
    ),
    "ending_added": lambda: (*_said(Text(text="Yes.")), *_rendered()),
}

# Writing: requests that a target has no word for.


def _written(
    *entries: Message,
    target: str = "anthropic",
    tools: tuple[Tool, ...] = (),
    policy: Policy | None = None,
    **fields: Any,
) -> Iterable[Finding]:
    chat = Conversation.of(entries or (_user("Hi"),))
    asked = Request(chat, tools=tools, **fields)
    return encode_request(asked, target, policy=policy or Policy()).report


def _limited(schema: dict[str, Any], *, strict: bool | None = None) -> Tool:
    return Tool("f", parameters={"type": "object", "properties": {"x": schema}}, strict=strict)


_TOOL = Tool("f")
_FREE = Tool("patch", kind="custom")
_GROUP = Tool(
    "files",
    kind="server",
    native=Native("openai-responses", {"type": "namespace"}),
    members=(_TOOL,),
)
_HOSTED = Tool(
    "web_search", kind="server", native=Native("openai-responses", {"type": "web_search"})
)

WRITING: dict[str, Callable[[], Iterable[Finding]]] = {
    "cache_mark_changed": lambda: _written(
        _user(Text(text="Hi", cache="default"), Text(text="So?", cache="1h"))
    ),
    "state_elsewhere": lambda: (
        translate(
            {"previous_response_id": "resp_1", "input": "Hi"},
            "openai-responses",
            "openai/openai-responses",
        ).report
    ),
    "tool_stubs_added": lambda: _written(
        _user("Hi"), Message("assistant", (_F,)), _result(), target="bedrock"
    ),
    "tool_dropped": lambda: _written(tools=(_HOSTED,)),
    "tool_converted": lambda: _written(tools=(_FREE,)),
    "tools_ungrouped": lambda: _written(tools=(_GROUP,)),
    "tool_renamed": lambda: _written(tools=(Tool("get.weather"),)),
    "schema_reworded": lambda: _written(tools=(Tool("f", parameters={}),)),
    "schema_weakened": lambda: _written(tools=(_limited({"not": {}}),), target="gemini"),
    "schema_narrowed": lambda: _written(
        tools=(_limited({}, strict=True),), policy=Policy(strict_tools="made")
    ),
    "strict_dropped": lambda: _written(tools=(_limited({"pattern": "x"}, strict=True),)),
    "choice_weakened": lambda: (
        *_written(tools=(_TOOL,), tool_choice=ToolChoice("required"), target="ollama"),
        *_written(
            tools=(Tool("code", kind="server", native=Native("gemini", {"codeExecution": {}})),),
            native=Native("openai-responses", {"tool_choice": {"type": "web_search"}}),
            target="openai/openai-responses",
        ),
    ),
    "unknown_provider": lambda: (
        ToolingMiddleware("no-such-host:x")
        .process_request({"messages": [{"role": "user", "content": "Hi"}]})
        .report
    ),
    "param_added": _written,
    "param_changed": lambda: (
        *_written(params=Params(max_tokens=9, temperature=2)),
        *_written(params=Params(reasoning=Reasoning(effort="max")), target="gemini"),
    ),
    "param_dropped": lambda: _written(params=Params(max_tokens=9, seed=1)),
}

PROVOKED = READING | RENDERING | WRITING


@pytest.mark.parametrize(
    ("heading", "provoked"),
    list(zip(ABOUT_BODIES, (READING, RENDERING, WRITING), strict=True)),
    ids=ABOUT_BODIES,
)
def test_there_is_a_way_to_provoke_every_code(heading, provoked):
    assert set(provoked) == set(documented(heading))


@each("code", PROVOKED)
def test_the_page_says_what_is_done(code):
    """The actions in the table are those that really occur."""
    done = {finding.action.value for finding in PROVOKED[code]() if finding.code == code}
    assert done
    assert done == documented(*ABOUT_BODIES)[code]
