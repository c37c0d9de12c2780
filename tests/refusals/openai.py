"""What OpenAI refuses in Chat Completions."""

from typing import Any

from refusals.rows import OBJECT, Refusal

MODEL = "gpt-5.2"
USER = {"role": "user", "content": "Hi"}
SYSTEM = {"role": "system", "content": "Be brief."}
DONE = {"role": "assistant", "content": "So."}
STRING = {"type": "string"}
SOUND = {"type": "input_audio", "input_audio": {"data": "eA==", "format": "mp3"}}
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


def closed(count: int, schema: dict[str, Any] = STRING) -> dict[str, Any]:
    """A schema as strict mode has it, with so many properties."""
    names = [f"a{at}" for at in range(count)]
    properties = dict.fromkeys(names, schema)
    return OBJECT | {"properties": properties, "required": names, "additionalProperties": False}


DEEP = STRING
for _ in range(11):
    DEEP = closed(1, DEEP)
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
    "two results for one call": chat(
        r"Duplicate value for 'tool_call_id'", USER, said("call_1"), result(), result()
    ),
    "no calls in the list": chat(r"empty array", USER, said(content="So."), USER),
}  # fmt: skip
MESSAGES = {
    "sound for a model that does not hear": chat(
        r"Content blocks are expected to be either text or image_url type",
        {"role": "user", "content": [SOUND]}, model="gpt-5-mini",
    ),
    "a search by a model that has none": chat(
        r"Web search options not supported with this model", model="gpt-4o", web_search_options={}
    ),
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
    "reasoning as a part": chat(
        r"Invalid value: 'thinking'\. Supported values are: 'text', 'image_url', 'input_audio',"
        r" 'refusal', 'audio', and 'file'",
        USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}, USER,
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
    "a long name": chat(
        r"string too long\. Expected a string with maximum length 64, but got a string with length"
        r" 65",
        tools=[function("a" * 65)],
    ),
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
    "a strict tool that is deep": strict(r"11 levels of nesting exceeds limit of 10", DEEP),
    "a strict tool of many properties": strict(r"exceeds limit of 5000", closed(5001)),
    "a strict tool of many values": strict(
        r"too large", closed(1, STRING | {"enum": [str(at) for at in range(1001)]})
    ),
    "many functions": chat(
        r"Invalid 'functions': array too long",
        tools=None, functions=[{"name": f"look_{at}", "parameters": OBJECT} for at in range(129)],
    ),
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

FUNCTION = {"name": "look", "parameters": OBJECT}
FLY = {"type": "function", "function": {"name": "fly"}}
CHOICES = {
    "a function that is not there": chat(
        r"no function named 'fly' was specified in the 'functions' parameter",
        tools=None, functions=[FUNCTION], function_call={"name": "fly"},
    ),
    "a list of allowed tools with one that is not there": chat(
        r"Tool choice 'fly' not found in 'tools' parameter",
        tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [FLY]}},
    ),
}  # fmt: skip
ROWS = {f"chat: {name}": row for name, row in {**CHAT, **CHOICES}.items()}
# What differs a little from a row above, and is answered.
ACCEPTED = {
    "a function that is there": chat(
        "", tools=None, functions=[FUNCTION], function_call={"name": "look"}
    ),
    "tools of a model that is told not to reason": chat(
        "", model="gpt-5.6-terra", reasoning_effort="none"
    ),
    "tools of an older model that does not reason": chat("", model="gpt-5.4"),
    "no tools of a model that knows none": chat("", model="gpt-6-astra", tools=None),
    "an effort of a model that reasons, without tools": chat(
        "", model="gpt-5.6", tools=None, reasoning_effort="high"
    ),
    "a choice of Chat Completions, there": chat(
        "", tool_choice={"type": "function", "function": {"name": "look"}}
    ),
    "a refusal as a part": chat(
        "", USER, {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, USER
    ),
}  # fmt: skip
