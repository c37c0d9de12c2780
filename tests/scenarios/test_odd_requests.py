"""Requests that are odd in one place: for every target, what is sent is accepted, and sending it
again changes nothing.

Each was once answered by an error that no page describes, by a body that the judge objects to, or
by other bytes on the second round.
"""

from typing import Any

import pytest

from canonicall import CanonicallError, StateElsewhere, decode_request, encode_request, verify
from canonicall.errors import MalformedBody

from bodies import DISTINCT, DISTINCT_MODELS

HELLO = [{"role": "user", "content": "Hi"}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "x"}
CLOSED = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
NULLABLE = {"type": ["object", "null"], "properties": {"a": {"type": "string"}}}


def chat(*messages: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "openai-chat", {"model": "m", "messages": [*HELLO, *messages], **more}


def function(**fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **fields}}


def gemini(**config: Any) -> tuple[str, dict[str, Any]]:
    contents = [{"role": "user", "parts": [{"text": "Hi"}]}]
    config["responseMimeType"] = "application/json"
    return "gemini", {"contents": contents, "generationConfig": config}


def responses(*items: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "openai-responses", {"model": "gpt-5", "input": list(items), **more}


def claude(*messages: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "anthropic", {"model": "m", "max_tokens": 9, "messages": [*HELLO, *messages], **more}


def cohere(*messages: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "cohere", {"model": "c", "messages": [*HELLO, *messages, *HELLO], **more}


def called(arguments: str) -> tuple[dict[str, Any], dict[str, Any]]:
    call = {**CALL, "function": {"name": "f", "arguments": arguments}}
    return {"role": "assistant", "tool_calls": [call]}, RESULT


def bedrock(*messages: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "bedrock", {"messages": [user({"text": "Hi"}), *messages], **more}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def model(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def converse_format(held: dict[str, Any]) -> dict[str, Any]:
    return {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": held}}}


def contents(*parts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "gemini", {"contents": [{"role": "user", "parts": [{"text": "Hi"}, *parts]}]}


def results_of(*parts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    answer = {"functionResponse": {"name": "f", "response": {}, "parts": list(parts)}}
    first = {"role": "user", "parts": [{"text": "Hi"}]}
    return "gemini", {"contents": [first, call, {"role": "user", "parts": [answer]}]}


SEARCHED = {"type": "web_search_tool_result", "tool_use_id": "toolu_1", "content": []}
ODD = {
    "a choice without tools beside a reference": responses({"id": "msg_2"}, tool_choice="required"),
    "a call of the client's that says who runs it": responses(
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "f",
            "arguments": "{}",
            "execution": "server",
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "x"},
    ),
    "a budget that is no whole number": cohere(thinking={"token_budget": 1e308}),
    "a reference to an item that is there": responses(
        {"type": "item_reference", "id": "ws_1"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "item_reference", "id": "msg_2"},
    ),
    "thinking with a budget that is null": claude(
        thinking={"type": "enabled", "budget_tokens": None}
    ),
    "a result of a server's before its call, both without an id": claude(
        {"role": "assistant", "content": [{"type": "mcp_tool_result"}, {"type": "mcp_tool_use"}]}
    ),
    "a budget below zero of another format": claude(
        thinking={"type": "enabled", "budget_tokens": -5}
    ),
    "a choice of an unknown tool in a delta": responses(
        {"type": "item_reference", "id": "msg_2"},
        tools=[{"type": "function", "name": "f", "parameters": {}}],
        tool_choice={"type": "function", "name": "search"},
    ),
    "a summary with a field of another block": claude(
        {"role": "assistant", "content": [{"type": "compaction", "code": "1"}]}
    ),
    "a thought with a field of another block": claude(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s", "content": []},
                {"type": "text", "text": "So."},
            ],
        },
        *HELLO,
    ),
    "blocks without a type": claude(
        {"role": "assistant", "content": "I do."},
        {"role": "user", "content": [{"cache_control": {"type": "ephemeral"}}, {"content": []}]},
    ),
    "instructions among the messages that are a search result": claude(
        {"role": "assistant", "content": "I do."},
        *HELLO,
        {
            "role": "system",
            "content": [{"type": "search_result", "content": [{"type": "text", "text": "x"}]}],
        },
    ),
    "instructions among the messages of an unknown type": claude(
        {"role": "assistant", "content": "I do."},
        *HELLO,
        {"role": "system", "content": [{"type": "tool_other", "x": 1}]},
    ),
    "an image that is not there": claude({"role": "assistant", "content": [{"type": "image"}]}),
    "JSON outside of a result": bedrock(user({"json": {}})),
    "members of what blocks hold in the place of blocks": bedrock(
        user({"redactedContent": "aGk="}, {"cachePoint": {"type": "default"}}),
        model({"citations": []}),
    ),
    "a result and a call in one block": bedrock(user({"toolResult": {}, "toolUse": {}})),
    "a schema of the reply that is no text": bedrock(outputConfig=converse_format({"schema": {}})),
    "a schema of the reply that is not there": bedrock(outputConfig=converse_format({})),
    "thinking that is no object": bedrock(additionalModelRequestFields={"thinking": False}),
    "a thought with a member of a block": bedrock(
        model(
            {"reasoningContent": {"reasoningText": {"signature": "s", "toolResult": {}}}},
            {"text": "So."},
        ),
        user({"text": "Go on."}),
    ),
    "a blank result of a tool that the provider ran": bedrock(
        model(
            {
                "toolUse": {
                    "toolUseId": "tooluse_3",
                    "name": "nova_grounding",
                    "input": {},
                    "type": "server_tool_use",
                }
            },
            {"toolResult": {"toolUseId": "tooluse_3", "content": [{"text": "\xa0"}]}},
        ),
        user({"text": "Go on."}),
    ),
    "a result of a tool that the provider ran with a field of another block": bedrock(
        model(
            {
                "toolUse": {
                    "toolUseId": "tooluse_3",
                    "name": "nova_grounding",
                    "input": {},
                    "type": "server_tool_use",
                }
            },
            {"toolResult": {"toolUseId": "tooluse_3", "content": [{"text": "x"}], "name": "x"}},
        ),
        user({"text": "Go on."}),
    ),
    "two answers to one question": responses(
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ),
    "found tools that are none": responses(
        {"id": "tsc_1", "type": "tool_search_call"}, {"tools": [[]], "type": "tool_search_output"}
    ),
    "a part of facts about nothing": contents({"videoMetadata": {}}),
    "a result with a part of facts about nothing": results_of({"thought": {}}),
    "a response beside code": contents({"executableCode": {"code": "1"}, "response": {}}),
    "a result with media without data": results_of({"inlineData": {"mimeType": "image/png"}}),
    "a result with media and text in one part": results_of(
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "text": "1"}
    ),
    "a result in a result": results_of({"function_response": {}}),
    "a file that is not there": chat({"role": "system", "content": [{"type": "file"}]}),
    "sound that is not there": chat({"role": "user", "content": [{"type": "input_audio"}]}),
    "calls in a result": chat(
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x", "tool_calls": "old"},
    ),
    "a number beside a call": (
        "ollama",
        {
            "model": "m",
            "messages": [
                *HELLO,
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"function": {"name": "f", "arguments": {}}},
                        {"function": {"name": "f", "arguments": {}}, "index": 1},
                    ],
                },
            ],
        },
    ),
    "an unknown item after a thought": responses(
        {"type": "reasoning", "id": "rs_1", "summary": []}, {"type": "other", "id": "ot_1"}
    ),
    "an unknown item with the id of a search": responses(
        {"type": "user", "id": "ws_1"}, {"type": "web_search_call", "id": "ws_1"}
    ),
    "a file of the model that is not there": responses({"type": "input_file", "role": "assistant"}),
    "an item whose type begins as that of a part": responses({"type": "input_other"}),
    "a call that the provider ran with an id that is no text": responses(
        {"type": "local_shell_call", "id": False, "call_id": "call_4"},
        {"type": "local_shell_call_output", "id": "call_4"},
    ),
    "an empty message with an id whose thought is gone": responses(
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "code_interpreter_call", "id": "ci_1", "code": "1", "container_id": "cntr_1"},
        {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed"},
        *HELLO,
    ),
    "values in `allOf` that are no list": claude(
        tools=[
            {
                "name": "f",
                "input_schema": {
                    "type": "object",
                    "properties": {"code": {"allOf": [{"enum": {}}]}},
                },
            }
        ]
    ),
    "a temperature that is a list": cohere(temperature=[]),
    "properties that are a list": chat(tools=[function(parameters={"properties": []})]),
    "properties that are null": chat(
        tools=[function(parameters={"type": "object", "properties": None})]
    ),
    "properties that are a list, in Messages": claude(
        tools=[{"name": "f", "input_schema": {"properties": []}}]
    ),
    "an empty schema of the reply": gemini(responseSchema={}),
    "an empty schema of the reply, in plain JSON Schema": gemini(responseJsonSchema={}),
    "an empty format": ("ollama", {"model": "m", "messages": HELLO, "format": {}}),
    "a schema of the reply that may be null": chat(
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": NULLABLE}}
    ),
    "a schema of the reply that may be null, in Gemini's words": gemini(
        responseSchema={
            "type": "OBJECT",
            "nullable": True,
            "properties": {"a": {"type": "STRING"}},
        }
    ),
    "parameters that may be null": chat(tools=[function(parameters=NULLABLE)]),
    "a field of a message that is not known": cohere(
        {"role": "assistant", "content": "So.", "reasoning_content": "Hm."}
    ),
    "a field of a message without words": cohere({"role": "assistant", "reasoning_content": "Hm."}),
    "half a character in arguments": chat(*called('{"a":"\\ud800"}'), tools=[function()]),
    "half a character in words": chat({"role": "user", "content": "a\ud800b"}),
    "half a character in parameters": chat(user="a\ud800", metadata={"k\ud800": "v"}),
    "half a character in a tool": chat(
        tools=[
            function(
                description="\ud800",
                parameters={
                    "type": "object",
                    "properties": {"a": {"type": "string", "description": "\udc00"}},
                },
            )
        ]
    ),
    "the output of a stored call with an id of nobody's": responses(
        {"type": "function_call_output", "call_id": "c" * 80, "output": "x"},
        {"role": "user", "content": "Hi"},
        previous_response_id="resp_1",
    ),
    "two outputs of a stored call": responses(
        {"type": "function_call_output", "call_id": "call_1", "output": "x"},
        {"type": "function_call_output", "call_id": "call_1", "output": "y"},
        previous_response_id="resp_1",
    ),
    "a user who reasons": (
        "bedrock",
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}
                    ],
                }
            ]
        },
    ),
    "an output of another kind than its call": responses(
        {"type": "function_call"}, {"type": "custom_tool_call_output"}
    ),
    "the result of a search for a call of the client's": claude(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {}}],
        },
        {"role": "assistant", "content": [SEARCHED]},
        *HELLO,
    ),
}
WEB = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
GROUNDED = {"toolUseId": "t_1", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Hi."}],
}
GO = {"role": "user", "content": "Go on."}


def converse(*content: dict[str, Any], role: str = "assistant", **more: Any) -> Any:
    hello = {"role": "user", "content": [{"text": "Hi"}]}
    return "bedrock", {"messages": [hello, {"role": role, "content": list(content)}, hello], **more}


def replied(*content: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return claude({"role": "assistant", "content": list(content)}, *HELLO, **more)


ODD |= {
    "half a character in the name of an argument": chat(
        *called('{"\\ud800": 1}'), tools=[function()]
    ),
    "half a character in the name of a field": chat(**{"a\ud800": {"b": 1}}),
    "half a character in a result of JSON": converse(
        {"toolResult": {"toolUseId": "t", "content": [{"json": {"a": "\ud800"}}]}}, role="user"
    ),
    "numbers that JSON does not have": chat(
        metadata={"a": float("nan")},
        tools=[function(parameters={"type": "object", "maxProperties": float("inf")})],
    ),
    "a choice of a tool that is not offered here": responses(
        {"role": "user", "content": "Hi"},
        tools=[{"type": "web_search"}],
        tool_choice={"type": "function", "name": "f"},
    ),
    "a choice that no format has": chat(tools=[function()], tool_choice="auto[DONE]"),
    "a choice without a name": chat(tools=[function()], tool_choice={"type": "function"}),
    "citations of no words": replied(
        {"type": "text", "text": "", "citations": [{"encrypted_index": "e"}]}
    ),
    "two results of one search": replied(WEB, FOUND, FOUND, tools=[SEARCH]),
    "a result of a search that does not name it": replied(
        {**WEB, "type": "mcp_tool_use", "id": "mcptoolu_1"},
        {"type": "mcp_tool_result", "content": []},
    ),
    "a search of the provider's without arguments": converse(
        {"toolUse": {"toolUseId": " t ", "name": "n", "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": " t ", "content": [{"text": "x"}]}},
    ),
    "a search of the provider's without its tool": converse(
        {"toolUse": GROUNDED},
        {"toolResult": {"toolUseId": "t_1", "content": [{"text": "x"}]}},
        {"text": "So."},
    ),
    "a search of the provider's that found nothing at all": converse(
        {"toolUse": GROUNDED},
        {"toolResult": {"toolUseId": "t_1"}},
        toolConfig={"tools": [{"systemTool": {"name": "nova_grounding"}}]},
    ),
    "the result of a search in a later message": (
        "bedrock",
        {
            "messages": [
                {"role": "assistant", "content": [{"toolUse": GROUNDED}]},
                {
                    "role": "assistant",
                    "content": [
                        {"toolUse": {"toolUseId": "t_2", "name": "f", "input": {}}},
                        {"toolResult": {"toolUseId": "t_1", "content": [{"text": "x"}]}},
                    ],
                },
            ]
        },
    ),
    "a cache mark with nothing before it": converse(
        {"text": "Hm."}, system=[{"cachePoint": {"type": "default"}}]
    ),
    "a cache mark that is a list": converse({"text": "Hm."}, {"cachePoint": []}),
    "a tool that is none": converse(
        {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}},
        toolConfig={"tools": [{"text": {}}]},
    ),
    "reasoning of an unknown form": converse({"reasoningContent": {"text": {}}}, {"text": "So."}),
    "a parameter that the model refuses": converse(
        {"text": "So."}, additionalModelRequestFields={"top_k": 9}
    ),
    "thinking that is turned on without a budget": converse(
        {"text": "So."}, additionalModelRequestFields={"thinking": {"type": "enabled"}}
    ),
    "a document beside guarded words": (
        "bedrock",
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"document": {"format": "pdf", "name": "d", "source": {"bytes": "aGk="}}},
                        {"guardContent": {"text": {"text": "Guarded."}}},
                    ],
                }
            ]
        },
    ),
    "a document at an address of Amazon's": converse(
        {"document": {"format": "pdf", "name": "d", "source": {"s3Location": {"uri": "s3://a/b"}}}},
        role="user",
    ),
    "a refusal": chat({"role": "assistant", "refusal": "I cannot."}),
    "a thought in the words of the user": chat(
        {"role": "user", "content": [{"type": "thinking", "thinking": "Hm."}]}
    ),
    "a legacy call in instructions": chat(
        {"role": "system", "content": "Hm.", "function_call": {"name": "f", "arguments": "{}"}}
    ),
    "a name that is no text": chat({"role": "user", "content": "Hi", "name": {}}),
    "a form of the reply without a type": chat(response_format={"schema": {}}),
    "a form of the reply without a schema": chat(response_format={"type": "json_schema"}),
    "a form of the reply with more than its type": chat(
        response_format={"type": "json_object", "x": {}}
    ),
    "a form of the reply without a name": responses(
        {"role": "user", "content": "Hi"},
        text={"format": {"type": "json_schema", "schema": CLOSED, "strict": True}},
    ),
    "a form of the reply of another type": responses(
        {"role": "user", "content": "Hi"}, text={"format": {"type": "user"}}
    ),
    "a schema of the reply without a media type": (
        "gemini",
        {
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "generationConfig": {"responseSchema": {"type": "OBJECT", "required": [{}]}},
        },
    ),
    "program text that a model ran": (
        "gemini",
        {"contents": [{"role": "model", "parts": [{"executableCode": {"code": "1"}}]}]},
    ),
    "data in the other alphabet": (
        "ollama",
        {"model": "m", "messages": [{**HELLO[0], "images": ["call_2"]}]},
    ),
    "a media type with parameters": (
        "gemini",
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [{"inlineData": {"mimeType": "image/PNG;a=b", "data": "aGk="}}],
                }
            ]
        },
    ),
    "a media type that is blank": (
        "gemini",
        {
            "contents": [
                {"role": "user", "parts": [{"inlineData": {"mimeType": "\xa0", "data": "aGk="}}]}
            ]
        },
    ),
    "a call of a server's twice": replied(
        *({**WEB, "type": "mcp_tool_use", "id": "mcptoolu_1"},) * 2,
        *({**FOUND, "type": "mcp_tool_result", "tool_use_id": "mcptoolu_1"},) * 2,
    ),
    "a call of a server's again before its result": claude(
        *(
            {"role": "assistant", "content": list(content)}
            for content in (
                [{**WEB, "type": "mcp_tool_use", "id": "m"}],
                [
                    {**FOUND, "type": "mcp_tool_result", "tool_use_id": "m"},
                    {**WEB, "type": "mcp_tool_use", "id": "m"},
                ],
                [{**FOUND, "type": "mcp_tool_result", "tool_use_id": "m"}],
            )
        ),
        tools=[{"name": "f"}],
    ),
    "a search of the provider's with a status of nobody's": converse(
        {"toolUse": GROUNDED},
        {"toolResult": {"toolUseId": "t_1", "content": [{"text": "x"}], "status": " "}},
        toolConfig={"tools": [{"systemTool": {"name": "nova_grounding"}}]},
    ),
    "two wrong kinds in a form of the reply": converse(
        {"text": "So."}, outputConfig={"textFormat": {"type": {"a": 1}, "structure": True}}
    ),
    "a form of the reply with only its type": converse(
        {"text": "So."}, outputConfig={"textFormat": {"type": "json_schema"}}
    ),
    "required parameters that are a number": (
        "gemini",
        {
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"required": 5}}]}],
        },
    ),
    "a form of the reply without anything": converse(
        {"text": "So."}, outputConfig={"textFormat": {}}
    ),
    "a document at an address that is none": claude(
        {
            "role": "user",
            "content": [{"type": "document", "source": {"type": "url", "url": "url"}}],
        }
    ),
    "a result of a server's before its call": replied(
        {**FOUND, "type": "mcp_tool_result", "tool_use_id": "m"},
        {**WEB, "type": "mcp_tool_use", "id": "m"},
        tools=[{"name": "f"}],
    ),
    "a call between a server's call and its result": claude(
        *(
            {"role": "assistant", "content": [block]}
            for block in (
                {**WEB, "type": "mcp_tool_use", "id": "m"},
                {"type": "tool_use", "id": "t", "name": "f", "input": {}},
                {**FOUND, "type": "mcp_tool_result", "tool_use_id": "m"},
            )
        ),
        tools=[{"name": "f"}],
    ),
    "a call for free text with the id of its item": responses(
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "f", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "y"},
    ),
    "an item with the id of a call of the provider's": responses(
        {"type": "local_shell_call", "id": "mcpl_1", "call_id": "c", "action": {}},
        {"type": "local_shell_call_output", "id": "c", "output": "x"},
        {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
        GO,
    ),
    "a call of the provider's that nothing can answer": responses(
        {"type": "local_shell_call", "id": "c", "action": {}},
        {"type": "local_shell_call_output", "call_id": "c", "output": "x"},
        GO,
    ),
    "a form of the reply that Converse does not have": converse(
        {"text": "So."}, outputConfig={"textFormat": {"type": "text"}}
    ),
    "required parameters that are no list": cohere(
        strict_tools=True,
        tools=[function(parameters={"type": "object", "properties": {"a": {}}, "required": True})],
    ),
    "a tool of a type that does not exist": replied(
        {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        tools=[{"type": "mystery", "name": "f"}],
    ),
    "a tool for free text without its object": chat(tools=[{"type": "custom"}]),
    "a request for approval without an answer": responses(
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}"}, GO
    ),
    "reasoning before an item that nobody knows": responses(
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"},
        {"type": "user"},
        GO,
    ),
    "an item twice": responses(SAID, GO, SAID, GO),
    "a reference twice": responses({"id": "msg_2"}, {"id": "msg_2"}, GO),
    "a call of the provider's twice": responses(
        *({"type": "local_shell_call", "call_id": "c", "action": {}},) * 2,
        *({"type": "local_shell_call_output", "id": "c", "output": "x"},) * 2,
        GO,
    ),
    "an output that names no call": responses(
        {"type": "local_shell_call", "call_id": "c", "action": {}},
        {"type": "local_shell_call_output", "output": "x"},
        GO,
    ),
    "an id of an item that is none": responses(
        {"type": "local_shell_call", "call_id": "\n", "action": {}},
        {"type": "local_shell_call_output", "id": "\n", "output": "x"},
        GO,
    ),
    "a form of the reply that Cohere does not have": (
        "cohere",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "Hi"}],
            "response_format": {"type": "object", "json_schema": {"type": "object"}},
        },
    ),
    "a part in the place of an item": responses({"type": "input_text", "text": "1"}),
    "a message that is only its id": responses(
        {"id": "msg_1", "role": "assistant"},
        {
            "role": "user",
            "content": [{"type": "input_file", "file_data": "data:text/plain;base64,aGk="}],
        },
    ),
}
ODD |= {
    "a search without a result beside a call without a name": claude(
        model({"type": "server_tool_use", "id": "srvtoolu_1"}, {"type": "tool_use"}),
        model({"type": "tool_use", "id": "toolu_2"}),
        user({"type": "tool_result", "is_error": True, "content": "x"}),
    ),
    "a call of a server's without a name beside a tool without one": claude(
        model({"type": "mcp_tool_use"}, {"type": "tool_use"})
    ),
    "a tool of the provider's without a name": bedrock(
        model({"toolUse": {}}), toolConfig={"tools": [{"systemTool": {}}]}
    ),
    "a call without a name beside a group without one": responses(
        {
            "type": "additional_tools",
            "role": "developer",
            "tools": [{"type": "function", "name": "f", "parameters": CLOSED}],
        },
        {"type": "function_call"},
    ),
    "a call of a name that a tool of the provider's has": responses(
        {"type": "function_call", "call_id": "c", "name": "my tools", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        tools=[{"type": "mcp", "server_label": "my tools", "server_url": "https://a.example"}],
    ),
    "a switch that does not say whether to think": chat(
        stream_options={}, thinking={"clear_thinking": False, "type": "enabled"}
    ),
    "the id of a message that is only its id twice": responses(
        {"id": "msg_1", "role": "assistant"},
        {"id": "msg_2"},
        {"id": "msg_1", "role": "assistant"},
    ),
    "a thought that is only its id twice": responses(
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f"},
        {"type": "function_call_output", "call_id": "call_1", "output": "x"},
    ),
    "a function in a tool whose type is null": responses(
        GO, tools=[{"function": {"name": "f"}, "type": None}]
    ),
    "a function in a function": responses(GO, tools=[{"function": {"function": {"name": "f"}}}]),
    "a search of the provider's with a field of another block": converse(
        {"toolUse": {**GROUNDED, "parts": []}},
        {"toolResult": {"toolUseId": "t_1", "content": [{"text": "x"}]}},
        toolConfig={"tools": [{"systemTool": {"name": "nova_grounding"}}]},
    ),
    "a level of thinking that does not exist": (
        "gemini",
        {
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "generationConfig": {
                "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "x" * 99}
            },
        },
    ),
    "sound at an address": contents(
        {"fileData": {"fileUri": "https://a.example/a.mp3", "mimeType": "audio/mpeg"}}
    ),
    "data in the place of an address in a bucket": bedrock(
        user({"video": {"source": {"s3Location": {"uri": "data:video/mp4;base64,aGk="}}}})
    ),
    "data in the place of the address of a file": responses(
        user({"type": "input_file", "file_url": "data:application/pdf;base64,aGk="})
    ),
    "data in the place of an address, in the words of another format": chat(
        user({"fileData": {"fileUri": "data:image/png;base64,aGk=", "mimeType": "image/png"}})
    ),
    "the word JSON in the first instructions that are sent": responses(
        {"role": "assistant", "content": ""},
        {"role": "system", "content": "Answer in JSON."},
        text={"format": {"type": "json_object"}},
    ),
    "a result with two kinds of media in one part": results_of(
        {
            "inlineData": {"mimeType": "image/png", "data": "aGk="},
            "file_data": {"mime_type": "image/png", "file_uri": "https://a.example/a.png"},
        }
    ),
    "a choice of a tool that has only a type": chat(
        tools=[{"type": "search"}], tool_choice={"type": "function", "function": {"name": "search"}}
    ),
    "an answer that names no request for approval": responses({"type": "mcp_approval_response"}),
    "an answer to a request for approval that was not made": responses(
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    ),
    "an answer before its request for approval": responses(
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}"},
        GO,
    ),
    "an answer to a request for approval with a strange id": responses(
        {"type": "mcp_approval_request", "id": "r_1", "name": "f", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "r_1", "approve": True},
    ),
    "the output of a stored call with a field of another item": responses(
        {"type": "custom_tool_call_output", "call_id": "call_3", "output": "x", "input": "ls"},
        previous_response_id="resp_1",
    ),
    "the output of a stored call with parts that it cannot hold": responses(
        {
            "type": "function_call_output",
            "call_id": "call_3",
            "output": [
                {"type": "input_file", "file_data": "data:audio/mpeg;base64,aGk="},
                {"type": "other"},
            ],
        },
        previous_response_id="resp_1",
    ),
    "a thought between a search and its result": bedrock(
        model({"toolUse": GROUNDED}),
        model({"reasoningContent": {"reasoningText": {"signature": "s"}}}, {"text": "So."}),
        model(
            {"toolResult": {"toolUseId": "t_1", "content": [{"text": "x"}]}},
            {"toolUse": {"toolUseId": "t_1", "type": "server_tool_use"}},
        ),
        model({"toolUse": {"toolUseId": "t_2", "name": "f", "input": {}}}),
    ),
    "a thought between a search and its result, in Messages": claude(
        model(WEB),
        model({"type": "thinking", "thinking": "Hm.", "signature": "s"}, FOUND),
        *HELLO,
        tools=[SEARCH],
    ),
    "fields of a reply in a message of the user that makes calls": chat(
        {"role": "user", "tool_calls": [CALL], "reasoning_details": [], "refusal": "No."}, RESULT
    ),
    "an image whose source does not say what it is": replied({"type": "image", "source": {}}),
    "an image in the place of sound": chat(
        user({"type": "input_audio", "input_audio": {"data": "data:image/png;base64,aGk="}})
    ),
    "a document at an address that begins as none does": claude(
        user({"type": "document", "source": {"type": "url", "url": "<a>: b"}})
    ),
    "calls of the provider's with the id of a call of the client's": responses(
        {"type": "custom_tool_call", "call_id": "call_3", "name": "f", "input": "x"},
        *({"type": "mcp_call", "call_id": "call_3", "name": "g", "arguments": "{}"},) * 2,
        {"type": "custom_tool_call_output", "call_id": "call_3", "output": "x"},
    ),
    "a budget below zero": (
        "gemini",
        {
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "generationConfig": {"thinkingConfig": {"thinkingBudget": -9, "includeThoughts": True}},
        },
    ),
    "a tool of two kinds": chat(tools=[{**function(), "custom": {"name": "g"}}]),
    "a tool for free text of two kinds": chat(
        tools=[{"type": "custom", "custom": {"name": "g"}, "function": {"name": "f"}}]
    ),
    "a call of the client's with the id of a search before it": bedrock(
        model(
            {"toolUse": GROUNDED}, {"toolResult": {"toolUseId": "t_1", "content": [{"text": "x"}]}}
        ),
        model({"toolUse": {"toolUseId": "t_1", "name": "f", "input": {}}}),
    ),
    "an image of the model's that is not there": cohere(model({"type": "image_url"})),
    "a signature in a part of a result": results_of(
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thoughtSignature": "c2ln"}
    ),
    "an output with tools": responses(
        {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "y", "tools": []},
    ),
    "parameters of an unspecified type": (
        "gemini",
        {
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": "f", "parameters": {"properties": {"a": {}}, "type": 0}}
                    ]
                }
            ],
        },
    ),
}
SOME = {"type": "ephemeral"}
FUNCTION = {"type": "function", "name": "f", "parameters": CLOSED}
SHELL = {"type": "local_shell_call", "id": "ls_1", "call_id": "call_4", "action": {}}
FAILED = {
    "type": "tool_result",
    "tool_use_id": "toolu_1",
    "is_error": True,
    "content": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    ],
}
ODD |= {
    "a native object of numbers that JSON does not have": bedrock(
        requestMetadata={"k": float("nan")}
    ),
    **{
        f"a search of the provider's that found {kind}": converse(
            {"toolUse": GROUNDED},
            {"toolResult": {"toolUseId": "t_1", "content": [{kind: found}]}},
            toolConfig={"tools": [{"systemTool": {"name": "nova_grounding"}}]},
        )
        for kind, found in (("video", {}), ("json", [1]), ("image", {"format": "png"}))
    },
    **{
        f"{name} in a message of the {role} of {format}": (
            format,
            {"model": "m", "messages": [*HELLO, {"role": role, "content": "x", **fields}, GO]},
        )
        for format in ("cohere", "ollama")
        for role in ("user", "system")
        for name, fields in {
            "calls": {"tool_calls": [CALL]},
            "a plan": {"tool_plan": "x", "thinking": "Hm."},
        }.items()
    },
    **{
        f"calls in a result of {format}": (
            format,
            {
                "model": "m",
                "messages": [
                    *HELLO,
                    {"role": "assistant", "tool_calls": [CALL]},
                    {**RESULT, "tool_calls": [CALL]},
                ],
            },
        )
        for format in ("cohere", "ollama")
    },
    "a search that waits beside a call whose result holds an image": claude(
        model(WEB, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}),
        user(FAILED),
        tools=[SEARCH],
    ),
    "a search that waits while the model goes on": claude(
        model(WEB, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}),
        model({"type": "text", "text": "So."}),
        tools=[SEARCH],
    ),
    "a search that is answered after a result that holds an image": claude(
        model(WEB, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}),
        user(FAILED),
        model(FOUND, {"type": "text", "text": "So."}),
        *HELLO,
        tools=[SEARCH],
    ),
    "code beside a call": (
        "gemini",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Hi"}]},
                {
                    "role": "model",
                    "parts": [
                        {"executableCode": {"code": "1"}},
                        {"functionCall": {"name": "f", "args": {}}},
                    ],
                },
            ]
        },
    ),
    **{
        f"a result with {name} beside its media": results_of(
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}, name: {}}
        )
        for name in ("videoMetadata", "mediaResolution", "partMetadata", "response")
    },
    "a tool for free text that is strict": responses(
        GO, tools=[{"type": "custom", "name": "f", "strict": True}]
    ),
    "a shell of the caller's that waits beside a call": responses(
        GO,
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        SHELL,
        tools=[{"type": "local_shell"}, {"type": "function", "name": "f", "parameters": {}}],
    ),
    "a shell of the caller's with a name that waits beside a call": responses(
        GO,
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {**SHELL, "name": "x"},
        tools=[{"type": "local_shell"}, {"type": "custom", "name": "x"}],
    ),
    "a search for tools without a description": responses(
        GO,
        tools=[
            {"type": "tool_search", "execution": "client"},
            {"type": "function", "name": "f", "parameters": {}, "defer_loading": True},
        ],
    ),
    "a choice among tools that says nothing": responses(
        GO,
        tools=[{"type": "function", "name": "f", "parameters": {}}],
        tool_choice={"type": "allowed_tools"},
    ),
    "two results before a call of their id, after what is stored": responses(
        *({"type": "custom_tool_call_output", "call_id": "call_3", "output": "x"},) * 2,
        {"type": "custom_tool_call", "call_id": "call_3", "name": "f", "input": "x"},
        previous_response_id="resp_1",
    ),
    **{
        f"a group of tools with a name that is {what}": responses(
            GO,
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "f",
                "arguments": "{}",
                "namespace": name,
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "x"},
            tools=[{"type": "namespace", "name": name, "description": "d", **held}],
        )
        for what, name, held in (
            ("none", "my tools", {}),
            ("too long", "x" * 65, {}),
            ("none of several", "my tools", {"tools": [FUNCTION]}),
            ("too long for several", "x" * 65, {"tools": [FUNCTION]}),
        )
    },
    "a search for tools with an empty id": responses(
        {"type": "tool_search_call", "call_id": ""},
        {"type": "tool_search_output", "call_id": "", "tools": []},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        tools=[{"type": "tool_search"}],
    ),
    "a call beside nothing but a tool that some hosts do not have": claude(
        model({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}),
        tools=[{"type": "web_fetch_20250910", "name": "web_fetch"}],
    ),
    "an image in the place of a file": chat(
        user({"type": "file", "file": {"file_data": "data:image/png;base64,aGk="}})
    ),
    "a thought between a call that the caller runs and its output": responses(
        GO,
        SHELL,
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "local_shell_call_output", "id": "call_4", "output": "x"},
    ),
    "a mark in a search result": claude(
        user(
            {
                "type": "search_result",
                "source": "s",
                "title": "t",
                "content": [{"type": "text", "text": "x", "cache_control": {**SOME, "x": 1}}] * 5,
            }
        )
    ),
    "marks in what a server's tool found": claude(
        model(
            {"type": "mcp_tool_use", "id": "m_1", "name": "f", "server_name": "s", "input": {}},
            {
                "type": "mcp_tool_result",
                "tool_use_id": "m_1",
                "content": [{"type": "text", "text": "x", "cache_control": SOME}] * 5,
            },
        ),
        *HELLO,
    ),
    "marks in a block of an unknown type": claude(
        user({"type": "other", "content": [{"type": "text", "cache_control": SOME}] * 5})
    ),
    "marks in a text": claude(
        user({"type": "text", "text": "x", "content": [{"cache_control": SOME}, [7]]})
    ),
    "marks in a tool": claude(
        tools=[{"name": "f", "input_schema": {}, "content": [{"cache_control": SOME}]}]
    ),
    "the result of a stored call that names no tool": (
        "gemini",
        {
            "cachedContent": "cachedContents/a",
            "contents": [
                {"role": "user", "parts": [{"functionResponse": {"response": {}}}]},
                {"role": "user", "parts": [{"text": "Hi"}]},
            ],
        },
    ),
    "a form of the reply that has only a name": chat(
        response_format={"type": "json_schema", "json_schema": {"name": "r"}}
    ),
    "a form of the reply that has only a name, in Responses": responses(
        GO, text={"format": {"type": "json_schema", "name": "r"}}
    ),
    "a form of the reply with a schema of another host": chat(
        response_format={"type": "json_object", "schema": {"type": "object"}}
    ),
}
THREAD = {"type": "continue", "previous_message_id": "msg_1"}
LISTED = {"type": "mcp_tool_use", "id": "m_1", "name": "f", "server_name": "s", "input": {}}
ODD |= {
    "tools that a function has, which is no group": responses(
        tools=[{"type": "function", "name": "f", "tools": "function"}, {"tools": [1]}]
    ),
    "an effort that is empty": chat(reasoning_effort=""),
    "thoughts at the end while thinking is off, beside a result of no call": bedrock(
        model({"reasoningContent": {"redactedContent": "aGk="}}, {"text": "So."}),
        model(
            {"toolResult": {"toolUseId": "tooluse_3"}},
            {"toolUse": {"type": "server_tool_use"}},
            {"citationsContent": {"content": [{"text": "c"}]}},
        ),
        inferenceConfig={"maxTokens": 99},
        additionalModelRequestFields={"thinking": {"type": "enabled"}},
    ),
    "a choice of tools without names": responses(
        tools=[{}],
        tool_choice={
            "type": "allowed_tools",
            "mode": "auto",
            "tools": [{"type": "function"}, {}],
        },
    ),
    "instructions that begin the continuation of a thread": (
        "anthropic",
        {"max_tokens": 9, "messages": [{"role": "system", "content": "x"}, GO], "thread": THREAD},
    ),
    "instructions alone that continue a thread": (
        "anthropic",
        {"max_tokens": 9, "messages": [{"role": "system", "content": "x"}], "thread": THREAD},
    ),
    "a server's call and its result that continue a thread": (
        "anthropic",
        {
            "max_tokens": 9,
            "messages": [
                model(LISTED, {"type": "mcp_tool_result", "tool_use_id": "m_1", "content": []}),
                GO,
            ],
            "thread": THREAD,
        },
    ),
    "the result of a stored call after other words": claude(
        user({"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}), thread=THREAD
    ),
    "the results of stored calls around other words": (
        "anthropic",
        {
            "max_tokens": 9,
            "messages": [
                user({"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}),
                user({"type": "text", "text": "Hi"}),
                user({"type": "tool_result", "tool_use_id": "toolu_2", "content": "x"}),
            ],
            "thread": THREAD,
        },
    ),
}
TARGETS = DISTINCT | DISTINCT_MODELS
KEEPS_STATE = {
    "openai-responses": "openai/openai-responses",
    "gemini": "gemini/gemini",
    "anthropic": "anthropic/anthropic",
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_sent_is_accepted_and_stays_as_it_is(name):
    format, body = ODD[name]
    request = decode_request(body, format)
    for target in TARGETS.values():
        try:
            made = encode_request(request, target)
        except StateElsewhere:
            assert request.continues is not None
            assert f"{target.provider}/{target.format}" != KEEPS_STATE[format]
            continue
        assert not verify(made.body, made.target), target.name
        back = decode_request(made.data, target.format, provider=target.provider)
        assert encode_request(back, target).data == made.data, target.name


SILENT = (
    # Half a character in a conversation is told when it is read; nothing else is to be said of the
    # others: they mean what they say.
    *("half a character in words", "an empty schema of the reply", "an empty format"),
    *("an empty schema of the reply, in plain JSON Schema", "a field of a message that is not"),
    *("a refusal", "a form of the reply with more", "a form of the reply without a name"),
    *("data in the other alphabet", "a media type", "program text that a model ran"),
    *("a thought in the words of the user", "a message that is only its id"),
    *("data in the place of the address of a file", "an image in the place of sound"),
    *("parameters of an unspecified type", "code beside a call", "marks in a tool"),
    *("a form of the reply that has only a name", "a form of the reply with a schema of another"),
    # Only some models refuse these.
    *("a parameter that the model refuses", "thinking that is turned on"),
    "an empty message with an id whose thought is gone",
    "a call for free text with the id of its item",
    *("the result of a stored call that names no tool", "an image in the place of a file"),
)


@pytest.mark.parametrize("name", [name for name in ODD if not name.startswith(SILENT)])
def test_what_had_to_change_is_told(name):
    """For the provider of the same format at least."""
    format, body = ODD[name]
    own = {"gemini": "openai", "openai-chat": "openai-chat"}.get(format, format)
    assert encode_request(decode_request(body, format), own).report


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("a parameter that the model refuses", "bedrock:anthropic.claude-opus-5"),
        ("thinking that is turned on without a budget", "bedrock:anthropic.claude-haiku-5"),
        ("a refusal", "groq"),
        ("a level of thinking that does not exist", "gemini:gemini-3-flash"),
        ("a budget below zero", "gemini"),
        ("the result of a stored call that names no tool", "gemini"),
        ("a form of the reply that has only a name", "deepseek"),
        ("a form of the reply with a schema of another host", "openai-chat"),
    ],
)
def test_what_only_some_refuse_is_told_there(name, target):
    format, body = ODD[name]
    assert encode_request(decode_request(body, format), target).report


@pytest.mark.parametrize("item", [{}, {"content": "Hi"}, {"id": ""}, {"id": "msg_1", "text": "a"}])
def test_an_item_that_is_nothing_is_refused(item):
    with pytest.raises(MalformedBody, match="neither a type nor a role"):
        decode_request(responses(item)[1], "openai-responses")


@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call"])
def test_a_namespace_that_is_no_text_is_refused(kind):
    with pytest.raises(MalformedBody, match="namespace: expected text"):
        decode_request(responses({"type": kind, "namespace": []})[1], "openai-responses")


def test_an_answer_to_a_request_for_approval_is_no_second_item():
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    format, body = responses(GO, {**asked, "server_label": "s"}, answer)
    made = encode_request(decode_request(body, format), "openai/openai-responses:gpt-5")
    assert made.body["input"] == body["input"]
    assert not verify(made.body, made.target)


def test_the_output_of_a_stored_call_is_sent_with_the_id_of_its_item():
    output = {"type": "function_call_output", "call_id": "call_1", "output": "x", "id": "fc_1"}
    format, body = responses(output, previous_response_id="resp_1")
    made = encode_request(decode_request(body, format), "openai/openai-responses:gpt-5")
    assert made.body["input"] == [output]
    assert not verify(made.body, made.target)


def test_a_result_with_opaque_state_that_answers_nothing_is_told():
    output = {"type": "function_call_output", "call_id": "call_1", "output": "x", "id": "fc_1"}
    made = encode_request(decode_request(responses(output)[1], "openai-responses"), "openai")
    assert made.report.counts["orphan_not_sent"] == 1


def test_a_thought_that_is_there_twice_is_sent_once():
    format, body = ODD["a thought that is only its id twice"]
    made = encode_request(decode_request(body, format), "openai/openai-responses:gpt-5")
    first, _, call, answer = body["input"]
    assert made.body["input"] == [first, {**call, "arguments": "{}"}, answer]


def test_numbers_that_json_does_not_have_are_left_out():
    format, body = ODD["numbers that JSON does not have"]
    made = encode_request(decode_request(body, format), "openai")
    assert "metadata" not in made.body or made.body["metadata"] == {}
    assert b"null" not in made.data
    assert made.report.counts["param_dropped"] == 2


def test_what_json_has_no_form_for_is_a_documented_error():
    request = decode_request(chat(metadata={"a": object()})[1], "openai-chat")
    with pytest.raises(CanonicallError):
        encode_request(request, "openai")
