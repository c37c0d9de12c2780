"""The keys of rules in findings: each leads to a fact with its source, date and confidence."""

import ast
from pathlib import Path

import pytest

import canonicall
from batches import each
from canonicall import (
    Conversation,
    Request,
    Text,
    ToolCall,
    encode_request,
    get_rule,
    get_target,
    provider_names,
    register_provider,
    render,
    unregister_provider,
)
from canonicall.errors import UnknownName
from canonicall.facts.profile import RULE_FIELDS
from canonicall.facts.target import FORMATS

SOURCES = sorted(Path(canonicall.__file__).parent.rglob("*.py"))


def stated_rules(source):
    """Every literal that a module gives as the rule of a finding."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        keywords = node.keywords if isinstance(node, ast.Call) else []
        for keyword in keywords:
            if keyword.arg == "rule":
                for inner in ast.walk(keyword.value):
                    if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                        yield inner.value


def test_findings_name_rules_by_the_fields_of_a_target():
    named = {rule for source in SOURCES for rule in stated_rules(source)} - {""}
    assert len(named) > 20
    assert named <= RULE_FIELDS.keys()


def test_a_rule_of_a_profile_leads_to_its_source():
    rule = get_rule("mistral.ids")
    assert rule.value["max_length"] == 9
    assert rule.source.startswith("mistral-common")
    assert (rule.date, rule.confidence) == ("2026-11", "A")


@each("format", FORMATS)
def test_a_rule_of_a_format_leads_to_the_sources_of_the_format(format):
    rule = get_rule(f"{format}.merge_roles")
    assert rule.value == get_target(format).merge_roles
    assert rule.source
    assert rule.date


def test_the_rule_of_a_model_is_found_by_its_name():
    said = {"source": "a page", "date": "2026-10"}
    rules = {"max_tools": {"value": 5, **said}}
    models = [{"match": "tiny-*", "rules": {"max_tools": {"value": 1, **said}}}]
    profile = {"name": "rulehost", "format": "openai-chat", "rules": rules, "models": models}
    register_provider(profile)
    try:
        assert get_rule("rulehost.max_tools").value == 5
        assert get_rule("rulehost.max_tools", model="tiny-2").value == 1
    finally:
        unregister_provider("rulehost")


@each("key", ["mistral.nothing", "nobody.ids", "ids", "", "openai-chat.nothing"])
def test_a_key_that_leads_nowhere_is_refused(key):
    with pytest.raises(UnknownName):
        get_rule(key)


def damaged():
    chat = Conversation()
    chat.assistant([ToolCall(id="a", name="f"), Text(text="Wait.")])
    chat.result("b", "an orphan")
    chat.user("Well?")
    return chat


@each("name", provider_names())
def test_every_rule_of_a_report_leads_to_a_fact(name):
    encoded = encode_request(Request(damaged()), name)
    for one in (*encoded.report, *render(damaged(), name).report):
        if one.rule:
            assert one.rule.partition(".")[0] in (name, encoded.target.format)
            assert get_rule(one.rule, format=encoded.target.format).source


def test_what_no_fact_asked_for_has_no_rule():
    report = encode_request(Request(damaged()), "anthropic").report
    rules = {one.code: one.rule for one in report}
    assert rules["orphan_not_sent"] == rules["result_made_up"] == ""
    assert rules["text_before_calls"] == "anthropic.calls_last"


def test_a_rule_that_a_profile_states_is_the_profiles():
    chat = Conversation()
    chat.user("Hi.")
    chat.assistant(ToolCall(id="a", name="f"))
    chat.result("a", "1")
    chat.user("Go on.")
    rules = {one.code: one.rule for one in encode_request(Request(chat), "mistral").report}
    assert rules == {"bridge_added": "mistral.user_after_results"}
