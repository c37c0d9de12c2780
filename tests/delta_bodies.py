"""Requests that continue what a provider keeps: one of each kind, and what is in them."""

from typing import Any, NamedTuple

ARN = "arn:aws:bedrock:us-east-1:123456789012:prompt/ABCDEF1234:1"
THREAD = {"type": "continue", "previous_message_id": "msg_1"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "Sunny"}


class Delta(NamedTuple):
    """A request, who keeps the rest of it, and the field that says so."""

    format: str
    owner: str
    field: str
    body: dict[str, Any]


def _responses(field: str, **fields: Any) -> Delta:
    return Delta("openai-responses", "openai/openai-responses", field, {"model": "gpt-5", **fields})


def _messages(*messages: dict[str, Any], **fields: Any) -> Delta:
    body = {"model": "claude-opus-5", "max_tokens": 100, **fields, "thread": THREAD}
    return Delta("anthropic", "anthropic", "thread", {**body, "messages": list(messages)})


def _contents(*contents: dict[str, Any]) -> Delta:
    body = {"cachedContent": "cachedContents/a", "contents": list(contents)}
    return Delta("gemini", "gemini:gemini-3-pro", "cachedContent", body)


def _converse(*messages: dict[str, Any]) -> Delta:
    return Delta("bedrock", "bedrock", "modelId", {"modelId": ARN, "messages": list(messages)})


_RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Sunny"}
_TOOL_RESULT = {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "Sunny"}]}}
_CALL = {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {"city": "Oslo"}}
_ASKED = {"functionCall": {"id": "a1", "name": "f", "args": {}}, "thoughtSignature": "c2ln"}
_GIVEN = {"functionResponse": {"id": "a1", "name": "f", "response": {"a": 1}}}
_ADVISED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {}}
_ADVICE = {
    "type": "advisor_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": {"type": "advisor_result", "text": "Wait."},
}

DELTAS: dict[str, Delta] = {
    "an output after a response": _responses(
        "previous_response_id", previous_response_id="resp_1", input=[OUTPUT]
    ),
    "nothing after a response": _responses(
        "previous_response_id", previous_response_id="resp_1", input=[]
    ),
    "a forced tool of a response": _responses(
        "previous_response_id",
        previous_response_id="resp_1",
        tool_choice={"type": "function", "name": "get_weather"},
        input=[{"role": "user", "content": "Hi"}],
    ),
    "a JSON object after a response": _responses(
        "previous_response_id",
        previous_response_id="resp_1",
        text={"format": {"type": "json_object"}},
        input=[{"role": "user", "content": "Oslo"}],
    ),
    "a conversation": _responses("conversation", conversation="conv_1", input=[OUTPUT]),
    "a conversation as an object": _responses(
        "conversation", conversation={"id": "conv_1"}, input=[{"role": "user", "content": "Hi"}]
    ),
    "a stored prompt": _responses(
        "prompt", prompt={"id": "pmpt_1", "variables": {"city": "Oslo"}}, input=[]
    ),
    "an item reference": _responses(
        "item_reference", input=[{"type": "item_reference", "id": "fc_1"}, OUTPUT]
    ),
    "an item reference without a type": _responses(
        "item_reference", input=[{"id": "fc_1"}, OUTPUT]
    ),
    "a result after a thread": _messages({"role": "user", "content": [_RESULT]}),
    "a result and a question after a thread": _messages(
        {"role": "user", "content": [_RESULT, {"type": "text", "text": "And?"}]}
    ),
    "nothing after a thread that was paused": _messages(),
    "a forced tool of a thread": _messages(
        {"role": "user", "content": "Hi"}, tool_choice={"type": "tool", "name": "get_weather"}
    ),
    "a result of a thread that thinks": _messages(
        {"role": "user", "content": [_RESULT]}, thinking={"type": "adaptive"}
    ),
    "instructions after a result of a thread": _messages(
        {"role": "user", "content": [_RESULT]},
        {"role": "system", "content": "Be brief."},
    ),
    "instructions after a thread": _messages({"role": "system", "content": "Be brief."}),
    "a call of its own after a thread": _messages(
        {"role": "user", "content": [_RESULT]},
        {"role": "assistant", "content": [_CALL]},
        {"role": "user", "content": [{**_RESULT, "tool_use_id": "toolu_2"}]},
    ),
    "a loop of a thread that thinks": _messages(
        {"role": "user", "content": [_RESULT]},
        {"role": "assistant", "content": [_CALL]},
        {"role": "user", "content": [{**_RESULT, "tool_use_id": "toolu_2"}]},
        model="claude-sonnet-4-5",
        max_tokens=4000,
        thinking={"type": "enabled", "budget_tokens": 2000},
    ),
    "a tool that the provider ran after a thread": _messages(
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [_ADVISED, _ADVICE, {"type": "text", "text": "So."}]},
        {"role": "user", "content": "And?"},
    ),
    "a call after cached content": _contents(
        {"role": "model", "parts": [_ASKED]},
        {"role": "user", "parts": [_GIVEN]},
    ),
    "a response to cached content": _contents(
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]}
    ),
    "a reply after cached content": _contents(
        {"role": "model", "parts": [{"text": "It is."}]},
        {"role": "user", "parts": [{"text": "Is it?"}]},
    ),
    "nothing after cached content": _contents(),
    "a question about cached content": _contents({"role": "user", "parts": [{"text": "Why?"}]}),
    "a result after a prompt resource": _converse({"role": "user", "content": [_TOOL_RESULT]}),
    "a reply after a prompt resource": _converse(
        {"role": "assistant", "content": [{"text": "Yes."}]},
        {"role": "user", "content": [{"text": "Why?"}]},
    ),
    "a prompt resource alone": Delta(
        "bedrock",
        "bedrock",
        "modelId",
        {"modelId": ARN, "promptVariables": {"city": {"text": "Oslo"}}},
    ),
}
