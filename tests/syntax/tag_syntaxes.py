"""The syntaxes written as tags, and ways to read and print with them."""

from canonicall.blocks import ToolCall
from canonicall.events import ArgumentsAdded
from canonicall.folding import fold
from canonicall.request import Tool
from canonicall.syntax.parsing import Parsed, parse
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner

NAMES = (
    "qwen3_coder_xml",
    "seed_oss",
    "step35",
    "glm45_xml",
    "glm47_xml",
    "spark25",
    "ling3",
    "poolside_laguna",
    "poolside_laguna_s",
    "hunyuan_v3",
    "hunyuan_v4",
    "k2_horizon",
    "iquest",
    "solar_open2",
    "minimax_m2",
    "minimax_m3",
    "deepseek_v32_dsml",
    "deepseek_v4_dsml",
    "deepseek_v41_dsml",
    "gigachat35",
    "kimi_k3_xtml",
    "muse_glimmer_atem",
    "dots",
    "minicpm5_xml",
    "anthropic_invoke",
    "anthropic_legacy",
    "xai_function_call",
    "xai_tool_call",
)
WEATHER = Tool(
    "weather",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "options": {
                "type": "object",
                "properties": {"deep": {"items": {"type": ["integer", "null"]}}},
            },
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    },
)


def printed(syntax: str, *calls: ToolCall) -> str:
    print_calls = get_syntax(syntax).print_calls
    assert print_calls is not None
    return print_calls(calls)


def call(name: str = "weather", **args: object) -> ToolCall:
    return ToolCall(id="", name=name, args=args)


def said(parsed: Parsed) -> list[tuple[str, object]]:
    """The calls, as names and arguments."""
    return [(one.name, one.args) for one in parsed.calls]


def read(text: str, syntax: str, tools=(WEATHER,)) -> Parsed:
    """The text read whole, which is the same as read by single characters."""
    whole = parse(text, syntax=syntax, tools=tools)
    scanner = TextScanner(syntax, tools=tools)
    events = [event for char in text for event in scanner.feed(char)] + scanner.close()
    assert fold(events) == whole.reply
    return whole


def codes(parsed: Parsed) -> list[str]:
    return [one.code for one in parsed.findings]


def streamed_arguments(scanner: TextScanner, text: str) -> str:
    """The arguments told while this text comes, character by character."""
    events = [event for char in text for event in scanner.feed(char)]
    return "".join(one.text for one in events if isinstance(one, ArgumentsAdded))
