"""Which tools a model may call, and how many at once: G1 to G11 of the field catalogue."""

import pytest

from scenarios.field_support import USER, sent

# One that strict mode takes as well.
SCHEMA = {
    "type": "object",
    "properties": {"mode": {"type": "string", "const": "fast"}},
    "required": ["mode"],
    "additionalProperties": False,
}


def claude(choice, *names, **fields):
    tools = [{"name": name, "input_schema": SCHEMA} for name in names or ("run", "look")]
    body = {"model": "m", "max_tokens": 99, "messages": [USER], "tools": tools}
    return {**body, "tool_choice": choice, **fields}


def chat(*names, **fields):
    functions = [{"name": name, "parameters": SCHEMA} for name in names or ("run", "look", "stop")]
    tools = [{"type": "function", "function": one} for one in functions]
    return {"model": "m", "messages": [USER], "tools": tools, **fields}


def offered(body):
    """The names of the tools that a body offers."""
    tools = body.get("tools") or body.get("toolConfig", {}).get("tools", [])
    held = [one.get("toolSpec") or one.get("function") or one for one in tools]
    if held and "functionDeclarations" in held[0]:
        held = held[0]["functionDeclarations"]
    return [one["name"] for one in held]


def chosen(body):
    """What a body says about the choice."""
    if "toolConfig" in body:
        config = body["toolConfig"]
        return config.get("functionCallingConfig") or config.get("toolChoice")
    return body.get("tool_choice")


MODES = [
    ("openai/openai-responses", {"type": "auto"}, "auto"),
    ("openai/openai-responses", {"type": "any"}, "required"),
    ("openai/openai-responses", {"type": "none"}, "none"),
    (
        "openai/openai-responses",
        {"type": "tool", "name": "look"},
        {"type": "function", "name": "look"},
    ),
    ("openai", {"type": "any"}, "required"),
    (
        "openai",
        {"type": "tool", "name": "look"},
        {"type": "function", "function": {"name": "look"}},
    ),
    ("gemini", {"type": "any"}, {"mode": "ANY"}),
    ("gemini", {"type": "tool", "name": "look"}, {"mode": "ANY", "allowedFunctionNames": ["look"]}),
    ("bedrock", {"type": "any"}, {"any": {}}),
    ("cohere", {"type": "any"}, "REQUIRED"),
]


@pytest.mark.parametrize(("target", "choice", "expected"), MODES)
def test_g1_a_choice_has_the_form_of_its_target(target, choice, expected):
    """Words where words belong and objects where objects do, for each of the four choices."""
    assert chosen(sent(claude(choice), "anthropic", target).body) == expected


@pytest.mark.parametrize(
    "target",
    [
        "bedrock",
        "ollama",
        "mistral",
        "zai",
        "minimax",
    ],
)
def test_g2_a_none_that_cannot_be_said_is_said_by_offering_nothing(target):
    """No call is wanted and the target has no word for it: it gets no tools, and a finding."""
    encoded = sent(claude({"type": "none"}), "anthropic", target)
    assert offered(encoded.body) == []
    assert chosen(encoded.body) is None
    assert "choice_weakened" in encoded.report


@pytest.mark.parametrize(
    ("target", "word"),
    [
        ("openai", "none"),
        ("kimi", "none"),
        ("cohere", "NONE"),
        ("anthropic", {"type": "none"}),
        ("gemini", {"mode": "NONE"}),
    ],
)
def test_g2_a_none_that_can_be_said_is_said(target, word):
    """The tools stay, so the prompt cache does as well."""
    made = sent(claude({"type": "none"}), "anthropic", target).body
    assert chosen(made) == word
    assert offered(made) == ["run", "look"]


def test_g3_none_and_the_parallel_switch_do_not_stand_together_for_claude():
    """Claude refuses the switch beside none; there is nothing to switch."""
    body = chat(tool_choice="none", parallel_tool_calls=False)
    assert chosen(sent(body, "openai-chat", "anthropic").body) == {"type": "none"}
    choice = {"type": "none", "disable_parallel_tool_use": True}
    assert chosen(sent(claude(choice), "anthropic", "anthropic").body) == {"type": "none"}


@pytest.mark.parametrize(
    "target", ["openai", "anthropic", "gemini", "bedrock", "mistral", "openai/openai-responses"]
)
def test_g4_the_parallel_switch_alone_forces_nothing(target):
    """Only the switch was given: the model is as free as before."""
    made = sent(chat(parallel_tool_calls=False), "openai-chat", target).body
    switched = {"type": "auto", "disable_parallel_tool_use": True}
    assert chosen(made) == (switched if target == "anthropic" else None)
    if target in ("openai", "mistral", "openai/openai-responses"):
        assert made["parallel_tool_calls"] is False


def test_g5_a_choice_without_a_type_names_its_tool_for_bedrock():
    """Clients leave `type` out; the name says enough."""
    body = chat(tool_choice={"function": {"name": "look"}})
    assert chosen(sent(body, "openai-chat", "bedrock").body) == {"tool": {"name": "look"}}


@pytest.mark.parametrize("target", ["gemini", "vertex", "openai", "openai/openai-responses"])
def test_g6_any_with_names_stays_any_with_names(target):
    """A Gemini client allows two of three functions and wants a call: all of that arrives."""
    declared = [{"name": name, "parametersJsonSchema": SCHEMA} for name in ("run", "look", "stop")]
    calling = {"mode": "ANY", "allowedFunctionNames": ["run", "stop"]}
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
        "tools": [{"functionDeclarations": declared}],
        "toolConfig": {"functionCallingConfig": calling},
    }
    made = sent(body, "gemini", target).body
    assert offered(made) == ["run", "look", "stop"]
    flat = [{"type": "function", "name": name} for name in ("run", "stop")]
    nested = [{"type": "function", "function": {"name": name}} for name in ("run", "stop")]
    assert chosen(made) == {
        "openai": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": nested}},
        "openai/openai-responses": {"type": "allowed_tools", "mode": "required", "tools": flat},
    }.get(target, calling)


@pytest.mark.parametrize(
    "target",
    [
        "openai",
        "anthropic",
        "gemini",
        "bedrock",
        "cohere",
        "mistral",
        "openai/openai-responses",
    ],
)
@pytest.mark.parametrize("choice", ["required", "auto"])
def test_g7_a_choice_does_not_outlive_its_tools(target, choice):
    """The tools were taken out of the request; a choice among none is refused."""
    body = {"model": "m", "messages": [USER], "tool_choice": choice, "parallel_tool_calls": True}
    made = sent(body, "openai-chat", target).body
    assert chosen(made) is None
    assert "parallel_tool_calls" not in made


@pytest.mark.parametrize("target", ["openai", "anthropic", "gemini", "mistral"])
def test_g7_a_choice_does_not_outlive_a_tool_that_cannot_be_offered(target):
    """The only tool runs at another provider: it is dropped, and the choice with it."""
    tools = [{"type": "web_search_20250305", "name": "web_search"}]
    body = {"input": [USER], "tools": [{"type": "web_search"}], "tool_choice": "required"}
    if target in ("openai", "mistral", "gemini"):
        encoded = sent({**claude({"type": "any"}), "tools": tools}, "anthropic", target)
    else:
        encoded = sent(body, "openai-responses", target)
    assert offered(encoded.body) == []
    assert chosen(encoded.body) is None
    assert "tool_dropped" in encoded.report
    assert "choice_weakened" in encoded.report


ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
    {"type": "function", "function": {"name": name}} for name in ("run", "look")
]}}  # fmt: skip


@pytest.mark.parametrize(
    "target",
    [
        "bedrock",
        "cohere",
        "ollama",
        "anthropic",
        "mistral",
        "groq",
    ],
)
def test_g8_where_a_list_of_allowed_tools_cannot_be_said_only_those_are_offered(target):
    """Two of three are allowed: the third cannot be called, whatever the format can say."""
    encoded = sent(chat(tool_choice=ALLOWED), "openai-chat", target)
    assert offered(encoded.body) == ["run", "look"]
    assert "choice_weakened" in encoded.report


def test_g8_the_parallel_switch_is_carried_to_claude():
    """It stands inside the choice there."""
    body = chat(tool_choice="required", parallel_tool_calls=False)
    expected = {"type": "any", "disable_parallel_tool_use": True}
    assert chosen(sent(body, "openai-chat", "anthropic").body) == expected


@pytest.mark.parametrize(
    "target", ["openai", "anthropic", "gemini", "bedrock", "openai/openai-responses", "mistral"]
)
def test_g9_a_forced_tool_is_renamed_together_with_its_tool(target):
    """A name that the target refuses is replaced in the offer and in the choice alike."""
    body = chat(
        "files/read.all",
        "run",
        tool_choice={"type": "function", "function": {"name": "files/read.all"}},
    )
    encoded = sent(body, "openai-chat", target)
    wire, other = offered(encoded.body)
    assert (wire != "files/read.all", other) == (True, "run")
    assert f"'{wire}'" in str(chosen(encoded.body))
    assert encoded.transcript.names == {wire: "files/read.all"}


@pytest.mark.parametrize("target", ["openai", "openai/openai-responses", "anthropic", "bedrock"])
def test_g10_strict_const_the_switch_and_the_developer_do_not_vanish(target):
    """Each is in the body in the target's own form, or the report says that it is not."""
    body = chat(parallel_tool_calls=False)
    body["tools"][0]["function"]["strict"] = True
    body["messages"].insert(0, {"role": "developer", "content": "Be brief."})
    encoded = sent(body, "openai-chat", target)
    made = str(encoded.body)
    assert "'const': 'fast'" in made
    assert "Be brief." in made
    told = {"param_dropped", "strict_dropped"} & encoded.report.counts.keys()
    assert "'strict': True" in made or told
    assert "parallel" in made or "choice_weakened" in encoded.report
    if target.startswith("openai"):
        first = (encoded.body.get("messages") or encoded.body["input"])[0]
        assert first == {"role": "developer", "content": "Be brief."}


CALLERS = claude({"type": "auto"})
CALLERS["tools"][0]["allowed_callers"] = ["direct"]


def test_g10_allowed_callers_are_kept_at_home():
    """A field of Claude's tools goes back to Claude."""
    made = sent(CALLERS, "anthropic", "anthropic").body
    assert made["tools"][0]["allowed_callers"] == ["direct"]


@pytest.mark.parametrize("target", ["openai", "gemini", "bedrock"])
def test_g10_allowed_callers_that_are_left_out_are_reported(target):
    """Other formats have no such field, so the report names it."""
    encoded = sent(CALLERS, "anthropic", target)
    assert "allowed_callers" not in str(encoded.body)
    assert any("allowed_callers" in one.why for one in encoded.report)


@pytest.mark.parametrize(
    ("choice", "mode"),
    [({"type": "auto"}, "auto"), ({"type": "required"}, "required"), ({"type": "none"}, "none")],
)
def test_g11_the_object_form_of_a_choice_is_read(choice, mode):
    """Snowflake's clients write objects where OpenAI has words."""
    assert chosen(sent(chat(tool_choice=choice), "openai-chat", "openai").body) == mode
