"""What people give in place of a request or a reply: every kind that is recognised, by its name."""

from typing import Any

SAID = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "And now?"},
]
CHAT_CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
GEMINI_SAID = [
    {"role": "user", "parts": [{"text": "Hi"}]},
    {"role": "model", "parts": [{"text": "Hello."}]},
    {"role": "user", "parts": [{"text": "And now?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "1"}}}]},
]

REQUESTS: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "model": "m",
        "messages": [
            *SAID,
            {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        ],
    },
    "openai-responses": {
        "model": "m",
        "input": [
            {"role": "user", "content": "Hi"},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Hello."}],
            },
            {"role": "user", "content": [{"type": "input_text", "text": "And now?"}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "1"},
        ],
    },
    "anthropic": {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            *SAID,
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": "1"}],
            },
        ],
    },
    "gemini": {"contents": GEMINI_SAID},
    "bedrock": {
        "messages": [
            {"role": "user", "content": [{"text": "Hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"text": "Hello."},
                    {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "1"}]}}],
            },
        ]
    },
    "cohere": {
        "model": "m",
        "messages": [
            *SAID,
            {"role": "assistant", "tool_plan": "Look.", "tool_calls": [CHAT_CALL]},
            {
                "role": "tool",
                "tool_call_id": "call_1",
                "content": [{"type": "document", "document": {"data": "1"}}],
            },
        ],
    },
    "ollama": {
        "model": "m",
        "options": {},
        "messages": [
            *SAID,
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "f", "arguments": {}}}],
            },
            {"role": "tool", "tool_name": "f", "content": "1"},
        ],
    },
}
"""A request of each format: three texts or two, a call and its result."""

REPLIES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "object": "chat.completion",
        "choices": [
            {"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}
        ],
    },
    "openai-responses": {
        "object": "response",
        "status": "completed",
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Hello."}],
            }
        ],
    },
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn",
    },
    "gemini": {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}
        ]
    },
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [{"text": "Hello."}]}},
        "stopReason": "end_turn",
    },
    "cohere": {
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
        "finish_reason": "COMPLETE",
    },
    "ollama": {"model": "m", "message": {"role": "assistant", "content": "Hello."}, "done": True},
}

ERRORS: dict[str, dict[str, Any]] = {
    "of OpenAI": {"error": {"message": "Bad.", "type": "invalid_request_error", "code": None}},
    "of Anthropic": {"type": "error", "error": {"type": "api_error", "message": "Bad."}},
    "of Gemini": {"error": {"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT"}},
    "of Bedrock": {"message": "Bad."},
    "of Ollama": {"error": "Bad."},
}

STRANGE: dict[str, tuple[str, Any]] = {
    "a list of messages": ("a list of messages", SAID),
    "a list of Gemini's messages": ("a list of messages", GEMINI_SAID),
    "a list of items": ("a list of items", REQUESTS["openai-responses"]["input"][3:]),
    "a list of tools": ("a list of tools", [{"type": "function", "function": {"name": "f"}}]),
    "an empty list": ("an empty list", []),
    "a list of texts": ("a list", ["Hi"]),
    "null": ("null", None),
    "a number": ("a number", 7),
    "a boolean": ("true or false", True),
    "an empty object": ("an empty object", {}),
    "a single message": ("a single message", SAID[0]),
    "tools only": ("an object with the fields tools", {"tools": []}),
    "a chunk of Chat Completions": (
        "one event of a stream of Chat Completions",
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "H"}}]},
    ),
    "an event of the Responses API": (
        "one event of a stream of the Responses API",
        {"type": "response.output_text.delta", "delta": "H"},
    ),
    "an event of the Messages API": (
        "one event of a stream of the Messages API",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "H"}},
    ),
    "an event of Bedrock": (
        "one event of a stream of Bedrock Converse",
        {"contentBlockDelta": {"delta": {"text": "H"}, "contentBlockIndex": 0}},
    ),
    "an event of Cohere": (
        "one event of a stream of Cohere",
        {"type": "content-delta", "index": 0, "delta": {}},
    ),
    "a batch line of OpenAI": (
        "a line of a batch file",
        {"custom_id": "1", "method": "POST", "body": REQUESTS["openai-chat"]},
    ),
    "a batch line of Anthropic": (
        "a line of a batch file",
        {"custom_id": "1", "params": REQUESTS["anthropic"]},
    ),
    "a batch line of Gemini": (
        "a line of a batch file",
        {"key": "1", "request": REQUESTS["gemini"]},
    ),
    "a batch line of Bedrock": (
        "a line of a batch file",
        {"recordId": "1", "modelInput": REQUESTS["anthropic"]},
    ),
    "a batch result of OpenAI": (
        "a line of a batch file",
        {"custom_id": "1", "response": {"body": REPLIES["openai-chat"]}, "error": None},
    ),
    "a batch result of Anthropic": (
        "a line of a batch file",
        {"custom_id": "1", "result": {"type": "succeeded", "message": REPLIES["anthropic"]}},
    ),
    "an MCP call": (
        "an MCP message (JSON-RPC)",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f"}},
    ),
    "an MCP result": (
        "an MCP message (JSON-RPC)",
        {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "1"}]}},
    ),
    "a request for embeddings": (
        "a request for embeddings",
        {"model": "m", "input": "Hi", "encoding_format": "float"},
    ),
    "a legacy completion": (
        "a request of the legacy Completions API",
        {"model": "m", "prompt": "Once"},
    ),
    "a run of a thread": (
        "a run of the Assistants API",
        {"assistant_id": "a", "thread": {"messages": SAID}},
    ),
    "ShareGPT": (
        "a conversation in the ShareGPT form",
        {"conversations": [{"from": "human", "value": "Hi"}]},
    ),
    **{f"an error {name}": ("the body of an error (Bad.)", body) for name, body in ERRORS.items()},
}
"""What is neither a request nor a reply of any format, and what it is called."""

TEXTS: dict[str, tuple[str, bytes]] = {
    "a stream": (
        "the text of a stream (server-sent events)",
        b'data: {"choices":[{"index":0,"delta":{"content":"H"}}]}\n\ndata: [DONE]\n\n',
    ),
    "a stream with named events": (
        "the text of a stream (server-sent events)",
        b'event: message_start\ndata: {"type":"message_start"}\n\n',
    ),
    "a stream that begins with a comment": (
        "the text of a stream (server-sent events)",
        b': PROCESSING\n\ndata: {"choices":[]}\n\n',
    ),
    "JSON lines": ("several JSON documents, one a line", b'{"messages": []}\n{"messages": []}\n'),
    "nothing": ("empty", b" \n"),
    "prose": ("not JSON", b"Hello there."),
    "half a body": ("not JSON", b'{"messages": [{"role": "user"'),
}
"""What is not JSON, and what it is called."""

UNREAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "Gemini's parts in messages": (
        "openai-chat",
        {"messages": [{"role": "user", "parts": [{"text": "Hi"}]} for _ in range(3)]},
        "as in a request of Gemini ('gemini')",
    ),
    "Gemini's parts in the Messages API": (
        "anthropic",
        {"max_tokens": 9, "messages": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        "as in a request of Gemini ('gemini')",
    ),
    "text in a field of its own": (
        "openai-chat",
        {"messages": [{"role": "user", "text": "Hi"}, {"role": "assistant", "text": "Hello."}]},
        "$.messages[0] has the fields role, text",
    ),
    "text in a field of its own, in the Messages API": (
        "anthropic",
        {"max_tokens": 9, "messages": [{"role": "user", "text": "Hi"}]},
        "$.messages[0] has the fields role, text",
    ),
    "parts that are texts": (
        "openai-chat",
        {"messages": [{"role": "user", "parts": ["Hi"]}]},
        "$.messages[0] has the fields role, parts",
    ),
    "one message of three": (
        "openai-chat",
        {"messages": [SAID[0], *({"role": "user", "text": "Hi"} for _ in range(2))]},
        "only 1 of 3",
    ),
    "all messages in another field": (
        "openai-chat",
        {"messages": [], "contents": GEMINI_SAID},
        "as in a request of Gemini ('gemini')",
    ),
    "content in Gemini": (
        "gemini",
        {"contents": [{"role": "user", "content": "Hi"}]},
        "only 0 of 1",
    ),
    "text in Bedrock": (
        "bedrock",
        {"messages": [{"role": "user", "text": "Hi"}]},
        "$.messages[0] has the fields role, text",
    ),
    "parts in Cohere": (
        "cohere",
        {"messages": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        "as in a request of Gemini ('gemini')",
    ),
    "parts in Ollama": (
        "ollama",
        {"messages": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        "as in a request of Gemini ('gemini')",
    ),
}
"""Bodies of which less than half is understood: the format named, the body, what is said of it."""
