"""Ids of calls and results: how the tests of ids write them and find them again."""

from scenarios import field_support

BACKS = ["anthropic", "openai", "openai/openai-responses", "bedrock", "mistral", "cohere", "ollama"]


def sent(body, source, target, **options):
    """The body for `target`, which the judge has to accept."""
    return field_support.sent(body, source, target, **options).body


def ids(node):
    """The ids of all calls and of all results in a body of any format, in order."""
    calls, results = [], []
    match node:
        case (
            {"type": "tool_use", "id": id}
            | {"type": "function_call", "call_id": id}
            | {"toolUse": {"toolUseId": id}}
            | {"functionCall": {"id": id}}
            | {"function": _, "id": id}
        ):
            calls.append(id)
        case (
            {"type": "tool_result", "tool_use_id": id}
            | {"type": "function_call_output", "call_id": id}
            | {"toolResult": {"toolUseId": id}}
            | {"functionResponse": {"id": id}}
            | {"role": "tool", "tool_call_id": id}
        ):
            results.append(id)
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for part in inside:
        more = ids(part)
        calls += more[0]
        results += more[1]
    return calls, results


def chat(*turns, name="Bash"):
    """A chat request: each turn is a list of ids that are called and answered in order."""
    messages = [{"role": "user", "content": "Go."}]
    for turn in turns:
        function = {"name": name, "arguments": "{}"}
        calls = [{"id": id, "type": "function", "function": function} for id in turn]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": id, "content": f"answer {n}"}
            for n, id in enumerate(turn)
        ]
    return {"model": "m", "messages": messages}


def contents(*parts_by_role):
    return {"contents": [{"role": role, "parts": parts} for role, parts in parts_by_role]}


def asked(name, **args):
    return {"functionCall": {"name": name, "args": args}}


def answered(name, text, **more):
    return {"functionResponse": {"name": name, "response": {"output": text}, **more}}
