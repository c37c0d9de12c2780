"""What OpenAI refuses in Chat Completions and in the Responses API."""

from typing import Any

from refusals.rows import OBJECT, Refusal, nested

MODEL = "gpt-5.2"
USER = {"role": "user", "content": "Hi"}
DONE = {"role": "assistant", "content": "So."}
STRING = {"type": "string"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}


def function(name: str = "look", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": OBJECT, **more}}


def said(*ids: str, name: str = "look", arguments: str = "{}", **more: Any) -> dict[str, Any]:
    calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def result(id: str = "call_1", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "ok", **more}


def chat(
    words: str,
    *messages: dict[str, Any],
    provider: str = "openai",
    model: str = MODEL,
    status: int = 400,
    **more: Any,
) -> Refusal:
    body = {"model": model, "tools": [function()], "messages": list(messages or (USER,)), **more}
    body = {name: value for name, value in body.items() if value is not None}
    return Refusal(provider, "openai-chat", model, body, words, status)


def strict(words: str, schema: dict[str, Any]) -> Refusal:
    return chat(words, tools=[function(parameters=schema, strict=True)])


PAIRS = {
    "results are missing": chat(
        r"must be followed by tool messages responding to each 'tool_call_id'\. The following"
        r" tool_call_ids did not have response messages: call_2",
        USER, said("call_1", "call_2"), result(),
    ),
    "another message before the results": chat(
        r"must be followed by tool messages", USER, said("call_1"), USER, result()
    ),
    "the assistant goes on without results": chat(
        r"must be followed by tool messages", USER, said("call_1"), DONE, USER
    ),
    "a result without its call": chat(
        r"messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
        USER, result(),
    ),
    "a long id": chat(
        r"string too long\. Expected a string with maximum length 40, but got a string with length"
        r" 41",
        USER, said("c" * 41), result("c" * 41),
    ),
    "no id": chat(r"", USER, said(""), result("")),
    "one id for two calls": chat(r"", USER, said("call_1", "call_1"), result()),
    "no calls in the list": chat(r"empty array", USER, said(content="So."), USER),
}  # fmt: skip
MESSAGES = {
    "a reply without content": chat(r"", USER, {"role": "assistant", "content": None}, USER),
    "an image in a result": chat(r"", USER, said("call_1"), result(content=[IMAGE])),
    "a result without content": chat(r"", USER, said("call_1"), result(content=[])),
    "an unknown role": chat(r"Supported values are", {"role": "model", "content": "Hi"}),
    "the name of a speaker": chat(
        r"Invalid 'messages\[0\]\.name': string does not match pattern", USER | {"name": "a b"}
    ),
    "reasoning": chat(
        r"Unknown parameter: 'messages\[1\]\.reasoning_content'",
        USER, DONE | {"reasoning_content": "Hm."}, USER,
    ),
    "a mark of others": chat(
        r"Unknown parameter: 'messages\[0\]\.content\[0\]\.cache_control'",
        {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {}}]},
    ),
    "an unknown field": chat(r"Unrecognized request argument supplied: top_k", top_k=1),
    "no messages": chat(r"", messages=[]),
}  # fmt: skip
TOOLS = {
    "characters of a name": chat(r"does not match pattern", tools=[function("a b")]),
    "a long name": chat(r"", tools=[function("a" * 65)]),
    "a name in a call": chat(
        r"does not match pattern", USER, said("call_1", name="a b"), result()
    ),
    "many tools": chat(
        r"array too long\. Expected an array with maximum length 128",
        tools=[function(f"look_{at}") for at in range(129)],
    ),
    "a schema that is no object": chat(
        r"Invalid schema for function 'look'", tools=[function(parameters=STRING)]
    ),
    "a choice of schemas at the root": chat(
        r"schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the"
        r" top level",
        tools=[function(parameters=OBJECT | {"anyOf": [OBJECT]})],
    ),
    "an array of nobody knows what": chat(
        r"array schema missing items",
        tools=[function(parameters={"type": "object", "properties": {"a": {"type": "array"}}})],
    ),
    "a strict tool that leaves something out": strict(
        r"required",
        {"type": "object", "properties": {"a": STRING}, "additionalProperties": False},
    ),
    "a strict tool that is open": strict(
        r"additionalProperties", {"type": "object", "properties": {"a": STRING}, "required": ["a"]}
    ),
    "a strict tool that is deep": strict(r"", nested(12)),
    "a switch without tools": chat(
        r"'parallel_tool_calls' is only allowed when 'tools' are specified",
        tools=None, parallel_tool_calls=True,
    ),
    "a choice without tools": chat(
        r"'tool_choice' is only allowed when 'tools' are specified",
        tools=None, tool_choice="auto",
    ),
    "a choice of a tool that is not there": chat(
        r"Tool choice 'fly' not found in 'tools' parameter",
        tool_choice={"type": "function", "function": {"name": "fly"}},
    ),
    "tools of a model that reasons": chat(
        r"Function tools with reasoning_effort are not supported for gpt-5\.6",
        model="gpt-5.6", reasoning_effort="high",
    ),
    "tools of a model that reasons of itself": chat(
        r"To use function tools, use /v1/responses or set reasoning_effort to 'none'",
        model="gpt-5.6-terra",
    ),
    "tools of an older model that reasons": chat(
        r"Function tools with reasoning_effort are not supported for gpt-5\.4 .*Please use",
        model="gpt-5.4", reasoning_effort="medium",
    ),
    "tools of a model that knows none": chat(
        r"Function tools with reasoning_effort are not supported for gpt-6-astra",
        model="gpt-6-astra",
    ),
    "a long life of the cache": chat(
        r"", model="gpt-5.6", tools=None, prompt_cache_options={"ttl": "12h"}
    ),
}  # fmt: skip
NAMED = {"type": "function", "name": "look"}
NONE_OF_THEM = {"mode": "none", "tools": [{"type": "function", "function": {"name": "look"}}]}
FORMS = {
    "a choice in the words of Mistral": chat(r"'any'", tool_choice="any"),
    "a choice in the form of the Responses API": chat(
        r"Missing required parameter: 'tool_choice\.function'", tool_choice=NAMED
    ),
    "a choice that is an object": chat(r"Invalid value: 'auto'", tool_choice={"type": "auto"}),
    "no tool of those that are allowed": chat(
        r"Supported values are: 'auto' and 'required'",
        tool_choice={"type": "allowed_tools", "allowed_tools": NONE_OF_THEM},
    ),
    "a call without a type": chat(
        r"Missing required parameter: 'messages\[1\]\.tool_calls\[0\]\.type'",
        USER,
        {
            "role": "assistant",
            "tool_calls": [{"id": "call_1", "function": {"name": "look", "arguments": "{}"}}],
        },
        result(),
    ),
    "an image of the assistant's": chat(
        r"Invalid value: 'image_url'", USER, {"role": "assistant", "content": [IMAGE]}, USER
    ),
    "a strict tool of many words": strict(
        r"too large",
        {
            "type": "object",
            "properties": {"a": STRING | {"enum": [f"{at:0130d}" for at in range(1000)]}},
            "required": ["a"],
            "additionalProperties": False,
        },
    ),
}
CHAT = {**PAIRS, **MESSAGES, **TOOLS, **FORMS}


def items(
    words: str, *input: dict[str, Any], model: str = MODEL, status: int = 400, **more: Any
) -> Refusal:
    tools = [{"type": "function", "name": "look", "parameters": OBJECT}]
    body = {"model": model, "tools": tools, "store": False, "input": list(input or (USER,)), **more}
    body = {name: value for name, value in body.items() if value is not None}
    return Refusal("openai", "openai-responses", model, body, words, status)


CALL = {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
SOUND = {"type": "input_file", "filename": "a.mp3", "file_data": "data:audio/mpeg;base64,SUQz"}
SEARCHED = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "a"}}  # fmt: skip
SHELL = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "c1",
    "status": "completed",
    "action": {"type": "exec", "command": ["ls"], "env": {}},
}
APPROVAL = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "a", "arguments": "{}", "server_label": "s"}  # fmt: skip
LATE = {"type": "additional_tools", "role": "developer", "tools": [NAMED | {"name": "fly"}]}


def namespace(name: str, **more: Any) -> dict[str, Any]:
    tools = [NAMED | {"parameters": OBJECT} | more]
    return {"type": "namespace", "name": name, "description": "All.", "tools": tools}


RESPONSES = {
    "results are missing": items(r"No tool output found for function call call_1", USER, CALL),
    "a result without its call": items(
        r"No tool call found for function call output with call_id call_1", USER, OUTPUT
    ),
    "a long id": items(
        r"string too long\. Expected a string with maximum length 64",
        USER, CALL | {"call_id": "c" * 65}, OUTPUT | {"call_id": "c" * 65},
    ),
    "no id": items(r"", USER, CALL | {"call_id": ""}, OUTPUT | {"call_id": ""}),
    "the id of an item": items(
        r"Expected an ID that begins with 'fc'", USER, CALL | {"id": "call_9"}, OUTPUT
    ),
    "the id of a thought": items(
        r"Expected an ID that begins with 'rs'", USER, THOUGHT | {"id": "x1"}, CALL, OUTPUT
    ),
    "reasoning alone": items(
        r"of type 'reasoning' was provided without its required following item",
        USER, THOUGHT | {"encrypted_content": "x"}, USER,
    ),
    "reasoning of somebody else": items(
        r"[Ee]ncrypted content .*could not be verified",
        USER, THOUGHT | {"encrypted_content": "gAAAAA"}, CALL, OUTPUT,
    ),
    "reasoning for a model that does not reason": items(
        r"", USER, THOUGHT | {"encrypted_content": "gAAAAA"}, CALL, OUTPUT, model="gpt-4o"
    ),
    "no input": items(r"", input=[]),
    "a long name": items(
        r"", tools=[{"type": "function", "name": "a" * 129, "parameters": OBJECT}]
    ),
    "characters of a name": items(
        r"", tools=[{"type": "function", "name": "a b", "parameters": OBJECT}]
    ),
    "a tool that is loaded later": items(
        r"Deferred tools require tools\.tool_search",
        tools=[
            {"type": "function", "name": "look", "parameters": OBJECT, "defer_loading": True}
        ],
    ),
    "a search for tools that says nothing": items(
        r"", tools=[{"type": "tool_search", "execution": "client"}]
    ),
    "a choice of a tool that is not there": items(
        r"Tool choice 'fly' not found in 'tools' parameter",
        tool_choice={"type": "function", "name": "fly"},
    ),
    "an unknown field": items(r"Unknown parameter: 'any'", any=1),
    "an unknown field of an item": items(
        r"Unknown parameter: 'input\[0\]\.metadata'", USER | {"metadata": {"a": 1}}
    ),
    "a reply that is not known": items(r"not found", previous_response_id="resp_1"),
    "a conversation that is not known": items(
        r"Conversation with id 'conv_1' not found", conversation="conv_1", status=404
    ),
    "a conversation that is not known, in an object": items(
        r"Conversation with id 'conv_1' not found", conversation={"id": "conv_1"}, status=404
    ),
    "sound as a file": items(
        r"unsupported MIME type 'audio/mpeg'", USER, CALL, OUTPUT | {"output": [SOUND]}
    ),
    "JSON that nobody speaks of": items(
        r"must contain the word 'json'", text={"format": {"type": "json_object"}}
    ),
    "a choice of Chat Completions": items(
        r"Missing required parameter: 'tool_choice\.name'",
        tool_choice={"type": "function", "function": {"name": "look"}},
    ),
    "a choice that is an object": items(
        r"Tool choice 'auto' not found in 'tools' parameter", tool_choice={"type": "auto"}
    ),
    "a choice of a search that is not there": items(
        r"Tool choice 'web_search' not found", tool_choice={"type": "web_search"}
    ),
    "a choice of a tool that comes later": items(
        r"Tool choice 'fly' not found in 'tools' parameter",
        USER, LATE, tool_choice={"type": "function", "name": "fly"},
    ),
    "the id of a search": items(
        r"Expected an ID that begins with 'ws'",
        USER, SEARCHED | {"id": "x_1"}, {"role": "assistant", "content": "So."}, USER,
    ),
    "the long id of a search for tools": items(
        r"string too long\. Expected a string with maximum length 64",
        USER,
        {"type": "tool_search_call", "call_id": "c" * 65, "execution": "client", "arguments": {}},
        {"type": "tool_search_output", "call_id": "c" * 65, "tools": []},
    ),
    "a command without its output": items(
        r"No tool output found for function call c1",
        USER, SHELL, USER,
    ),
    "an approval that nobody gave": items(r"mcpr_1", USER, APPROVAL, USER),
    "a long name of a namespace": items(
        r"string too long\. Expected a string with maximum length 64", tools=[namespace("n" * 65)]
    ),
    "a name of a namespace": items(r"does not match pattern", tools=[namespace("a b")]),
    "a namespace that is loaded later": items(
        r"Deferred tools require tools\.tool_search", tools=[namespace("n", defer_loading=True)]
    ),
    "a picture that is not stored": items(
        r"Item with id 'ig_1' not found",
        USER, {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "eA=="}, USER,
    ),
    "a long result": items(r"", USER, CALL, OUTPUT | {"output": "x" * 10_485_761}),
}  # fmt: skip
ROWS = {
    **{f"chat: {name}": row for name, row in CHAT.items()},
    **{f"responses: {name}": row for name, row in RESPONSES.items()},
}
# What differs a little from a row above, and is answered.
ACCEPTED = {
    "tools of a model that is told not to reason": chat(
        "", model="gpt-5.6-terra", reasoning_effort="none"
    ),
    "tools of an older model that does not reason": chat("", model="gpt-5.4"),
    "no tools of a model that knows none": chat("", model="gpt-6-astra", tools=None),
    "an effort of a model that reasons, without tools": chat(
        "", model="gpt-5.6", tools=None, reasoning_effort="high"
    ),
    "tools and an effort, in the Responses API": items(
        "", model="gpt-6-astra", reasoning={"effort": "high"}
    ),
    "a choice of Chat Completions, there": chat(
        "", tool_choice={"type": "function", "function": {"name": "look"}}
    ),
    "a choice of the Responses API, there": items("", tool_choice=NAMED),
    "a choice of a search that is there": items(
        "", tools=[{"type": "web_search_preview"}], tool_choice={"type": "web_search_preview"}
    ),
    "a choice of a tool that comes later, from GPT-5.6 on": items(
        "", USER, LATE, model="gpt-5.6", tool_choice={"type": "function", "name": "fly"}
    ),
    "the id of a search, as it came": items(
        "", USER, SEARCHED, {"role": "assistant", "content": "So."}, USER
    ),
    "a command and its output": items(
        "", USER, SHELL, {"type": "local_shell_call_output", "id": "c1", "output": "a"}
    ),
    "an approval that was given": items(
        "", USER, APPROVAL,
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ),
    "a namespace": items("", tools=[namespace("n")]),
    "a namespace that a search loads": items(
        "", tools=[namespace("n", defer_loading=True), {"type": "tool_search"}]
    ),
}  # fmt: skip
