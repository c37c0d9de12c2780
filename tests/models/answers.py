"""Which requests llama.cpp's server takes and which it refuses, as its build 11549 answers them.

The real server and our simulator are asked them alike. Where the simulator is known to answer
otherwise, the request is among those that are `NARROWER` or `WIDER` here.
"""

from typing import Any

USER: dict[str, Any] = {"role": "user", "content": "Hi"}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
NAMED = {"type": "function", "function": {"name": "get_weather"}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
GRAMMAR = 'root ::= "a"'


def _call(**other: Any) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": '{"city": "Oslo"}', **other.pop("function", {})}
    made = {"id": "call_1", "type": "function", "function": function, **other}
    return {name: value for name, value in made.items() if value is not None}


def _result(**other: Any) -> dict[str, Any]:
    made = {"role": "tool", "tool_call_id": "call_1", "content": "5 C", **other}
    return {name: value for name, value in made.items() if name != "tool_call_id" or value}


def _history(*calls: dict[str, Any], then: Any = None, **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": None, "tool_calls": list(calls or [_call()]), **message}
    return {"messages": [USER, said, *([_result()] if then is None else then)], "tools": [TOOL]}


def _content(content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}]}


def _said(*messages: Any) -> dict[str, Any]:
    return {"messages": list(messages)}


_SURE = {"role": "assistant", "content": "Sure"}

TAKEN: dict[str, dict[str, Any]] = {
    "plain": {},
    "an unknown model": {"model": "other"},
    "an unknown field": {"some_field": 1},
    "instructions that come later": _said(USER, _SURE, {"role": "system", "content": "Go."}, USER),
    "the developer's role": _said({"role": "developer", "content": "Go."}, USER),
    "the assistant first": _said(_SURE, USER),
    "the assistant last": _said(USER, _SURE),
    "two users": _said(USER, USER),
    "only instructions": _said({"role": "system", "content": "Go."}),
    "empty text": _content(""),
    "parts": _content([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    "a name": _said({**USER, "name": "bob"}),
    "tools": {"tools": [TOOL]},
    "no tools": {"tools": []},
    "a tool without parameters": {"tools": [{"type": "function", "function": {"name": "f"}}]},
    "a tool with an odd name": {"tools": [{"type": "function", "function": {"name": "a b.c"}}]},
    "choice auto": {"tools": [TOOL], "tool_choice": "auto"},
    "choice none": {"tools": [TOOL], "tool_choice": "none"},
    "choice required": {"tools": [TOOL], "tool_choice": "required"},
    "a choice without tools": {"tool_choice": "required"},
    "parallel calls": {"tools": [TOOL], "parallel_tool_calls": True},
    "a schema and tools": {
        "tools": [TOOL],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
    },
    "a grammar": {"grammar": GRAMMAR},
    "a JSON object": {"response_format": {"type": "json_object"}},
    "plain text": {"response_format": {"type": "text"}},
    "log probabilities": {"logprobs": True, "top_logprobs": 3},
    "stops": {"stop": ["x", "y"]},
    "an effort": {"reasoning_effort": "low"},
    "reasoning in the history": _said(USER, {**_SURE, "reasoning_content": "Hm."}, USER),
    "a call and its result": _history(),
    "the same without tools": {**_history(), "tools": []},
    "text beside a call": _history(content="I look."),
    "a user after results": _history(then=[_result(), USER]),
    "a call without a result": _history(then=[USER]),
    "a result without a call": {**_said(USER, _result()), "tools": [TOOL]},
    "a result without an id": _history(then=[_result(tool_call_id="")]),
    "an empty result": _history(then=[_result(content="")]),
    "a result that is null": _history(then=[_result(content=None)]),
    "two calls of one id": _history(_call(), _call(), then=[_result(), _result()]),
    "arguments that are no text": _history(_call(function={"arguments": {"city": "Oslo"}})),
    "a call without an id": _history(_call(id=None)),
    "an empty list of calls": {
        "messages": [USER, {"role": "assistant", "content": "a", "tool_calls": []}, USER]
    },
}
REFUSED: dict[str, dict[str, Any]] = {
    "messages that are missing": {"messages": None},
    "messages that are text": {"messages": "hi"},
    "a message that is text": {"messages": ["hi"]},
    "a message without a role": _said({"content": "hi"}),
    "a message without content": _said({"role": "user"}),
    "an assistant that says nothing": _said(USER, {"role": "assistant"}, USER),
    "content that is a number": _content(5),
    "content that is an object": _content({"type": "text", "text": "x"}),
    "a file": _content([{"type": "file", "file": {"file_data": "data:text/plain;base64,AA=="}}]),
    "a part without a type": _content([{"text": "a"}]),
    "arguments that are cut": _history(_call(function={"arguments": '{"city":'})),
    "a choice of any": {"tools": [TOOL], "tool_choice": "any"},
    "a tool without a name": {"tools": [{"type": "function", "function": {"parameters": SCHEMA}}]},
    "a tool without a function": {"tools": [{"type": "function"}]},
    "tools that are no list": {"tools": {"a": 1}},
    "a grammar and a schema": {"grammar": GRAMMAR, "json_schema": SCHEMA},
    "a grammar and tools": {"grammar": GRAMMAR, "tools": [TOOL]},
    "an unknown kind of output": {"response_format": {"type": "xml"}},
    "a temperature that is text": {"temperature": "hot"},
    "a limit that is text": {"max_tokens": "5"},
    "a stream that is text": {"stream": "yes"},
}
NARROWER: dict[str, dict[str, Any]] = {
    # Taken by the server, and refused here: nobody sends it on purpose, or it is not obeyed.
    "no messages at all": {"messages": []},
    "an unknown role": _said({"role": "wizard", "content": "hi"}),
    "content that is null": _content(None),
    "an empty list of parts": _content([]),
    "an assistant that says null": _said(USER, {"role": "assistant", "content": None}, USER),
    "arguments that are no object": _history(_call(function={"arguments": "5"})),
    "a named tool": {"tools": [TOOL], "tool_choice": NAMED},
    "a stop that is a number": {"stop": 5},
    "a grammar and tools that are forbidden": {
        "grammar": GRAMMAR,
        "tools": [TOOL],
        "tool_choice": "none",
    },
}
WIDER: dict[str, dict[str, Any]] = {
    # Refused by the server, and taken here: our facts have no words for it.
    "two assistants at the end": _said(USER, _SURE, _SURE),
    "a call at the end": _history(then=[]),
    "a part without text": _content([{"type": "text"}]),
    "a tool for free text": {"tools": [{"type": "custom", "custom": {"name": "f"}}]},
    "a call without a type": _history(_call(type=None)),
    "a broken grammar": {"grammar": "root ::= ("},
    "a broken schema": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "a", "schema": {"type": "nonsense"}},
        }
    },
    "no replies": {"n": 0},
    "top_logprobs alone": {"top_logprobs": 3},
    "log probabilities in a stream with tools": {"logprobs": True, "stream": True, "tools": [TOOL]},
    "a negative limit": {"max_tokens": -5},
}

ANSWERS = {
    "real": [
        *((name, changes, True) for name, changes in (TAKEN | NARROWER).items()),
        *((name, changes, False) for name, changes in (REFUSED | WIDER).items()),
    ],
    "simulated": [
        *((name, changes, True) for name, changes in (TAKEN | WIDER).items()),
        *((name, changes, False) for name, changes in (REFUSED | NARROWER).items()),
    ],
}
"""Name, changes, and whether the request is taken."""


def body_of(changes: dict[str, Any]) -> dict[str, Any]:
    """A request with these fields; None leaves a field out."""
    body = {"model": "smollm2-135m-instruct", "messages": [USER], "max_tokens": 1, **changes}
    return {name: value for name, value in body.items() if value is not None}
