"""What a provider refuses: the codes that its judge can name, and the words it answers with.

The codes are read from the source of the judge itself, function by function, so that no list of
them can fall behind. Of those that depend on a rule of the target, only the ones whose rule is on
are kept.
"""

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.verify.codes import CODES
from canonicall.verify.explainer import Entry, table

_JUDGES = "canonicall.verify."
_TABLES = (f"{_JUDGES}codes", f"{_JUDGES}violation")
"""What every judge uses: here stand all codes."""
_OPENAI = ("openai-chat", "openai-responses")
"""The formats that others speak besides their owner."""


def _checks_schemas(target: Target) -> bool:
    return target.schemas.checked


def _checks_strict(target: Target) -> bool:
    return target.schemas.checked and target.schemas.strict is not None


def _knows_fields(target: Target) -> bool:
    """Of OpenAI's formats, fields are judged where they are known, and reasoning."""
    is_refused = target.reasoning_refused and target.reasoning == "none"
    is_closed = bool(target.fields.closed)
    return target.format not in _OPENAI or is_closed or is_refused


def _limits_ids(target: Target) -> bool:
    return target.ids.refused and target.ids.style != "short" and target.ids.max_length > 0


def _checks_output(target: Target) -> bool:
    """Of the hosts that speak OpenAI's formats, those that are known to read schemas."""
    return target.format not in _OPENAI or target.schemas.checked


def _refuses_parameters(target: Target) -> bool:
    is_narrow = target.output_refused and len(target.output_modes) < 2
    is_silent = not target.tools_while_reasoning
    return is_narrow or is_silent or bool(target.refused_params or target.refusals)


_ONLY_IF: dict[str, Callable[[Target], bool]] = {
    "arguments_not_json": lambda one: one.arguments_checked,
    "bad_call_id": lambda one: one.ids.refused,
    "bad_item_id": lambda one: one.item_ids,
    "bad_role_order": lambda one: one.format != "openai-chat" or one.ids.style == "short",
    "bad_tool_name": lambda one: one.names.refused,
    "cache_mark_order": lambda one: one.cache_order and one.cache_marks > 1,
    "call_id_too_long": _limits_ids,
    "duplicate_item_id": lambda one: one.item_ids,
    "forced_choice_with_thinking": lambda one: not one.forced_choice_with_reasoning,
    "bad_output_format": _checks_output,
    "bad_parameter_name": _checks_schemas,
    "bad_speaker_name": lambda one: bool(one.speaker_names),
    "invalid_schema": _checks_schemas,
    "json_word_missing": lambda one: bool(one.output_word),
    "misplaced_instructions": lambda one: not one.system_later,
    "must_end_with_user": lambda one: one.ends_with_user,
    "must_start_with_user": lambda one: one.starts_with_user,
    "parameter_unsupported": _refuses_parameters,
    "reasoning_missing": lambda one: one.reasoning_placeholder is not None,
    "reasoning_without_following": lambda one: one.item_ids,
    "roles_do_not_alternate": lambda one: one.merge_roles,
    "schema_too_complex": _checks_strict,
    "signature_missing": lambda one: one.signature_sentinel is not None,
    "state_not_kept": lambda one: one.kept_state is not None,
    "strict_schema": _checks_strict,
    "text_beside_calls": lambda one: not one.text_beside_calls,
    "too_many_calls": lambda one: one.calls_per_message > 0,
    "too_many_strict_tools": _checks_strict,
    "too_many_tools": lambda one: one.max_tools > 0,
    "tools_missing": lambda one: one.tools_with_history,
    "unknown_field": _knows_fields,
    "user_after_tool": lambda one: not one.user_after_results,
}
"""Codes that need a rule of the target: without it, nothing is refused."""


class Refusal(Struct, frozen=True):
    """Something that is refused."""

    code: str
    why: str
    repair: str
    texts: tuple[Entry, ...]
    """Its words on record, those of the provider itself first."""


def refusals(provider: str, targets: Iterable[Target]) -> list[Refusal]:
    """What is refused by one of the targets of a provider, all of one format.

    First what the judge finds in a body, then what only an answer can tell.
    """
    asked = list(targets)
    named = codes_of(asked[0].format)
    foreseen = [
        code for code in CODES if code in named and any(_applies(code, one) for one in asked)
    ]
    told = [entry for entry in table() if _is_said(entry, provider, asked[0].format)]
    found = [
        Refusal(code, CODES[code].why, CODES[code].repair, _texts(told, code, provider))
        for code in foreseen
    ]
    others = dict.fromkeys(entry.code for entry in told if entry.code not in CODES)
    for code in others:
        texts = _texts(told, code, provider)
        found.append(Refusal(code, texts[0].meaning, texts[0].repair, texts))
    return found


def _applies(code: str, target: Target) -> bool:
    if code in target.unenforced:
        return False
    return code not in _ONLY_IF or _ONLY_IF[code](target)


def _is_said(entry: Entry, provider: str, format: str) -> bool:
    """The words are the provider's, or those of its format; not those that anybody may say."""
    return provider in entry.providers or (not entry.providers and format in entry.formats)


def _texts(told: list[Entry], code: str, provider: str) -> tuple[Entry, ...]:
    own = [entry for entry in told if entry.code == code]
    return tuple(sorted(own, key=lambda entry: provider not in entry.providers))


@cache
def codes_of(format: str) -> frozenset[str]:
    """Every code that the judge of a format can name."""
    module = _JUDGES + format.replace("-", "_")
    seen: set[tuple[str, str]] = set()
    return frozenset(_codes_in(module, "violations", seen)) | {"malformed_body"}


def _codes_in(module: str, name: str, seen: set[tuple[str, str]]) -> Iterator[str]:
    """The codes in one definition and in all that it uses."""
    if (module, name) in seen:
        return
    seen.add((module, name))
    definitions, imported = _contents(module)
    if name in imported:
        yield from _codes_in(*imported[name], seen)
    for node in ast.walk(definitions.get(name, ast.Pass())):
        if isinstance(node, ast.Constant) and node.value in CODES:
            yield node.value
        elif isinstance(node, ast.Name):
            yield from _codes_in(module, node.id, seen)


@cache
def _contents(module: str) -> tuple[dict[str, ast.AST], dict[str, tuple[str, str]]]:
    """What a module defines, and what it takes from other parts of the judge."""
    definitions: dict[str, ast.AST] = {}
    imported: dict[str, tuple[str, str]] = {}
    for node in ast.parse(inspect.getsource(import_module(module))).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            definitions |= {one.id: node for one in targets if isinstance(one, ast.Name)}
        elif isinstance(node, ast.ImportFrom) and _is_of_judges(node.module or ""):
            for one in node.names:
                imported[one.asname or one.name] = (str(node.module), one.name)
    return definitions, imported


def _is_of_judges(module: str) -> bool:
    return module.startswith(_JUDGES) and module not in _TABLES
