"""Recorded traffic against the verifier: what a provider accepted has no violation, and what it
refused over tools or thinking is explained.

Whoever asks names the provider and the model, as any user does.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec.structs import replace

from canonicall.facts.registry import find_profile, get_profile, get_target, provider_names
from canonicall.facts.target import Target
from canonicall.verify import explain, verify
from corpus.support import FORMATS, every_record, needs_corpus

pytestmark = needs_corpus

# Wider rules that no recording here shows: the source of each says where it was read.
READ_ELSEWHERE = {
    ("anthropic", "anthropic", "ids"),
    ("avian", "openai-chat", "ids"),
    ("azure", "anthropic", "ids"),
    ("azure", "openai-chat", "ids"),
    ("azure", "openai-responses", "ids"),
    ("bedrock", "bedrock", "empty_results"),
    ("bedrock", "bedrock", "starts_with_user"),
    ("cohere", "cohere", "ids"),
    ("cohere", "cohere", "max_tools"),
    ("cohere", "cohere", "names"),
    ("copilot", "openai-chat", "ids"),
    ("gemini", "gemini", "ends_with_user"),
    ("gemini", "gemini", "names"),
    ("gemini", "gemini", "result_media"),
    ("kimi", "openai-chat", "forced_choice_with_reasoning"),
    ("llamacpp", "openai-chat", "unenforced"),
    ("ollama", "ollama", "max_tools"),
    ("ollama", "ollama", "names"),
    ("ollama", "ollama", "unenforced"),
    ("openai", "openai-chat", "cache_field"),
    ("openai", "openai-chat", "cache_marks"),
    ("openai", "openai-chat", "ids"),
    ("openai", "openai-responses", "ids"),
    ("vertex", "anthropic", "ids"),
    ("vertex", "anthropic", "starts_with_user"),
    ("vertex", "anthropic", "tools_with_history"),
    ("vertex", "gemini", "ends_with_user"),
    ("vertex", "gemini", "names"),
    ("vertex", "gemini", "result_media"),
    ("vllm", "openai-chat", "ids"),
    ("xai", "openai-chat", "max_tools"),
    ("xai", "openai-responses", "max_tools"),
    ("zai", "openai-chat", "choice_modes"),
}


def records() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every request for which there are rules, and who was asked, by name."""
    for record in every_record():
        format = FORMATS.get(record["protocol"])
        profile = find_profile(record["provider"])
        if record["request"] is not None and profile and format in profile.formats:
            yield f"{profile.name}/{format}:{record['model'] or ''}", record


def accepted() -> Iterator[tuple[str, dict[str, Any]]]:
    return (one for one in records() if one[1]["status"] == 200)


def codes(record: dict[str, Any], target: str | Target) -> set[str]:
    found = set(verify(record["request"], target).counts)
    # A masked id, id_REDACTED_1, has no prefix.
    return found - {"bad_item_id"} if record["ids_redacted"] else found


@cache
def judged() -> tuple[Counter[tuple[str, str]], dict[str, set[str]]]:
    """How many accepted requests each host has in a format, and the codes of those not clean."""
    seen: Counter[tuple[str, str]] = Counter()
    broken: dict[str, set[str]] = {}
    for name, record in accepted():
        provider, _, format = name.partition(":")[0].partition("/")
        seen[format, provider] += 1
        if found := codes(record, name):
            broken[record["id"]] = found
    return seen, broken


def test_every_accepted_request_is_clean():
    _, broken = judged()
    assert broken == {}


def test_the_name_of_the_provider_is_enough():
    """With nothing else known, at most 0.2 % of the accepted requests of each provider have a
    violation: of every API, those without rules here among them."""
    seen: Counter[str] = Counter()
    broken: dict[str, list[str]] = {}
    for record in every_record():
        if record["status"] != 200 or record["request"] is None:
            continue
        provider = record["provider"]
        seen[provider] += 1
        if codes(record, provider):
            broken.setdefault(provider, []).append(record["id"])
    print(f"{sum(map(len, broken.values()))} of {seen.total()} have a violation")  # noqa: T201
    assert {one for one in broken if len(broken[one]) > 0.002 * seen[one]} == set()


def test_a_body_without_a_model_is_said_to_have_none():
    notes = {
        (record["protocol"], bool(verify(record["request"], record["provider"]).notes))
        for record in every_record()
        if record["status"] == 200 and record["provider"] == "gemini" and record["request"]
    }
    assert notes == {("gemini-generate", True), ("gemini-interactions", True)}


def test_nothing_is_let_pass_without_need():
    """Of each rule by which a service takes more than is rendered there is a recording that breaks
    the narrower one."""
    needed = set(READ_ELSEWHERE)
    for name, record in accepted():
        target = get_target(name)
        for field, _ in target.served:
            others = tuple(one for one in target.served if one[0] != field)
            if codes(record, replace(target, served=others).as_served):
                needed.add((target.provider, target.format, field))
    profiles = [get_profile(name) for name in provider_names()]
    own = {(one.name, one.format, field) for one in profiles for field in one.served}
    of_models = {
        (one.name, entry.format, field)
        for one in profiles
        for entry in one.models
        for field in entry.served
    }
    assert own | of_models == needed


def test_there_is_enough_to_judge():
    """Seven formats, more than three thousand requests, or the folder is not what it should be."""
    seen, _ = judged()
    assert {format for format, _ in seen} == set(FORMATS.values())
    assert seen.total() > 3_000


def test_calls_taken_out_of_their_pairs_are_noticed():
    """The verifier is not clean because it is blind: with its results gone, a request is refused."""
    noticed: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for name, record in accepted():
        if not record["has_tool_results"] or not isinstance(record["request"], dict):
            continue
        damaged = _without_results(record["request"])
        if damaged is None or damaged.get("previous_response_id"):
            continue
        target = get_target(name)
        tried[target.format] += 1
        noticed[target.format] += bool(verify(damaged, target))
    assert set(tried) == set(FORMATS.values())
    assert noticed == tried


def _without_results(body: dict[str, Any]) -> dict[str, Any] | None:
    """The body up to and without its last results, or nothing where it has no call before them."""
    key = next((key for key in ("messages", "contents", "input") if key in body), "")
    entries = body.get(key)
    if not isinstance(entries, list):
        return None
    kept = [entry for entry in entries if not _is_result(entry)]
    calls = [entry for entry in kept if _is_call(entry)]
    return {**body, key: kept} if calls and len(kept) < len(entries) else None


def _is_result(entry: dict[str, Any]) -> bool:
    if entry.get("role") == "tool" or entry.get("type") == "function_call_output":
        return True
    parts = entry.get("content") if isinstance(entry.get("content"), list) else entry.get("parts")
    words = {"toolResult", "functionResponse", "function_response"}
    return any(words & part.keys() or part.get("type") == "tool_result" for part in parts or ())


def _is_call(entry: dict[str, Any]) -> bool:
    if entry.get("tool_calls") or entry.get("type") == "function_call":
        return True
    parts = entry.get("content") if isinstance(entry.get("content"), list) else entry.get("parts")
    words = {"toolUse", "functionCall", "function_call"}
    return any(words & part.keys() or part.get("type") == "tool_use" for part in parts or ())


def test_gemini_3_signs_the_first_call_of_each_step():
    """The rule about signatures, on the models that have it."""
    signed = [one for one in accepted() if get_target(one[0]).signature_sentinel]
    assert len([one for one in signed if "gemini-3" in one[0]]) > 100
    assert not [record["id"] for name, record in signed if verify(record["request"], name)]


def test_every_refusal_over_tools_or_thinking_is_explained():
    refused = [one for one in every_record() if one.get("error_category") == "tool-or-thinking"]
    unknown = [one["id"] for one in refused if not explain(one["response"])]
    print(f"{len(refused) - len(unknown)} of {len(refused)} refusals are explained")  # noqa: T201
    assert len(refused) >= 25
    assert unknown == []


def test_a_recorded_refusal_over_pairs_is_found_in_its_request():
    """What the provider said about the pair, `verify` says about the recorded request."""
    found = 0
    for name, record in records():
        if record.get("error_category") != "tool-or-thinking":
            continue
        target = get_target(name)
        explanation = explain(record["response"], request=record["request"], target=target)
        for entry in explanation.entries:
            if entry.code in {"missing_result", "orphan_result_sent", "unknown_role"}:
                assert entry.violations, record["id"]
                found += 1
    assert found >= 2


ABOUT_SCHEMAS = {"bad_tool_schema", "strict_schema", "too_many_strict_tools", "schema_too_complex"}


def test_a_recorded_refusal_over_schemas_is_found_in_its_request():
    """In the very words of the provider."""
    found = 0
    for name, record in records():
        if record.get("error_category") != "tool-or-thinking":
            continue
        target = get_target(name)
        explanation = explain(record["response"], request=record["request"], target=target)
        about = [entry for entry in explanation.entries if entry.code in ABOUT_SCHEMAS]
        if about:
            said = {one.error for entry in about for one in entry.violations}
            assert record["response"]["error"]["message"] in said, record["id"]
            found += 1
    assert found >= 8
