"""Parameters of a wrong kind: each of them is found in every format, and none is sent."""

import math
from typing import Any

import pytest

from canonicall import Conversation, decode_request, encode_request, verify
from canonicall.errors import MalformedBody
from canonicall.facts.parameter_kinds import Parameter, known_parameters
from canonicall.facts.registry import get_profile, get_target, provider_names
from canonicall.request import Params, Request

HELLO = [{"role": "user", "content": "Hi"}]
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": HELLO},
    "bedrock": {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
    "cohere": {"model": "command-a", "messages": HELLO},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    "ollama": {"model": "qwen3", "messages": HELLO},
    "openai-chat": {"model": "gpt-4o", "messages": HELLO},
    "openai-responses": {"model": "gpt-5", "input": "Hi"},
}
VALUES: dict[str, tuple[Any, ...]] = {
    "text": ("hot",),
    "numeral": ("5", "0.5", "-1"),
    "integer": (7, 7.0, 0, -1),
    "number": (0.5,),
    "boolean": (True, False),
    "object": ({},),
    "array": ([1, "a"], [None]),
    "texts": (["a"],),
    "objects": ([{}],),
    "nothing": (math.nan, math.inf),
}
"""Values by their narrowest kind."""
ALSO = {
    "text": {"numeral"},
    "number": {"integer"},
    "array": {"texts", "objects"},
}
"""Kinds that are of another kind as well."""
PLACES = [f"{name}/{format}" for name in provider_names() for format in get_profile(name).formats]


def paths(known, before=()):
    for name, one in known.items():
        if one.kinds:
            yield (*before, name), one
        yield from paths(one.inner, (*before, name))


def with_value(body: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    name, *rest = path
    inner = body.get(name) if isinstance(body.get(name), dict) else {}
    return {**body, name: with_value(inner, tuple(rest), value) if rest else value}


def wrong_values(one: Parameter) -> list[Any]:
    fine = {kind for known in one.kinds for kind in (known, *ALSO.get(known, ()))}
    values = [value for kind, some in VALUES.items() if kind not in fine for value in some]
    # An empty list is of every kind of list.
    return [*values, []] if not fine & {"array", "texts", "objects"} else values


def right_values(one: Parameter) -> list[Any]:
    fine = {kind for known in one.kinds for kind in (known, *ALSO.get(known, ()))}
    return [value for kind in fine for value in VALUES[kind]]


def code_of(format: str, where: str) -> str:
    is_told_apart = (format, where) == ("ollama", "$.format")
    return "bad_output_format" if is_told_apart else "malformed_body"


@pytest.mark.parametrize("format", BODIES)
def test_a_value_of_a_wrong_kind_is_found_at_its_place(format):
    target = get_target(f"{'openai' if 'openai' in format else format}/{format}")
    assert not verify(BODIES[format], target.as_served)
    count = 0
    for path, one in paths(known_parameters(format)):
        where = f"$.{'.'.join(path)}"
        for value in wrong_values(one):
            found = verify(with_value(BODIES[format], path, value), target)
            assert (code_of(format, where), where) in {(v.code, v.where) for v in found}, value
            count += 1
        for value in (*right_values(one), None):
            found = verify(with_value(BODIES[format], path, value), target)
            told = {v.where for v in found if v.code == "malformed_body" and "expected" in v.why}
            assert where not in told, (path, value)
    assert count > 150


@pytest.mark.parametrize("format", BODIES)
def test_what_is_read_and_written_again_has_no_value_of_a_wrong_kind(format):
    """The decoder refuses the body, or the parameter is dropped with a finding."""
    target = get_target(f"{'openai' if 'openai' in format else format}/{format}")
    for path, one in paths(known_parameters(format)):
        for value in wrong_values(one):
            body = with_value(BODIES[format], path, value)
            try:
                request = decode_request(body, format)
            except MalformedBody:
                continue
            encoded = encode_request(request, target)
            assert "malformed_body" not in verify(encoded.body, target), (path, value)
            assert encoded.report, (path, value)


WRONG = Params(
    max_tokens=[],  # type: ignore[arg-type]
    temperature="hot",  # type: ignore[arg-type]
    top_p=math.nan,
    top_k={},  # type: ignore[arg-type]
    stop=7,  # type: ignore[arg-type]
    seed="x",  # type: ignore[arg-type]
    stream="yes",  # type: ignore[arg-type]
    reasoning="high",  # type: ignore[arg-type]
    output="json",  # type: ignore[arg-type]
)


@pytest.mark.parametrize("place", PLACES)
def test_parameters_of_a_wrong_kind_are_dropped_for_every_target(place):
    """As a program hands them over, past all decoders."""
    conversation = Conversation()
    conversation.user("Hi")
    encoded = encode_request(Request(conversation, params=WRONG, model="m"), place)
    plain = encode_request(Request(conversation, model="m"), place)
    assert encoded.data == plain.data
    dropped = {one.where for one in encoded.report if one.code == "param_dropped"}
    assert dropped == {f"params.{name}" for name in Params.__struct_fields__}


def test_the_words_are_those_of_the_owner_of_the_format():
    chat = {**BODIES["openai-chat"], "temperature": "hot", "n": 1.5, "stop": 7}
    found = {one.where: one.error for one in verify(chat, "openai")}
    assert found["$.temperature"] == (
        "Invalid type for 'temperature': expected a decimal, but got a string instead."
    )
    assert found["$.n"] == (
        "Invalid type for 'n': expected an integer, but got a decimal number instead."
    )
    assert found["$.stop"] == (
        "Invalid type for 'stop': expected one of a string or array of strings, but got an integer"
        " instead."
    )
    messages = {**BODIES["anthropic"], "max_tokens": "many"}
    (one,) = verify(messages, "anthropic")
    assert one.error == "max_tokens: Input should be a valid integer"
    config = {**BODIES["gemini"], "generation_config": {"top_p": "wide", "top_k": "5"}}
    (one,) = verify(config, "gemini")
    assert one.where == "$.generation_config.top_p"
    assert one.error == "Invalid value at 'generation_config.top_p' (TYPE_FLOAT)"
