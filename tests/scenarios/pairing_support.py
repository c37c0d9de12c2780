"""Calls and results of bodies: how the tests of pairing write them and find them again."""

from scenarios.field_support import USER

BACKS = ["anthropic", "openai", "openai/openai-responses", "gemini", "bedrock", "mistral", "cohere"]


def pairs(node):
    """Calls and results of a body in order: ("call", name) and ("result", its words)."""
    found = []
    match node:
        case {"type": "tool_use", "name": name} | {"toolUse": {"name": name}}:
            found.append(("call", name))
        case {"functionCall": {"name": name}} | {"type": "function_call", "name": name}:
            found.append(("call", name))
        case {"type": "function", "function": {"name": name}, "id": _}:
            found.append(("call", name))
        case {"toolResult": {"content": [{"text": text}]}} | {"role": "tool", "content": text}:
            found.append(("result", text))
        case {"type": "tool_result", "content": text} | {"output": text}:
            found.append(("result", text))
        case {"functionResponse": {"response": {"output": text} | {"error": text}}}:
            found.append(("result", text))
        case dict() | list():
            for part in node.values() if isinstance(node, dict) else node:
                found += pairs(part)
    return found


def of(body):
    return pairs(body.get("messages") or body.get("input") or body.get("contents"))


def call(id, name="run"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def calls(*made, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


def result(id, content):
    return {"role": "tool", "tool_call_id": id, "content": content}


def chat(*messages):
    return {"model": "m", "messages": [USER, *messages]}


def use(id, name="run"):
    return {"type": "tool_use", "id": id, "name": name, "input": {}}


def told(id, content, **more):
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def claude(*contents):
    """A Messages request whose contents alternate, the assistant's first."""
    roles = ("assistant", "user")
    turns = [{"role": roles[n % 2], "content": one} for n, one in enumerate(contents)]
    return {"model": "m", "max_tokens": 99, "messages": [USER, *turns]}


def item(id, name="run"):
    return {"type": "function_call", "call_id": id, "name": name, "arguments": "{}"}


def output(id, text):
    return {"type": "function_call_output", "call_id": id, "output": text}
