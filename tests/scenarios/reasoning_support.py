"""Thoughts in bodies: how the tests of reasoning write them."""

from scenarios.field_support import USER


def thinking(text, signature=None):
    signed = {} if signature is None else {"signature": signature}
    return {"type": "thinking", "thinking": text, **signed}


def text(words):
    return {"type": "text", "text": words}


def use(id):
    return {"type": "tool_use", "id": id, "name": "run", "input": {}}


def told(id):
    return {"type": "tool_result", "tool_use_id": id, "content": "done"}


def claude(*contents, **fields):
    """A Messages request whose contents alternate, the assistant's first."""
    roles = ("assistant", "user")
    turns = [{"role": roles[n % 2], "content": one} for n, one in enumerate(contents)]
    return {"model": "m", "max_tokens": 9000, "messages": [USER, *turns], **fields}


def said(body):
    """The content of the first assistant message of a Messages body."""
    return body["messages"][1]["content"]


def google(*parts, answers=1):
    """A generateContent request: one turn of the model, and an answer to each of its calls."""
    response = {"functionResponse": {"name": "run", "response": {"output": "done"}}}
    contents = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": list(parts)},
        {"role": "user", "parts": [response] * answers},
    ]
    return {"contents": contents}


def run(**fields):
    return {"functionCall": {"name": "run", "args": {}}, **fields}


def reasoning(id="rs_1", **fields):
    return {
        "type": "reasoning",
        "id": id,
        "summary": [],
        "encrypted_content": "gAAAAABenc",
        **fields,
    }


CALLED = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "run",
    "arguments": "{}",
}
ANSWERED = {"type": "function_call_output", "call_id": "call_1", "output": "done"}


def chat_call(**fields):
    """A chat request with one call of the assistant, whose message has `fields`, and its result."""
    call = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call], **fields}
    answer = {"role": "tool", "tool_call_id": "call_1", "content": "done"}
    return {"model": "m", "messages": [USER, asked, answer]}
