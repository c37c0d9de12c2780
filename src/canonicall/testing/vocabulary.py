"""Request bodies of every format, put together at random from samples of what the format can say.

In: a format and a source of chance. Out: a body in which each part is valid by itself; whether the
parts fit each other is left to chance. `samples` are the parts of all formats.
"""

import copy
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, NamedTuple

_PIXEL = "aGk="
_SCHEMA = {
    "type": "object",
    "properties": {
        "q": {"type": "string", "description": "What"},
        "n": {"type": ["integer", "null"]},
    },
    "required": ["q"],
    "additionalProperties": False,
}
_REPLY = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
_TREE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
        }
    },
}
_SEARCHED = [
    {"type": "web_search_result", "title": "T", "url": "https://a.test", "encrypted_content": "e"}
]


class Vocabulary(NamedTuple):
    """What a format can say."""

    turns_at: str
    turns: tuple[Any, ...]
    """Messages; an element that is a list holds messages that follow each other."""
    settings: tuple[dict[str, Any], ...]


def _chat_call(id: str, name: str = "search", arguments: str = '{"q": "tea"}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _tool(name: str, schema: Any = _SCHEMA, **more: Any) -> dict[str, Any]:
    function = {"name": name, "description": "Finds.", "parameters": schema, **more}
    return {"type": "function", "function": function}


_CHAT = Vocabulary(
    "messages",
    (
        {"role": "user", "content": "Find tea."},
        {"role": "user", "name": "ann", "content": [{"type": "text", "text": "And this?"}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}},
                {"type": "input_audio", "input_audio": {"data": _PIXEL, "format": "wav"}},
                {
                    "type": "file",
                    "file": {
                        "filename": "a.pdf",
                        "file_data": f"data:application/pdf;base64,{_PIXEL}",
                    },
                },
            ],
        },
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "assistant", "content": "I do.", "reasoning_content": "Hm."},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "No."}, {"type": "refusal", "refusal": "No."}],
        },
        {"role": "assistant", "content": None, "refusal": "I cannot."},
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [_chat_call("call_1"), _chat_call("call_2", "get")],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "12 hits"},
            {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "1"}]},
        ],
        [
            {
                "role": "assistant",
                "content": "So.",
                "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "signature": "s"}],
                "tool_calls": [
                    {"id": "call_3", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
                ],
            },
            {"role": "tool", "tool_call_id": "call_3", "content": "a b"},
        ],
        [
            {"role": "assistant", "function_call": {"name": "search", "arguments": "{}"}},
            {"role": "function", "name": "search", "content": "old"},
        ],
    ),
    (
        {"model": "gpt-5"},
        {"tools": [_tool("search"), _tool("get", _TREE, strict=True)]},
        {
            "tools": [
                _tool("search"),
                {"type": "custom", "custom": {"name": "shell", "description": "Runs."}},
            ]
        },
        {"functions": [{"name": "search", "parameters": _SCHEMA}], "function_call": "auto"},
        {
            "tool_choice": {"type": "function", "function": {"name": "search"}},
            "tools": [_tool("search")],
        },
        {"tool_choice": "required", "parallel_tool_calls": False, "tools": [_tool("search")]},
        {
            "temperature": 0.5,
            "top_p": 0.9,
            "max_completion_tokens": 99,
            "stop": ["END"],
            "seed": 7,
            "n": 1,
        },
        {
            "max_tokens": 50,
            "frequency_penalty": 0.1,
            "presence_penalty": 0.1,
            "logit_bias": {"50": 1},
        },
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "r", "schema": _REPLY, "strict": True},
            }
        },
        {"response_format": {"type": "json_object"}},
        {"reasoning_effort": "low", "verbosity": "low", "service_tier": "auto"},
        {
            "stream": True,
            "stream_options": {"include_usage": True},
            "user": "u",
            "metadata": {"k": "v"},
        },
        {"logprobs": True, "top_logprobs": 2, "store": True, "prompt_cache_key": "k"},
        {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}},
        {"prediction": {"type": "content", "content": "x"}, "web_search_options": {}},
    ),
)

_RESPONSES = Vocabulary(
    "input",
    (
        {"role": "user", "content": "Find tea."},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Look."},
                {
                    "type": "input_image",
                    "image_url": f"data:image/png;base64,{_PIXEL}",
                    "detail": "low",
                },
                {
                    "type": "input_file",
                    "filename": "a.pdf",
                    "file_data": f"data:application/pdf;base64,{_PIXEL}",
                },
            ],
        },
        {"role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
        {"role": "system", "content": "Be brief."},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "I do.", "annotations": []}],
        },
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "Hm."}],
                "encrypted_content": "sealed",
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "search",
                "arguments": '{"q": "tea"}',
            },
            {"type": "function_call", "call_id": "call_2", "name": "get", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "12 hits"},
            {
                "type": "function_call_output",
                "call_id": "call_2",
                "output": [
                    {"type": "input_text", "text": "1"},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{_PIXEL}"},
                ],
            },
        ],
        [
            {"type": "custom_tool_call", "call_id": "call_3", "name": "shell", "input": "ls"},
            {"type": "custom_tool_call_output", "call_id": "call_3", "output": "a b"},
        ],
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "tea"},
        },
        {"type": "item_reference", "id": "msg_2"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "sealed"},
        [
            {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
            {
                "type": "mcp_call",
                "id": "mcp_1",
                "server_label": "s",
                "name": "look",
                "arguments": "{}",
                "output": "x",
            },
        ],
        [
            {
                "type": "local_shell_call",
                "id": "ls_1",
                "call_id": "call_4",
                "status": "completed",
                "action": {"type": "exec", "command": ["ls"], "env": {}},
            },
            {"type": "local_shell_call_output", "id": "call_4", "output": "a"},
        ],
        {
            "type": "code_interpreter_call",
            "id": "ci_1",
            "code": "1",
            "container_id": "c",
            "outputs": [],
            "status": "completed",
        },
        {"type": "image_generation_call", "id": "ig_1", "result": _PIXEL, "status": "completed"},
    ),
    (
        {"model": "gpt-5"},
        {"instructions": "Be brief."},
        {
            "tools": [
                {
                    "type": "function",
                    "name": "search",
                    "description": "Finds.",
                    "parameters": _SCHEMA,
                    "strict": True,
                }
            ]
        },
        {
            "tools": [
                {"type": "function", "name": "get", "parameters": _TREE},
                {"type": "custom", "name": "shell"},
                {"type": "web_search"},
            ]
        },
        {
            "tools": [{"type": "function", "name": "search", "parameters": _SCHEMA}],
            "tool_choice": {"type": "function", "name": "search"},
        },
        {
            "tools": [{"type": "function", "name": "search", "parameters": _SCHEMA}],
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "search"}],
            },
        },
        {
            "tools": [{"type": "mcp", "server_label": "s", "server_url": "https://a.test"}],
            "tool_choice": "required",
        },
        {"temperature": 0.5, "top_p": 0.9, "max_output_tokens": 99, "parallel_tool_calls": False},
        {
            "text": {
                "format": {"type": "json_schema", "name": "r", "schema": _REPLY, "strict": True},
                "verbosity": "low",
            }
        },
        {
            "reasoning": {"effort": "low", "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
            "store": False,
        },
        {"previous_response_id": "resp_1"},
        {"stream": True, "truncation": "auto", "metadata": {"k": "v"}, "user": "u"},
    ),
)

_CLAUDE = Vocabulary(
    "messages",
    (
        {"role": "user", "content": "Find tea."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL},
                },
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "d"},
                    "title": "t",
                    "citations": {"enabled": True},
                },
                {"type": "document", "source": {"type": "url", "url": "https://a.test/a.pdf"}},
                {
                    "type": "search_result",
                    "source": "s",
                    "title": "t",
                    "content": [{"type": "text", "text": "x"}],
                },
            ],
        },
        {"role": "assistant", "content": "I do."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "text", "text": "So."},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "redacted_thinking", "data": "sealed"},
                {"type": "text", "text": "So."},
            ],
        },
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I search."},
                    {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "tea"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "get", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "12 hits"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_2",
                        "is_error": True,
                        "content": [
                            {"type": "text", "text": "1"},
                            {
                                "type": "image",
                                "source": {
                                    "type": "base64",
                                    "media_type": "image/png",
                                    "data": _PIXEL,
                                },
                            },
                        ],
                    },
                ],
            },
        ],
        {
            "role": "assistant",
            "content": [
                {
                    "type": "server_tool_use",
                    "id": "srvtoolu_1",
                    "name": "web_search",
                    "input": {"query": "tea"},
                },
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": _SEARCHED,
                },
                {
                    "type": "text",
                    "text": "Found.",
                    "citations": [
                        {
                            "type": "web_search_result_location",
                            "url": "https://a.test",
                            "title": "T",
                            "encrypted_index": "e",
                            "cited_text": "c",
                        }
                    ],
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {
                    "type": "mcp_tool_use",
                    "id": "mcptoolu_1",
                    "name": "look",
                    "server_name": "s",
                    "input": {},
                },
                {
                    "type": "mcp_tool_result",
                    "tool_use_id": "mcptoolu_1",
                    "is_error": False,
                    "content": [{"type": "text", "text": "x"}],
                },
            ],
        },
        {"role": "assistant", "content": [{"type": "compaction", "content": "All before."}]},
        {"role": "system", "content": "Be kind."},
    ),
    (
        {"model": "claude-sonnet-4-5", "max_tokens": 99},
        {
            "model": "claude-opus-4-1",
            "max_tokens": 4000,
            "thinking": {"type": "enabled", "budget_tokens": 2000},
        },
        {"system": "Be brief."},
        {
            "system": [
                {
                    "type": "text",
                    "text": "Be brief.",
                    "cache_control": {"type": "ephemeral", "ttl": "1h"},
                }
            ]
        },
        {
            "tools": [
                {
                    "name": "search",
                    "description": "Finds.",
                    "input_schema": _SCHEMA,
                    "cache_control": {"type": "ephemeral"},
                }
            ]
        },
        {
            "tools": [
                {"type": "custom", "name": "get", "input_schema": _TREE, "strict": True},
                {"type": "web_search_20250305", "name": "web_search"},
            ]
        },
        {
            "tools": [{"name": "search", "input_schema": _SCHEMA}],
            "tool_choice": {"type": "tool", "name": "search", "disable_parallel_tool_use": True},
        },
        {"tools": [{"type": "bash_20250124", "name": "bash"}], "tool_choice": {"type": "any"}},
        {"temperature": 0.5, "top_p": 0.9, "top_k": 9, "stop_sequences": ["END"], "stream": True},
        {"output_config": {"effort": "low", "format": {"type": "json_schema", "schema": _REPLY}}},
        {"metadata": {"user_id": "u"}, "service_tier": "auto", "container": "c"},
        {"mcp_servers": [{"type": "url", "url": "https://a.test", "name": "s"}]},
        {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
    ),
)

_GEMINI = Vocabulary(
    "contents",
    (
        {"role": "user", "parts": [{"text": "Find tea."}]},
        {"parts": [{"text": "And this?"}]},
        {
            "role": "user",
            "parts": [
                {"text": "Look."},
                {"inlineData": {"mimeType": "image/png", "data": _PIXEL}},
                {
                    "fileData": {"mimeType": "video/mp4", "fileUri": "gs://a/b"},
                    "videoMetadata": {"fps": 1},
                },
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"text": "So.", "thoughtSignature": "c2ln"},
            ],
        },
        [
            {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"id": "a", "name": "search", "args": {"q": "tea"}},
                        "thoughtSignature": "c2ln",
                    },
                    {"functionCall": {"name": "get", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "a",
                            "name": "search",
                            "response": {"result": "12 hits"},
                        }
                    },
                    {
                        "functionResponse": {
                            "name": "get",
                            "response": {"output": [1]},
                            "parts": [{"inlineData": {"mimeType": "image/png", "data": _PIXEL}}],
                        }
                    },
                ],
            },
        ],
        [
            {"role": "model", "parts": [{"function_call": {"name": "search", "args": {"q": "x"}}}]},
            {
                "role": "function",
                "parts": [{"function_response": {"name": "search", "response": {"error": "no"}}}],
            },
        ],
        {
            "role": "model",
            "parts": [
                {"executableCode": {"language": "PYTHON", "code": "1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
            ],
        },
    ),
    (
        {"model": "gemini-2.5-flash"},
        {"model": "gemini-3-pro"},
        {"systemInstruction": {"parts": [{"text": "Be brief."}]}},
        {
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "search",
                            "description": "Finds.",
                            "parameters": {
                                "type": "OBJECT",
                                "properties": {"q": {"type": "STRING", "nullable": True}},
                            },
                        }
                    ]
                }
            ]
        },
        {
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "get",
                            "parametersJsonSchema": _TREE,
                            "response": {"type": "STRING"},
                        }
                    ]
                },
                {"googleSearch": {}},
            ]
        },
        {
            "tools": [{"functionDeclarations": [{"name": "search"}]}],
            "toolConfig": {
                "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["search"]}
            },
        },
        {
            "generationConfig": {
                "temperature": 0.5,
                "topP": 0.9,
                "topK": 9,
                "maxOutputTokens": 99,
                "stopSequences": ["END"],
                "seed": 7,
                "candidateCount": 1,
            }
        },
        {
            "generationConfig": {
                "responseMimeType": "application/json",
                "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
            }
        },
        {
            "generationConfig": {
                "responseMimeType": "application/json",
                "responseJsonSchema": _REPLY,
                "thinkingConfig": {"thinkingBudget": 100, "includeThoughts": True},
            }
        },
        {
            "generationConfig": {
                "thinkingConfig": {"thinkingLevel": "low"},
                "responseModalities": ["TEXT"],
                "mediaResolution": "MEDIA_RESOLUTION_LOW",
            }
        },
        {
            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
            "cachedContent": "cachedContents/a",
            "labels": {"k": "v"},
        },
    ),
)

_CONVERSE = Vocabulary(
    "messages",
    (
        {"role": "user", "content": [{"text": "Find tea."}]},
        {
            "role": "user",
            "content": [
                {"text": "Look."},
                {"image": {"format": "png", "source": {"bytes": _PIXEL}}},
                {"document": {"format": "pdf", "name": "doc", "source": {"bytes": _PIXEL}}},
                {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://a/b"}}}},
                {"cachePoint": {"type": "default"}},
                {"guardContent": {"text": {"text": "Guarded."}}},
            ],
        },
        {"role": "assistant", "content": [{"text": "I do."}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
                {"text": "So."},
            ],
        },
        {
            "role": "assistant",
            "content": [{"reasoningContent": {"redactedContent": _PIXEL}}, {"text": "So."}],
        },
        [
            {
                "role": "assistant",
                "content": [
                    {
                        "toolUse": {
                            "toolUseId": "tooluse_1",
                            "name": "search",
                            "input": {"q": "tea"},
                        }
                    },
                    {"toolUse": {"toolUseId": "tooluse_2", "name": "get", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "tooluse_1",
                            "content": [{"text": "12 hits"}],
                            "status": "success",
                        }
                    },
                    {
                        "toolResult": {
                            "toolUseId": "tooluse_2",
                            "content": [
                                {"json": {"a": 1}},
                                {"image": {"format": "png", "source": {"bytes": _PIXEL}}},
                            ],
                            "status": "error",
                        }
                    },
                ],
            },
        ],
        {
            "role": "assistant",
            "content": [
                {
                    "toolUse": {
                        "toolUseId": "tooluse_3",
                        "name": "nova_grounding",
                        "input": {},
                        "type": "server_tool_use",
                    }
                },
                {
                    "toolResult": {
                        "toolUseId": "tooluse_3",
                        "content": [{"text": "x"}],
                        "type": "nova_grounding_result",
                        "status": "success",
                    }
                },
                {
                    "citationsContent": {
                        "content": [{"text": "c"}],
                        "citations": [{"location": {"web": {"url": "https://a.test"}}}],
                    }
                },
            ],
        },
    ),
    (
        {"modelId": "anthropic.claude-sonnet-4-20250514-v1:0"},
        {"modelId": "amazon.nova-pro-v1:0"},
        {"system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}]},
        {
            "toolConfig": {
                "tools": [
                    {
                        "toolSpec": {
                            "name": "search",
                            "description": "Finds.",
                            "inputSchema": {"json": _SCHEMA},
                        }
                    },
                    {"cachePoint": {"type": "default"}},
                ]
            }
        },
        {
            "toolConfig": {
                "tools": [
                    {"toolSpec": {"name": "get", "inputSchema": {"json": _TREE}, "strict": True}}
                ],
                "toolChoice": {"tool": {"name": "get"}},
            }
        },
        {
            "toolConfig": {
                "tools": [
                    {"toolSpec": {"name": "search", "inputSchema": {"json": _SCHEMA}}},
                    {"systemTool": {"name": "nova_grounding"}},
                ],
                "toolChoice": {"any": {}},
            }
        },
        {
            "inferenceConfig": {
                "temperature": 0.5,
                "topP": 0.9,
                "maxTokens": 99,
                "stopSequences": ["END"],
            }
        },
        {
            "additionalModelRequestFields": {
                "thinking": {"type": "enabled", "budget_tokens": 2000},
                "top_k": 9,
            }
        },
        {
            "outputConfig": {
                "textFormat": {
                    "type": "json_schema",
                    "structure": {"jsonSchema": {"schema": '{"type": "object"}', "name": "r"}},
                }
            }
        },
        {
            "guardrailConfig": {"guardrailIdentifier": "g", "guardrailVersion": "1"},
            "requestMetadata": {"k": "v"},
            "performanceConfig": {"latency": "standard"},
        },
    ),
)

_COHERE = Vocabulary(
    "messages",
    (
        {"role": "user", "content": "Find tea."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}},
            ],
        },
        {"role": "system", "content": "Be brief."},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "So."}],
        },
        {
            "role": "assistant",
            "content": "I do.",
            "citations": [{"start": 0, "end": 1, "text": "I", "sources": []}],
        },
        [
            {
                "role": "assistant",
                "tool_plan": "I search.",
                "tool_calls": [_chat_call("search_1"), _chat_call("get_2", "get", "{}")],
            },
            {"role": "tool", "tool_call_id": "search_1", "content": "12 hits"},
            {
                "role": "tool",
                "tool_call_id": "get_2",
                "content": [
                    {"type": "document", "document": {"data": {"a": "1"}, "id": "d"}},
                    {"type": "text", "text": "x"},
                ],
            },
        ],
    ),
    (
        {"model": "command-a-03-2025"},
        {"tools": [_tool("search"), _tool("get", _TREE)], "strict_tools": True},
        {"tools": [_tool("search")], "tool_choice": "REQUIRED"},
        {
            "temperature": 0.5,
            "p": 0.9,
            "k": 9,
            "max_tokens": 99,
            "stop_sequences": ["END"],
            "seed": 7,
        },
        {"response_format": {"type": "json_object", "json_schema": _REPLY}},
        {"thinking": {"type": "enabled", "token_budget": 100}, "stream": True},
        {
            "documents": [{"data": {"text": "d"}, "id": "1"}, "plain"],
            "citation_options": {"mode": "FAST"},
            "safety_mode": "OFF",
        },
        {
            "frequency_penalty": 0.1,
            "presence_penalty": 0.1,
            "logprobs": True,
            "raw_prompting": False,
        },
    ),
)

_OLLAMA = Vocabulary(
    "messages",
    (
        {"role": "user", "content": "Find tea."},
        {"role": "user", "content": "Look.", "images": [_PIXEL]},
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "So.", "thinking": "Hm."},
        [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"function": {"name": "search", "arguments": {"q": "tea"}}},
                    {"id": "call_2", "function": {"name": "get", "arguments": {}, "index": 1}},
                ],
            },
            {"role": "tool", "tool_name": "search", "content": "12 hits"},
            {"role": "tool", "tool_name": "get", "tool_call_id": "call_2", "content": "1"},
        ],
    ),
    (
        {"model": "qwen3"},
        {"tools": [_tool("search"), _tool("get", _TREE)]},
        {
            "options": {
                "temperature": 0.5,
                "top_p": 0.9,
                "top_k": 9,
                "num_predict": 99,
                "stop": ["END"],
                "seed": 7,
                "num_ctx": 4096,
            }
        },
        {"format": _REPLY},
        {"format": "json", "stream": False, "think": True},
        {"think": "low", "keep_alive": "5m", "logprobs": True, "truncate": True},
    ),
)

VOCABULARIES = {
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
    "anthropic": _CLAUDE,
    "gemini": _GEMINI,
    "bedrock": _CONVERSE,
    "cohere": _COHERE,
    "ollama": _OLLAMA,
}

_MOST_TURNS = 5
_MOST_SETTINGS = 3


def made_body(format: str, chance: Random) -> dict[str, Any]:
    """A body of one to five sample turns and up to three groups of settings, in any order."""
    known = VOCABULARIES[format]
    turns: list[Any] = []
    for _ in range(chance.randint(1, _MOST_TURNS)):
        one = chance.choice(known.turns)
        turns += one if isinstance(one, list) else [one]
    body: dict[str, Any] = {}
    for _ in range(chance.randint(0, _MOST_SETTINGS)):
        body |= chance.choice(known.settings)
    return copy.deepcopy({**body, known.turns_at: turns})


@cache
def samples() -> tuple[Any, ...]:
    """The objects inside the turns of all formats: what a body of another format may hold."""
    found = [one for known in VOCABULARIES.values() for one in _objects(known.turns)]
    return tuple(found)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = value.values()
    for inner in value if not isinstance(value, (str, int, float, bool, type(None))) else ():
        yield from _objects(inner)
