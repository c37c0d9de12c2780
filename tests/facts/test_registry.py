"""Names in, profiles and targets out: forms of a target, globs, and what users register."""

import re
import subprocess
import sys

import pytest

from canonicall.errors import InvalidValue, UnknownName
from canonicall.facts.registry import (
    find_profile,
    get_profile,
    get_target,
    provider_names,
    register_provider,
    unregister_provider,
)
from canonicall.facts.target import FORMATS, IdRule, Target

BASE = {
    format: Target(format=format, max_tools=7)
    for format in ("anthropic", "bedrock", "gemini", "openai-chat", "openai-responses")
}

SMALL = {
    "name": "smallhost",
    "format": "openai-chat",
    "formats": ["openai-responses"],
    "aliases": ["small"],
    "rules": {"max_tools": {"value": 5, "source": "its manual", "date": "2026-10"}},
    "models": [
        {
            "match": "*",
            "rules": {"max_tools": {"value": 4, "source": "its manual", "date": "2026-10"}},
        },
        {
            "match": ["tiny-*", "nano"],
            "rules": {"max_tools": {"value": 1, "source": "its manual", "date": "2026-10"}},
        },
        {
            "match": "*",
            "format": "openai-responses",
            "rules": {"developer": {"value": True, "source": "its manual", "date": "2026-10"}},
        },
    ],
}


@pytest.fixture
def small():
    register_provider(SMALL)
    yield
    unregister_provider("smallhost")


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("moonshot", "kimi"),
        ("google", "gemini"),
        ("grok", "xai"),
        ("dashscope", "qwen"),
        ("glm", "zai"),
        ("OpenAI", "openai"),
        ("Claude", "anthropic"),
    ],
)
def test_aliases_and_case_lead_to_the_provider(alias, name):
    assert get_profile(alias).name == name


def test_a_target_stays_as_it_is():
    target = Target(format="anthropic")
    assert get_target(target) is target


def test_a_name_alone_is_the_provider_in_its_own_format():
    target = get_target("kimi", base=BASE)
    assert (target.provider, target.format, target.model) == ("kimi", "openai-chat", "")
    assert target.domain == "kimi"


def test_a_model_may_hold_slashes_and_colons():
    target = get_target("openrouter:qwen/qwen3:free", base=BASE)
    assert (target.provider, target.model) == ("openrouter", "qwen/qwen3:free")


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_is_its_own_provider_in_that_format(format):
    target = get_target(format)
    assert target.format == format
    assert target == get_target(f"{target.provider}/{format}")
    named = get_target(f"{format}:a/model:1")
    assert (named.provider, named.format, named.model) == (target.provider, format, "a/model:1")


@pytest.mark.parametrize(
    ("model", "target"),
    [
        ("gpt-4o", "openai:gpt-4o"),
        ("gpt-5.2", "openai:gpt-5.2"),
        ("o3", "openai:o3"),
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("claude-sonnet-4@20250514", "vertex:claude-sonnet-4@20250514"),
        ("gemini-2.5-pro", "gemini:gemini-2.5-pro"),
        ("grok-4", "xai:grok-4"),
        ("kimi-k2-0905-preview", "kimi:kimi-k2-0905-preview"),
        ("mistral-large-latest", "mistral:mistral-large-latest"),
        ("deepseek-reasoner", "deepseek:deepseek-reasoner"),
        ("glm-4.6", "zai:glm-4.6"),
        ("MiniMax-M2", "minimax:MiniMax-M2"),
        ("llama3.1:8b", "ollama:llama3.1:8b"),
        ("openai/gpt-4o", "openai:gpt-4o"),
        ("claude/claude-opus-4-6", "anthropic:claude-opus-4-6"),
    ],
)
def test_a_model_alone_is_an_error_that_names_its_target(model, target):
    with pytest.raises(UnknownName, match=re.escape(f"Did you mean {target!r}?")) as caught:
        get_target(model)
    assert caught.value.meant == target
    assert get_target(target).name == target


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("antropic", "anthropic"),
        ("mistral-ai", "mistralai"),
        ("openai-respones", "openai-responses"),
        ("openai/openai-chta", "openai-chat"),
        ("opnai:gpt-4o", "openai"),
    ],
)
def test_a_typing_mistake_is_not_taken_for_a_model(written, meant):
    with pytest.raises(UnknownName, match=re.escape(f"Did you mean {meant!r}?")):
        get_target(written)


def test_models_of_a_registered_provider_are_suggested_too(small):
    with pytest.raises(UnknownName, match=re.escape("Did you mean 'smallhost:tiny-2'?")):
        get_target("tiny-2")


def test_another_format_of_a_provider_has_rules_of_its_own(small):
    chat = get_target("small", base=BASE)
    responses = get_target("small/openai-responses", base=BASE)
    assert (chat.max_tools, chat.developer) == (4, False)
    assert (responses.format, responses.max_tools, responses.developer) == (
        "openai-responses",
        7,
        True,
    )


@pytest.mark.parametrize(
    ("model", "tools"), [("", 4), ("other", 4), ("tiny-2", 1), ("TINY-2", 1), ("nano", 1)]
)
def test_all_entries_that_match_apply_in_the_order_of_the_file(small, model, tools):
    assert get_target(f"smallhost:{model}", base=BASE).max_tools == tools


def test_a_table_changes_only_the_entries_it_has():
    ids = get_target("mistral", base=BASE).ids
    assert ids == IdRule(style="short", pattern="[A-Za-z0-9]{9}", max_length=9)
    assert re.fullmatch(ids.pattern, "aB3dE6gH9")


def test_kimi_has_numbered_ids_wherever_it_is_served():
    for text in (
        "kimi:kimi-k2",
        "kimi-hosted",
        "vllm:moonshotai/Kimi-K2-Instruct",
        "groq:moonshotai/kimi-k2",
    ):
        ids = get_target(text, base=BASE).ids
        assert ids.style == "numbered"
        assert re.fullmatch(ids.pattern, "functions.get_weather:12")


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("anthropic:claude-opus-4-8", "system_later", True),
        ("anthropic:claude-fable-5-1", "choice_names", "no"),
        ("deepseek:deepseek-v4-flash", "reasoning_placeholder", " "),
        ("deepseek:deepseek-chat", "thinks", False),
        ("kimi:kimi-k2-thinking", "reasoning_placeholder", " "),
        ("kimi:kimi-k2-0905-preview", "reasoning_placeholder", None),
        ("bedrock:us.meta.llama3-3-70b-instruct-v1:0", "results", "own_user_message"),
        ("bedrock:us.meta.llama3-3-70b-instruct-v1:0", "domain", "bedrock"),
        ("bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0", "domain", "anthropic"),
        ("vertex/anthropic:claude-opus-4-1@20250805", "domain", "anthropic"),
        ("vertex:gemini-3-pro", "domain", "vertex"),
        (
            "gemini:gemini-3-pro-preview",
            "result_media",
            ("image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"),
        ),
        ("openai/openai-responses:gpt-4o", "reasoning", "none"),
        ("groq:openai/gpt-oss-120b", "reasoning_field", "reasoning"),
    ],
)
def test_models_differ_from_their_provider(text, field, value):
    assert getattr(get_target(text, base=BASE), field) == value


def test_claude_up_to_4_5_continues_an_assistant_message():
    base = {"anthropic": Target(format="anthropic", ends_with_user=True)}
    old = ("claude-3-5-haiku-latest", "claude-sonnet-4-20250514", "claude-opus-4-5-20251101")
    for model in old:
        assert not get_target(f"anthropic:{model}", base=base).ends_with_user
    for model in ("", "claude-sonnet-4-6", "claude-opus-4-8", "claude-fable-5"):
        assert get_target(f"anthropic:{model}", base=base).ends_with_user


def test_gemini_2_needs_no_signature():
    base = {"gemini": Target(format="gemini", signature_sentinel="stand-in")}
    assert get_target("gemini:gemini-2.5-pro", base=base).signature_sentinel is None
    assert get_target("gemini:gemini-3-pro-preview", base=base).signature_sentinel == "stand-in"


def test_targets_are_made_once():
    assert get_target("openai:gpt-5") is get_target("openai:gpt-5")


def test_unknown_names_come_with_a_suggestion():
    with pytest.raises(UnknownName, match="Did you mean 'anthropic'"):
        get_target("antropic:claude-opus-5")
    with pytest.raises(UnknownName, match="Did you mean 'moonshot'"):
        get_target("moonshto:kimi-k2")
    with pytest.raises(UnknownName) as caught:
        get_target("banana")
    assert caught.value.known == tuple(sorted(provider_names()))
    with pytest.raises(UnknownName, match=r"format of the provider 'openai'.*'openai-responses'"):
        get_target("openai/responses:gpt-5")


@pytest.mark.parametrize("name", ["", ".", "../profiles/openai", "openai.toml", "open ai", "\0"])
def test_a_name_is_no_path(name):
    assert find_profile(name) is None


def test_who_names_a_provider_does_not_wait_for_the_others():
    """Listing the profiles loads modules that take longer than the profile itself."""
    program = """
import sys
from canonicall.facts.registry import get_target
get_target("anthropic:claude-opus-5")
print(sorted({"importlib.resources", "zipfile", "tempfile"} & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert told.stdout.strip() == b"[]"


def test_a_registered_provider_is_found_and_can_be_taken_away():
    before = provider_names()
    register_provider('name = "myhost"\nformat = "anthropic"\naliases = ["mine"]')
    try:
        assert get_profile("mine").name == "myhost"
        assert get_target("mine:m", base=BASE).domain == "myhost"
        assert set(provider_names()) == {*before, "myhost"}
    finally:
        unregister_provider("myhost")
    assert provider_names() == before
    with pytest.raises(UnknownName, match="registered provider"):
        unregister_provider("myhost")


@pytest.mark.parametrize(
    "taken", [{"name": "openai"}, {"name": "grok"}, {"name": "new", "aliases": ["claude"]}]
)
def test_a_name_that_is_taken_is_refused(taken):
    before = provider_names()
    with pytest.raises(InvalidValue, match=r"belongs to the provider .* replace=True"):
        register_provider({"format": "openai-chat", **taken})
    assert provider_names() == before


def test_with_replace_the_newcomer_stands_for_the_built_in_one_until_it_leaves():
    built_in = get_target("openai", base=BASE).domain
    register_provider({"name": "openai", "format": "anthropic", "domain": "own"}, replace=True)
    try:
        assert get_target("openai").format == "anthropic"
        assert get_target("openai", base=BASE).domain == "own"
    finally:
        unregister_provider("openai")
    assert get_target("openai", base=BASE).domain == built_in
    assert get_target("openai").format == "openai-chat"
