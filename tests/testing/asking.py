"""Requests to simulators, without any socket."""

import json

from canonicall.testing.exchange import SimRequest
from canonicall.testing.simulator import Simulator

QUESTION = "What is the weather and the local time in Paris?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NAMES = ("get_weather", "local_time")
KEY = {"authorization": "Bearer any"}
FUNCTIONS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": SCHEMA}}
    for name in NAMES
]

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"

# One request with tools for each format: provider, path, path of the stream, body.
ASKED = {
    "openai-chat": (
        "openai",
        CHAT,
        CHAT,
        {
            "model": "gpt-5.2",
            "tools": FUNCTIONS,
            "messages": [{"role": "user", "content": QUESTION}],
        },
    ),
    "openai-responses": (
        "openai",
        RESPONSES,
        RESPONSES,
        {
            "model": "gpt-5.2",
            "reasoning": {"effort": "low"},
            "input": QUESTION,
            "tools": [
                {"type": "function", "name": name, "description": name, "parameters": SCHEMA}
                for name in NAMES
            ],
        },
    ),
    "anthropic": (
        "anthropic",
        MESSAGES,
        MESSAGES,
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 3000,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "messages": [{"role": "user", "content": QUESTION}],
            "tools": [
                {"name": name, "description": name, "input_schema": SCHEMA} for name in NAMES
            ],
        },
    ),
    "gemini": (
        "gemini",
        "/v1beta/models/gemini-3-pro-preview:generateContent",
        "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse",
        {
            "contents": [{"role": "user", "parts": [{"text": QUESTION}]}],
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": name, "description": name, "parameters": SCHEMA} for name in NAMES
                    ]
                }
            ],
        },
    ),
    "bedrock": (
        "bedrock",
        "/model/anthropic.claude-haiku-4-5-20251001-v1:0/converse",
        "/model/anthropic.claude-haiku-4-5-20251001-v1:0/converse-stream",
        {
            "messages": [{"role": "user", "content": [{"text": QUESTION}]}],
            "toolConfig": {
                "tools": [
                    {
                        "toolSpec": {
                            "name": name,
                            "description": name,
                            "inputSchema": {"json": SCHEMA},
                        }
                    }
                    for name in NAMES
                ]
            },
        },
    ),
    "cohere": (
        "cohere",
        "/v2/chat",
        "/v2/chat",
        {
            "model": "command-a-03-2025",
            "tools": FUNCTIONS,
            "messages": [{"role": "user", "content": QUESTION}],
        },
    ),
    "ollama": (
        "ollama",
        "/api/chat",
        "/api/chat",
        {
            "model": "qwen3:8b",
            "tools": FUNCTIONS,
            "messages": [{"role": "user", "content": QUESTION}],
        },
    ),
}


def ask(simulator: Simulator, path: str, body=b"", *, method: str = "POST", **headers: str):
    """The status and the JSON body of the answer to a request."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = simulator.answer(SimRequest.of(method, path, body, {**KEY, **named}))
    return response.status, json.loads(response.data)


def get(simulator: Simulator, path: str):
    return ask(simulator, path, method="GET")


def stream(simulator: Simulator, format: str, **headers: str):
    """The answer to the usual request of a format, streamed."""
    _, _, path, body = ASKED[format]
    body = {**body, "stream": True} if path in (CHAT, RESPONSES, MESSAGES, "/v2/chat") else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return simulator.answer(SimRequest.of("POST", path, body, {**KEY, **named}))


def whole(simulator: Simulator, format: str, **headers: str):
    """The status and the body of the answer to the usual request of a format."""
    _, path, _, body = ASKED[format]
    body = {**body, "stream": False} if format == "ollama" else body
    return ask(simulator, path, body, **headers)


def provider_of(format: str) -> str:
    return ASKED[format][0]
