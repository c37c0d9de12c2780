"""verify: what it takes, what it never does, and that its codes are all told."""

import ast
import importlib
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batches import each
from benchmarks.sized_bodies import CASES, JUDGED_FOR, sized_body
from canonicall import get_target
from canonicall.errors import UnknownName
from canonicall.facts.bodies import targets_of_models
from canonicall.facts.target import IdRule, Target
from canonicall.findings import Action, Fault, Finding
from canonicall.verify import Violation, explain, verify
from canonicall.verify.codes import CODES
from canonicall.verify.judge import FORMATS

SOURCE = Path(__file__).parents[2] / "src" / "canonicall" / "verify"
BROKEN = {"max_tokens": 1, "messages": [{"role": "user", "content": ""}]}

# Bodies that look like requests: the words of the formats, in any arrangement.
WORDS = st.sampled_from(
    [
        "messages",
        "contents",
        "input",
        "tools",
        "tool_choice",
        "role",
        "content",
        "parts",
        "type",
        "text",
        "id",
        "name",
        "call_id",
        "tool_calls",
        "function",
        "arguments",
        "toolUse",
        "toolResult",
        "toolUseId",
        "functionCall",
        "functionResponse",
        "functionDeclarations",
        "toolConfig",
        "tool_use",
        "tool_result",
        "tool_use_id",
        "thinking",
        "user",
        "assistant",
        "model",
        "tool",
        "system",
        "reasoning",
        "function_call",
        "function_call_output",
        "output",
        "system",
        "mode",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=15,
)


@pytest.mark.parametrize("format", FORMATS)
@given(
    body=st.dictionaries(WORDS, VALUES, max_size=6),
    style=st.sampled_from(["prefixed", "short", "echoed"]),
)
def test_no_body_makes_it_raise(format, body, style):
    for finding in verify(body, Target(format=format, ids=IdRule(style=style))):
        assert finding.code in CODES


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.binary(max_size=40) | st.text(max_size=40))
def test_no_bytes_make_it_raise(format, data):
    assert verify(data, Target(format=format))


@each("format", FORMATS)
@each("body", ["[]", b"null", "{", "\ud800", "[" * 100_000])
def test_what_is_not_an_object_is_malformed(format, body):
    report = verify(body, Target(format=format))
    assert report.counts == {"malformed_body": 1}
    assert report.findings[0].where == "$"
    assert report.findings[0].fault is Fault.INPUT


def test_a_value_of_the_wrong_kind_is_named_with_its_path():
    body = {"messages": [{"role": "user", "content": "Hi"}, {"role": 7}]}
    report = verify(body, Target(format="openai-chat"))
    assert [(one.code, one.where, one.why) for one in report][-1] == (
        "malformed_body",
        "$.messages[1].role",
        "expected string, got integer.",
    )


def test_text_and_bytes_are_judged_like_the_object():
    target = Target(format="anthropic")
    data = msgspec.json.encode(BROKEN)
    assert verify(BROKEN, target) == verify(data, target) == verify(data.decode(), target)


def test_the_body_is_left_alone():
    before = msgspec.json.encode(BROKEN)
    verify(BROKEN, Target(format="anthropic"))
    assert msgspec.json.encode(BROKEN) == before


def test_an_unknown_format_is_the_callers_mistake():
    with pytest.raises(UnknownName, match="anthropic"):
        verify({}, Target(format="antropic"))


def test_a_violation_is_a_finding():
    (violation,) = verify(BROKEN, Target(format="anthropic"))
    assert isinstance(violation, Finding)
    assert isinstance(violation, Violation)
    assert violation.action is Action.REFUSED
    assert violation.fault is Fault.RENDER
    assert msgspec.json.decode(msgspec.json.encode(violation), type=Violation) == violation


def test_every_code_is_used_and_none_is_unknown():
    used = {
        node.value
        for path in SOURCE.glob("*.py")
        if path.name not in {"codes.py", "explainer.py"}
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in CODES
    }
    assert used == set(CODES)


def test_public_names_stay_what_they_are_once_loaded():
    """A submodule of the same name would take the place of a function that is loaded late."""
    package = importlib.import_module("canonicall.verify")
    for path in SOURCE.rglob("*.py"):
        if path.stem != "__init__":
            within = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            importlib.import_module(f"canonicall.verify.{within}")
    assert all(callable(getattr(package, name)) for name in package.__all__)


def test_the_verifier_shares_nothing_with_the_renderer():
    """Two readings of the same rules are worth something only while they are two.

    Where a frame begins and ends is not one of those rules: streams may be cut by `framing`. Facts
    are shared, as data: the SDKs' types and recorded traffic are their judges.
    """
    allowed = {"canonicall.errors", "canonicall.findings"}
    allowed |= {f"canonicall.framing.{name}" for name in ("detect", "frame", "sse")}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("canonicall"):
                is_own = node.module.startswith(("canonicall.verify", "canonicall.facts."))
                assert node.module in allowed or is_own


UNSIGNED = {
    "contents": [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "get", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "get", "response": {"output": 1}}}],
        },
    ],
    "tools": [{"functionDeclarations": [{"name": "get"}]}],
}
NAMELESS = {
    "contents": [
        *UNSIGNED["contents"][:2],
        {"role": "user", "parts": [{"functionResponse": {"response": {"output": 1}}}]},
    ],
    "tools": UNSIGNED["tools"],
}


def test_without_a_model_only_rules_of_all_models_count():
    """Gemini 3 wants a signature, Gemini 2.5 does not; all want the name of a result."""
    report = verify(UNSIGNED, "gemini")
    assert not report
    assert "No model is named" in report.notes[0]
    assert "No model is named" in str(report)
    assert verify(NAMELESS, "gemini").counts == {"result_without_name": 1}
    assert verify(UNSIGNED, "gemini:gemini-3-pro").counts == {"signature_missing": 1}
    assert not verify(UNSIGNED, "gemini:gemini-2.5-flash")
    assert verify({**UNSIGNED, "model": "models/gemini-3-pro"}, "gemini")


@each("case", CASES)
@each("provider", ["bedrock", "gemini"])
def test_models_that_differ_in_name_only_refuse_the_same(provider, case):
    """So a body without a model is judged once for all of them."""
    models = [one.as_served for one in targets_of_models(get_target(provider))]
    body = sized_body(case, 3, provider)
    found: dict[Target, set[tuple[str, str]]] = {}
    for target in models:
        places = {(one.code, one.where) for one in verify(body, target)}
        assert found.setdefault(replace(target, model=""), places) == places
    assert len(found) < len(models)
    with pytest.MonkeyPatch.context() as patched:
        rules, count = FORMATS[provider], Counter[str]()

        def counted(body, target):
            count[provider] += 1
            return rules(body, target)

        patched.setitem(FORMATS, provider, counted)
        verify(body, provider)
    assert count[provider] <= 1 + len(found)


@pytest.mark.parametrize("format", ["anthropic", "bedrock", "openai-chat"])
def test_of_many_ids_a_sentence_names_the_first(format):
    """Every call without a result names all of them: that many sentences may not each be long."""
    report = verify(sized_body("results before their calls", 30, format), JUDGED_FOR[format])
    missing = [one for one in report if one.code == "missing_result"]
    assert len(missing) == 30
    for one in missing:
        assert isinstance(one, Violation)
        assert "call_0, call_1, " in one.error
        assert "call_18, call_19 and 10 more" in one.error
    explained = explain(missing[0].error).entries[0]
    assert explained.code == "missing_result"
    assert [place for place in explained.places if place.startswith("call_")] == [
        f"call_{number}" for number in range(20)
    ]
    assert "and" not in explained.places


@pytest.mark.parametrize("name", ["gemini:gemini-2.5-flash", "cohere"])
def test_nothing_is_noted_where_the_model_is_known_or_makes_no_difference(name):
    assert verify(UNSIGNED, name).notes == ()


def test_a_body_of_an_api_without_rules_is_not_judged():
    """It is one of Gemini's; for other providers it is a body of theirs with unknown fields."""
    body = {"model": "gemini-3-flash-preview", "input": "Hi", "generation_config": {"seed": 7}}
    report = verify(body, "gemini")
    assert not report
    assert report.notes[0].startswith("Not judged: this is a body for gemini-interactions")
    assert verify(body, "openai-responses").counts == {"unknown_field": 1}
    assert verify(body, "gemini/gemini")
