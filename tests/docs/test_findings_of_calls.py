"""Each code of the tables about calls in docs/findings.md is provoked: what is done is what it says."""

from collections.abc import Callable, Iterable

import pytest

from canonicall import Finding, Limits, Tool, ToolCall, result_blocks, validate_call
from finding_codes import ABOUT_CALLS, documented

SCHEMA = {"properties": {"days": {"type": "integer"}, "city": {"type": "string"}}}
WEATHER = Tool("weather", parameters=SCHEMA)
LIMITS = Limits()


def _checked(
    tool: Tool = WEATHER, limits: Limits = LIMITS, **fields: object
) -> tuple[Finding, ...]:
    return validate_call(ToolCall(**{"name": "weather", **fields}), [tool], limits=limits).findings


PROVOKED: dict[str, Callable[[], Iterable[Finding]]] = {
    "call_truncated": lambda: _checked(raw='{"city": "Ba'),
    "tool_not_offered": lambda: _checked(name="wether"),
    "arguments_unparsed": lambda: _checked(raw="[1]"),
    "arguments_too_large": lambda: _checked(raw='{"city": "Basel"}', limits=Limits(max_bytes=5)),
    "arguments_invalid": lambda: _checked(args={"days": "soon"}),
    "arguments_from_xml": lambda: _checked(raw="<city>Basel</city>"),
    "repeated_arguments": lambda: _checked(raw='{"days": 1}{"days": 1}'),
    "argument_coerced": lambda: _checked(args={"days": "3"}),
    "null_left_out": lambda: _checked(args={"days": None}),
    "control_characters": lambda: _checked(args={"city": "Ba\x00sel"}),
    "schema_unusable": lambda: _checked(Tool("weather", parameters={"type": "?"}), args={}),
    "value_as_text": lambda: result_blocks(object()).findings,
    "result_shortened": lambda: result_blocks("x" * 300, limit=200).findings,
}


def test_there_is_a_way_to_provoke_every_code():
    assert set(PROVOKED) == set(documented(*ABOUT_CALLS))


@pytest.mark.parametrize("code", PROVOKED)
def test_the_page_says_what_is_done(code):
    """The actions in the table are those that really occur."""
    done = {finding.action.value for finding in PROVOKED[code]() if finding.code == code}
    assert done
    assert done == documented(*ABOUT_CALLS)[code]
