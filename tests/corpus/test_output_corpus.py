"""Recorded requests for a reply of a certain form: all are read, and said again as they were."""

import json
from functools import cache

from canonicall import OutputFormat, decode_request, encode_request
from canonicall.facts.registry import find_profile
from corpus.support import encoded_for, every_record, needs_corpus

pytestmark = needs_corpus

FORMATS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "gemini-generate": "gemini",
    "ollama-chat": "ollama",
}
PROVIDERS = {"alibaba": "qwen", "openai-chat": "openai", "openai-responses": "openai"}
# The only word of JSON stands in a system message, which goes where the API does not look for it;
# so a schema that allows any object is sent instead.
REWORDED = ["test_prompted_output.yaml#1"]


def form_in(body, format):
    """What a body says of the form of the reply."""
    match format:
        case "openai-chat":
            form = body.get("response_format")
        case "openai-responses":
            form = (body.get("text") or {}).get("format")
        case "anthropic":
            form = body.get("output_format") or (body.get("output_config") or {}).get("format")
        case "ollama":
            form = body.get("format")
        case _:
            config = body.get("generationConfig") or body.get("generation_config") or {}
            named = {name.replace("_", "").lower(): one for name, one in config.items()}
            wanted = ("responsemimetype", "responseschema", "responsejsonschema")
            form = {name: named[name] for name in wanted if name in named}
    return None if form in ({}, {"type": "text"}) else form


@cache
def recorded():
    """Format, provider and record of each."""
    found = []
    for record in every_record():
        format, body = FORMATS.get(record["protocol"]), record["request"]
        if format and isinstance(body, dict) and record["status"] == 200 and form_in(body, format):
            name = PROVIDERS.get(record["provider"], record["provider"])
            found.append((format, name if find_profile(name) else "generic", record))
    assert len(found) > 140
    return found


def test_every_form_is_read():
    unread = [
        record["id"]
        for format, provider, record in recorded()
        if decode_request(record["request"], format, provider=provider).params.output is None
    ]
    assert unread == []


def test_every_form_is_said_again_as_it_was_to_the_same_model():
    changed = []
    for format, provider, record in recorded():
        request = decode_request(record["request"], format, provider=provider)
        made = encode_request(request, f"{provider}/{format}:{record['model']}")
        if form_in(made.body, format) != form_in(record["request"], format):
            changed.append(record["id"].rpartition("/")[2])
    assert changed == REWORDED


def test_every_schema_reaches_claude_and_gemini_whole():
    """Nothing of a recorded schema is lost but limits of numbers, which Claude is told in words."""
    for format, _, record in recorded():
        request = decode_request(record["request"], format)
        output = request.params.output
        if output is None or output.schema is None:
            continue
        for target in ("anthropic:claude-sonnet-4-5", "gemini:gemini-3-pro"):
            made = encoded_for(request, target)
            if made is None:
                continue
            came = decode_request(made.body, made.target.format).params.output
            assert isinstance(came, OutputFormat), record["id"]
            assert came.schema["properties"].keys() == output.schema["properties"].keys()
            lost = [one for one in made.report if one.code == "schema_weakened"]
            about = [one for one in lost if one.where.startswith("params.output")]
            assert all("minimum" in one.why for one in about), json.dumps(output.schema)
