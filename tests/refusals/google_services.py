"""Fields and media that generateContent refuses, on the Gemini API and on Vertex: they differ."""

from typing import Any

from refusals.google import (
    ANSWERED,
    ASKED,
    CALL,
    CALLED,
    COUNT,
    OLD,
    SKIP,
    STRING,
    declared,
    gemini,
    model,
    of,
    user,
)
from refusals.rows import Refusal

UNKNOWN = r'Unknown name "any".*Cannot find field'
INLINE = {"inlineData": {"mimeType": "image/png", "data": "eA=="}}
SOUND = {"inlineData": {"mimeType": "audio/mp3", "data": "eA=="}}


def shown(kind: str) -> dict[str, Any]:
    return {"inlineData": {"mimeType": kind, "data": "eA=="}}


SEARCHED = model(
    {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {}}},
    {"toolResponse": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}},
)


def vertex(words: str, *contents: dict[str, Any], **more: Any) -> Refusal:
    return gemini(words, *contents, **more)._replace(provider="vertex")


def answered(*media: dict[str, Any]) -> dict[str, Any]:
    return user({"functionResponse": {"name": "look", "response": {}, "parts": list(media)}})


PIECES = {"name": "look", "partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}]}
STREAMED = {"mode": "AUTO", "streamFunctionCallArguments": True}
ROWS = {
    "an unknown field": gemini(UNKNOWN, any=1),
    "an unknown field of a content": gemini(UNKNOWN, ASKED | {"any": 1}),
    "an unknown field of a call": gemini(
        UNKNOWN, ASKED, model({"functionCall": {"name": "look", "args": {}, "any": 1}} | SKIP), ANSWERED
    ),
    "an unknown field of a function": gemini(
        r'Unknown name "strict" at .tools\[0\]\.function_declarations\[0\].', tools=[declared(strict=True)]
    ),
    "arguments in pieces": gemini(
        r'Unknown name "partialArgs" at .contents\[1\]\.parts\[0\]\.function_call.: Cannot find field',
        ASKED, model({"functionCall": PIECES} | SKIP), ANSWERED,
    ),
    "a piece of a call": gemini(
        r'Unknown name "willContinue" at .contents\[1\]\.parts\[0\]\.function_call.: Cannot find field',
        ASKED, model({"functionCall": {"name": "look", "args": {}, "willContinue": True}} | SKIP), ANSWERED,
    ),
    "a piece of a call of Vertex": vertex(
        COUNT, ASKED, model({"functionCall": PIECES | {"willContinue": True}} | SKIP), ASKED
    ),
    "an unknown field of a part": gemini(
        r'Unknown name "type" at .contents\[0\]\.parts\[0\].: Cannot find', user({"type": "text", "text": "a"})
    ),
    "an unknown field of a result": gemini(
        r'Unknown name "any" at .contents\[2\]\.parts\[0\]\.function_response.: Cannot find field',
        ASKED, CALLED, user({"functionResponse": {"name": "look", "response": {}, "any": 1}}),
    ),
    "an unknown field of media": gemini(
        r'Unknown name "any" at .contents\[0\]\.parts\[0\]\.inline_data.: Cannot find field',
        user({"inlineData": {"mimeType": "image/png", "data": "eA==", "any": 1}}),
    ),
    "an unknown field of a file": gemini(
        r'Unknown name "any" at .contents\[0\]\.parts\[0\]\.file_data.: Cannot find field',
        user({"file_data": {"mime_type": "image/png", "file_uri": "https://a.com/a.png", "any": 1}}),
    ),
    "an unknown field of media in a result": gemini(
        r'Unknown name "any" at .contents\[2\]\.parts\[0\]\.function_response\.parts\[0\]\.inline_data.:',
        ASKED, CALLED, answered({"inlineData": {"mimeType": "image/png", "data": "eA==", "any": 1}}),
    ),
    "an unknown field of the instructions": gemini(
        r'Unknown name "any" at .system_instruction.: Cannot find field',
        systemInstruction={"parts": [{"text": "Be brief."}], "any": 1},
    ),
    "an unknown field of a part of the instructions": gemini(
        r'Unknown name "any" at .system_instruction\.parts\[0\].: Cannot find field',
        systemInstruction={"parts": [{"text": "Be brief.", "any": 1}]},
    ),
    "an unknown field of the config": gemini(
        r'Unknown name "any" at .generation_config.: Cannot find field', generationConfig={"any": 1}
    ),
    "an unknown field of the thinking": gemini(
        r'Unknown name "any" at .generation_config\.thinking_config.: Cannot find field',
        generationConfig={"thinkingConfig": {"includeThoughts": True, "any": 1}},
    ),
    "an unknown field of the tools' config": gemini(
        r'Unknown name "any" at .tool_config.: Cannot find field', toolConfig={"any": 1}
    ),
    "an unknown field of the choice": gemini(
        r'Unknown name "any" at .tool_config\.function_calling_config.: Cannot find field',
        toolConfig={"function_calling_config": {"mode": "ANY", "any": 1}},
    ),
    "a field of the config that only Vertex has": gemini(
        r'Unknown name "audioTimestamp" at .generation_config.', generationConfig={"audioTimestamp": True}
    ),
    "a field of the config that only the Gemini API has": vertex(
        r'Unknown name "enableEnhancedCivicAnswers" at .generation_config.',
        generationConfig={"enableEnhancedCivicAnswers": True},
    ),
    "a field of a part that only the Gemini API has": vertex(
        r'Unknown name "partMetadata" at .contents\[0\]\.parts\[0\].',
        user({"text": "a", "partMetadata": {"a": 1}}),
    ),
    "media in a result, before Gemini 3": gemini(r"", ASKED, CALLED, answered(INLINE), model=OLD),
    "a GIF in a result": gemini(r"", ASKED, CALLED, answered(shown("image/gif"))),
    "a table in a result": gemini(r"", ASKED, CALLED, answered(shown("text/csv"))),
    "sound in a result": gemini(r"", ASKED, CALLED, answered(SOUND)),
    "streamed arguments of the Gemini API": gemini(
        r"streamFunctionCallArguments", toolConfig={"functionCallingConfig": STREAMED}
    ),
    "calls that Vertex ran": vertex(
        r"Tool call context circulation is not enabled", ASKED, SEARCHED, ASKED
    ),
    "the switch for calls that Vertex ran": vertex(
        r"Tool call context circulation is not enabled",
        toolConfig={"includeServerSideToolInvocations": True},
    ),
    "tools beside a cache of Vertex": vertex(r"CachedContent can not be used", cachedContent="a"),
}  # fmt: skip
# What differs a little from a row above, and is answered.
ACCEPTED = {
    "all fields of a request to Gemini": gemini(
        "", safetySettings=[], labels={"a": "b"}, generation_config={"maxOutputTokens": 5}
    ),
    "all kinds of fields, in either spelling": gemini(
        "",
        user({"text": "a", "part_metadata": {"a": 1}}, {"inline_data": {"mime_type": "image/png", "data": "eA==", "display_name": "a"}}),
        generation_config={"thinking_config": {"include_thoughts": True}, "maxOutputTokens": 5, "response_modalities": ["TEXT"]},
        tool_config={"function_calling_config": {"mode": "ANY"}, "retrievalConfig": {"any": 1}},
        system_instruction={"role": "system", "parts": [{"text": "Be brief."}]},
    ),
    "arguments in pieces, at Vertex": vertex("", ASKED, model({"functionCall": PIECES} | SKIP), ANSWERED),
    "a closed object, at Vertex": vertex(
        "", tools=[declared(parameters=of(a=STRING) | {"additionalProperties": False})]
    ),
    "fields that only Vertex has": vertex("", generationConfig={"audioTimestamp": True}),
    **{
        f"media in a result of Gemini 3: {kind}": gemini("", ASKED, CALLED, answered(shown(kind)))
        for kind in ("image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain")
    },
    "streamed arguments of Vertex": vertex("", toolConfig={"functionCallingConfig": STREAMED}),
    "calls that Gemini ran": gemini("", ASKED, SEARCHED, ASKED),
    "a name with a dot and a colon": gemini("", tools=[declared("a.b:c")]),
    "words for no signature, as bytes": gemini(
        "", ASKED,
        model(CALL | {"thoughtSignature": "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="}), ANSWERED,
    ),
    "a search of Gemini": gemini("", tools=[{"google_search": {}}, {"urlContext": {}}]),
}  # fmt: skip
