"""The parts of discovery that only compute: addresses, lists, ids, TOML, evidence."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall.discovery.addresses import places, provider_name
from canonicall.discovery.answer import Answer
from canonicall.discovery.draft import history, permissive, question
from canonicall.discovery.evidence import difference
from canonicall.discovery.id_rules import id_rule, seen_ids
from canonicall.discovery.model_lists import first_that_talks, format_of_list, listed_models
from canonicall.discovery.parts import PLAN, replay_of
from canonicall.discovery.statement import QUESTIONS
from canonicall.discovery.toml import table, written
from canonicall.facts.target import IdRule
from canonicall.testing.doors import DOORS
from canonicall.wire.formats import FORMATS, get_format

PLAIN = st.characters(codec="utf-8", exclude_categories=["Cs"])
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.text(PLAIN),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(PLAIN), inner, max_size=3),
    max_leaves=8,
)


@given(st.text(PLAIN), VALUES)
def test_what_is_written_as_toml_is_read_as_it_was(key, value):
    read = tomllib.loads(table("[there]", {key: value, "left out": None}))
    assert read == {"there": {key: value}}
    assert "\n" not in written(value)


@pytest.mark.parametrize(
    ("url", "first"),
    [
        ("http://localhost:8000", ("openai-chat", "http://localhost:8000/v1")),
        ("http://localhost:8000/v1/", ("openai-chat", "http://localhost:8000/v1")),
        ("https://x.test/openai/v1/responses", ("openai-responses", "https://x.test/openai/v1")),
        ("https://x.test/v1/messages", ("anthropic", "https://x.test")),
        ("https://x.test/api/chat", ("ollama", "https://x.test")),
        ("https://x.test/v2/chat", ("cohere", "https://x.test/v2")),
        ("https://x.test/chat", ("openai-chat", "https://x.test/chat/v1")),
        ("https://x.test/v1beta/models/m:generateContent", ("gemini", "https://x.test/v1beta")),
        ("https://x.test/model/a.b:0/converse", ("bedrock", "https://x.test")),
    ],
)
def test_the_likeliest_place_comes_first(url, first):
    place = places(url)[0]
    assert (place.format, place.base) == first


def test_each_format_is_looked_for_and_none_twice_at_one_place():
    found = places("https://x.test/v1")
    assert {one.format for one in found} == set(FORMATS)
    assert len(set(found)) == len(found)


def test_a_provider_is_named_after_its_host():
    assert provider_name("https://api.example.com/v1") == "api.example.com"
    assert provider_name("http://127.0.0.1:8000") == "127.0.0.1-8000"


@pytest.mark.parametrize("format", [one for one in FORMATS if one != "bedrock"])
def test_a_list_of_models_tells_its_format(format):
    body = DOORS[format].models(["one", "two"], get_format(format).target)
    assert listed_models(body) == ("one", "two")
    shared = "openai-chat" if format == "openai-responses" else format
    assert format_of_list(body) == shared


@pytest.mark.parametrize("body", [None, [], {}, {"data": 1}, {"models": [1, {"name": 2}]}])
def test_other_bodies_are_no_lists(body):
    assert listed_models(body) == ()
    assert format_of_list(body) in ("", "openai-chat")


def test_models_that_do_not_talk_are_left_out():
    methods = "supportedGenerationMethods"
    body = {"models": [{"name": "models/e", methods: ["embed"]}, {"name": "models/g"}]}
    assert listed_models(body) == ("g",)
    assert first_that_talks(["text-embedding-3", "gpt-5.2"]) == "gpt-5.2"
    assert first_that_talks(["text-embedding-3"]) == "text-embedding-3"
    assert first_that_talks([]) == ""


@pytest.mark.parametrize(
    ("calls", "style", "prefix"),
    [
        ([("call_abc", "x"), ("call_ab_c", "y")], "prefixed", "call_"),
        ([("toolu_01A", "x")], "prefixed", "toolu_"),
        ([("chatcmpl-tool-2ec58", "x"), ("chatcmpl-tool-a", "y")], "prefixed", "chatcmpl-tool-"),
        ([("x_1", "x"), ("y_1", "y")], "prefixed", ""),
        ([("functions.x:0", "x"), ("functions.y:1", "y")], "numbered", "functions."),
        ([("functions.x:0", "y")], "prefixed", ""),
        ([("Ab3dE6gH9", "x"), ("Zb3dE6gH9", "y")], "short", ""),
        ([("", "x")], "echoed", ""),
    ],
)
def test_ids_are_described(calls, style, prefix):
    seen = seen_ids(calls)
    assert (seen.style, seen.prefix) == (style, prefix)
    assert seen.told


@each("calls", [[("call_abc", "x")], [("Ab3dE6gH9", "x")], [("f.x:0", "x")]])
@each("foreign", [True, False, None])
@each("plain", [True, False, None])
def test_every_rule_for_ids_is_one(calls, foreign, plain):
    rule = IdRule(**id_rule(seen_ids(calls), foreign=foreign, plain=plain))
    assert rule.max_length >= 9
    assert len(rule.prefix) + 9 <= rule.max_length or rule.style == "short"


def test_no_calls_no_rule():
    assert seen_ids([]) is None
    assert id_rule(None, foreign=True, plain=True) == {}


def test_evidence_shows_what_is_different():
    base = {"a": 1, "list": [1, 2], "gone": 0}
    body = {"a": 1, "list": [1, 2, 3], "new": {}}
    assert difference(body, base) == {"list": ["...", 3], "new": {}, "gone": None}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, b"{}", "taken"),
        (200, b'{"error": {"message": "x"}}', "busy"),
        (200, b"<!DOCTYPE html>", "page"),
        (400, b"{}", "refused"),
        (
            400,
            b'{"error": {"message": "API key not valid. Pass a valid API key."}}',
            "unauthorized",
        ),
        (404, b'{"error": {"message": "The model `x` does not exist"}}', "refused"),
        (404, b'{"error": {"message": "POST /v1/models/x is not served"}}', "missing"),
        (404, b"", "missing"),
        (429, b"", "busy"),
        (500, b"[", "busy"),
        (302, b"", "broken"),
    ],
)
def test_what_an_answer_means(status, body, kind):
    assert Answer(status, {}, body).kind("gemini") == kind


@given(st.binary(max_size=200), st.sampled_from(FORMATS), st.sampled_from([200, 400, 404, 500]))
def test_no_answer_is_too_strange(data, format, status):
    answer = Answer(status, {}, data)
    assert answer.kind(format)
    assert answer.shown(()).startswith(str(status))


@pytest.mark.parametrize("format", FORMATS)
def test_every_part_has_a_question_and_changes_only_what_it_can_say(format):
    target = permissive(format, "m")
    for probe in PLAN:
        base = history(target, None) if probe.on_history else question(target)
        for part in (*probe.parts, replay_of("reasoning_content")):
            assert part.question in QUESTIONS
            if part.is_said(base):
                assert part.change(base).body != base.body
