"""What a refusal teaches: which fields of the target were wrong, as data.

In: a provider's error, the body it answers, the target. Out: the fields to render with once more.
A change that leads to the same bytes is none, and one that was accepted is kept for the session.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from canonicall.client.refused_output import less_output
from canonicall.target import (
    FieldPlace,
    FieldRule,
    IdRule,
    NameRule,
    Target,
    ThinkingKind,
)
from canonicall.transcript.thinking import EFFORTS
from canonicall.verify.explainer import Explanation, explain

Fields: TypeAlias = dict[str, Any]
UNKNOWN = "unknown"

_UNSIGNED: Fields = {"reasoning": "none"}
_UNSEALED: Fields = {"reasoning": "none", "domain": "none"}
_UNFORCED: Fields = {
    "choice_modes": ("auto", "none"),
    "choice_names": "no",
    "forced_choice_with_reasoning": False,
}
_SHORT_IDS: Fields = {
    "ids": IdRule(style="short", prefix="", pattern="[A-Za-z0-9]{9}", max_length=9)
}
_TEXT_ONLY: Fields = {"media": (), "result_media": ()}
_PLACES: tuple[FieldPlace, ...] = ("request", "message", "part", "call", "tool")

CHANGES: dict[str, Fields] = {
    # Reasoning that this provider, or this model, cannot read.
    "foreign_signature": _UNSIGNED,
    "encrypted_reasoning_refused": _UNSIGNED,
    "thinking_bound_elsewhere": _UNSIGNED,
    "thinking_modified": _UNSIGNED,
    "thinking_unsigned": _UNSIGNED,
    "thinking_last": _UNSIGNED,
    "thinking_while_off": _UNSIGNED,
    "reasoning_refused": _UNSIGNED,
    "reasoning_without_following": _UNSIGNED,
    "reasoning_missing": {"reasoning": "open", "reasoning_placeholder": " "},
    "signature_missing": {"signature_sentinel": "skip_thought_signature_validator"},
    # Server-side state that is not there.
    "bad_item_id": _UNSEALED,
    "duplicate_item_id": _UNSEALED,
    "previous_response_unknown": _UNSEALED,
    # Settings.
    "thinking_missing": {"refused_params": ("reasoning",)},
    "thinking_budget": {"refused_params": ("reasoning",)},
    "reasoning_unsupported": {"refused_params": ("reasoning",)},
    "choice_unsupported": _UNFORCED,
    "choice_without_tools": {"choice_modes": ("auto",), "parallel_needs_tools": True},
    "forced_choice_with_thinking": {"forced_choice_with_reasoning": False},
    "too_many_cache_marks": {"cache_marks": 0},
    "cache_mark_on_blank_text": {"cache_marks": 0},
    "cache_mark_on_deferred_tool": {"cache_marks": 0},
    "tools_missing": {"tools_with_history": True},
    "json_word_missing": {"output_word": "json"},
    # The shape of messages.
    "media_unsupported": _TEXT_ONLY,
    "bad_part": {"content_as_text": True, **_TEXT_ONLY},
    "bad_result_content": {"result_media": ()},
    "error_result_not_text": {"result_media": ()},
    "results_unsupported": {"results": "own_user_message", "result_media": ()},
    "results_not_alone": {"results": "own_user_message", "user_beside_results": False},
    "text_beside_calls": {"text_beside_calls": False},
    "calls_misplaced": {"starts_with_user": True, "merge_roles": True},
    "must_start_with_user": {"starts_with_user": True},
    "must_end_with_user": {"ends_with_user": True},
    "user_after_tool": {"user_after_results": False},
    "bad_role_order": {"merge_roles": True, "user_after_results": False},
    "roles_do_not_alternate": {"merge_roles": True},
    "misplaced_instructions": {"system_later": False},
    "unknown_role": {"developer": False, "system_later": False},
    "empty_message": {"blank_is_empty": True, "empty_results": False},
    "blank_text": {"blank_is_empty": True, "empty_results": False},
    "bad_call_id": _SHORT_IDS,
    "call_id_too_long": _SHORT_IDS,
    "bad_tool_name": {"names": NameRule("[A-Za-z_][A-Za-z0-9_-]*", 64, 3)},
}
"""What `explain` calls it, and the fields that put it right."""

BY_FORMAT: dict[tuple[str, str], Fields] = {
    # Calls are signed there, not only thoughts.
    ("foreign_signature", "gemini"): _UNSEALED,
    # "This model doesn't support the status field": an error is told in words.
    ("unknown_field", "bedrock"): {"result_error_flag": False},
}
"""The same where a format needs something else."""

HOPELESS = frozenset({"context_overflow", "empty_input", "too_many_tools", "tools_unsupported"})
"""No other rendering of the same conversation helps."""
CHANCE = frozenset({"call_made_invalid", "choice_not_followed"})
"""The model wrote what its provider refuses: asked again, it may not."""

OF_ONE_CONVERSATION = frozenset(
    {
        UNKNOWN,
        "foreign_signature",
        "encrypted_reasoning_refused",
        "thinking_bound_elsewhere",
        "thinking_modified",
        "thinking_unsigned",
        "thinking_last",
        "thinking_while_off",
        "reasoning_without_following",
        "bad_item_id",
        "duplicate_item_id",
        "previous_response_unknown",
        "bad_output_format",
    }
)
"""What was wrong with what one conversation carries, or what nobody knows. It tells nothing of the
target that others could use."""

_NARROWEST: Fields = {
    **_UNSEALED,
    "refused_params": ("reasoning", "temperature", "top_p", "top_k", "seed", "stop", "output"),
    "choice_modes": ("auto", "none"),
    "choice_names": "no",
    "parallel_switch": False,
    "cache_marks": 0,
    "custom_tools": False,
    "result_media": (),
    "text_beside_calls": False,
    "empty_results": False,
}
"""For a refusal that nobody understands: nothing that can be left out without changing what was
said. What the user sent stays, media among it."""

_PARAMETER = re.compile(
    r"(?:Unsupported|Unknown) (?:parameter|value): '?(?P<name>[\w.]*\w)"
    r"|(?P<old>temperature|top_p|top_k)\W{0,2} is deprecated"
)
_USE_INSTEAD = re.compile(r"Use '(max_completion_tokens|max_tokens)' instead")
_FIELD = re.compile(
    r"(?:property|parameter:|name|supplied:) ['\"`]?(?P<name>\w+)|(?P<path>\w+): Extra inputs"
)
_SWITCHES: tuple[ThinkingKind, ...] = ("adaptive", "enabled", "disabled")
_SWITCH = re.compile(r"thinking\.type\.(?P<kind>\w+)|adaptive thinking is not", re.IGNORECASE)
_LEVELS = re.compile(r"Supported levels: ([\w, ]+)")
_DEMANDS: tuple[tuple[str, Fields], ...] = (
    ("store must be set to false", {"unstored": True, "reasoning_state": ("encrypted",)}),
    ("stream must be set to true", {"stream_only": True}),
    ("instructions are required", {"instructions_required": True}),
)
"""What some hosts want every request to say, in the words they ask for it."""
_PARAMS = {
    "max_output_tokens": "max_tokens",
    "stop_sequences": "stop",
    "stopSequences": "stop",
    "random_seed": "seed",
    "reasoning_effort": "reasoning",
    "thinking": "reasoning",
    "output_config": "reasoning",
    "response_format": "output",
    "text": "output",
    "format": "output",
    "outputConfig": "output",
}
_NAMED = ("temperature", "top_p", "top_k", "seed", "stop", "reasoning", "max_tokens", "output")


class Change(Struct, frozen=True):
    """What to do differently, and why."""

    code: str
    fields: Fields
    why: str = ""

    def of(self, target: Target) -> Target:
        """`target` with the change."""
        return replace(target, **self.fields)


def change_for(
    error: Any, words: str, body: dict[str, Any], target: Target
) -> tuple[Change | None, Explanation]:
    """The change that may put a refusal right, and what is known of the refusal.

    `error`: as the provider sent it. `words`: its text. None where nothing would help.
    """
    told = explain(
        error if isinstance(error, (str, bytes, dict)) else words, request=body, target=target
    )
    codes = [entry.code for entry in told.entries]
    if HOPELESS.intersection(codes) or CHANCE.intersection(codes):
        return None, told
    for entry in told.entries:
        fields = _effective(_fields(entry.code, words, target), target)
        if fields:
            return Change(entry.code, fields, entry.meaning), told
    narrow = _effective(_NARROWEST, target)
    return (Change(UNKNOWN, narrow, "nobody knows why") if narrow else None), told


def is_chance(told: Explanation) -> bool:
    """Whether the same request may be accepted the next time."""
    return any(entry.code in CHANCE for entry in told.entries)


class Learned:
    """What was learnt about targets, for as long as a client lives."""

    def __init__(self, *, is_shared: bool = False) -> None:
        """`is_shared`: by conversations that have nothing to do with each other."""
        self._is_shared = is_shared
        self._fields: dict[Target, Fields] = {}

    def fit(self, target: Target) -> Target:
        """`target` as experience has shown it."""
        fields = self._fields.get(target)
        return replace(target, **fields) if fields else target

    def keep(self, target: Target, change: Change) -> None:
        """Remember a change that was accepted, where it says something to whoever comes next."""
        if self._is_shared and change.code in OF_ONE_CONVERSATION:
            return
        self._fields[target] = {**self._fields.get(target, {}), **change.fields}


def _fields(code: str, words: str, target: Target) -> Fields:
    special = _SPECIAL.get(code)
    found = special(words, target) if special is not None else {}
    return found or BY_FORMAT.get((code, target.format)) or CHANGES.get(code, {})


def _effective(fields: Fields, target: Target) -> Fields:
    """The fields that are not as the target has them already; lists only grow or shrink."""
    return {
        name: value for name, value in _merged(fields, target) if value != getattr(target, name)
    }


def _merged(fields: Fields, target: Target) -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if name == "refused_params":
            yield name, tuple(dict.fromkeys((*target.refused_params, *value)))
        elif name == "choice_modes":
            yield name, tuple(mode for mode in target.choice_modes if mode in value)
        else:
            yield name, value


def _parameter(words: str, target: Target) -> Fields:
    """The parameter that an error names, in the words of `Params`."""
    demanded = _demanded(words, target) or less_output(words, target)
    if demanded:
        return demanded
    instead = _USE_INSTEAD.search(words)
    if instead is not None:
        return {"token_limit_field": instead[1]}
    found = _PARAMETER.search(words)
    name = (found["name"] or found["old"]).partition(".")[0] if found else ""
    if name == "parallel_tool_calls":
        return {"parallel_switch": False}
    if name == "tool_choice":
        return _UNFORCED
    name = _PARAMS.get(name, name)
    return {"refused_params": (name,)} if name in _NAMED else {}


def _demanded(words: str, target: Target) -> Fields:
    """What an error wants a request to say, where a target can be told to."""
    del target
    said = words.lower()
    return next((fields for demand, fields in _DEMANDS if demand in said), {})


def _unknown_field(words: str, target: Target) -> Fields:
    """Nothing any more that the target is not known to have, and not the field that it names."""
    found = _FIELD.search(words)
    name = (found["name"] or found["path"]) if found else ""
    if not name or (("unknown_field", target.format) in BY_FORMAT):
        return {}
    rule = target.fields
    kept = {place: tuple(one for one in getattr(rule, place) if one != name) for place in _PLACES}
    closed: Fields = {"fields": FieldRule(**kept, closed=_PLACES)}
    if "reasoning" in name or "thinking" in name:
        return {**closed, **_UNSIGNED}
    return {**closed, **_parameter(f"Unknown parameter: '{name}'", target)}


def _thinking(words: str, target: Target) -> Fields:
    """Without the way of switching thinking that an error names first."""
    found = _SWITCH.search(words)
    if found is None:
        return {"refused_params": ("reasoning",)}
    named = (found["kind"] or "adaptive").lower()
    return {"thinking": tuple(one for one in target.thinking or _SWITCHES if one != named)}


def _effort(words: str, target: Target) -> Fields:
    """The efforts that an error lists; where it lists none, none is told any more."""
    del target
    found = _LEVELS.search(words)
    listed = found[1].split(", ") if found else []
    return {"efforts": tuple(one for one in EFFORTS if one in listed)}


_SPECIAL: dict[str, Callable[[str, Target], Fields]] = {
    "parameter_unsupported": _parameter,
    "missing_field": _demanded,
    "thinking_unsupported": _thinking,
    "effort_unsupported": _effort,
    "bad_output_format": less_output,
    "unknown_field": _unknown_field,
}
