"""The generation config, both ways."""

import pytest

from canonicall.request import Params, Reasoning
from canonicall.wire.gemini.params import decode_params, encode_params


def encoded(params, native=None):
    findings = []
    config = encode_params(params, native or {}, findings)
    assert findings == []
    return config


CONFIGS = [
    {},
    {"maxOutputTokens": 9, "temperature": 0.5, "topP": 0.9, "topK": 40, "seed": 1},
    {"stopSequences": ["a", "b"]},
    {"candidateCount": 2, "responseMimeType": "application/json"},
    {"thinkingConfig": {"thinkingBudget": 0}},
    {"thinkingConfig": {"thinkingBudget": 512}},
    {"thinkingConfig": {"thinkingBudget": -1}},
    {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 512}},
    {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"}},
    {"thinkingConfig": {"includeThoughts": True}},
    {"thinkingConfig": {"thinkingLevel": "FURIOUS", "newField": 1}},
]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_config_comes_back(config):
    assert encoded(*decode_params(config)) == config


@pytest.mark.parametrize(
    ("thinking", "reasoning"),
    [
        ({"thinkingBudget": 0}, Reasoning(enabled=False)),
        ({"thinking_budget": 512}, Reasoning(enabled=True, budget=512)),
        ({"thinkingBudget": -1}, Reasoning(enabled=True)),
        ({"thinkingLevel": "Low"}, Reasoning(enabled=True, effort="low")),
        ({"include_thoughts": True}, Reasoning(enabled=True)),
        ({"includeThoughts": False}, Reasoning()),
    ],
)
def test_how_much_to_think(thinking, reasoning):
    assert decode_params({"thinking_config": thinking})[0].reasoning == reasoning


def test_snake_case_and_whole_floats_are_read():
    params, rest = decode_params({"max_output_tokens": 5, "top_k": 40.0, "stop_sequences": ["x"]})
    assert params == Params(max_tokens=5, top_k=40, stop=("x",))
    assert type(params.top_k) is int
    assert rest == {}


def test_values_of_the_wrong_kind_stay_as_they_are():
    config = {"maxOutputTokens": "9", "topK": 1.5, "seed": True, "stopSequences": [1]}
    params, rest = decode_params(config)
    assert params == Params()
    assert encoded(params, rest) == config


@pytest.mark.parametrize(
    ("reasoning", "thinking"),
    [
        (Reasoning(enabled=True), {"includeThoughts": True}),
        (Reasoning(enabled=True, budget=9), {"includeThoughts": True, "thinkingBudget": 9}),
        (Reasoning(effort="low"), {"thinkingLevel": "LOW"}),
        (Reasoning(effort="none"), {"thinkingBudget": 0}),
        (Reasoning(enabled=False, effort="high"), {"thinkingBudget": 0}),
        (Reasoning(budget=9, effort="high"), {"thinkingBudget": 9}),
    ],
)
def test_reasoning_of_other_formats(reasoning, thinking):
    """Never a budget and a level together: the API refuses both."""
    assert encoded(Params(reasoning=reasoning)) == {"thinkingConfig": thinking}
    assert encoded(Params(reasoning=Reasoning())) == {}


def test_an_effort_replaces_the_native_budget():
    native = {"thinkingConfig": {"thinkingBudget": -1, "includeThoughts": False}}
    assert encoded(Params(reasoning=Reasoning(effort="low")), native) == {
        "thinkingConfig": {"thinkingLevel": "LOW"}
    }


@pytest.mark.parametrize(
    ("effort", "config"),
    [("max", {"thinkingConfig": {"thinkingLevel": "HIGH"}}), ("strange", {})],
)
def test_an_effort_without_a_level_is_reported(effort, config):
    findings = []
    assert encode_params(Params(reasoning=Reasoning(effort=effort)), {}, findings) == config
    assert [one.code for one in findings] == ["param_changed"]
