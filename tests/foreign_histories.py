"""One small history in each form in which agent frameworks store it."""

CALL = {"name": "search", "args": {"q": "tea"}, "id": "call_1", "type": "tool_call"}
OUTPUT = {"type": "text", "value": "found"}
MODEL_CALL = {
    "type": "tool-call",
    "toolCallId": "call_1",
    "toolName": "search",
    "input": {"q": "tea"},
}
UI_CALL = {
    "type": "tool-search",
    "toolCallId": "call_1",
    "state": "output-available",
    "input": {"q": "tea"},
    "output": "found",
}


def _constructor(name, **kwargs):
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": kwargs}


HISTORIES = {
    "LangChain history (messages_to_dict)": [
        {"type": "human", "data": {"content": "Hi", "type": "human", "id": None}},
        {"type": "ai", "data": {"content": "", "type": "ai", "tool_calls": [CALL]}},
        {"type": "tool", "data": {"content": "found", "tool_call_id": "call_1"}},
    ],
    "LangChain history (model_dump": [
        {"type": "human", "content": "Hi", "additional_kwargs": {}, "id": None},
        {"type": "ai", "content": "", "tool_calls": [CALL], "invalid_tool_calls": []},
        {"type": "tool", "content": "found", "tool_call_id": "call_1", "status": "success"},
    ],
    "LangChain history (dumpd)": [
        _constructor("HumanMessage", content="Hi", type="human"),
        _constructor("AIMessage", content="", tool_calls=[CALL], type="ai"),
    ],
    "pydantic-ai history (ModelMessagesTypeAdapter)": [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Hi"}]},
        {
            "kind": "response",
            "parts": [
                {
                    "part_kind": "tool-call",
                    "tool_name": "search",
                    "args": {"q": "tea"},
                    "tool_call_id": "call_1",
                }
            ],
        },
    ],
    "Vercel AI SDK history (ModelMessage)": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [MODEL_CALL]},
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "call_1",
                    "toolName": "search",
                    "output": OUTPUT,
                }
            ],
        },
    ],
    "Vercel AI SDK history (UIMessage)": [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]},
        {"id": "2", "role": "assistant", "parts": [{"type": "step-start"}, UI_CALL]},
    ],
}
"""What the error calls it, and the messages."""
