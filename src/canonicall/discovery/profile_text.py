"""A profile of what was found: TOML in the form of `facts/hosts`, each rule with its proof.

What no probe settled is as narrow as it has to be: for a format that many hosts speak, the rules
that were found to hold everywhere stand in, with their own sources.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from canonicall.discovery.addresses import provider_name
from canonicall.discovery.id_rules import id_rule
from canonicall.discovery.toml import table, written, written_key
from canonicall.discovery.tooling import ToolingInfo
from canonicall.facts.endpoint import AWS, format_endpoint
from canonicall.facts.names import FALLBACK
from canonicall.facts.profile import Rule, load_profile
from canonicall.facts.registry import get_profile
from canonicall.facts.target import TextForm

_NARROWEST = {"openai-chat": FALLBACK}
"""Profiles with the rules that hold at every host of a format."""
_FIELDS = {
    "tools_with_history": "tools_with_history",
    "developer_role": "developer",
    "system_later": "system_later",
    "user_after_results": "user_after_results",
    "text_beside_calls": "text_beside_calls",
    "empty_results": "empty_results",
    "parallel_switch": "parallel_switch",
}
"""Questions that ask for a field as it is."""
_OPPOSITES = {"users_in_a_row": "merge_roles", "assistant_first": "starts_with_user"}
_PLAIN_KEYWORDS = ["type", "description", "properties", "required", "items", "enum"]
_DETAILS = "reasoning_details"
_CHOICES = {"choice_required": "required", "choice_none": "none", "choice_named": "named"}


def profile_text(
    info: ToolingInfo, *, date: str, name: str = "", key_env: str = "", domain: str = ""
) -> str:
    """The profile of an endpoint. `date`: when it was probed, as 2026-11-16.

    `name` is what the provider is called from now on; without one it is named after its host.
    `domain`: whose signatures it reads; without one only its own.
    """
    named = name or provider_name(info.url)
    proof = {
        "source": f"probed {urlsplit(info.url).netloc} on {date}",
        "date": date,
        "confidence": "B",
    }
    head = {
        "name": named,
        "format": info.wire_format,
        "formats": list(info.formats) if len(info.formats) > 1 else None,
        "domain": domain or named,
        "base_url": info.url,
        "key_env": [key_env] if key_env else None,
    }
    probed_with = written(info.model)
    parts = [
        f"# Written by canonicall discover, from {info.requests} requests with {probed_with}.\n",
        table("", head),
        *_addresses(info, proof["source"]),
        *_rules(info, proof),
        *_capabilities(info, proof),
    ]
    text = "\n".join(parts)
    load_profile(text, "written profile")
    return text


def _addresses(info: ToolingInfo, source: str) -> Iterator[str]:
    others = {one: base for one, base in info.formats.items() if base != info.url}
    if others:
        yield table("[base_urls]", others)
    usual = format_endpoint(info.wire_format).auth
    if usual not in (info.auth, AWS):
        heading = f"[endpoints.{written_key(info.wire_format)}]"
        yield table(heading, {"auth": info.auth, "source": source})


def _rules(info: ToolingInfo, proof: dict[str, str]) -> Iterator[str]:
    probed = rules_of(info)
    for field, value in probed.items():
        yield table(f"[rules.{field}]", {**_entry(value), **proof, **_doubt(info, field)})
    stand_in = _NARROWEST.get(info.wire_format)
    if stand_in is None:
        return
    for field, rule in get_profile(stand_in).rules.items():
        if field not in probed:
            yield table(f"[rules.{field}]", _copied(rule))


def _doubt(info: ToolingInfo, field: str) -> dict[str, str]:
    """The confidence in a form of calls in text, which may not have been proved."""
    said = [one.confidence for one in info.statements if one.question == "text_syntax"]
    return {"confidence": said[0]} if said and field in ("leaks", "text_forms") else {}


def rules_of(info: ToolingInfo) -> dict[str, Any]:
    """The fields of a target that the probes have settled."""
    rules = {one.field: _plain(one.value) for one in info.learned}
    for question, field in _FIELDS.items():
        if info.answer(question) is not None:
            rules[field] = info.answer(question)
    for question, field in _OPPOSITES.items():
        if info.answer(question) is not None:
            rules[field] = not info.answer(question)
    if info.answer("token_limit_field") and info.wire_format in _NARROWEST:
        rules["token_limit_field"] = info.answer("token_limit_field")
    if info.answer("schema_keywords") is False:
        rules["schemas"] = {"keywords": _PLAIN_KEYWORDS, "told": True}
    if info.answer("text_syntax"):
        rules["leaks"] = [info.answer("text_syntax")]
    if info.text_form is not None:
        rules["text_forms"] = [_set_fields(info.text_form)]
    ids = id_rule(info.ids, foreign=info.answer("foreign_ids"), plain=info.answer("plain_ids"))
    if ids:
        rules["ids"] = ids
    return {**rules, **_choice(info), **_reasoning(info)}


def _choice(info: ToolingInfo) -> dict[str, Any]:
    """What `tool_choice` may say. What is taken and not obeyed may be said: it does no harm."""
    rules: dict[str, Any] = {}
    forced, forbidden = info.answer("choice_required"), info.answer("choice_none")
    if forced is not None and forbidden is not None:
        modes = {"required": forced, "none": forbidden}
        rules["choice_modes"] = ["auto", *(one for one, was in modes.items() if was != "refused")]
    if info.answer("choice_named") is not None:
        rules["choice_names"] = "no" if info.answer("choice_named") == "refused" else "one"
    return rules


def _reasoning(info: ToolingInfo) -> dict[str, Any]:
    """What becomes of reasoning in a history; formats with one place for it know that already."""
    field, replay = info.answer("reasoning_field"), info.answer("reasoning_replay")
    if info.wire_format not in _NARROWEST or field is None:
        return {}
    if field == _DETAILS:
        return {"reasoning": "signed", "reasoning_field": field}
    if replay:
        return {"reasoning": "open", "reasoning_field": field}
    return {"reasoning": "none", **({} if replay is None else {"reasoning_refused": True})}


def _capabilities(info: ToolingInfo, proof: dict[str, str]) -> Iterator[str]:
    streams = info.answer("argument_streaming")
    replay = info.answer("reasoning_replay")
    found = {
        "format": info.format or None,
        "parallel": info.answer("parallel_calls"),
        "streaming": None if streams is None else True,
        "strict": info.answer("strict_tools"),
        "tool_choice": _taken_choices(info),
        "reasoning_replay": None if replay is None else "accepted" if replay else "rejected",
    }
    for name, value in found.items():
        if value is not None:
            yield table(f"[capabilities.{name}]", {"value": value, **proof})
    for quirk in info.quirks:
        yield table("[[capabilities.quirks]]", {"text": quirk, **proof})
    for one in info.documented:
        if one.verdict == "unproven":
            text = f"Unproven, from the documentation: {one.question} is {written(one.said)}."
            source = f"documentation: {one.quote}" if one.quote else "documentation"
            entry = {"text": text, **proof, "source": source, "confidence": "U"}
            yield table("[[capabilities.quirks]]", entry)


def _taken_choices(info: ToolingInfo) -> list[str] | None:
    answers = {word: info.answer(question) for question, word in _CHOICES.items()}
    if all(one is None for one in answers.values()):
        return None
    return ["auto", *(word for word, was in answers.items() if was in ("obeyed", "ignored"))]


def _copied(rule: Rule) -> dict[str, Any]:
    proof = {"source": rule.source, "date": rule.date, "confidence": rule.confidence}
    return {**_entry(_plain(rule.value)), **proof}


def _set_fields(form: TextForm) -> dict[str, str]:
    """A form without the fields that say nothing."""
    plain: dict[str, str] = _plain(form)
    unset = _plain(TextForm(name=form.name, opening=form.opening))
    kept = ("name", "opening", "arguments")
    return {key: one for key, one in plain.items() if key in kept or one != unset[key]}


def _entry(value: Any) -> dict[str, Any]:
    return {"unset": True} if value is None else {"value": value}


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)
