"""The format of the reply in each format's own fields: read, and written again as it was."""

import json

import pytest
from msgspec.structs import replace

from canonicall import FieldRule, OutputFormat, decode_request, encode_request, get_target
from canonicall.blocks import Native

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
OTHER = {**SCHEMA, "title": "Other"}
GOOGLE = {"type": "OBJECT", "properties": {"city": {"type": "STRING", "nullable": True}}}
TEXT = json.dumps(SCHEMA, indent=1)
MODELS = {
    "openai-chat": "generic",
    "openai-responses": "openai/openai-responses:gpt-5",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-3-pro",
    "bedrock": "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0",
    "cohere": "cohere:command-a",
    "ollama": "ollama/ollama:qwen3",
}


def chat(form):
    return {"response_format": form}


def responses(form, **more):
    return {"text": {"format": form, **more}}


def claude(form, **more):
    return {"output_config": {"format": form, **more}}


def gemini(**config):
    return {"generationConfig": config}


def converse(held, **more):
    form = {"type": "json_schema", "structure": {"jsonSchema": held}}
    return {"outputConfig": {"textFormat": form, **more}}


def body(format, fields):
    talk = {"messages": [{"role": "user", "content": "JSON?"}]}
    if format == "gemini":
        talk = {"contents": [{"role": "user", "parts": [{"text": "JSON?"}]}]}
    if format == "bedrock":
        talk = {"messages": [{"role": "user", "content": [{"text": "JSON?"}]}]}
    if format == "openai-responses":
        talk = {"input": [{"role": "user", "content": "JSON?"}]}
    return {**talk, **fields}


NAMED = {"name": "place", "description": "Where.", "schema": SCHEMA, "strict": True}
READ = [
    ("openai-chat", chat({"type": "json_object"}), OutputFormat()),
    (
        "openai-chat",
        chat({"type": "json_schema", "json_schema": NAMED}),
        OutputFormat(SCHEMA, "place", "Where.", strict=True),
    ),
    (
        "openai-chat",
        chat(
            {"type": "json_schema", "json_schema": {"schema": SCHEMA, "name": "p", "strict": None}}
        ),
        OutputFormat(SCHEMA, "p"),
    ),
    ("openai-responses", responses({"type": "json_object"}, verbosity="low"), OutputFormat()),
    (
        "openai-responses",
        responses({"type": "json_schema", **NAMED}),
        OutputFormat(SCHEMA, "place", "Where.", strict=True),
    ),
    (
        "anthropic",
        claude({"type": "json_schema", "schema": SCHEMA}, task_budget={"total": 9}),
        OutputFormat(SCHEMA, strict=True),
    ),
    ("gemini", gemini(responseMimeType="application/json", topK=3), OutputFormat()),
    (
        "gemini",
        gemini(responseMimeType="application/json", responseJsonSchema=SCHEMA),
        OutputFormat(SCHEMA),
    ),
    (
        "gemini",
        gemini(responseMimeType="application/json", responseSchema=GOOGLE),
        OutputFormat({"type": "object", "properties": {"city": {"type": ["string", "null"]}}}),
    ),
    (
        "bedrock",
        converse({"schema": TEXT, "name": "place", "description": "Where."}, effort="low"),
        OutputFormat(SCHEMA, "place", "Where.", strict=True),
    ),
    ("cohere", chat({"type": "json_object"}), OutputFormat()),
    ("cohere", chat({"type": "json_object", "json_schema": SCHEMA}), OutputFormat(SCHEMA)),
    ("ollama", {"format": "json"}, OutputFormat()),
    ("ollama", {"format": SCHEMA}, OutputFormat(SCHEMA)),
]
UNREAD = [
    ("openai-chat", chat({"type": "text"})),
    ("openai-chat", chat({"type": "grammar", "grammar": "root"})),
    ("openai-chat", chat({"type": "json_object", "schema": SCHEMA})),
    ("openai-chat", chat({"type": "json_schema", "json_schema": {"name": "p"}})),
    ("openai-responses", responses({"type": "text"}, verbosity="low")),
    ("openai-responses", {"text": {"verbosity": "low"}}),
    ("gemini", gemini(responseMimeType="text/x.enum", responseSchema={"type": "STRING"})),
    ("bedrock", {"outputConfig": {"effort": "low"}}),
    ("cohere", chat({"type": "text"})),
]


def written(request, format):
    """What of the fields a body for the same format has."""
    made = encode_request(request, MODELS[format])
    names = ("response_format", "text", "output_config", "generationConfig", "outputConfig")
    return {name: made.body[name] for name in (*names, "format") if name in made.body}, made.report


@pytest.mark.parametrize(("format", "fields", "output"), READ)
def test_it_is_read_and_written_as_it_was(format, fields, output):
    request = decode_request(body(format, fields), format)
    assert request.params.output == output
    kept = request.native.fields if request.native is not None else {}
    assert str(SCHEMA) not in str(kept)
    again, report = written(request, format)
    assert again == fields
    assert not [one for one in report if "output" in one.where]


def test_what_is_of_a_wrong_kind_is_dropped_and_told():
    """OpenAI: "Invalid type for 'response_format': expected an object, but got a string instead."""
    request = decode_request(body("openai-chat", chat("json_object")), "openai-chat")
    assert written(request, "openai-chat")[0] == {}
    assert [one.where for one in request.findings] == ["$.response_format"]
    named = chat({"type": "json_schema", "json_schema": {"name": 5, "schema": SCHEMA}})
    request = decode_request(body("openai-chat", named), "openai-chat")
    assert request.params.output == OutputFormat(SCHEMA)
    assert [one.where for one in request.findings] == ["$.response_format.json_schema.name"]


BROKEN = [
    ("openai-chat", chat({})),
    ("openai-chat", chat({"type": "json_schema"})),
    ("openai-chat", chat({"type": "json_schema", "json_schema": {"name": "a b"}})),
    ("openai-responses", responses({})),
    ("openai-responses", responses({"type": "user"})),
    ("anthropic", claude({"schema": SCHEMA})),
    ("anthropic", claude({"type": "json_schema"})),
    ("anthropic", claude({"type": "text"})),
    ("bedrock", converse("r")),
    ("bedrock", converse({"schema": "{"})),
    ("bedrock", converse({"schema": {}})),
    ("anthropic", {"output_format": {"schema": SCHEMA}}),
    ("cohere", chat({"json_schema": SCHEMA})),
]


@pytest.mark.parametrize(("format", "fields"), BROKEN)
def test_what_says_nothing_is_left_out_and_told(format, fields):
    request = decode_request(body(format, fields), format)
    assert "param_dropped" in {one.code for one in request.findings}
    written_fields, _ = written(request, format)
    assert not [name for name in written_fields if name != "output_config"]


def test_a_schema_without_its_media_type_asks_for_json():
    request = decode_request(body("gemini", gemini(responseSchema=GOOGLE)), "gemini")
    assert request.params.output is not None
    assert [one.where for one in request.findings] == ["$.generationConfig.responseMimeType"]
    fields, _ = written(request, "gemini")
    assert fields == gemini(responseMimeType="application/json", responseSchema=GOOGLE)


def test_a_type_that_only_some_hosts_know_is_not_sent_to_one_that_checks():
    grammar = chat({"type": "grammar", "grammar": "root"})
    encoded = encode_request(decode_request(body("openai-chat", grammar), "openai-chat"), "openai")
    assert "response_format" not in encoded.body
    assert [one.where for one in encoded.report] == ["params.output"]


@pytest.mark.parametrize(("format", "fields"), UNREAD)
def test_what_has_no_canonical_meaning_stays_native(format, fields):
    request = decode_request(body(format, fields), format)
    assert request.params.output is None
    assert request.spelled is None
    assert written(request, format)[0] == fields


@pytest.mark.parametrize(("format", "fields", "output"), READ)
def test_a_changed_format_is_written_anew(format, fields, output):
    """What was said before counts only as long as it says the same; the rest of its object stays."""
    request = decode_request(body(format, fields), format)
    changed = replace(output, schema=OTHER)
    request = replace(request, params=replace(request.params, output=changed))
    again, _ = written(request, format)
    came = decode_request(body(format, again), format)
    assert came.params.output.schema == OTHER
    assert came.native == decode_request(body(format, fields), format).native


@pytest.mark.parametrize(("format", "fields", "output"), READ)
def test_a_format_that_was_taken_away_is_gone(format, fields, output):
    request = decode_request(body(format, fields), format)
    request = replace(request, params=replace(request.params, output=None))
    again, _ = written(request, format)
    assert decode_request(body(format, again), format).params.output is None


def test_snake_case_and_numbers_of_types_are_read():
    config = {
        "response_mime_type": "application/json",
        "response_schema": {"type": 6, "properties": {"n": {"type": 3}}},
    }
    request = decode_request(body("gemini", {"generation_config": config}), "gemini")
    plain = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert request.params.output == OutputFormat(plain)
    spelled = {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}
    again, _ = written(request, "gemini")
    assert again["generationConfig"]["responseSchema"] == spelled


def test_of_two_schemas_the_json_schema_counts():
    config = {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    fields = gemini(**config, responseSchema=GOOGLE)
    request = decode_request(body("gemini", fields), "gemini")
    assert [one.code for one in request.findings] == ["two_schemas"]
    assert request.params.output == OutputFormat(SCHEMA)
    assert written(request, "gemini")[0] == gemini(**config)


def test_a_name_is_written_in_the_letters_that_are_taken():
    request = decode_request(body("ollama", {"format": SCHEMA}), "ollama")
    for name, wire in (("", "reply"), ("two words!", "two_words_"), ("n" * 70, "n" * 64)):
        output = replace(request.params.output, name=name)
        made = encode_request(
            replace(request, params=replace(request.params, output=output)), "openai"
        )
        assert made.body["response_format"]["json_schema"]["name"] == wire
        told = [one.code for one in made.report if one.where == "params.output.name"]
        assert told == (["param_changed"] if name else [])


def test_a_description_without_a_place_is_told():
    form = {"type": "json_schema", "json_schema": NAMED}
    request = decode_request(body("openai-chat", chat(form)), "openai-chat")
    for format in ("anthropic", "gemini", "cohere", "ollama"):
        report = encode_request(request, MODELS[format]).report
        assert "params.output.description" in [one.where for one in report]
    report = encode_request(request, MODELS["bedrock"]).report
    assert "params.output.description" not in [one.where for one in report]


def test_a_closed_host_without_the_field_is_not_sent_it():
    form = {"type": "json_schema", "json_schema": NAMED}
    request = decode_request(body("openai-chat", chat(form)), "openai-chat")
    target = get_target("generic")
    target = replace(target, fields=FieldRule(request=("model", "messages"), closed=("request",)))
    made = encode_request(request, target)
    assert "response_format" not in made.body
    assert [(one.code, one.where) for one in made.report] == [("param_dropped", "params.output")]


def test_native_fields_do_not_stand_in_the_way():
    """A format that somebody sets counts, whatever the request came with."""
    request = decode_request(body("openai-chat", chat({"type": "text"})), "openai-chat")
    assert request.native == Native("openai-chat", chat({"type": "text"}))
    request = replace(request, params=replace(request.params, output=OutputFormat()))
    assert written(request, "openai-chat")[0] == chat({"type": "json_object"})
