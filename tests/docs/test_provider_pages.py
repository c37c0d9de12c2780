"""docs/providers/NAME.md are made of the profiles and the judge, and are up to date."""

import re
from pathlib import Path

import pytest

from batches import each
from canonicall import Target, get_profile, get_target, provider_names, verify
from canonicall.cli.provider_facts import GROUPS
from canonicall.cli.provider_pages import main, provider_page
from canonicall.cli.provider_refusals import codes_of, refusals
from canonicall.cli.provider_schemas import untold
from canonicall.facts.schema_rules import SchemaRule
from canonicall.verify.codes import CODES
from canonicall.wire.formats import FORMATS

FOLDER = Path(__file__).parents[2] / "docs" / "providers"


@each("name", provider_names())
def test_the_page_is_up_to_date(name):
    """To renew it: python -m canonicall.cli.provider_pages"""
    assert (FOLDER / f"{name}.md").read_text(encoding="utf-8") == provider_page(name)


def test_there_is_a_page_for_every_provider_and_no_other():
    assert {page.stem for page in FOLDER.iterdir()} == set(provider_names())


@each("name", provider_names())
def test_a_page_is_read_in_one_sitting(name):
    assert len(provider_page(name).splitlines()) <= 250


def test_every_field_of_a_target_has_its_place():
    told = {
        field for facts in GROUPS.values() for fact in facts for field in (fact.field, fact.also)
    }
    apart = {"format", "provider", "model", "domain", "schemas", "served"}
    assert told - {""} == set(Target.__struct_fields__) - apart


def test_a_rule_for_schemas_that_has_no_words_yet_is_told_by_its_name():
    rule = SchemaRule(items_required=True, max_depth=5)
    assert list(untold(rule, ["max_depth"])) == [("items_required", "items required", "yes")]


@each("name", provider_names())
def test_every_rule_of_a_profile_has_its_source_on_the_page(name):
    profile = get_profile(name)
    page = provider_page(name)
    rules = [*profile.rules.items(), *profile.capabilities.items()]
    rules += [rule for entry in profile.models for rule in entry.rules.items()]
    # An answer that says nothing has no row: what a field is called that is never sent.
    silent = {"reasoning_field", "reasoning_placeholder", "signature_sentinel", "cache_field"}
    for field, rule in rules:
        assert f"{rule.source} ({rule.date}, {rule.confidence}" in page or field in silent
    assert all(quirk.text in page for quirk in profile.quirks)


@each("name", provider_names())
def test_every_number_leads_to_a_source(name):
    body, _, sources = provider_page(name).partition("\n## Sources\n")
    used = set(map(int, re.findall(r"\[(\d+)\]\(#sources\)", body)))
    listed = list(map(int, re.findall(r"^(\d+)\. ", sources, re.MULTILINE)))
    assert listed == list(range(1, len(listed) + 1))
    assert used == set(listed)


def test_every_code_is_named_by_a_judge():
    assert set().union(*map(codes_of, FORMATS)) == set(CODES)


@pytest.mark.parametrize(
    ("name", "code", "is_refused"),
    [
        ("mistral", "user_after_tool", True),
        ("openai", "user_after_tool", False),
        ("openai", "strict_schema", True),
        ("groq", "strict_schema", False),
        ("groq", "unknown_field", True),
        ("gemini", "missing_call_id", False),
        ("kimi", "reasoning_missing", True),
    ],
)
def test_a_code_is_shown_where_its_rule_is_on(name, code, is_refused):
    assert (f"| `{code}` |" in provider_page(name)) is is_refused


CALL = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "[1]"}}
LONG = {"id": "x" * 70, "type": "function", "function": {"name": "find it", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "string"}}}
BROKEN = [
    {
        "role": "assistant",
        "content": "Hm.",
        "tool_calls": [CALL, CALL, LONG],
        "reasoning_content": "?",
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "1"},
    {"role": "user", "content": "Hi"},
    {"role": "developer", "content": "Be kind."},
    {"role": "narrator", "content": "Once upon a time."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": ""},
]


@each("name", [name for name in provider_names() if get_profile(name).format == "openai-chat"])
def test_what_the_judge_finds_is_on_the_page(name):
    """The rules that switch codes on and off are those of the judge."""
    body = {"messages": BROKEN, "tools": [TOOL, TOOL], "tool_choice": "sometimes", "stop": 5}
    found = {one.code for one in verify(body, get_target(name).as_served)}
    assert len(found) > 4
    assert found <= {one.code for one in refusals(name, [get_target(name)])}


def test_the_pages_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["provider_pages", str(tmp_path / "pages")])
    main()
    assert len(list((tmp_path / "pages").iterdir())) == len(provider_names())
