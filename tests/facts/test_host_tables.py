"""`[errors]` and `[simulator]` in the file of a host: checked when they are read, then acted upon."""

import tomllib
from importlib import resources

import pytest

from batches import each
from canonicall import explain, verify
from canonicall.errors import InvalidValue
from canonicall.facts.error_table import errors_in, shared_texts
from canonicall.facts.habits import format_habits
from canonicall.facts.lessons import lessons
from canonicall.facts.profile import load_profile
from canonicall.facts.registry import (
    errors_of,
    get_profile,
    get_target,
    provider_names,
    register_provider,
    unregister_provider,
)
from canonicall.facts.target import FORMATS
from canonicall.facts.telemetry_names import telemetry_name
from canonicall.testing.habits import path_of
from canonicall.testing.issued_ids import response_id
from canonicall.testing.simulator import Simulator
from canonicall.verify.codes import CODES
from testing.asking import CHAT, ask

PLAIN = 'name = "ours"\nformat = "openai-chat"\n'
OURS = """
name = "ours"
format = "openai-chat"
telemetry_name = "ours.ai"

[errors]
bodies = { openai-chat = "flat" }

[errors.codes]
E17 = ["orphan_result_sent"]

[[errors.answers]]
codes = ["orphan_result_sent"]
text = "message {index} answers {id}, which nobody called"
status = 422
source = "our log"

[[errors.texts]]
code = "orphan_result_sent"
pattern = 'answers \\S+, which nobody called'
example = "message 1 answers call_1, which nobody called"
source = "our log"

[simulator]
models = ["ours-large"]
call_ids = { openai-chat = "tool-{number}-{hex:4}" }

[[simulator.limits]]
models = ["ours-small*"]
field = "temperature"
when = { above = { temperature = 1 } }
text = "{model} is never that hot: {value}"
source = "our log"
"""
ORPHAN = [
    {"role": "user", "content": "Hi"},
    {"role": "tool", "tool_call_id": "call_1", "content": "?"},
]


@pytest.fixture
def ours():
    register_provider(OURS)
    yield
    unregister_provider("ours")


@pytest.mark.usefixtures("ours")
def test_a_host_of_a_user_refuses_in_its_own_text_and_is_understood():
    body = {"model": "ours-large", "messages": ORPHAN}
    status, answer = ask(Simulator("ours"), CHAT, body)
    assert status == 422
    assert answer["message"] == "message 1 answers call_1, which nobody called"
    assert answer["code"] == "E17"
    told = explain(answer, target=get_target("ours"))
    assert [one.code for one in told.entries][:1] == ["orphan_result_sent"]
    assert [one.code for one in verify(body, "ours")] == ["orphan_result_sent"]


@pytest.mark.usefixtures("ours")
def test_its_models_and_limits_are_served():
    simulator = Simulator("ours")
    _, listed = ask(simulator, "/v1/models", method="GET")
    assert [one["id"] for one in listed["data"]] == ["ours-large"]
    body = {"model": "ours-small-2", "messages": ORPHAN[:1], "temperature": 2}
    status, answer = ask(simulator, CHAT, body)
    assert (status, answer["message"]) == (400, "ours-small-2 is never that hot: 2")
    assert telemetry_name("ours") == "ours.ai"


def test_what_a_host_said_is_forgotten_with_it():
    register_provider(OURS)
    assert explain("message 1 answers call_1, which nobody called")
    unregister_provider("ours")
    assert not explain("message 1 answers call_1, which nobody called")
    assert errors_of("ours").answers == ()


def test_a_profile_without_the_tables_is_as_before():
    profile = load_profile(PLAIN, "ours.toml")
    assert profile.errors == errors_of("nobody")
    assert profile.simulator.models == ()


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ("errors = 5", "ours.toml: errors"),
        ("[errors]\nsay = []", "ours.toml: errors"),
        ("[[errors.answers]]\ncodes = 5\nsource = 'x'", "ours.toml: errors.answers[0].codes"),
        ("[[errors.answers]]\ncodes = ['x']", "ours.toml: errors.answers[0]"),
        ("[errors.bodies]\nopenai-chat = 'round'", "ours.toml: errors.bodies[...]"),
        ("[errors.bodies]\ngemini = 'flat'", "ours.toml: errors"),
        ("[simulator]\nmodel = 'x'", "ours.toml: simulator"),
        ("[simulator]\nmodels = 'x'", "ours.toml: simulator.models"),
        ("[simulator.call_ids]\ngemini = 'x'", "ours.toml: simulator.call_ids"),
        ("[[simulator.limits]]\nfield = 'x'", "ours.toml: simulator.limits[0]"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(table, where):
    with pytest.raises(InvalidValue) as refused:
        load_profile(f"{PLAIN}{table}\n", "ours.toml")
    assert refused.value.where == where


@each("provider", provider_names())
def test_the_tables_of_a_host_fit_the_rest(provider):
    profile = get_profile(provider)
    errors = profile.errors
    text = resources.files("canonicall.facts").joinpath(f"hosts/{provider}.toml").read_text("utf-8")
    assert errors_in(text) == tomllib.loads(text).get("errors", {})
    answered = {code for one in errors.answers for code in one.codes}
    answered |= {code for ours in errors.codes.values() for code in ours}
    assert answered <= set(CODES)
    assert set(errors.says) <= {one.name for one in shared_texts() if one.name}
    assert not errors.like or get_profile(errors.like).errors.codes
    assert all(one.text or one.status for one in errors.answers)


def test_names_of_shared_texts_are_unique_and_used():
    named = [one.name for one in shared_texts() if one.name]
    said = {name for provider in provider_names() for name in errors_of(provider).says}
    assert sorted(said) == sorted(named)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_what_its_simulators_do(format):
    assert format_habits(format).call_ids
    assert path_of(format, "m").startswith("/")
    assert response_id(format, 7) != response_id(format, 8)


def test_lessons_change_fields_that_targets_have():
    target = get_target("openai")
    for one in (*lessons().lesson, *lessons().demand):
        assert all(hasattr(target, field) for field in one.change)
    assert lessons().change("foreign_signature", "gemini") != lessons().change(
        "foreign_signature", "anthropic"
    )
