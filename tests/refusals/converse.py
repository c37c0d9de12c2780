"""What Bedrock refuses in Converse."""

from typing import Any

from refusals.rows import NOVA, Refusal

TOLD = {"role": "user", "content": [{"text": "Hi"}]}
SAID = {"role": "assistant", "content": [{"text": "So."}]}
LLAMA, WRITER = "meta.llama3-3-70b-instruct-v1:0", "writer.palmyra-x5-v1:0"
OPUS = "us.anthropic.claude-opus-4-8-v1:0"
VIDEO = {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://bucket/a.mp4"}}}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm."}}}
SONNET = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
THINKS = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
CITY = '{"type": "object", "properties": {}, "additionalProperties": false}'
REPLY = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"schema": CITY}}}}
POINT = {"cachePoint": {"type": "default"}}


def spec(name: str = "look", **more: Any) -> dict[str, Any]:
    return {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}, **more}}


def strict(name: str = "look", **properties: Any) -> dict[str, Any]:
    """A strict tool; `additionalProperties` stands among its properties here."""
    closed = {key: properties.pop(key) for key in ("additionalProperties",) if key in properties}
    schema = {"type": "object", "properties": properties, **closed}
    return spec(name, strict=True, inputSchema={"json": schema})


def use(id: str = "t1", input: Any = None, name: str = "look") -> dict[str, Any]:
    return {"toolUse": {"toolUseId": id, "name": name, "input": {} if input is None else input}}


def result(id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": id, "content": [{"text": "ok"}], **more}}


def asked(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def replied(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def document(name: str = "a", format: str = "txt") -> dict[str, Any]:
    return {"document": {"format": format, "name": name, "source": {"bytes": "eA=="}}}


def image(format: str | None = "png") -> dict[str, Any]:
    return {"image": {"source": {"bytes": "eA=="}} | ({"format": format} if format else {})}


def converse(words: str, *messages: dict[str, Any], model: str = NOVA, **more: Any) -> Refusal:
    body = {"messages": list(messages or (TOLD,)), "toolConfig": {"tools": [spec()]}, **more}
    body = {name: value for name, value in body.items() if value is not None}
    return Refusal("bedrock", "bedrock", model, body, words)


def offered(words: str, *tools: dict[str, Any], model: str = NOVA, **more: Any) -> Refusal:
    return converse(words, model=model, toolConfig={"tools": list(tools), **more})


ALONE = r"Conversation blocks and tool result blocks cannot be provided in the same turn"
SIGNED = {"toolUse": {**use()["toolUse"], "reasoningSignature": "c2ln"}}
BEDROCK = {
    "a signature of Gemini's on a call": converse(
        r'Unknown parameter in messages\[1\]\.content\[0\]\.toolUse: "reasoningSignature", must be one of',
        TOLD, replied(SIGNED), asked(result()),
    ),
    "a type beside a text": converse(
        r'Unknown parameter in messages\[0\]\.content\[0\]: "type"', asked({"type": "text", "text": "a"})
    ),
    "a field of a result": converse(
        r'Unknown parameter in messages\[2\]\.content\[0\]\.toolResult: "is_error"',
        TOLD, replied(use()), asked(result(is_error=True)),
    ),
    "a field of a message": converse(
        r'Unknown parameter in messages\[0\]: "id"', {**TOLD, "id": "msg_1"}
    ),
    "results are missing": converse(
        r"Expected toolResult blocks at messages\.2\.content for the following Ids: t1",
        TOLD, replied(use()), TOLD,
    ),
    "more results than calls": converse(
        r"The number of toolResult blocks at messages\.2\.content exceeds the number of toolUse"
        r" blocks of previous turn",
        TOLD, replied(use()), asked(result(), result("t2")),
    ),
    "no tools": converse(
        r"The toolConfig field must be defined when using toolUse and toolResult content blocks",
        TOLD, replied(use()), asked(result()), toolConfig=None,
    ),
    "blank text": converse(
        r"The text field in the ContentBlock object at messages\.0\.content\.0 is blank",
        asked({"text": " "}),
    ),
    "the assistant first": converse(
        r"A conversation must start with a user message", SAID, TOLD
    ),
    "two messages of one role": converse(r"alternate", TOLD, TOLD),
    "text beside results": converse(
        ALONE, TOLD, replied(use()), asked(result(), {"text": "a"}), model=LLAMA
    ),
    "a document beside results of Claude": converse(
        r"", TOLD, replied(use()), asked(result(), {"text": "a"}, document()), model=OPUS
    ),
    "arguments that are no object": converse(r"", TOLD, replied(use(input="x")), asked(result())),
    "a result without content": converse(r"", TOLD, replied(use()), asked(result(content=[]))),
    "a document without text": converse(r"", asked(document())),
    "a dot in the name of a document": converse(
        r"The document file name can only contain alphanumeric characters",
        asked({"text": "a"}, document("a.txt")),
    ),
    "two documents of one name": converse(
        r"duplicate document names", asked({"text": "a"}, document(), document())
    ),
    "an image of the assistant": converse(
        r"can only be in a message with the user",
        TOLD, replied({"image": {"format": "png", "source": {"bytes": "eA=="}}}), TOLD,
    ),
    "a status of Writer's": converse(
        r"This model doesn't support the status field\. Remove status and try again",
        TOLD, replied(use()), asked(result(status="error")), model=WRITER,
    ),
    "reasoning": converse(
        r"cannot contain reasoning content", TOLD, replied(THOUGHT, use()), asked(result())
    ),
    "a temperature of a new Claude": converse(
        r"`temperature` is deprecated for this model", model=OPUS, inferenceConfig={"temperature": 0.5}
    ),
    "a temperature while Claude thinks": converse(
        r"`temperature` may only be set to 1 when thinking is enabled",
        model=SONNET, inferenceConfig={"temperature": 0.5}, additionalModelRequestFields=THINKS,
    ),
    "a forced call while Claude thinks": converse(
        r"Thinking may not be enabled when tool_choice forces tool use",
        model=SONNET, toolConfig={"tools": [spec()], "toolChoice": {"any": {}}},
        additionalModelRequestFields=THINKS,
    ),
    "a film in a result": converse(
        r"extraneous key",
        TOLD, replied(use()), asked(result(content=[VIDEO])), model="us.amazon.nova-2-lite-v1:0",
    ),
    "characters of an id": converse(r"", TOLD, replied(use("t 1")), asked(result("t 1"))),
    "a long id": converse(r"", TOLD, replied(use("t" * 65)), asked(result("t" * 65))),
    "a status that there is not": converse(
        r"1 validation error detected: Value at 'messages\.3\.member\.content\.1\.member\.toolResult\.status'"
        r" failed to satisfy constraint: Member must satisfy enum value set: \[success, error\]",
        TOLD, replied(use()), asked(result(status="ok")),
    ),
    "a cache point that there is not": converse(
        r"cachePoint\.type' failed to satisfy constraint: Member must satisfy enum value set: \[default\]",
        asked({"text": "a"}, {"cachePoint": {"type": "ephemeral"}}), model=SONNET,
    ),
    "a cache point without a type": converse(
        r"cachePoint\.type' failed to satisfy constraint: Member must not be null",
        asked({"text": "a"}, {"cachePoint": {"ttl": "1h"}}), model=SONNET,
    ),
    "a lifetime that there is not": offered(
        r"'toolConfig\.tools\.2\.member\.cachePoint\.ttl' failed to satisfy constraint: Member must"
        r" satisfy enum value set: \[5m, 1h\]",
        spec(), {"cachePoint": {"type": "default", "ttl": "2h"}}, model=SONNET,
    ),
    "an image by the ending of its name": converse(
        r"Value at 'messages\.1\.member\.content\.1\.member\.image\.format' failed to satisfy constraint:"
        r" Member must satisfy enum value set: \[png, jpeg, gif, webp\]",
        asked(image("jpg")),
    ),
    "an image that it does not read": converse(
        r"image\.format' failed to satisfy", asked({"text": "a"}, image("tiff"))
    ),
    "an image of no format": converse(
        r"image\.format' failed to satisfy constraint: Member must not be null", asked(image(None))
    ),
    "an image in a result that it does not read": converse(
        r"toolResult\.content\.1\.member\.image\.format' failed to satisfy",
        TOLD, replied(use()), asked(result(content=[image("svg+xml")])),
    ),
    "a document that it does not read": converse(
        r"document\.format' failed to satisfy constraint: Member must satisfy enum value set: \[pdf, csv, doc,",
        asked({"text": "a"}, document(format="json")),
    ),
    "a film that it does not read": converse(
        r"video\.format' failed to satisfy", asked({"text": "a"}, {"video": VIDEO["video"] | {"format": "avi"}})
    ),
    "a cache point behind a tool of Nova": offered(
        r"Malformed input request: #/toolConfig/tools/1: extraneous key \[cachePoint\] is not permitted",
        spec(), POINT,
    ),
    "a choice of schemas, of Claude": offered(
        r"tools\.0\.custom\.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
        spec(inputSchema={"json": {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}}}),
        model=SONNET,
    ),
    "a tool and a cache point in one": offered(
        r"The value at toolConfig\.tools\.0 can only set one of the following keys: toolSpec, systemTool,"
        r" modelTool, or cachePoint\.",
        spec() | POINT, model=SONNET,
    ),
    "a tool that is none": offered(r"must set one of the following keys", spec(), {}, model=SONNET),
    "two things in one block": converse(
        r"The value at messages\.0\.content\.0 can only set one of the following keys: text, image,",
        asked({"text": "a"} | image()),
    ),
    "an unknown block": converse(
        r"must set one of the following keys", asked({"text": "a"}, {"words": "b"})
    ),
    "a failed result without content": converse(
        r"The content field at messages\.2\.content\.0\.toolResult cannot be empty when status value is error",
        TOLD, replied(use()), asked(result(content=[], status="error")), model=SONNET,
    ),
    "results at the end are missing": converse(
        r"Expected toolResult blocks at messages\.2\.content for the following Ids: t1", TOLD, replied(use())
    ),
    "two results for one call": converse(r"", TOLD, replied(use()), asked(result(), result())),
    "a result of another call": converse(
        r"exceeds the number of toolUse blocks of previous turn", TOLD, replied(use()), asked(result("t2"))
    ),
    "a call of the user": converse(r"", asked(use())),
    "a film beside results of Claude": converse(
        r"This model doesn't support the video content block",
        TOLD, replied(use()), asked(result(), {"text": "a"}, VIDEO), model=SONNET,
    ),
    "a film for Claude": converse(
        r"This model doesn't support the video content block", asked({"text": "a"}, VIDEO), model=SONNET
    ),
    "an image at an address in a result of Claude's": converse(
        r"This model doesn't support the s3Uri field",
        TOLD, replied(use()), asked(result(content=[{"image": {"format": "png", "source": {"s3Location": {"uri": "s3://a/b.png"}}}}])),
        model=SONNET,
    ),
    "an image at an address, for Claude": converse(
        r"This model doesn't support the s3Uri field",
        asked({"image": {"format": "png", "source": {"s3Location": {"uri": "s3://a/b.png"}}}}),
        model=SONNET,
    ),
    "text beside results of Mistral": converse(
        ALONE, TOLD, replied(use()), asked(result(), {"text": "a"}), model="mistral.mistral-large-2402-v1:0"
    ),
    "text beside results of Writer": converse(
        ALONE, TOLD, replied(use()), asked(result(), {"text": "a"}), model=WRITER
    ),
    "a document of the assistant": converse(
        r"can only be in a message with the user", TOLD, replied({"text": "a"}, document()), TOLD
    ),
    "the name of a call": converse(r"", TOLD, replied(use(name="a b")), asked(result())),
    "an empty id": converse(r"", TOLD, replied(use("")), asked(result(""))),
    "no schema": offered(r"inputSchema\.json is invalid\. Provide a json object", {"toolSpec": {"name": "look"}}),
    "a choice of a tool that there is not": offered(r"", spec(), toolChoice={"tool": {"name": "other"}}),
    "a forced call of a new Claude": offered(
        r'The model returned the following errors: tool_choice: type "tool" and "any" are not supported for this'
        r" model",
        spec(), model="us.anthropic.claude-opus-5-5", toolChoice={"any": {}},
    ),
    "a schema of the reply of a new Claude": converse(
        r"The model returned the following errors: output_config\.format: Extra inputs are not permitted",
        model="us.anthropic.claude-opus-5", outputConfig=REPLY,
    ),
    "a schema of the reply of Nova": converse(r"", outputConfig=REPLY),
    "a forced call of Llama": offered(
        r"This model doesn't support the toolConfig\.toolChoice\.any field", spec(), model=LLAMA, toolChoice={"any": {}}
    ),
    "reasoning of the user": converse(
        r"User messages cannot contain reasoning content", asked(THOUGHT, {"text": "a"}), model=SONNET
    ),
    "no tool in the list": offered(r""),
    "characters of a name": offered(
        r"1 validation error detected: Value 'a\.b' at 'toolConfig\.tools\.1\.member\.toolSpec\.name' failed to"
        r" satisfy constraint: Member must satisfy regular expression pattern",
        spec("a.b"),
    ),
    "a long name": offered(r"Member must have length less than or equal to 64", spec("a" * 65)),
    "an empty description": offered(r"", spec(description="")),
    "a schema that is no object": offered(r"", spec(inputSchema={"json": {"type": "string"}})),
    "a strict tool": offered(
        r"tools\.0\.custom\.strict: Extra inputs are not permitted", spec(strict=True), model=OPUS
    ),
    "a mark that says not to be strict": offered(
        r"tools\.0\.custom\.strict: Extra inputs are not permitted", spec(strict=False), model=OPUS
    ),
    "a strict tool of Nova": offered(
        r"This model doesn't support the strict field\. Remove strict and try again", spec(strict=True)
    ),
    "a strict tool of Llama": offered(
        r"This model doesn't support the strict field\. Remove strict and try again",
        spec(strict=True), model=LLAMA,
    ),
    "a strict tool whose object is open": offered(
        r"The model returned the following errors: tools\.0\.custom: For 'object' type,"
        r" 'additionalProperties' must be explicitly set to false",
        strict(), model=SONNET,
    ),
    "a strict tool with limits of its lists": offered(
        r"tools\.0\.custom: For 'array' type, property 'maxItems' is not supported",
        strict(a={"type": "array", "items": {"type": "string"}, "maxItems": 3}, additionalProperties=False),
        model=SONNET,
    ),
    "many strict tools": offered(
        r"Too many strict tools \(21\)",
        *(strict(f"look_{at}", additionalProperties=False) for at in range(21)), model=SONNET,
    ),
    "many optional parameters of strict tools": offered(
        r"too many optional parameters \(25\)",
        strict(additionalProperties=False, **{f"a{at}": {"type": "string"} for at in range(25)}),
        model=SONNET,
    ),
    "no tool at all": offered(
        r"This model doesn't support the toolConfig\.toolChoice\.none field",
        spec(), model=OPUS, toolChoice={"none": {}},
    ),
    "a named tool of Llama": offered(
        r"This model doesn't support the toolConfig\.toolChoice\.tool field",
        spec(), model=LLAMA, toolChoice={"tool": {"name": "look"}},
    ),
    "five cache points": converse(r"", asked({"text": "a"}, *[POINT, {"text": "b"}] * 5), model=OPUS),
    "a cache point behind a document": converse(
        r"messages\.0\.content\.2\.type: Field required", asked({"text": "a"}, document(), POINT), model=OPUS
    ),
    "a long cache point behind a short one": converse(
        r"", asked({"text": "a"}, POINT, {"text": "b"}, {"cachePoint": {"type": "default", "ttl": "1h"}}),
        model=OPUS,
    ),
}  # fmt: skip


ROWS = BEDROCK
# What differs a little from a row above, and is answered.
ACCEPTED = {
    "a call that Nova ran, with its result": converse(
        "",
        TOLD,
        replied(
            {"toolUse": {**use()["toolUse"], "type": "server_tool_use"}},
            result(type="nova_grounding_result"),
            {"text": "So."},
        ),
        TOLD,
    ),
    "a schema of the reply of Claude 4.5": converse("", model=SONNET, outputConfig=REPLY),
    "a cache point behind a tool of Claude": offered("", spec(), POINT, model=SONNET),
    "a cache point behind words to Nova": converse("", asked({"text": "a"}, POINT)),
    "a result without content, of Claude": converse(
        "", TOLD, replied(use()), asked(result(content=[])), model=SONNET
    ),
    "a result that is null, of Nova": converse(
        "", TOLD, replied(use()), asked(result(content=[{"json": None}]))
    ),
    "an image beside results of Claude": converse(
        "", TOLD, replied(use()), asked(result(), image()), model=SONNET
    ),
    "a cache point behind a PDF": converse(
        "", asked({"text": "a"}, document(format="pdf"), POINT), model=SONNET
    ),
    "a document without its format": converse(
        "", asked({"text": "a"}, {"document": {"name": "a", "source": {"bytes": "eA=="}}})
    ),
    "all that a cache point may say": converse(
        "", asked({"text": "a"}, {"cachePoint": {"type": "default", "ttl": "1h"}}), model=SONNET
    ),
    "an image of a known format": converse("", asked(image("webp"))),
    "a strict tool of Claude on Bedrock": offered(
        "", strict(a={"type": "string", "minLength": 1}, additionalProperties=False), model=SONNET
    ),
    "a strict tool of Mistral Large 3 on Bedrock": offered(
        "", strict(), model="mistral.mistral-large-3-675b-instruct"
    ),
    "a strict tool of Qwen 3 on Bedrock": offered("", strict(), model="qwen.qwen3-32b-v1:0"),
    "the assistant first, of Claude on Bedrock": converse("", SAID, TOLD, model=SONNET),
    "the assistant first, of Qwen on Bedrock": converse(
        "", SAID, TOLD, model="qwen.qwen3-32b-v1:0"
    ),
    "reasoning that nobody signs": converse(
        "", TOLD, replied(THOUGHT, use()), asked(result()), model="openai.gpt-oss-120b-1:0"
    ),
    "the usual temperature of a new Claude": converse(
        "", model=OPUS, inferenceConfig={"temperature": 1}
    ),
    "the usual temperature while Claude thinks": converse(
        "", model=SONNET, inferenceConfig={"temperature": 1}, additionalModelRequestFields=THINKS
    ),
}
