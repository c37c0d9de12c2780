"""The built-in profiles: complete, sourced, and saying nothing twice."""

import re

from msgspec.structs import replace

from batches import each
from canonicall.facts.bases import base_target
from canonicall.facts.profile import FORMATS, Profile, Rule, override
from canonicall.facts.registry import get_profile, get_target, provider_names

PROVIDERS = [
    "openai",
    "azure",
    "anthropic",
    "gemini",
    "vertex",
    "bedrock",
    "mistral",
    "kimi",
    "kimi-hosted",
    "deepseek",
    "xai",
    "groq",
    "openrouter",
    "qwen",
    "zai",
    "minimax",
    "cohere",
    "ollama",
    "vllm",
    "llamacpp",
    "llama-cpp-python",
    "together",
    "fireworks",
    "cerebras",
    "avian",
    "bedrock-mantle",
    "braintrust-proxy",
    "chatgpt-codex",
    "cloudflare",
    "copilot",
    "crusoe",
    "databricks",
    "doubleword",
    "gpustack",
    "huggingface",
    "mirascope-router",
    "mistralrs",
    "opencode-zen",
    "pydantic-gateway",
    "snowflake",
    "venice",
    "vercel-gateway",
    "writer",
    "generic",
]

DOMAINS = {
    "openai": "openai",
    "azure": "azure-openai",
    "anthropic": "anthropic",
    "bedrock": "anthropic",
    "gemini": "gemini-api",
    "vertex": "vertex",
}


def all_rules(profile: Profile) -> list[Rule]:
    return [*profile.rules.values(), *(r for entry in profile.models for r in entry.rules.values())]


def test_the_providers_are_exactly_these():
    assert provider_names() == tuple(sorted(PROVIDERS))


@each("name", PROVIDERS)
def test_a_profile_is_named_as_its_file_and_speaks_known_formats(name):
    profile = get_profile(name)
    assert profile.name == name
    assert profile.formats[0] == profile.format
    assert set(profile.formats) <= set(FORMATS)
    assert set(profile.base_urls) <= set(profile.formats[1:])
    assert profile.base_url.startswith("http") or name == "generic"
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]+", key) for key in profile.key_env)


@each("name", PROVIDERS)
def test_a_signing_domain_is_shared_only_where_signatures_are(name):
    assert get_profile(name).domain == DOMAINS.get(name, name)


@each("name", PROVIDERS)
def test_every_statement_has_a_source_and_a_month(name):
    profile = get_profile(name)
    for fact in (*all_rules(profile), *profile.capabilities.values(), *profile.quirks):
        assert len(fact.source) > 10
        assert re.fullmatch(r"202\d-(0[1-9]|1[0-2])", fact.date)
        assert fact.confidence in ("A", "B", "C", "U")


def is_held(rule, field, base):
    """The rule says of its host what the format's owner alone is else known to refuse."""
    return rule.confidence != "U" and field in dict(base.served)


@each("name", PROVIDERS)
def test_every_rule_changes_its_format(name):
    profile = get_profile(name)
    base = replace(base_target(profile.format), domain=profile.domain)
    for field, rule in profile.rules.items():
        is_new = override(base, {field: rule}) != base or is_held(rule, field, base)
        assert is_new, f"{name}: {field} says what the format says"


@each(
    ("name", "format"),
    [(name, format) for name in PROVIDERS for format in get_profile(name).formats],
)
def test_every_rule_of_a_model_changes_what_stands_before_it(name, format):
    """Either what is sent, or what its service is said to take."""
    profile = get_profile(name)
    start = replace(base_target(format), domain=profile.domain)
    if format == profile.format:
        start = override(start, profile.rules)
    taken = override(start, profile.served) if format == profile.format else start
    earlier = start
    for entry in profile.models:
        if entry.format == format:
            for field, rule in entry.rules.items():
                before = (start, earlier, taken)
                changed = any(override(one, {field: rule}) != one for one in before)
                assert changed or is_held(rule, field, start), (entry.match, field)
            earlier = override(earlier, entry.rules)


@each(
    ("name", "format"),
    [(name, format) for name in PROVIDERS for format in get_profile(name).formats],
)
def test_every_provider_gives_a_target_in_each_of_its_formats(name, format):
    base_target(format)
    target = get_target(f"{name}/{format}:some-model")
    assert (target.provider, target.format, target.model) == (name, format, "some-model")


def test_no_two_providers_share_a_name_or_an_alias():
    names = [*PROVIDERS, *(alias for name in PROVIDERS for alias in get_profile(name).aliases)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)
