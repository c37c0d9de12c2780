"""What Mistral refuses in Chat Completions, which it has rules of its own for."""

from typing import Any

from refusals.openai import DONE, IMAGE, SYSTEM, USER, chat, function, result, said
from refusals.rows import Refusal

FIRST, SECOND = "abcdefghi", "abcdefghj"


def mistral(
    words: str, *messages: dict[str, Any], model: str = "any-model", status: int = 400, **more: Any
) -> Refusal:
    return chat(words, *messages, provider="mistral", model=model, status=status, **more)


MISTRAL = {
    "how likely its words are": mistral(
        r"Logprobs are not enabled for this model", model="ministral-3b-latest", logprobs=True
    ),
    "ids": mistral(
        r"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9",
        USER, said("call_1"), result("call_1", name="look"),
    ),
    "one id for two calls": mistral(
        r"Duplicate tool call id", USER, said(FIRST, FIRST), result(FIRST), result(FIRST)
    ),
    "two results for one call": mistral(
        r"Duplicate tool call id|Not the same number",
        USER, said(FIRST), result(FIRST), result(FIRST),
    ),
    "a result without its call": mistral(
        r"Unexpected tool call id", USER, said(FIRST), result(SECOND)
    ),
    "results are missing": mistral(
        r"Not the same number of function calls and responses",
        USER, said(FIRST, SECOND), result(FIRST),
    ),
    "results at the end are missing": mistral(
        r"Not the same number of function calls and responses|Expected last role",
        USER, said(FIRST),
    ),
    "no schema": mistral(
        r"Field required", tools=[{"type": "function", "function": {"name": "look"}}], status=422
    ),
    "a schema that is none": mistral(
        r"Invalid tool schema",
        tools=[function(parameters={"type": "object", "properties": {"a": {"type": "text"}}})],
    ),
    "characters of a name": mistral(r"", tools=[function("a b")]),
    "instructions behind the assistant": mistral(
        r"Unexpected role 'system' after role 'assistant'", USER, DONE, SYSTEM, USER
    ),
    "the user behind results": mistral(
        r"Unexpected role 'user' after role 'tool'",
        USER, said(FIRST), result(FIRST), USER, model="open-mistral-7b",
    ),
    "the assistant at the end": mistral(
        r"Expected last role User or Tool \(or Assistant with prefix\) for serving but got"
        r" assistant",
        USER, DONE,
    ),
    "no id, where any other will do": mistral(
        r"must be a non-empty string other than 'null' for tokenizer version 13",
        USER, said(""), result(""), model="mistral-small-latest",
    ),
    "an id that says that there is none": mistral(
        r"must be a non-empty string other than 'null' for tokenizer version 13",
        USER, said("null"), result("null"), model="mistral-small-latest",
    ),
    "the assistant alone": mistral(
        r"Conversation must start with a user message or system message", DONE | {"prefix": True}
    ),
    "words to go on with, and more behind them": mistral(
        r"Assistant message with prefix True must be last message",
        USER, DONE | {"prefix": True}, USER,
    ),
    "a result first": mistral(r"", result(FIRST)),
    "an empty reply": mistral(
        r"Assistant message must have either content or tool_calls",
        USER, {"role": "assistant", "content": ""}, USER,
    ),
    "text beside calls": mistral(
        r"Assistant message must have either content or tool_calls, but not both",
        USER, said(FIRST, content="So."), result(FIRST), model="open-mistral-7b",
    ),
    "the name of a speaker": mistral(
        r"name: Extra inputs are not permitted", USER | {"name": "a"}, status=422
    ),
    "reasoning": mistral(
        r"reasoning_content: Extra inputs are not permitted",
        USER, DONE | {"reasoning_content": "Hm."}, USER, status=422,
    ),
    "an unknown field": mistral(r"any: Extra inputs are not permitted", any=1, status=422),
    "an effort": mistral(
        r"reasoning_effort", model="mistral-large-latest", reasoning_effort="high"
    ),
    "the name of a result": mistral(
        r"Function name was a b but must be a-z, A-Z, 0-9",
        USER, said(FIRST), result(FIRST, name="a b"),
    ),
    "instructions behind results": mistral(
        r"Unexpected role 'system' after role 'tool'",
        USER, said(FIRST), result(FIRST), SYSTEM, USER,
    ),
    "a thought in a result": mistral(
        r"Content blocks are expected to be",
        USER,
        said(FIRST),
        result(FIRST, content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]),
        model="mistral-small-latest",
    ),
    "an image in a result": mistral(
        r"", USER, said(FIRST), result(FIRST, content=[IMAGE]), model="open-mistral-7b"
    ),
}  # fmt: skip
ROWS = {f"mistral: {name}": row for name, row in MISTRAL.items()}
# What differs a little from a row above, and is answered.
ACCEPTED = {
    "words to go on with, at Mistral": mistral("", USER, DONE | {"prefix": True}),
    "instructions before the assistant, at Mistral": mistral("", SYSTEM, DONE, USER),
    "instructions behind the user, at Mistral": mistral("", USER, SYSTEM, USER),
    "any id, at newer models of Mistral": mistral(
        "", USER, said("call_1"), result("call_1"), model="mistral-small-latest"
    ),
    "instructions alone, at Mistral": mistral("", SYSTEM),
    "a result with the name of its tool, at Mistral": mistral(
        "", USER, said(FIRST), result(FIRST, name="look")
    ),
}  # fmt: skip
