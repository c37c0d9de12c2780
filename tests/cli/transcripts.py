"""Transcripts for the verbs: a sound one, a damaged one, and what they are as files."""

import json

TOOLS = [{"name": "search", "input_schema": {"type": "object", "properties": {}}}]
CALL = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "tea"}}
ANSWER = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "12 hits"}


def anthropic(*content, **fields):
    """A Messages request: the user asks, the model calls a tool, and `content` comes back."""
    messages = [
        {"role": "user", "content": "Find tea."},
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": list(content)},
    ]
    body = {"model": "claude-sonnet-4-6", "max_tokens": 100, "messages": messages, "tools": TOOLS}
    return {**body, **fields}


SOUND = anthropic(ANSWER)
DAMAGED = anthropic({"type": "text", "text": "Never mind."})
PLAIN = {"messages": [{"role": "user", "content": "Hi"}]}


def as_lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)
