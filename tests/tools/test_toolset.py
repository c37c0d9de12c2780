"""Toolsets: in order, by name, each name once."""

import pytest

from canonicall import InvalidValue, ToolCall, Toolset, UnknownName, tool, tools_from, validate_call


@tool
def read(path: str) -> str:
    """Read."""
    return path


@tool(read_only=True)
def list_files() -> list[str]:
    """List."""
    return ["a"]


def write(path: str, text: str) -> None:
    """Write."""


TOOLS = Toolset.of(read, list_files, write)


def test_tools_and_functions_in_order_by_name():
    assert TOOLS.names == ("read", "list_files", "write")
    assert [one.name for one in TOOLS] == list(TOOLS.names)
    assert len(TOOLS) == 3
    assert "read" in TOOLS
    assert "nothing" not in TOOLS
    assert TOOLS["read"] == read
    assert TOOLS["write"].description == "Write."


def test_a_name_that_is_not_there_is_told_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'write'"):
        TOOLS["wrte"]


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(InvalidValue, match=r"read: two tools have this name.*prefixed"):
        Toolset.of(read, read)
    with pytest.raises(InvalidValue, match="two tools have this name"):
        TOOLS.merged(TOOLS)


def test_servers_with_the_same_names_live_side_by_side():
    both = TOOLS.prefixed("one_") | TOOLS.prefixed("two_")
    assert both.names[:3] == ("one_read", "one_list_files", "one_write")
    assert both["two_read"].call({"path": "x"}) == "x"
    assert both["two_read"].tool.name == "two_read"


def test_filters_keep_the_order():
    assert TOOLS.filtered(["write", "read"]).names == ("read", "write")
    assert TOOLS.filtered("read").names == ("read",)
    assert TOOLS.filtered(lambda one: one.read_only).names == ("list_files",)
    with pytest.raises(UnknownName):
        TOOLS.filtered(["nothing"])


def test_findings_go_along():
    found = tools_from([{"type": "function", "name": "weather"}], "openai-chat")
    for made in (TOOLS | found, found.prefixed("x"), found.filtered(["weather"])):
        assert made.findings == found.findings


def test_it_offers_what_a_call_is_checked_against():
    assert validate_call(ToolCall(name="read", args={"path": "x"}), TOOLS.offered).ok
    refused = validate_call(ToolCall(name="read", args={}), TOOLS.offered)
    assert refused.error.missing == ("path",)
    assert tuple(TOOLS.offered) == TOOLS.names


def test_a_set_does_not_change():
    merged = TOOLS.merged(tool(write, name="other"))
    assert len(TOOLS) == 3
    assert len(merged) == 4
