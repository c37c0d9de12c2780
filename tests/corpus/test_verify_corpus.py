"""Recorded traffic against the verifier: what a provider accepted has no violation, and what it
refused over tools or thinking is explained.

The targets here are made of the documented values of each format; hosts that take more than the
format says have the fields that say so.
"""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from canonicall.schema_rules import SchemaRule
from canonicall.target import IdRule, NameRule, Target
from canonicall.verify import explain, verify
from corpus.support import CORPUS, needs_corpus

pytestmark = needs_corpus

# Ids: the widest form that hosts of the format are known to make; lengths as documented.
TARGETS = {
    "anthropic-messages": Target(
        format="anthropic",
        ids=IdRule(max_length=64),
        names=NameRule(max_length=128),
        results="user_message",
        result_media=("image", "document"),
        result_error_flag=True,
        forced_choice_with_reasoning=False,
        max_tools=10_000,
        schemas=SchemaRule(checked=True),
        cache_marks=4,
    ),
    "openai-chat": Target(format="openai-chat", developer=True),
    "openai-responses": Target(
        format="openai-responses",
        ids=IdRule(max_length=64),
        names=NameRule(max_length=128),
        result_media=("image", "document"),
    ),
    "gemini-generate": Target(
        format="gemini",
        ids=IdRule(style="echoed"),
        names=NameRule(pattern="[A-Za-z_][A-Za-z0-9_.:-]*"),
        result_media=("image", "document"),
        starts_with_user=True,
        ends_with_user=True,
        max_tools=512,
    ),
    "bedrock-converse": Target(
        format="bedrock",
        ids=IdRule(pattern="[a-zA-Z0-9_.:-]+", max_length=64),
        results="user_message",
        result_media=("image", "document", "video"),
        result_error_flag=True,
        empty_results=False,
        reasoning="signed",
        merge_roles=True,
        starts_with_user=True,
        tools_with_history=True,
        cache_marks=4,
    ),
    "cohere-v2": Target(
        format="cohere", ids=IdRule(max_length=128), choice_modes=("required", "none")
    ),
    "ollama-chat": Target(format="ollama", ids=IdRule(style="echoed"), result_names_tool=True),
}

KIMI = IdRule(pattern=r"[\w.:-]+", max_length=64)
# What a host takes beyond its format.
LOOSER: dict[tuple[str, str], dict[str, Any]] = {
    # Kimi's ids, functions.name:0, on hosts that serve Kimi.
    ("openai-chat", "avian"): {"ids": KIMI},
    ("openai-chat", "groq"): {"ids": KIMI},
    ("openai-chat", "huggingface"): {"ids": KIMI},
    # The same, and tool_0_name_..., which is longer than 40.
    ("openai-chat", "openrouter"): {"ids": KIMI},
    # The response's id before the call's: resp_...:call_0.
    ("openai-responses", "bedrock-mantle"): {"ids": KIMI},
    # Results without ids, paired by place.
    ("openai-chat", "zai"): {"ids": IdRule(style="echoed")},
    ("openai-chat", "writer"): {"ids": IdRule(style="echoed")},
    # Images in results.
    ("openai-chat", "llamacpp"): {"result_media": ("image",)},
    ("openai-chat", "ollama"): {"result_media": ("image",)},
}

# Rules that a host, or a model of it, is recorded not to have.
PAIRS = ("missing_result", "orphan_result_sent")
UNENFORCED = {
    # An empty list of tools.
    ("huggingface", "*"): ("empty_tools",),
    # Two calls, one result: the server prints whatever it gets into the template.
    ("ollama", "*"): PAIRS,
    # Of 2024: the result has the id of another conversation's call.
    ("anthropic", "claude-3-opus-20240229"): PAIRS,
    # The call is answered in plain user text.
    ("gemini", "gemini-2.0-flash-lite"): ("missing_result",),
    ("gemini", "gemini-2.5-pro"): ("missing_result",),
}


def records() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(Path(CORPUS).glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield path.stem, json.loads(line)


def target_of(protocol: str, host: str, model: str | None = None) -> Target:
    """With a model: as it is served; without: with all the rules that its host knows."""
    target = replace(TARGETS[protocol], **LOOSER.get((protocol, host), {}))
    if model is not None:
        taken = UNENFORCED.get((host, model)) or UNENFORCED.get((host, "*"), ())
        target = replace(target, unenforced=taken)
    # Who is asked: a file named after a format holds the format's own provider.
    is_format = host in {"openai-chat", "openai-responses"}
    if is_format or host == "azure":
        target = replace(target, schemas=SchemaRule(checked=True))
    return replace(target, provider="openai" if is_format else host)


@cache
def judged() -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]], dict[str, set[str]]]:
    """How many accepted requests each host has, how many are clean, and the codes of the others."""
    seen: Counter[tuple[str, str]] = Counter()
    clean: Counter[tuple[str, str]] = Counter()
    broken: dict[str, set[str]] = {}
    for host, record in records():
        protocol = record["protocol"]
        if protocol not in TARGETS or record["status"] != 200 or record["request"] is None:
            continue
        seen[protocol, host] += 1
        report = verify(record["request"], target_of(protocol, host, record["model"] or ""))
        codes = set(report.counts)
        if record["ids_redacted"]:
            codes -= {"bad_item_id"}  # id_REDACTED_1 has no prefix.
        if codes:
            broken[record["id"]] = codes
        else:
            clean[protocol, host] += 1
    return seen, clean, broken


def test_every_accepted_request_is_clean():
    seen, clean, broken = judged()
    for protocol, host in sorted(seen):
        print(f"{protocol:20} {host:20} {clean[protocol, host]:4} of {seen[protocol, host]:4}")  # noqa: T201
    assert broken == {}


def test_no_rule_is_let_pass_without_need():
    """Of each rule that is not enforced there is a recording that breaks it."""
    needed = set()
    for host, record in records():
        protocol, model = record["protocol"], record["model"]
        if protocol in TARGETS and record["status"] == 200 and record["request"] is not None:
            for where in UNENFORCED.keys() & {(host, model), (host, "*")}:
                broken = verify(record["request"], target_of(protocol, host)).counts
                needed |= {(*where, code) for code in UNENFORCED[where] if code in broken}
    assert needed >= {(*where, codes[0]) for where, codes in UNENFORCED.items()}


def test_there_is_enough_to_judge():
    """Seven formats, more than two thousand requests, or the folder is not what it should be."""
    seen, clean, _ = judged()
    assert {protocol for protocol, _ in seen} == set(TARGETS)
    assert seen.total() > 2_500
    assert clean.total() == seen.total()


def test_calls_taken_out_of_their_pairs_are_noticed():
    """The verifier is not clean because it is blind: with its results gone, a request is refused."""
    noticed: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for host, record in records():
        protocol = record["protocol"]
        if protocol not in TARGETS or record["status"] != 200 or not record["has_tool_results"]:
            continue
        if not isinstance(record["request"], dict):
            continue
        damaged = _without_results(record["request"])
        if damaged is None or damaged.get("previous_response_id"):
            continue
        tried[protocol] += 1
        noticed[protocol] += bool(verify(damaged, target_of(protocol, host)))
    assert set(tried) == set(TARGETS)
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
    strict = replace(TARGETS["gemini-generate"], signature_sentinel="skip")
    models = [
        record
        for _, record in records()
        if record["protocol"] == "gemini-generate"
        and record["status"] == 200
        and "gemini-3" in str(record["model"])
        and record["request"]
    ]
    assert len(models) > 100
    assert not [one["id"] for one in models if verify(one["request"], strict)]


def test_every_refusal_over_tools_or_thinking_is_explained():
    refused = [one for _, one in records() if one.get("error_category") == "tool-or-thinking"]
    unknown = [one["id"] for one in refused if not explain(one["response"])]
    print(f"{len(refused) - len(unknown)} of {len(refused)} refusals are explained")  # noqa: T201
    assert len(refused) >= 25
    assert unknown == []


def test_a_recorded_refusal_over_pairs_is_found_in_its_request():
    """What the provider said about the pair, `verify` says about the recorded request."""
    found = 0
    for host, record in records():
        if record.get("error_category") != "tool-or-thinking" or not record["request"]:
            continue
        target = target_of(record["protocol"], host)
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
    for host, record in records():
        if record.get("error_category") != "tool-or-thinking" or not record["request"]:
            continue
        target = target_of(record["protocol"], host)
        explanation = explain(record["response"], request=record["request"], target=target)
        about = [entry for entry in explanation.entries if entry.code in ABOUT_SCHEMAS]
        if about:
            said = {one.error for entry in about for one in entry.violations}
            assert record["response"]["error"]["message"] in said, record["id"]
            found += 1
    assert found >= 8
