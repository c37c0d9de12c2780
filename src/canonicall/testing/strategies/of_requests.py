"""Tools, choices, parameters and whole requests."""

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from canonicall.request import ChoiceMode, Params, Reasoning, Request, Tool, ToolChoice
from canonicall.testing.strategies.of_blocks import TOOL_NAMES
from canonicall.testing.strategies.of_conversations import conversations

_SCHEMAS = st.sampled_from(
    [
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"type": "object", "properties": {"n": {"type": "integer", "description": "How many"}}},
    ]
)
_TOOLS = st.builds(
    Tool,
    st.sampled_from(TOOL_NAMES),
    st.sampled_from(["", "Reads a file."]),
    _SCHEMAS,
    strict=st.sampled_from([None, None, True, False]),
)
_PARAMS = st.builds(
    Params,
    max_tokens=st.none() | st.integers(1, 4000),
    temperature=st.none() | st.sampled_from([0.0, 0.5, 1.0, 1.5]),
    top_p=st.none() | st.sampled_from([0.5, 1.0]),
    top_k=st.none() | st.integers(1, 40),
    stop=st.sampled_from([(), ("END",), ("END", "\n\nHuman:")]),
    seed=st.none() | st.integers(0, 99),
    stream=st.booleans(),
    reasoning=st.none()
    | st.builds(Reasoning, effort=st.sampled_from(["low", "high"]))
    | st.builds(Reasoning, enabled=st.just(True), budget=st.integers(1024, 2048)),
)


def tools() -> SearchStrategy[Tool]:
    """Tools, some with names that most providers refuse."""
    return _TOOLS


def offers(*, least: int = 0) -> SearchStrategy[tuple[Tool, ...]]:
    """Up to four tools of different names."""
    return st.lists(_TOOLS, min_size=least, max_size=4, unique_by=lambda tool: tool.name).map(tuple)


def params() -> SearchStrategy[Params]:
    """Parameters that no provider takes all of."""
    return _PARAMS


@st.composite
def choices(draw: DrawFn, offered: Sequence[Tool]) -> ToolChoice:
    """What can be said about which of these tools are called."""
    names: list[str] = []
    modes: list[ChoiceMode] = ["auto", "none"]
    mode = draw(st.sampled_from([*modes, "required"] if offered else modes))
    if offered and mode != "none":
        names = draw(st.lists(st.sampled_from([tool.name for tool in offered]), unique=True))
    return ToolChoice(mode, tuple(names), draw(st.sampled_from([None, None, True, False])))


@st.composite
def requests(draw: DrawFn, *, sound: bool = False) -> Request:
    """Requests: a conversation, tools that it may not be about, a choice, parameters.

    The conversation of a sound one is sound.
    """
    offered = draw(offers())
    return Request(
        draw(conversations(sound=sound)),
        offered,
        draw(st.none() | choices(offered)),
        draw(params()),
        "some-model",
    )
