"""What the Messages API refuses."""

from typing import Any

from refusals.rows import CLAUDE, OBJECT, Refusal

USER = {"role": "user", "content": "Hi"}
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "c29tZQ=="}
ENABLED = {"type": "enabled", "budget_tokens": 1024}
MARK = {"type": "ephemeral"}
HOUR = MARK | {"ttl": "1h"}
NO_SCHEMA = r"input_schema"


def tool(name: str = "look", **more: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": {"type": "object"}, **more}


def text(words: str = "Hi", **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def asked(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def use(id: str = "t1", name: str = "look", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": {}, **more}


def result(id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "ok", **more}


def search(id: str = "srvtoolu_1") -> dict[str, Any]:
    return {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}}


def claude(words: str, *messages: dict[str, Any], model: str = CLAUDE, **more: Any) -> Refusal:
    body = {
        "model": model,
        "max_tokens": 3000,
        "tools": [tool()],
        "messages": list(messages or (USER,)),
        **more,
    }
    return Refusal("anthropic", "anthropic", model, _without_none(body), words)


def _without_none(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def strict(words: str, *schemas: dict[str, Any]) -> Refusal:
    tools = [
        tool(f"look_{at}", strict=True, input_schema=schema) for at, schema in enumerate(schemas)
    ]
    return claude(words, tools=tools)


def closed(**properties: Any) -> dict[str, Any]:
    more = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **more}


STRING = {"type": "string"}
IDS_AND_NAMES = {
    "characters of an id": claude(
        r"tool_use\.id: String should match pattern '\^\[a-zA-Z0-9_-\]\+\$'",
        USER, said(use("t:1")), asked(result("t:1")),
    ),
    "one id for two calls": claude(
        r"`tool_use` ids must be unique", USER, said(use(), use()), asked(result())
    ),
    "the id of a call that the provider ran": claude(
        r"server_tool_use\.id: String should match pattern '\^srvtoolu_\[a-zA-Z0-9_\]\+\$'",
        USER, said(search("toolu_1"), text("So.")), USER,
    ),
    "characters of a name": claude(
        r"tools\.0\.custom\.name: String should match pattern '\^\[a-zA-Z0-9_-\]\{1,128\}\$'",
        tools=[tool("a b")],
    ),
    "a long name": claude(r"String should match pattern", tools=[tool("a" * 129)]),
    "a long name in a call": claude(
        r"String should have at most 200 characters",
        USER, said(use(name="a" * 201)), asked(result()),
    ),
    "two tools of one name": claude(r"Tool names must be unique", tools=[tool(), tool()]),
    "names of parameters": claude(
        r"Property keys should match pattern '\^\[a-zA-Z0-9_\.-\]\{1,64\}\$'",
        tools=[tool(input_schema={"type": "object", "properties": {"a b": STRING}})],
    ),
    "a long name of a parameter": claude(
        r"Property keys should match pattern",
        tools=[tool(input_schema={"type": "object", "properties": {"a" * 65: STRING}})],
    ),
}  # fmt: skip
SCHEMAS = {
    "no schema": claude(NO_SCHEMA, tools=[{"name": "look"}]),
    "a schema that is no object": claude(NO_SCHEMA, tools=[tool(input_schema=STRING)]),
    "a choice of schemas at the root": claude(
        r"input_schema does not support oneOf, allOf, or anyOf at the top level",
        tools=[tool(input_schema={"type": "object", "anyOf": [OBJECT]})],
    ),
    "a schema that is none": claude(
        r"JSON schema is invalid\. It must match JSON Schema draft 2020-12",
        tools=[tool(input_schema={"type": "object", "properties": {"a": {"type": "text"}}})],
    ),
    "a strict tool that is open": strict(
        r"additionalProperties", {"type": "object", "properties": {"a": STRING}, "required": ["a"]}
    ),
    "a strict tool with a keyword": strict(
        r"For 'array' type, property 'maxItems' is not supported",
        closed(a={"type": "array", "items": STRING, "maxItems": 3}),
    ),
    "a strict tool with two items at least": strict(
        r"minItems", closed(a={"type": "array", "items": STRING, "minItems": 2})
    ),
    "a strict tool with a format": strict(r"strict mode", closed(a=STRING | {"format": "color"})),
    "a strict tool within itself": strict(
        r"[Cc]ircular|recursi",
        closed(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": closed(b={"$ref": "#/$defs/A"})}},
    ),
    "many strict tools": strict(r"strict tools", *[closed(a=STRING)] * 21),
    "many parameters that may be missing": strict(
        r"optional parameters",
        closed(**{f"a{at}": STRING for at in range(25)}) | {"required": []},
    ),
    "many unions": strict(
        r"union types", closed(**{f"a{at}": {"type": ["string", "null"]} for at in range(17)})
    ),
    "a mark on a tool that is loaded later": claude(
        r"Tools with defer_loading cannot use prompt caching",
        tools=[tool(), tool("b", defer_loading=True, cache_control=MARK)],
    ),
}
MESSAGES = {
    "results are missing": claude(
        r"`tool_use` ids were found without `tool_result` blocks immediately after: t1",
        USER, said(use()), USER,
    ),
    "results at the end are missing": claude(
        r"`tool_use` ids were found without `tool_result` blocks", USER, said(use())
    ),
    "results of one of two calls": claude(
        r"immediately after: t2", USER, said(use(), use("t2")), asked(result())
    ),
    "results that come later": claude(
        r"`tool_use` ids were found without `tool_result` blocks immediately after: t1",
        USER, said(use()), USER, said(text("So.")), asked(result()),
    ),
    "a result without its call": claude(
        r"unexpected `tool_use_id` found in `tool_result` blocks: t1", USER, asked(result())
    ),
    "two results for one call": claude(
        r"each tool_use must have a single result", USER, said(use()), asked(result(), result())
    ),
    "text before the results": claude(
        r"`tool_use` ids were found without `tool_result` blocks immediately after: t1",
        USER, said(use()), asked(text(), result()),
    ),
    "a call of the provider without its result": claude(
        r"`web_search` tool use with id `srvtoolu_1` was found without a corresponding",
        USER, said(search(), text("So.")), USER,
    ),
    "a failed result with an image": claude(
        r'all content must be type "text" if "is_error" is true',
        USER,
        said(use()),
        asked(
            result(
                is_error=True,
                content=[{"type": "image", "source": {"type": "url", "url": "https://a.b/c.png"}}],
            )
        ),
    ),
    "a result of an empty list": claude(r"", USER, said(use()), asked(result(content=[]))),
    "empty text": claude(r"text content blocks must be non-empty", asked(text(""))),
    "blank text": claude(
        r"text content blocks must contain non-whitespace text", asked(text(" \n"))
    ),
    "blank instructions": claude(r"system: text content blocks must", system=[text(" ")]),
    "a message without content": claude(
        r"all messages must have non-empty content except for the optional final assistant message",
        USER, {"role": "assistant", "content": ""}, USER,
    ),
    "no messages": claude(r"at least one message is required", messages=[]),
    "no limit of tokens": claude(r"max_tokens: Field required", max_tokens=None),
    "white space at the end": claude(
        r"final assistant content cannot end with trailing whitespace",
        USER, {"role": "assistant", "content": "So "},
    ),
    "a beginning of the reply": claude(
        r"This model does not support assistant message prefill\. The conversation must end",
        USER, {"role": "assistant", "content": "So"}, model="claude-opus-4-6",
    ),
    "a thought at the end": claude(
        r"The final block in an assistant message cannot be `thinking`", USER, said(SIGNED)
    ),
    "instructions among messages": claude(
        r"role 'system' is not supported on this model",
        USER, {"role": "system", "content": "Be brief."}, said(text("So.")), USER,
    ),
    "instructions behind the assistant": claude(
        r"", USER, said(text("So.")), {"role": "system", "content": "Be brief."}, USER,
        model="claude-opus-5",
    ),
    "instructions between a call and its result": claude(
        r"", USER, said(use()), {"role": "system", "content": "Be brief."}, asked(result()),
        model="claude-opus-5",
    ),
    "an unknown role": claude(r"role", {"role": "tool", "content": "ok"}),
    "an unknown field": claude(r"any: Extra inputs are not permitted", any=1),
    "an unknown field of a message": claude(
        r"messages\.0\.name: Extra inputs are not permitted", USER | {"name": "a"}
    ),
    "an unknown field of a block": claude(
        r"messages\.1\.content\.0\.tool_use\.text: Extra inputs are not permitted",
        USER, said(use(text="x")), asked(result()),
    ),
}  # fmt: skip
THINKING = {
    "a budget where the model thinks as it likes": claude(
        r'"thinking\.type\.enabled" is not supported for this model',
        tools=None, model="claude-opus-4-7", thinking=ENABLED,
    ),
    "no thinking where the model always thinks": claude(
        r'"thinking\.type\.disabled" is not supported for this model',
        model="claude-fable-5", thinking={"type": "disabled"},
    ),
    "adaptive thinking of an old model": claude(
        r"adaptive thinking is not supported on this model",
        model="claude-sonnet-4-5", thinking={"type": "adaptive"},
    ),
    "no thinking at a high effort": claude(
        r"is not supported when thinking is disabled",
        model="claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "max"},
    ),
    "a small budget": claude(
        r"budget_tokens: Input should be greater than or equal to 1024",
        thinking=ENABLED | {"budget_tokens": 1000},
    ),
    "a budget above the limit": claude(
        r"`max_tokens` must be greater than `thinking\.budget_tokens`",
        thinking=ENABLED | {"budget_tokens": 3000},
    ),
    "a temperature of a new model": claude(r"temperature", model="claude-opus-4-7", temperature=0.5),
    "no thought before the calls": claude(
        r"Expected `thinking` or `redacted_thinking`, but found `tool_use`",
        USER, said(use()), asked(result()), thinking=ENABLED,
    ),
    "a thought of somebody else": claude(
        r"Invalid `signature` in `thinking` block", USER, said(SIGNED, use()), asked(result())
    ),
    "a thought that is not signed": claude(
        r"signature: Field required",
        USER, said({"type": "thinking", "thinking": "Hm."}, use()), asked(result()),
    ),
    "an empty thought": claude(
        r"each thinking block must contain thinking|Invalid `signature` in `thinking` block",
        USER, said(SIGNED | {"thinking": ""}, use()), asked(result()),
    ),
    "a forced call while it thinks": claude(
        r"Thinking may not be enabled when tool_choice forces tool use",
        thinking=ENABLED, tool_choice={"type": "any"},
    ),
    "a forced call where none is possible": claude(
        r'tool_choice: type "tool" and "any" are not supported for this model',
        model="claude-opus-5-5", tool_choice={"type": "tool", "name": "look"},
    ),
}  # fmt: skip
CHOICES_AND_MARKS = {
    "a choice without tools": claude(
        r"tool_choice may only be specified while providing tools",
        tools=None, tool_choice={"type": "auto"},
    ),
    "a choice of a tool that is not there": claude(
        r"Tool 'fly' not found in provided tools", tool_choice={"type": "tool", "name": "fly"}
    ),
    "five cache marks": claude(
        r"A maximum of 4 blocks with cache_control may be provided\. Found 5",
        asked(*[text(cache_control=MARK)] * 5),
    ),
    "a long mark behind a short one": claude(
        r"a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
        asked(text(cache_control=MARK), text(cache_control=HOUR)),
    ),
    "two lifetimes for the last block": claude(
        r"cache_control", asked(text(cache_control=MARK)), cache_control=HOUR
    ),
    "a mark on a thought": claude(
        r"cache_control", USER, said(SIGNED | {"cache_control": MARK}, use()), asked(result())
    ),
    "a mark on empty text": claude(
        r"text content blocks must be non-empty", asked(text("", cache_control=MARK))
    ),
    "a mark inside a result": claude(
        r"cache_control", USER, said(use()), asked(result(content=[text(cache_control=MARK)]))
    ),
}  # fmt: skip
ROWS = {**IDS_AND_NAMES, **SCHEMAS, **MESSAGES, **THINKING, **CHOICES_AND_MARKS}
