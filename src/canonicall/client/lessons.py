"""What each refusal teaches, as data: its name, and the fields of the target that put it right."""

from typing import Any, TypeAlias

from canonicall.facts.target import IdRule, NameRule

Fields: TypeAlias = dict[str, Any]
UNKNOWN = "unknown"

UNSIGNED: Fields = {"reasoning": "none"}
UNSEALED: Fields = {"reasoning": "none", "domain": "none"}
UNFORCED: Fields = {
    "choice_modes": ("auto", "none"),
    "choice_names": "no",
    "forced_choice_with_reasoning": False,
}
_SHORT_IDS: Fields = {
    "ids": IdRule(style="short", prefix="", pattern="[A-Za-z0-9]{9}", max_length=9)
}
_TEXT_ONLY: Fields = {"media": (), "result_media": ()}

CHANGES: dict[str, Fields] = {
    # Reasoning that this provider, or this model, cannot read.
    "foreign_signature": UNSIGNED,
    "encrypted_reasoning_refused": UNSIGNED,
    "thinking_bound_elsewhere": UNSIGNED,
    "thinking_modified": UNSIGNED,
    "thinking_unsigned": UNSIGNED,
    "thinking_last": UNSIGNED,
    "thinking_while_off": UNSIGNED,
    "reasoning_refused": UNSIGNED,
    "reasoning_without_following": UNSIGNED,
    "reasoning_missing": {"reasoning": "open", "reasoning_placeholder": " ", "thinks": True},
    "signature_missing": {"signature_sentinel": "skip_thought_signature_validator"},
    # Server-side state that is not there.
    "bad_item_id": UNSEALED,
    "duplicate_item_id": UNSEALED,
    "previous_response_unknown": UNSEALED,
    # Settings.
    "thinking_missing": {"refused_params": ("reasoning",)},
    "thinking_budget": {"refused_params": ("reasoning",)},
    "reasoning_unsupported": {"refused_params": ("reasoning",)},
    "choice_unsupported": UNFORCED,
    "choice_without_tools": {"choice_modes": ("auto",), "parallel_needs_tools": True},
    "forced_choice_with_thinking": {"forced_choice_with_reasoning": False},
    "too_many_cache_marks": {"cache_marks": 0},
    "cache_mark_on_blank_text": {"cache_marks": 0},
    "cache_mark_on_deferred_tool": {"cache_marks": 0},
    "tools_missing": {"tools_with_history": True},
    "json_word_missing": {"output_word": "json"},
    "strict_unsupported": {"strict_tools": False},
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
    ("foreign_signature", "gemini"): UNSEALED,
    # "This model doesn't support the status field": an error is told in words.
    ("unknown_field", "bedrock"): {"result_error_flag": False},
}
"""The same where a format needs something else."""

HOPELESS = frozenset(
    {
        "empty_input",
        "too_many_tools",
        "tools_unsupported",
        # What has nothing to do with how the request is written.
        "access_denied",
        "content_blocked",
        "context_overflow",
        "key_refused",
        "model_unknown",
        "provider_overloaded",
        "provider_unreachable",
        "quota_exhausted",
        "rate_limited",
        "request_too_large",
    }
)
"""No other rendering of the same conversation helps."""
CHANCE = frozenset({"call_made_invalid", "choice_not_followed", "output_made_invalid"})
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

NARROWEST: Fields = {
    **UNSEALED,
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
