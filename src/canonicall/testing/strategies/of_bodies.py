"""Request bodies as a careless client sends them: values of a wrong kind, fields gone."""

import copy
from collections.abc import Iterator
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from canonicall.codec import encode_request
from canonicall.testing.strategies.of_blocks import json_values
from canonicall.testing.strategies.of_requests import requests
from canonicall.wire.formats import get_format

Place: TypeAlias = tuple[dict[str, Any] | list[Any], Any]

_LIKELY: SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, 0, -1, 1.5, 1e308, 2**63, "", " ", "\x00", "x" * 300, [], {}, [[]], [None]),
        *([{}], {"": ""}, {"type": None}, {"type": "text"}, {"type": "tool_use"}, {"$ref": "#"}),
        *({"type": "tool_result"}, {"role": "user"}, "data:,", "assistant", "tool", "tool_calls"),
    ]
)
_KEYS = st.sampled_from(
    [*("role", "type", "content", "id", "name", "parts", "text", "input", ""), "é" * 50]
)


@st.composite
def damaged_bodies(draw: DrawFn, format: str) -> dict[str, Any]:
    """Request bodies of a format, each with one to four places spoilt."""
    target = get_format(format).target
    body: dict[str, Any] = copy.deepcopy(encode_request(draw(requests()), target).body)
    for _ in range(draw(st.integers(1, 4))):
        places = list(_places(body))
        if not places:
            break
        _spoil(draw, *places[draw(st.integers(0, len(places) - 1))])
    return body


def _spoil(draw: DrawFn, holder: dict[str, Any] | list[Any], key: Any) -> None:
    what = draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
    if what == "replace":
        holder[key] = copy.deepcopy(draw(_LIKELY | json_values()))
    elif what == "remove":
        del holder[key]
    elif isinstance(holder, dict):
        holder[draw(_KEYS)] = holder.pop(key)
    else:
        holder.insert(draw(st.integers(0, len(holder))), copy.deepcopy(holder[key]))


def _places(value: Any) -> Iterator[Place]:
    """Every place in a body: what holds it, and under which key."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        for key, inner in list(one.items() if isinstance(one, dict) else enumerate(one)):
            yield one, key
            if isinstance(inner, dict | list):
                waiting.append(inner)
