"""What generateContent refuses of contents, signatures and tools."""

from typing import Any

from refusals.rows import GEMINI, Refusal

ASKED = {"role": "user", "parts": [{"text": "Hi"}]}
TOLD = {"role": "model", "parts": [{"text": "So."}]}
CALL = {"functionCall": {"name": "look", "args": {}}}
ANSWER = {"functionResponse": {"name": "look", "response": {"output": 1}}}
SKIP = {"thoughtSignature": "skip_thought_signature_validator"}
CALLED = {"role": "model", "parts": [CALL | SKIP]}
ANSWERED = {"role": "user", "parts": [ANSWER]}
STRING = {"type": "STRING"}
OLD = "gemini-2.5-flash"


def declared(name: str = "look", **more: Any) -> dict[str, Any]:
    return {"functionDeclarations": [{"name": name, **more}]}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "OBJECT", "properties": properties}


def gemini(words: str, *contents: dict[str, Any], model: str = GEMINI, **more: Any) -> Refusal:
    body = {"contents": list(contents or (ASKED,)), "tools": [declared()], **more}
    body = {name: value for name, value in body.items() if value is not None}
    return Refusal("gemini", "gemini", model, body, words)


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


COUNT = r"number of function response parts is equal to the number of function call parts"
NAME = r"Invalid function name\. Must start with a letter or an underscore"
CONTENTS = {
    "results are missing": gemini(COUNT, ASKED, model(CALL | SKIP, CALL), ANSWERED),
    "results in two contents": gemini(
        COUNT, ASKED, model(CALL | SKIP, CALL), ANSWERED, ANSWERED
    ),
    "more results than calls": gemini(COUNT, ASKED, CALLED, user(ANSWER, ANSWER)),
    "a result of the model": gemini(
        r"function response turn comes immediately after a function call turn", ASKED, CALLED, model(ANSWER)
    ),
    "the name of a call": gemini(
        NAME, ASKED, model({"functionCall": {"name": "1 a", "args": {}}} | SKIP),
        user({"functionResponse": {"name": "1 a", "response": {}}}),
    ),
    "no result": gemini(COUNT, ASKED, CALLED, ASKED),
    "a result without its call": gemini(
        r"function response turn comes immediately after a function call turn", ASKED, ANSWERED
    ),
    "a call of the user": gemini(
        r"function call turn comes immediately after a user turn or after a function response turn",
        user(CALL),
    ),
    "a call at the beginning": gemini(
        r"function call turn comes immediately after a user turn or after a function response turn",
        CALLED, ANSWERED,
    ),
    "the model first": gemini(r"multiturn requests alternate between user and model", TOLD, ASKED),
    "no parts": gemini(r"parts must not be empty", user()),
    "no data in a part": gemini(r"must have one initialized field", user({})),
    "two kinds of data in a part": gemini(r"oneof field 'data' is already set", user({"text": "a", **CALL})),
    "empty text": gemini(r"empty text parameter", user({"text": "Hi"}, {"text": ""}), model="gemini-2.0-flash"),
    "a result without a name": gemini(
        r"Name cannot be empty", ASKED, CALLED, user({"functionResponse": {"response": {}}})
    ),
    "a result that is no object": gemini(
        r"google\.protobuf\.Struct",
        ASKED, CALLED, user({"functionResponse": {"name": "look", "response": "x"}}),
    ),
    "arguments that are no object": gemini(
        r"google\.protobuf\.Struct",
        ASKED, model({"functionCall": {"name": "look", "args": "x"}} | SKIP), ANSWERED,
    ),
    "an unknown role": gemini(r"valid role: user, model", {"role": "assistant", "parts": [{"text": "a"}]}),
}  # fmt: skip
SIGNATURES = {
    "no signature": gemini(
        r"Function call is missing a thought_signature in functionCall parts.*`default_api:look`,"
        r" position 1",
        ASKED, model(CALL), ANSWERED,
    ),
    "no signature of the second step": gemini(
        r"Function call is missing a thought_signature",
        ASKED, CALLED, ANSWERED, model(CALL), ANSWERED,
    ),
    "a signature inside of the call": gemini(
        r"Unknown name \"thoughtSignature\".*Cannot find field",
        ASKED, model({"functionCall": {"name": "look", "args": {}} | SKIP}), ANSWERED, model=OLD,
    ),
    "a signature of somebody else": gemini(
        r"[Tt]hought signature", ASKED, model(CALL | {"thoughtSignature": "c29tZQ=="}), ANSWERED
    ),
    "calls that the provider ran, before Gemini 3": gemini(
        r"Tool call context circulation is not enabled",
        ASKED,
        model(
            {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {}}},
            {"toolResponse": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}},
        ),
        ASKED, model=OLD,
    ),
    "media that the provider worked on": gemini(
        r"Tool type of tool_call part does not match with tool call context",
        ASKED,
        model({"toolCall": {"id": "s1", "toolType": "MEDIA_PROCESSING", "args": {}}}, {"text": "a"}),
        ASKED,
    ),
}  # fmt: skip
TOOLS = {
    "a name that begins with a digit": gemini(NAME, tools=[declared("1look")]),
    "a long name": gemini(NAME, tools=[declared("a" * 129)]),
    "names of parameters": gemini(r"", tools=[declared(parameters=of(**{"a-b": STRING}))]),
    "a keyword of JSON Schema": gemini(
        r'Unknown name "const" at .tools\[0\]\.function_declarations\[0\]\.parameters\.properties\[0\]\.value.:',
        tools=[declared(parameters=of(a=STRING | {"const": "x"}))],
    ),
    "a closed object": gemini(
        r'Unknown name "additionalProperties" at .tools\[0\]\.function_declarations\[0\]\.parameters.: Cannot',
        tools=[declared(parameters=of(a=STRING) | {"additionalProperties": False})],
    ),
    "a reference": gemini(
        r'Unknown name "ref" at .tools\[0\]\.function_declarations\[0\]\.parameters.*Cannot find field',
        tools=[declared(parameters=of(a={"ref": "#/defs/A"}))],
    ),
    "a closed object of the reply": gemini(
        r'Unknown name "additionalProperties" at .generation_config\.response_schema.: Cannot find field',
        generationConfig={
            "responseMimeType": "application/json",
            "responseSchema": of(a=STRING) | {"additionalProperties": False},
        },
    ),
    "a list of types": gemini(
        r"Proto field is not repeating", tools=[declared(parameters=of(a={"type": ["string", "null"]}))]
    ),
    "choices that are no text": gemini(
        r"TYPE_STRING", tools=[declared(parameters=of(a=STRING | {"enum": [1]}))]
    ),
    "an array of nobody knows what": gemini(
        r"items: missing field", tools=[declared(parameters=of(a={"type": "ARRAY"}))]
    ),
    "no parameters": gemini(
        r"\.parameters\.properties: should be non-empty for OBJECT type",
        tools=[declared(parameters=of())], model="gemini-1.5-flash",
    ),
    "two schemas": gemini(
        r"mutually exclusive",
        tools=[declared(parameters=of(a=STRING), parametersJsonSchema={"type": "object"})],
    ),
    "two schemas of what it returns": gemini(
        r"mutually exclusive", tools=[declared(response=of(a=STRING), responseJsonSchema={"type": "object"})]
    ),
    "many tools": gemini(
        r"", tools=[{"functionDeclarations": [{"name": f"look_{at}"} for at in range(513)]}]
    ),
    "a choice without tools": gemini(
        r"Function calling config is set without function_declarations",
        tools=None, toolConfig={"functionCallingConfig": {"mode": "ANY"}},
    ),
    "names where the model chooses": gemini(
        r"", toolConfig={"functionCallingConfig": {"mode": "AUTO", "allowedFunctionNames": ["look"]}}
    ),
    "functions beside other tools, before Gemini 3": gemini(
        r"Multiple tools are supported only when they are all search tools",
        tools=[declared(), {"googleSearch": {}}], model=OLD,
    ),
    "tools beside a cache": gemini(
        r"CachedContent can not be used with GenerateContent request setting", cachedContent="cachedContents/a"
    ),
    "a choice beside a cache": gemini(
        r"CachedContent can not be used with GenerateContent request setting",
        tools=None, cachedContent="cachedContents/a",
        toolConfig={"functionCallingConfig": {"mode": "ANY"}},
    ),
    "names where no tool may be called": gemini(
        r"", toolConfig={"functionCallingConfig": {"mode": "NONE", "allowedFunctionNames": ["look"]}}
    ),
    "a choice of a tool that there is not": gemini(
        r"", toolConfig={"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["other"]}}
    ),
    "one name for two tools": gemini(
        r"Duplicate function declaration found: look", tools=[declared(), declared()]
    ),
    "choices of a number": gemini(
        r"enum: only allowed for STRING type", tools=[declared(parameters=of(a={"type": "INTEGER", "enum": ["1"]}))]
    ),
    "an empty choice": gemini(
        r"enum\[0\]: cannot be empty", tools=[declared(parameters=of(a=STRING | {"enum": [""]}))]
    ),
    "a schema that is no object": gemini(r"", tools=[declared(parametersJsonSchema={"type": "string"})]),
    "a parameter that is required and not there": gemini(
        r"required\[0\]: property is not defined", tools=[declared(parameters=of(a=STRING) | {"required": ["b"]})]
    ),
}  # fmt: skip
ROWS = {**CONTENTS, **SIGNATURES, **TOOLS}
