"""What OpenAI refuses in the Responses API."""

from typing import Any

from refusals.openai import MODEL, USER
from refusals.rows import OBJECT, Refusal

NAMED = {"type": "function", "name": "look"}


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
FOUND = {"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {}}
FREE = {"type": "custom_tool_call", "call_id": "c1", "name": "look", "input": "a"}
APPROVAL = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "a", "arguments": "{}", "server_label": "s"}  # fmt: skip
LATE = {"type": "additional_tools", "role": "developer", "tools": [NAMED | {"name": "fly"}]}


def namespace(name: str, **more: Any) -> dict[str, Any]:
    tools = [NAMED | {"parameters": OBJECT} | more]
    return {"type": "namespace", "name": name, "description": "All.", "tools": tools}


RESPONSES = {
    "a thought whose call has no id": items(
        r"Item 'rs_1' of type 'reasoning' was provided without its required following item",
        USER, THOUGHT, CALL, OUTPUT,
    ),
    "a thought whose answer has no id": items(
        r"Item 'rs_1' of type 'reasoning' was provided without its required following item",
        USER, THOUGHT, {"role": "assistant", "content": "So."}, USER,
    ),
    "a list of allowed tools with one that is not there": items(
        r"Tool choice 'fly' not found in 'tools' parameter",
        tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [NAMED, NAMED | {"name": "fly"}]},
    ),
    "results are missing": items(r"No tool output found for function call call_1", USER, CALL),
    "a result without its call": items(
        r"No tool call found for function call output with call_id call_1", USER, OUTPUT
    ),
    "a long id": items(
        r"string too long\. Expected a string with maximum length 64",
        USER, CALL | {"call_id": "c" * 65}, OUTPUT | {"call_id": "c" * 65},
    ),
    "two results for one call": items(
        r"Duplicate function_call_output for call_id 'call_1'", USER, CALL, OUTPUT, OUTPUT
    ),
    "one id for two calls": items(r"Duplicate 'call_id': call_1", USER, CALL, CALL, OUTPUT),
    "the long id of a command": items(
        r"string too long\. Expected a string with maximum length 64",
        USER,
        {"type": "shell_call", "call_id": "c" * 65, "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c" * 65, "output": []},
    ),
    "the id of a message": items(
        r"Expected an ID that begins with 'msg'",
        USER, {"role": "assistant", "content": "So.", "id": "x1"}, USER,
    ),
    "the id of free text": items(
        r"Expected an ID that begins with 'ctc'",
        USER, FREE | {"id": "x1"}, {"type": "custom_tool_call_output", "call_id": "c1", "output": "a"},
    ),
    "many tools": items(
        r"array too long\. Expected an array with maximum length 128",
        tools=[NAMED | {"name": f"look_{at}", "parameters": OBJECT} for at in range(129)],
    ),
    "a choice of schemas at the root": items(
        r"schema must have type 'object' and not have 'oneOf'",
        tools=[NAMED | {"parameters": OBJECT | {"anyOf": [OBJECT]}}],
    ),
    "a strict tool that is open": items(
        r"'additionalProperties' is required to be supplied",
        tools=[NAMED | {"parameters": OBJECT, "strict": True}],
    ),
    "an empty text": items(r"must be provided", input=""),
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
        r"Reasoning input items can only be provided to a reasoning or computer use model", USER, THOUGHT | {"encrypted_content": "gAAAAA"}, CALL, OUTPUT, model="gpt-4o"
    ),
    "no input": items(r"", input=[]),
    "a long name": items(
        r"string too long\. Expected a string with maximum length 128",
        tools=[{"type": "function", "name": "a" * 129, "parameters": OBJECT}]
    ),
    "characters of a name": items(
        r"does not match pattern", tools=[{"type": "function", "name": "a b", "parameters": OBJECT}]
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
        r"No tool output found for local shell call c1",
        USER, SHELL, USER,
    ),
    "a search for tools without its output": items(
        r"No tool output found for tool search call c1", USER, FOUND, USER,
    ),
    "free text without its output": items(
        r"No tool output found for custom tool call c1", USER, FREE, USER,
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
ROWS = {f"responses: {name}": row for name, row in RESPONSES.items()}
# What differs a little from a row above, and is answered.
ACCEPTED = {
    "a list of allowed tools": items(
        "", tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [NAMED]}
    ),
    "tools and an effort, in the Responses API": items(
        "", model="gpt-6-astra", reasoning={"effort": "high"}
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
    "a search for tools and its output": items(
        "", USER, FOUND, {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": []},
        USER,
    ),
    "a search that the provider runs": items("", USER, FOUND | {"execution": "server"}, USER),
    "an approval that was given": items(
        "", USER, APPROVAL,
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ),
    "a namespace": items("", tools=[namespace("n")]),
    "a namespace that a search loads": items(
        "", tools=[namespace("n", defer_loading=True), {"type": "tool_search"}]
    ),
}  # fmt: skip
