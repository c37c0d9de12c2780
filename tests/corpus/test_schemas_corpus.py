"""Recorded lists of tools on their way: what a provider accepted is sent to it again byte for byte,
and every list becomes one that every other provider takes, by the judge and by the types of the
official SDK, with a finding for whatever did not come along."""

import json
import re
from functools import cache

import pytest

from canonicall import Policy, translate_tools
from canonicall.codec import decode_tools
from canonicall.facts.registry import get_profile, get_target, provider_names
from canonicall.transcript.schemas import fitted_tools
from canonicall.wire.formats import FORMATS
from corpus.support import needs_corpus
from corpus.test_tool_lists_corpus import (
    SDKS,
    complaints,
    own_target,
    recorded_lists,
    typed_complaints,
)

pytestmark = needs_corpus
ALL = [f"{name}/{format}" for name in provider_names() for format in get_profile(name).formats]
# One for each set of rules that a format is spoken with.
TARGETS = {(get_target(one).format, get_target(one).schemas): one for one in reversed(ALL)}.values()
# Strict mode is asked for; where a format has none, the flag has no place.
STRICT = ["openai/openai-chat", "openai/openai-responses", "anthropic/anthropic", "cohere/cohere"]


@cache
def distinct_lists():
    """Every list once for each format, by what its schemas say; the first request that had it."""
    found = {}
    for format in FORMATS:
        for listed in recorded_lists(format):
            tools, _ = decode_tools(listed.tools, format)
            alike = [(one.kind, one.parameters, one.strict, one.native) for one in tools]
            found.setdefault((format, repr(alike)), listed)
    return [(format, listed) for (format, _), listed in found.items()]


@pytest.mark.parametrize("format", FORMATS)
def test_what_a_provider_accepted_is_not_touched(format):
    lists = recorded_lists(format)
    assert len(lists) > 5
    for listed in lists:
        if format == "openai-responses" and any("function" in tool for tool in listed.tools):
            continue  # Nested as in Chat Completions: the schema was never read.
        tools, _ = decode_tools(listed.tools, format)
        rule = own_target(listed.host, format).schemas
        fitted, findings = fitted_tools(tools, rule, Policy())
        assert (fitted is tools, [str(one) for one in findings]) == (True, []), listed.id


def said(tools, format):
    """What the functions of a list say, in order."""
    functions = (tool for tool in decode_tools(tools, format)[0] if tool.kind == "function")
    return [
        (tool.description, tool.parameters if has_parameters(tool.parameters) else None)
        for tool in functions
    ]


def has_parameters(schema):
    """Formats differ in how they say that there are none; whether it is closed is the same then."""
    empty = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return not all(empty.get(key, "") == value for key, value in (schema or {}).items())


def translated_lists(target, format, strict):
    """Every list as `target` takes it, the same result once, with what was reported."""
    seen = set()
    for source, listed in distinct_lists():
        made = translate_tools(listed.tools, source, target, strict=strict)
        same = said(listed.tools, source) == said(made.tools, format)
        written = json.dumps(made.tools)
        if written not in seen or not same:
            seen.add(written)
            yield listed.id, made, same


@pytest.mark.parametrize(
    ("target", "strict"), [(one, None) for one in TARGETS] + [(one, True) for one in STRICT]
)
def test_every_list_becomes_one_that_is_taken(target, strict):
    goal = get_target(target)
    wrong = {}
    for id, made, same in translated_lists(goal, goal.format, strict):
        told = complaints(made.tools, goal) if made.tools else []
        if not same and not made.findings:
            told.append("something changed, and nothing was reported")
        if told:
            wrong[id] = told
    assert wrong == {}


@pytest.mark.parametrize("strict", [None, True], ids=["as it came", "strict"])
@pytest.mark.parametrize("format", SDKS)
def test_the_types_of_the_sdk_take_every_list(format, strict):
    # The API chooses where `strict` is left out; the types want it to be there.
    known = r"\.function\.strict: Field required" if format == "openai-responses" else "(?!)"
    wrong = [
        (id, line)
        for id, made, _ in translated_lists(format, format, strict)
        if made.tools
        for line in typed_complaints(made.tools, format)
        if not re.search(known, line)
    ]
    assert wrong == []
