"""What a target cannot be told of a choice is met by the offer, or is weaker, and is reported."""

import pytest
from msgspec.structs import replace

from canonicall import Conversation, Message, Request, Tool, ToolChoice, encode_request
from canonicall.blocks import Native, ToolCall, ToolResult
from canonicall.request import Params, Reasoning
from canonicall.wire.formats import get_format

FIELD = {
    "bedrock": ("toolConfig", "toolChoice"),
    "gemini": ("toolConfig", "functionCallingConfig"),
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
F, G = Tool("fff", "", SCHEMA), Tool("ggg", "", SCHEMA)
THINKING = Params(max_tokens=9000, reasoning=Reasoning(enabled=True, budget=2000))
CHAT = ("openai-chat", "openai-responses")


def sent(format, choice, changes=None, *, tools=(F, G), params=None, calls=False):
    """The choice in the body, the offered tools, and how often the choice was weakened."""
    talk = Conversation()
    talk.user("q")
    if calls:
        talk.append(Message("assistant", (ToolCall(id="1", name="fff", args={}),)))
        talk.append(Message("tool", (ToolResult(call_id="1", content=()),)))
    request = Request(talk, tools, choice, params or Params(max_tokens=9000))
    encoded = encode_request(request, replace(get_format(format).target, **(changes or {})))
    found = encoded.body
    for name in FIELD.get(format, ("tool_choice",)):
        found = (found or {}).get(name)
    offered = encoded.body.get("toolConfig" if format == "bedrock" else "tools")
    names = [one for one in ("fff", "ggg") if f"'{one}'" in str(offered)]
    told = [one for one in encoded.report if one.code == "choice_weakened"]
    assert {(one.where, one.action, one.fault) for one in told} <= {
        ("tool_choice", "changed", "render")
    }
    return found, names, len(told)


ONE, NO = {"choice_names": "one"}, {"choice_names": "no"}
FORCELESS = {"choice_modes": ("auto", "none"), "choice_names": "no"}
MUTE = {"choice_modes": ()}
SWITCHLESS = {"parallel_switch": False}


@pytest.mark.parametrize(
    ("format", "choice", "changes", "wire", "count"),
    [
        ("anthropic", ToolChoice("required", ("fff", "ggg")), {}, {"type": "any"}, 1),
        ("anthropic", ToolChoice("auto", ("fff",)), {}, {"type": "auto"}, 1),
        ("anthropic", ToolChoice("required"), FORCELESS, {"type": "auto"}, 1),
        ("anthropic", ToolChoice("required", ("fff",)), NO, {"type": "any"}, 1),
        ("anthropic", ToolChoice("auto", parallel=False), SWITCHLESS, {"type": "auto"}, 1),
        ("anthropic", ToolChoice("auto", parallel=True), SWITCHLESS, {"type": "auto"}, 0),
        ("anthropic", ToolChoice("none"), MUTE, None, 1),
        ("openai-chat", ToolChoice("required", ("fff", "ggg")), ONE, "required", 1),
        ("openai-chat", ToolChoice("auto", ("fff",)), ONE, "auto", 1),
        ("openai-chat", ToolChoice("required", ("fff",)), NO, "required", 1),
        ("openai-chat", ToolChoice("required", ("fff",)), FORCELESS, "auto", 2),
        ("openai-chat", ToolChoice("required"), MUTE, None, 1),
        ("openai-chat", ToolChoice("none"), {"choice_modes": ("auto",)}, None, 1),
        ("openai-chat", ToolChoice("auto", parallel=False), SWITCHLESS, "auto", 1),
        ("openai-responses", ToolChoice("auto", ("fff",)), ONE, "auto", 1),
        ("openai-responses", ToolChoice("required", ("fff", "ggg")), ONE, "required", 1),
        ("openai-responses", ToolChoice("required", ("fff",)), NO, "required", 1),
        ("openai-responses", ToolChoice("required"), FORCELESS, None, 1),
        ("openai-responses", ToolChoice("auto", parallel=False), SWITCHLESS, "auto", 1),
        ("gemini", ToolChoice(parallel=False), {}, None, 1),
        ("gemini", ToolChoice(parallel=True), {}, None, 0),
        ("gemini", ToolChoice("auto", parallel=False), {}, {"mode": "AUTO"}, 1),
        ("gemini", ToolChoice("required"), {"choice_modes": ("auto",)}, None, 1),
        ("gemini", ToolChoice("required", ("fff",)), NO, {"mode": "ANY"}, 1),
        ("gemini", ToolChoice("required", ("fff", "ggg")), ONE, {"mode": "ANY"}, 1),
        ("bedrock", ToolChoice("auto", parallel=False), {}, {"auto": {}}, 1),
        ("bedrock", ToolChoice(parallel=False), {}, None, 1),
        ("bedrock", ToolChoice(parallel=True), {}, None, 0),
        ("bedrock", ToolChoice("required", ("fff", "ggg")), {}, {"any": {}}, 1),
        ("bedrock", ToolChoice("auto", ("fff",)), {}, {"auto": {}}, 1),
        ("bedrock", ToolChoice("required", ("fff",)), FORCELESS, None, 2),
        ("cohere", ToolChoice("auto"), {}, None, 0),
        ("cohere", ToolChoice("auto", parallel=False), {}, None, 1),
        ("cohere", ToolChoice(parallel=True), {}, None, 0),
        ("cohere", ToolChoice("required", ("fff",)), {}, "REQUIRED", 1),
        ("cohere", ToolChoice("auto", ("fff", "ggg")), {}, None, 1),
        ("cohere", ToolChoice("required", ("fff",), parallel=False), {}, "REQUIRED", 2),
        ("cohere", ToolChoice("required"), MUTE, None, 1),
        ("ollama", None, {}, None, 0),
        ("ollama", ToolChoice("auto"), {}, None, 0),
        ("ollama", ToolChoice(parallel=True), {}, None, 0),
        ("ollama", ToolChoice(parallel=False), {}, None, 1),
        ("ollama", ToolChoice("required"), {}, None, 1),
        ("ollama", ToolChoice("none"), {}, None, 1),
        ("ollama", ToolChoice("auto", ("fff",)), {}, None, 1),
        ("ollama", ToolChoice("required", ("fff",)), {}, None, 2),
    ],
)
def test_what_a_target_cannot_be_told_is_weakened_with_a_finding(
    format, choice, changes, wire, count
):
    found, _, told = sent(format, choice, changes)
    assert (found, told) == (wire, count)


@pytest.mark.parametrize("choice", [ToolChoice("required"), ToolChoice("required", ("fff",))])
def test_no_call_is_forced_while_the_model_thinks(choice):
    found, _, told = sent("anthropic", choice, {}, params=THINKING)
    assert (found, told) == ({"type": "auto"}, 1)


@pytest.mark.parametrize("choice", [ToolChoice("none"), ToolChoice("none", parallel=False)])
def test_tools_are_declared_if_the_history_has_calls(choice):
    """Without them the request is refused: "The toolConfig field must be defined"."""
    told = 1 + (choice.parallel is False)
    assert sent("bedrock", choice, calls=True) == (None, ["fff", "ggg"], told)
    assert sent("bedrock", choice) == (None, [], 1)


@pytest.mark.parametrize(
    ("format", "choice", "offered"),
    [
        ("bedrock", ToolChoice("auto", ("ggg",)), ["ggg"]),
        ("bedrock", ToolChoice("required", ("ggg",)), ["fff", "ggg"]),
        ("bedrock", ToolChoice("auto", ("x",)), ["fff", "ggg"]),
        ("cohere", ToolChoice("required", ("ggg",)), ["ggg"]),
        ("cohere", ToolChoice("required", ("x",)), ["fff", "ggg"]),
        ("cohere", ToolChoice("none"), ["fff", "ggg"]),
        ("cohere", None, ["fff", "ggg"]),
        ("ollama", None, ["fff", "ggg"]),
        ("ollama", ToolChoice("none"), []),
        ("ollama", ToolChoice("auto", ("ggg",)), ["ggg"]),
        ("ollama", ToolChoice("auto", ("x",)), ["fff", "ggg"]),
    ],
)
def test_fewer_tools_say_what_a_choice_cannot(format, choice, offered):
    assert sent(format, choice)[1] == offered


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses"])
def test_a_tool_that_is_named_needs_no_mode(format):
    """Qwen and llama-cpp-python take a name, and do not know `required`."""
    changes = {"choice_modes": ("auto", "none"), "choice_names": "one"}
    found, _, told = sent(format, ToolChoice("required", ("fff",)), changes)
    assert "fff" in str(found)
    assert told == 0


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "anthropic", "bedrock"])
@pytest.mark.parametrize(
    "choice", [ToolChoice("auto", parallel=True), ToolChoice("none"), ToolChoice("required")]
)
@pytest.mark.parametrize(
    "tools", [(), (Tool("s", kind="server", native=Native("other", {"type": "s"})),)]
)
def test_without_tools_only_a_required_call_is_lost(format, choice, tools):
    """ "'parallel_tool_calls' is only allowed when 'tools' are specified." """
    found, _, told = sent(format, choice, {}, tools=tools)
    lost = choice.mode == "required" or (choice.mode == "none" and format == "bedrock" and tools)
    assert (found, told) == (None, int(bool(lost)))
