"""The conformance of profiles: ours have it, and a profile at odds with itself has not."""

import pytest
from msgspec.structs import replace

from batches import sampled
from canonicall import CanonicallError, UnknownName, provider_names
from canonicall.facts.profile import Rule, load_profile
from canonicall.facts.registry import find_profile, get_profile, register_provider
from canonicall.facts.target import TextForm
from canonicall.testing.conformance import check_provider
from canonicall.testing.conformance import providers as checks
from canonicall.transcript.projection import Projection

MINE = """
name = "mine"
title = "Mine"
format = "openai-chat"
domain = "mine"
base_url = "http://localhost:9/v1"

[rules.max_tools]
value = 3
source = "its page"
date = "2026-11"
confidence = "A"
"""


@pytest.mark.parametrize("name", sampled(provider_names(), every=5))
def test_every_provider_conforms(name):
    report = check_provider(name).raise_if_broken()
    assert {check.state for check in report.checks} == {"held"}


def test_a_profile_is_checked_without_being_registered():
    for given in (MINE, load_profile(MINE, "mine")):
        report = check_provider(given).raise_if_broken()
        assert (report.kind, report.subject) == ("provider", "mine")
        assert find_profile("mine") is None


def test_a_profile_that_was_registered_before_is_there_again():
    before = register_provider(MINE)
    check_provider(replace(before, title="Another"))
    assert get_profile("mine") is before


def test_two_runs_say_the_same():
    assert check_provider(MINE) == check_provider(MINE)


@pytest.mark.parametrize(
    ("given", "error"), [("nobody", UnknownName), ("x = 1\n", CanonicallError)]
)
def test_what_is_no_profile_is_told(given, error):
    with pytest.raises(error):
        check_provider(given)


def ruled(**values):
    rules = {
        name: Rule(value=value, source="its page", date="2026-11", confidence="A")
        for name, value in values.items()
    }
    return replace(load_profile(MINE, "mine"), rules=rules)


def test_ids_that_cannot_be_made_by_the_rules_are_found():
    """A pattern that no id fits which is made: the judge refuses what the renderer had to write."""
    report = check_provider(ruled(ids={"style": "prefixed", "pattern": "[0-9]{3}", "prefix": "x"}))
    assert {"verified", "ids", "answered"} <= {check.name for check in report.broken}
    assert "is no id by the rules" in report["ids"].evidence[0]
    assert "openai-chat:mine-model, one call" in report["ids"].evidence[0]


@pytest.mark.parametrize(
    ("check", "attribute", "spoilt"),
    [
        ("renders", "encode_request", lambda request, target, **_: 1 / 0),
        ("verified", "verify", lambda body, target: ["something"]),
        ("answered", "simulated", lambda simulator, target, body: simulator.answer(None)),
    ],
)
def test_each_part_can_break_its_check(check, attribute, spoilt, monkeypatch):
    monkeypatch.setattr(checks, attribute, spoilt)
    assert check in [one.name for one in check_provider(MINE).broken]


def test_ids_given_twice_are_found(monkeypatch):
    def same(self, call, *_, **__):
        return self.ids.setdefault(call.id, "call_same")

    monkeypatch.setattr(Projection, "id", same)
    report = check_provider(MINE)
    assert "two calls have the id call_same" in report["ids"].evidence[0]
    assert "two calls" not in str(report["renders"])


def test_a_body_that_says_something_else_the_second_time_is_found(monkeypatch):
    """Where a renderer is used again, or a body is read again."""
    encode, count = checks.encode_request, iter(range(10**6))

    def numbered(request, target, **options):
        made = encode(request, target, **options)
        return replace(made, body={**made.body, "user": str(next(count))})

    monkeypatch.setattr(checks, "encode_request", numbered)
    broken = {check.name for check in check_provider(MINE).broken}
    assert {"append_only", "incremental", "fixpoint"} <= broken


def test_a_leak_that_is_no_syntax_is_found():
    report = check_provider(ruled(leaks=("hermse",)))
    assert [one.name for one in report.broken] == ["leaks"]
    assert "hermse" in report["leaks"].evidence[0]


def test_a_form_of_calls_in_text_has_to_pass_the_checks_of_a_syntax(monkeypatch):
    form = TextForm(name="own", opening="@@CALL ", between="|", closing="@@")
    asked = []
    monkeypatch.setattr(checks, "TALKS", {})
    monkeypatch.setattr(checks, "broken_checks", lambda syntax: asked.append(syntax) or ["it lies"])
    report = check_provider(ruled(leaks=("own",), text_forms=(form,)))
    assert "own: it lies" in report["leaks"].evidence[0]
    assert {one.name for one in asked} == {"own"}
