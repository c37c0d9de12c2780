"""The format of the reply, judged in every format: its shape, its schema, and what goes with it."""

import json
from typing import Any

from batches import each
from canonicall.verify import verify

CLOSED = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"city": {"type": "string"}}}
OPTIONAL = {**OPEN, "additionalProperties": False}
HELLO = {"role": "user", "content": "Hello"}
JSON = {"role": "user", "content": "Answer in JSON."}
TOOLS = [
    {
        "type": "function",
        "function": {"name": "look", "parameters": {"type": "object", "properties": {}}},
    }
]


def chat(form: Any, message: Any = HELLO, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [message], "response_format": form, **fields}


def schema(held: Any = CLOSED, **fields: Any) -> dict[str, Any]:
    named = {"name": "place", "schema": held, **fields}
    return {"type": "json_schema", "json_schema": named}


def responses(form: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "input": [HELLO], "text": {"format": form}, **fields}


def flat(held: Any = CLOSED, **fields: Any) -> dict[str, Any]:
    return {"type": "json_schema", "name": "place", "schema": held, **fields}


def messages(form: Any, **fields: Any) -> dict[str, Any]:
    config = {"output_config": {"format": form}}
    return {"model": "m", "max_tokens": 9, "messages": [HELLO], **config, **fields}


def claude(held: Any = CLOSED) -> dict[str, Any]:
    return {"type": "json_schema", "schema": held}


def gemini(**config: Any) -> dict[str, Any]:
    contents = [{"role": "user", "parts": [{"text": "Hello"}]}]
    return {"contents": contents, "generationConfig": config}


def converse(text: Any) -> dict[str, Any]:
    form = {"type": "json_schema", "structure": {"jsonSchema": {"schema": text}}}
    said = {"role": "user", "content": [{"text": "Hello"}]}
    return {"messages": [said], "outputConfig": {"textFormat": form}}


SONNET = "anthropic:claude-sonnet-4-5"
BEDROCK = "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0"
BAD = "bad_output_format"
MIME = "application/json"
OBJECT = {"type": "json_object"}

REFUSED = [
    ("openai", chat({"type": "xml"}), BAD, "$.response_format.type"),
    ("openai", chat(schema(name="")), BAD, "$.response_format.json_schema.name"),
    ("openai", chat(schema(name="a b")), BAD, "$.response_format.json_schema.name"),
    ("openai", chat(schema({"type": "array"})), BAD, "$.response_format.json_schema.schema"),
    ("openai", chat(schema(OPTIONAL, strict=True)), BAD, "$.response_format.json_schema.schema"),
    ("openai", chat(OBJECT), "json_word_missing", "$.response_format"),
    ("openai/openai-responses", responses(OBJECT), "json_word_missing", "$.text.format"),
    (
        "openai/openai-responses",
        responses(flat(OPTIONAL, strict=True)),
        BAD,
        "$.text.format.schema",
    ),
    (
        "openai/openai-responses",
        responses(OBJECT, instructions="Answer in JSON."),
        "json_word_missing",
        "$.text.format",
    ),
    ("deepseek:deepseek-chat", chat(schema()), "parameter_unsupported", "$.response_format"),
    ("groq:llama-3.3-70b", chat(schema()), "parameter_unsupported", "$.response_format"),
    (
        "groq:openai/gpt-oss-20b",
        chat(schema(), tools=TOOLS),
        "parameter_unsupported",
        "$.response_format.type",
    ),
    (
        "groq:openai/gpt-oss-20b",
        chat(schema(), stream=True),
        "parameter_unsupported",
        "$.response_format.type",
    ),
    ("anthropic:claude-3-5-haiku", messages(claude()), "parameter_unsupported", None),
    (SONNET, messages(OBJECT), BAD, "$.output_config.format.type"),
    (SONNET, messages({"type": "json_schema"}), BAD, "$.output_config.format.schema"),
    (SONNET, messages(claude(OPEN)), BAD, "$.output_config.format.schema"),
    (SONNET, messages(claude({"type": 5})), BAD, "$.output_config.format.schema.type"),
    (BEDROCK, converse("{"), BAD, "$.outputConfig.textFormat.structure.jsonSchema.schema"),
    (BEDROCK, converse(json.dumps(OPEN)), BAD, None),
    ("bedrock:amazon.nova-lite", converse(json.dumps(CLOSED)), "parameter_unsupported", None),
    ("gemini", gemini(responseSchema={}), BAD, "$.generationConfig.responseSchema"),
    (
        "gemini",
        gemini(responseMimeType=MIME, responseSchema={}, responseJsonSchema={}),
        BAD,
        "$.generationConfig.responseSchema",
    ),
    ("gemini", gemini(responseMimeType=MIME, responseSchema={"oneOf": []}), BAD, None),
    (
        "gemini:gemini-2.5-flash",
        gemini(responseMimeType=MIME) | {"tools": [{"functionDeclarations": [{"name": "look"}]}]},
        "parameter_unsupported",
        "$.generationConfig.responseMimeType",
    ),
    ("cohere", chat({"type": "json_object", "json_schema": {"type": "array"}}), BAD, None),
    ("cohere", chat({"type": "text", "json_schema": {}}), BAD, "$.response_format.json_schema"),
    ("cohere", chat(OBJECT, tools=TOOLS), "parameter_unsupported", "$.response_format.type"),
    ("ollama", {"messages": [HELLO], "format": 5}, BAD, "$.format"),
]

ACCEPTED = [
    ("openai", chat(schema(CLOSED, strict=True))),
    ("openai", chat(schema(OPEN))),
    ("openai", chat({"type": "text"})),
    ("openai", chat(OBJECT, JSON)),
    ("generic", chat({"type": "grammar"})),
    ("mistral", chat(OBJECT)),
    ("zai", chat(schema())),
    ("deepseek:deepseek-chat", chat(OBJECT, JSON)),
    ("groq:openai/gpt-oss-20b", chat(schema(), stream=False)),
    ("openai/openai-responses", responses(flat(CLOSED, strict=True))),
    ("openai/openai-responses", responses(OBJECT, input=[JSON])),
    ("openai/openai-responses", responses({"type": "text"})),
    (SONNET, messages(claude())),
    (SONNET, messages(claude({"type": "array", "items": CLOSED}))),
    (BEDROCK, converse(json.dumps(CLOSED))),
    ("gemini", gemini(responseMimeType=MIME)),
    ("gemini", gemini(responseMimeType=MIME, responseSchema={"type": "ARRAY", "items": {}})),
    ("gemini", gemini(responseMimeType="text/x.enum", responseSchema={"type": "STRING"})),
    ("cohere", chat({"type": "json_object", "json_schema": OPEN})),
    ("cohere", chat({"type": "text"}, tools=TOOLS)),
    ("ollama", {"messages": [HELLO], "format": OPEN}),
    ("ollama", {"messages": [HELLO], "format": ""}),
]


@each(("target", "body", "code", "where"), REFUSED)
def test_what_is_refused_is_told_with_its_place(target, body, code, where):
    (violation,) = verify(body, target)
    assert violation.code == code
    assert where is None or violation.where == where
    assert violation.source


@each(("target", "body"), ACCEPTED)
def test_what_is_accepted_has_no_violation(target, body):
    assert not verify(body, target)


def many(optional: int) -> dict[str, Any]:
    """A closed schema with so many properties that may be missing."""
    fields = {f"f{n}": {"type": "string"} for n in range(optional)}
    return {"type": "object", "properties": fields, "additionalProperties": False}


def test_the_limits_of_strict_mode_count_tools_and_the_reply_together():
    """Claude compiles them into one grammar; each alone would do."""
    tool = {"name": "look", "input_schema": many(14), "strict": True}
    assert not verify(messages(claude(many(14))), SONNET)
    assert not verify(messages(claude(), tools=[tool]), SONNET)
    (violation,) = verify(messages(claude(many(14)), tools=[tool]), SONNET)
    assert (violation.code, violation.where) == (BAD, "$.output_config.format.schema")
    assert "too many optional parameters (28)" in violation.error


def test_the_words_are_those_of_the_provider():
    (violation,) = verify(chat(schema({"type": "array"})), "openai")
    assert violation.error == (
        "Invalid schema for response_format 'place': schema must be a JSON Schema of "
        "'type: \"object\"', got 'type: \"array\"'."
    )
    (violation,) = verify(messages(claude(OPEN)), SONNET)
    assert violation.error == (
        "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly "
        "set to false"
    )
