"""Schemas, names and lists of tools: H1 to H20 of the field catalogue, and the translator of seed 003."""

import json

import pytest

from batches import each
from canonicall import (
    Conversation,
    Request,
    StateElsewhere,
    Tool,
    decode_request,
    encode_request,
    translate_tools,
)
from canonicall.facts.registry import get_target, provider_names
from canonicall.schema.definitions import BUDGET
from canonicall.verify import verify
from scenarios.field_support import USER, sent

CHAT_TARGETS = sorted(name for name in provider_names())


def chat(*schemas, **fields):
    """A chat request with a tool for each schema."""
    functions = [{"name": f"tool_{n}", "parameters": one} for n, one in enumerate(schemas)]
    tools = [{"type": "function", "function": one} for one in functions]
    return {"model": "m", "messages": [USER], "tools": tools, **fields}


def held(body):
    """The schemas of the tools in a body."""
    tools = body.get("tools") or body["toolConfig"]["tools"]
    if "functionDeclarations" in tools[0]:
        tools = tools[0]["functionDeclarations"]
    found = []
    for tool in tools:
        inner = tool.get("function") or tool.get("toolSpec") or tool
        given = inner.get("parameters") or inner.get("input_schema") or inner.get("inputSchema")
        given = given or inner.get("parametersJsonSchema")
        found.append(given.get("json", given) if isinstance(given, dict) else given)
    return found


def parameter(schema, target, source=chat):
    """What a target is told of one parameter."""
    encoded = sent(source({"type": "object", "properties": {"p": schema}}), "openai-chat", target)
    return held(encoded.body)[0]["properties"]["p"], encoded.report.counts.keys()


def keywords_in(schema):
    """Every keyword of a schema, names of properties apart."""
    if isinstance(schema, list):
        return set().union(*map(keywords_in, schema))
    if not isinstance(schema, dict):
        return set()
    inner = [
        value for name, value in schema.items() if name not in ("properties", "enum", "default")
    ]
    named = schema.get("properties", {}).values()
    return set(schema).union(*map(keywords_in, inner), *map(keywords_in, named))


def test_h01_keywords_that_gemini_does_not_have_are_gone_at_every_depth():
    inner = {"type": "object", "$schema": "x", "additionalProperties": False, "default": {}}
    schema = {"$schema": "x", "anyOf": [inner, {"type": "array", "items": inner}]}
    made, codes = parameter(schema, "gemini")
    assert "$schema" not in keywords_in(made)
    assert made["anyOf"][0] == {"type": "object", "additionalProperties": False, "default": {}}
    assert "schema_reworded" in codes


def test_h02_conditions_names_of_properties_and_vendor_keys_go_with_a_finding():
    schema = {
        "type": "object",
        "propertyNames": {"pattern": "^x"},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "x-google-enum": ["a"],
        "enumDescriptions": ["A"],
        "uniqueItems": True,
    }
    made, codes = parameter(schema, "gemini")
    assert keywords_in(made) <= set(get_target("gemini").schemas.keywords)
    assert {"schema_weakened", "schema_reworded"} <= codes
    assert parameter(schema, "openai")[0] == schema


def test_h03_lists_of_types_and_values_that_are_no_text():
    assert parameter({"type": ["string", "null"]}, "gemini")[0] == {"type": ["string", "null"]}
    made, _ = parameter({"type": ["string", "integer"], "enum": ["", 1]}, "gemini")
    assert made == {"anyOf": [{"type": "string"}, {"type": "integer"}], "enum": ["", 1]}


@each("target", CHAT_TARGETS)
def test_h04_any_json_does_not_become_an_object(target):
    made, codes = parameter({"description": "Any JSON."}, target)
    assert made == {"description": "Any JSON."}
    assert not {"schema_weakened", "schema_narrowed"} & codes


def test_h05_limits_that_came_as_text_are_numbers():
    made, _ = parameter({"type": "array", "minItems": "1", "items": {}}, "anthropic")
    assert made["minItems"] == 1


@each("target", CHAT_TARGETS)
def test_h06_definitions_stay_or_stand_in_place(target):
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/Point"}},
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "number"}}}},
    }
    encoded = sent(chat(schema), "openai-chat", target)
    (made,) = held(encoded.body)
    in_place = {**schema, "properties": {"a": schema["$defs"]["Point"]}}
    del in_place["$defs"]
    assert made in (schema, in_place)
    assert "schema_weakened" not in encoded.report


@each("target", CHAT_TARGETS)
def test_h07_definitions_inside_definitions_do_not_explode(target):
    level = {f"d{n}": {"type": "object", "properties": {}} for n in range(25)}
    for n in range(24):
        level[f"d{n}"]["properties"] = {name: {"$ref": f"#/$defs/d{n + 1}"} for name in "abc"}
    schema = {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": level}
    encoded = sent(chat(schema), "openai-chat", target)
    assert len(encoded.data) < 100 * BUDGET


@each("target", CHAT_TARGETS)
@each("place", [("definitions",), ("components", "schemas")])
def test_h08_references_of_older_drafts_and_of_openapi_lead_somewhere(place, target):
    defined = {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}}
    schema = {"type": "object", "properties": {"pet": {"$ref": f"#/{'/'.join(place)}/Pet"}}}
    schema[place[0]] = {place[1]: defined} if len(place) > 1 else defined
    encoded = sent(chat(schema), "openai-chat", target)
    (made,) = held(encoded.body)
    pet = made["properties"]["pet"]
    for step in pet["$ref"][2:].split("/") if "$ref" in pet else ():
        pet = made[step] if pet is made["properties"]["pet"] else pet[step]
    assert pet == defined["Pet"]
    assert "schema_weakened" not in encoded.report


@each("target", CHAT_TARGETS)
def test_h09_long_and_illegal_names_stay_apart_and_lead_back(target):
    names = ["a" * 70, "a" * 71, "read.file", "read/file", "read file"]
    listed = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]
    translated = translate_tools(listed, "openai-chat", target)
    wire = json.dumps(translated.tools)
    back = {own: name for name, own in translated.names.items()}
    sent_names = [back.get(name, name) for name in names]
    assert len(set(sent_names)) == len(names)
    assert all(json.dumps(name) in wire for name in sent_names)


def test_h10_the_history_and_the_list_have_the_same_names():
    call = {"id": "c", "type": "function", "function": {"name": "read.file", "arguments": "{}"}}
    body = chat({"type": "object", "properties": {}})
    body["tools"][0]["function"]["name"] = "read.file"
    body["messages"] += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
    ]
    made = sent(body, "openai-chat", "bedrock").body
    used = made["messages"][1]["content"][0]["toolUse"]["name"]
    assert used == made["toolConfig"]["tools"][0]["toolSpec"]["name"] != "read.file"


@pytest.mark.parametrize("target", ["gemini", "vertex"])
def test_h11_all_functions_stand_in_one_entry_and_every_other_tool_in_its_own(target):
    tools = [
        {"functionDeclarations": [{"name": "a"}]},
        {"googleSearch": {}},
        {"functionDeclarations": [{"name": "b"}], "codeExecution": {}},
    ]
    made = translate_tools(tools, "gemini", target).tools
    assert [list(entry) for entry in made] == [
        ["functionDeclarations"],
        ["googleSearch"],
        ["codeExecution"],
    ]
    assert [one["name"] for one in made[0]["functionDeclarations"]] == ["a", "b"]


def test_h12_a_cached_content_stays_with_gemini_and_is_refused_elsewhere():
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
        "cachedContent": "cachedContents/1",
    }
    assert sent(body, "gemini", "gemini").body["cachedContent"] == "cachedContents/1"
    with pytest.raises(StateElsewhere, match="`cachedContent`"):
        sent(body, "gemini", "openai")


@each("target", CHAT_TARGETS)
@each("schema", [None, {}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_h13_a_tool_without_parameters_is_taken_everywhere(schema, target):
    goal = get_target(target)
    chat = Conversation()
    chat.user("Go.")
    encoded = encode_request(Request(chat, tools=(Tool("go", "Goes.", schema),)), goal)
    assert [str(one) for one in verify(encoded.body, goal)] == []
    assert not {"schema_weakened", "schema_narrowed"} & encoded.report.counts.keys()


def test_h14_options_with_references_are_not_multiplied_for_xai():
    """A huge `oneOf` of references is sent as it is: nothing is unrolled, nothing is added."""
    defined = {f"K{n}": {"type": "object", "properties": {"k": {"const": n}}} for n in range(300)}
    options = [{"$ref": f"#/$defs/{name}"} for name in defined]
    schema = {"type": "object", "properties": {"p": {"oneOf": options}}, "$defs": defined}
    assert held(sent(chat(schema), "openai-chat", "xai").body) == [schema]


@each("target", CHAT_TARGETS)
def test_h15_a_property_that_is_named_like_a_keyword_survives(target):
    names = [
        "const",
        "examples",
        "default",
        "$schema",
        "oneOf",
        "not",
        "format",
        "additionalProperties",
    ]
    if get_target(target).schemas.property_pattern:
        names.remove("$schema")
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    schema["required"] = names
    encoded = sent(chat(schema), "openai-chat", target)
    assert held(encoded.body) == [schema]
    assert not any(code.startswith("schema_") for code in encoded.report.counts)


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "openai", "openai/openai-responses"])
def test_h16_the_schema_of_arguments_is_that_of_an_object(target):
    for root in ({}, {"properties": {"a": {"type": "string"}}}, {"type": ["object", "null"]}):
        (made,) = held(sent(chat(root), "openai-chat", target).body)
        assert made["type"] == "object"
        assert made.get("properties", {}) == root.get("properties", {})


def test_h17_fields_of_a_tool_that_nobody_else_knows_are_left_out_with_a_finding():
    body = {"model": "m", "max_tokens": 9, "messages": [USER]}
    tool = {"name": "go", "input_schema": {"type": "object"}, "eager_input_streaming": True}
    encoded = sent({**body, "tools": [tool]}, "anthropic", "azure")
    assert "eager_input_streaming" not in str(encoded.body)
    assert any("eager_input_streaming" in one.why for one in encoded.report)


@each("target", CHAT_TARGETS)
def test_h18_an_empty_list_of_tools_is_not_sent(target):
    body = sent({"model": "m", "messages": [USER], "tools": []}, "openai-chat", target).body
    assert "tools" not in body
    assert "toolConfig" not in body


@pytest.mark.parametrize("target", ["bedrock", "anthropic", "openai"])
def test_h19_an_empty_description_is_not_sent(target):
    listed = [{"name": "go", "description": "", "input_schema": {"type": "object"}}]
    assert "description" not in json.dumps(translate_tools(listed, "anthropic", target).tools)


@pytest.mark.parametrize("target", ["anthropic", "bedrock"])
def test_h20_a_history_with_calls_has_a_list_of_tools(target):
    call = {"id": "c", "type": "function", "function": {"name": "go", "arguments": "{}"}}
    history = [USER, {"role": "assistant", "content": None, "tool_calls": [call]}]
    history.append({"role": "tool", "tool_call_id": "c", "content": "1"})
    encoded = sent({"model": "m", "messages": history}, "openai-chat", target)
    assert held(encoded.body) == [{"type": "object", "properties": {}}]
    assert "tool_stubs_added" in encoded.report


WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLAUDE = [{"name": "weather", "description": "The weather.", "input_schema": WEATHER}]
OPENAI = [
    {
        "type": "function",
        "function": {"name": "weather", "description": "The weather.", "parameters": WEATHER},
    }
]


def test_anthropic_to_openai_as_in_seed_003():
    """`name`, `description` and `input_schema` become a function with `parameters`."""
    translated = translate_tools(CLAUDE, "anthropic", "openai-chat")
    assert (translated.tools, translated.findings) == (OPENAI, ())


def test_openai_to_anthropic_as_in_seed_003():
    translated = translate_tools(OPENAI, "openai-chat", "anthropic")
    assert (translated.tools, translated.findings) == (CLAUDE, ())


@pytest.mark.parametrize(
    "format", ["openai-chat", "openai-responses", "gemini", "bedrock", "cohere", "ollama"]
)
def test_a_plain_list_of_tools_comes_back_from_every_format(format):
    there = translate_tools(CLAUDE, "anthropic", format)
    assert there.findings == ()
    assert translate_tools(there.tools, format, "anthropic").tools == CLAUDE


def test_a_list_of_tools_is_decoded_like_that_of_a_request():
    body = {"model": "m", "messages": [USER], "tools": OPENAI}
    tool = Tool("weather", "The weather.", WEATHER)
    assert decode_request(body, "openai-chat").tools == (tool,)
