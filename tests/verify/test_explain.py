"""explain: every known error is recognised in every wrapping, and nothing makes it raise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall.facts.target import Target
from canonicall.verify import explain
from canonicall.verify.codes import CODES
from canonicall.verify.explainer import table

MISSING = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
    "toolu_1, x-2. Each `tool_use` block must have a corresponding `tool_result` block in the next "
    "message."
)
ANTHROPIC = {"type": "error", "error": {"type": "invalid_request_error", "message": MISSING}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)


@each("entry", table(), ids=lambda entry: entry.example[:40])
def test_each_pattern_finds_its_own_words(entry):
    """And comes first: what is special stands in the table before what is general."""
    explanation = explain(entry.example)
    assert explanation.entries[0].code == entry.code
    assert explanation.entries[0].quote


@each("entry", table(), ids=lambda entry: entry.code)
def test_words_that_a_shell_took_the_backticks_from_are_found(entry):
    assert entry.pattern.search(entry.example.replace("`", ""))


def test_the_most_common_error_is_known_by_its_beginning():
    told = explain("400: tool_use ids were found without tool_result blocks")
    assert [one.code for one in told.entries] == ["missing_result"]


@each("entry", table(), ids=lambda entry: entry.example[:40])
def test_each_entry_says_what_it_means_and_what_to_do(entry):
    assert entry.meaning.endswith(".")
    assert entry.repair.endswith(".")
    assert entry.source
    assert set(entry.also) <= set(CODES)


@pytest.mark.parametrize(
    "wrapped",
    [
        MISSING,
        MISSING.encode(),
        ANTHROPIC,
        json.dumps(ANTHROPIC),
        json.dumps(ANTHROPIC, indent=2).encode(),
        f"litellm.BadRequestError: AnthropicException - {json.dumps(ANTHROPIC)}. Received Model Group=x",
        {"error": {"code": 400, "metadata": {"provider_name": "x", "raw": json.dumps(ANTHROPIC)}}},
        json.dumps({"error": {"message": json.dumps({"detail": json.dumps(ANTHROPIC)})}}),
        f"Error code: 400 - {ANTHROPIC}",
        [{"event": "error", "data": json.dumps(ANTHROPIC)}],
    ],
    ids=[
        "text",
        "bytes",
        "envelope",
        "json",
        "json bytes",
        "litellm",
        "openrouter",
        "json in json in json",
        "python sdk",
        "stream",
    ],
)
def test_an_error_is_found_in_its_wrapping(wrapped):
    (entry,) = explain(wrapped).entries
    assert entry.code == "missing_result"
    assert {"messages.1", "toolu_1", "x-2"} <= set(entry.places)


@pytest.mark.parametrize(
    ("error", "places"),
    [
        ("Invalid 'input[5].id': 'x'. Expected an ID that begins with 'fc'.", ("input[5].id",)),
        (
            "Missing `reasoning_content` field in the assistant message at message index 4",
            ("messages[4]",),
        ),
        ("No tool output found for function call call_aB-1.", ("call_aB-1",)),
        (
            {
                "error": {
                    "message": "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
                    "param": "input[2]",
                }
            },
            ("input[2]",),
        ),
        (
            "Malformed input request: #/messages/2/content/0: extraneous key [toolResult] is not permitted",
            ("#/messages/2/content/0",),
        ),
        (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: functions.get:0, b",
            ("functions.get:0", "b"),
        ),
    ],
)
def test_the_places_an_error_names(error, places):
    assert explain(error).entries[0].places == places


def test_what_stands_far_from_an_error_is_not_its_place():
    (entry,) = explain(f"call_other messages.9 {'and so on ' * 500}{MISSING}").entries
    assert set(entry.places) == {"messages.1", "toolu_1", "x-2"}


def test_the_request_shows_where_it_breaks():
    request = {
        "max_tokens": 1,
        "messages": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_1", "name": "get", "input": {}}],
            },
            {"role": "user", "content": ""},
        ],
    }
    (entry,) = explain(ANTHROPIC, request=request, target=Target(format="anthropic")).entries
    assert [one.code for one in entry.violations] == ["missing_result"]
    assert entry.violations[0].where == "$.messages[1].content[0]"


def test_the_words_of_the_target_come_first():
    error = (
        "role 'system' is not supported on this model; No tool call found for function call output"
    )
    codes = [one.code for one in explain(error).entries]
    assert codes == ["misplaced_instructions", "orphan_result_sent"]
    target = Target(format="openai-responses")
    codes = [one.code for one in explain(error, target=target).entries]
    assert codes == ["orphan_result_sent", "misplaced_instructions"]


def test_an_unknown_target_or_a_broken_request_is_no_obstacle():
    assert explain(MISSING, request={}, target=Target(format="unheard-of"))
    assert explain(MISSING, request={"messages": 7}, target=Target(format="anthropic"))


@pytest.mark.parametrize("error", ["", "The weather is fine.", b"\xff", {}, {"error": None}])
def test_what_is_not_known_says_so(error):
    explanation = explain(error)
    assert not explanation
    assert str(explanation) == "Nothing is known about this error."


def test_an_explanation_reads_as_text():
    assert str(explain(MISSING)).startswith("missing_result (messages.1, toolu_1, x-2): A call has")


@given(st.text() | st.binary() | JSON)
def test_nothing_makes_it_raise(error):
    explain(error, request=error, target=Target(format="gemini"))


@given(JSON, st.sampled_from(table()))
def test_an_error_is_found_among_anything(noise, entry):
    wrapped = {"noise": noise, "error": {"message": entry.example}}
    assert entry.code in {one.code for one in explain(wrapped).entries}


@pytest.mark.parametrize("text", ["{" * 50_000, "[" * 50_000, "tool_use" * 20_000, '{"a":' * 9_000])
def test_long_and_deep_errors_are_no_danger(text):
    """A pattern that goes back over its text would take minutes here."""
    explain(text)


def test_values_that_hold_themselves_end():
    loop: dict[str, object] = {"message": MISSING}
    loop["self"] = loop
    assert explain(loop)
    empty: dict[str, object] = {}
    empty["self"] = empty
    assert not explain(empty)


def test_the_table_tells_no_entry_twice():
    examples = [entry.example for entry in table()]
    assert len(set(examples)) == len(examples)
