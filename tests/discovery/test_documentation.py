"""Documentation that a model reads: only what it can quote counts, and probes count more."""

import asyncio
import json

import pytest

from canonicall.discovery.documentation import (
    MOST_TEXT,
    REPORT,
    UnreadableAnalysis,
    analyse_documentation,
    with_documentation,
)
from canonicall.discovery.profile_text import profile_text
from canonicall.facts.profile import load_profile
from canonicall.guard.validators import validator_of
from canonicall.runtime.model import LocalModel
from canonicall.testing.script import ScriptedModel, call, says
from discovery.endpoints import WHEN, found, simulated

PAGE = """# Tool calling

Our models may call several tools **at once**. `tool_choice` can be `required`.
The role `developer` is understood. A reply never holds more than 16 calls.
"""
CLAIMS = [
    {"question": "parallel_calls", "answer": True, "quote": "may call several tools at once"},
    {"question": "developer_role", "answer": True, "quote": "The role `developer` is understood."},
    {"question": "text_syntax", "answer": "hermes", "quote": "we print calls as hermes"},
    {"question": "choice_required", "answer": "sometimes", "quote": "can be `required`"},
    {"question": "quirk", "answer": "At most 16 calls.", "quote": "never holds more than 16 calls"},
]


def analysed(*steps, text=PAGE):
    model = LocalModel(ScriptedModel(steps))
    return asyncio.run(analyse_documentation(text, model, "generic:reader"))


def reported(*claims):
    return says(call(REPORT.name, claims=list(claims)))


def test_claims_need_words_that_are_there_and_answers_that_fit():
    documented = analysed(reported(*CLAIMS))
    kept = [one.question for one in documented.claims]
    assert kept == ["parallel_calls", "developer_role", "quirk"]
    assert [one.partition(":")[0] for one in documented.rejected] == [
        "text_syntax",
        "choice_required",
    ]


@pytest.mark.parametrize("frame", ["{}", "```json\n{}\n```", "Here it is:\n{}\nThat is all."])
def test_a_model_without_tools_may_answer_in_json(frame):
    text = frame.replace("{}", json.dumps({"claims": CLAIMS[:1]}))
    assert [one.question for one in analysed(text).claims] == ["parallel_calls"]


@pytest.mark.parametrize(
    "answer",
    [
        "I do not know.",
        "} nothing {",
        '{"claims": 7}',
        '{"claims": [{"question": "weather", "answer": 1, "quote": "x"}]}',
        says(call(REPORT.name)),
    ],
)
def test_an_answer_in_another_form_is_an_error(answer):
    with pytest.raises(UnreadableAnalysis):
        analysed(answer)


def test_the_probe_wins_and_both_are_told():
    info, _ = found(simulated("groq"))
    told = with_documentation(info, analysed(reported(*CLAIMS)))
    shown = [(one.question, one.said, one.probed, one.verdict) for one in told.documented]
    assert shown == [
        ("parallel_calls", True, True, "agrees"),
        ("developer_role", True, False, "contradicts"),
        ("quirk", "At most 16 calls.", None, "unproven"),
    ]
    profile = load_profile(profile_text(told, date=WHEN), "test")
    assert profile.rules["developer"].value is False
    (unproven,) = [one for one in profile.quirks if one.text.startswith("Unproven")]
    assert unproven.confidence == "U"
    assert "16 calls" in unproven.source


def test_documentation_that_is_too_long_is_cut_and_that_is_told():
    documented = analysed(reported(CLAIMS[0]), text=PAGE + "x" * MOST_TEXT)
    assert documented.claims
    assert "characters were read" in documented.rejected[-1]


def test_the_schema_of_the_report_is_one():
    assert validator_of(REPORT.parameters).is_valid({"claims": CLAIMS})
