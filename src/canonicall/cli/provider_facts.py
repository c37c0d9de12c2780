"""What a target accepts, in sentences: each field of `Target` as a question and its answer.

In: a target. Out: groups of facts for a page. A field that says nothing here, such as the name of a
field that is never sent, has no answer and is left out. Every field has its place in `GROUPS`,
but for `schemas`, which provider_schemas.py tells.
"""

from canonicall.cli.provider_answers import (
    Fact,
    cache_field,
    cache_marks,
    choices,
    each_of,
    failed_results,
    id_rule,
    in_words,
    leaked_calls,
    listed,
    most_calls,
    name_rule,
    no_unless,
    only_if,
    other_refusals,
    quoted,
    reasoning_field,
    reasoning_placeholder,
    result_media,
    seed_name,
    signature_sentinel,
    thinking,
    thinking_field,
    thinking_limits,
    tool_limit,
    undeclared_tools,
    unenforced,
    unknown_fields,
    unmarked,
    yes_no,
)
from canonicall.cli.provider_outputs import OUTPUT_FACTS
from canonicall.facts.target import Target

GROUPS: dict[str, tuple[Fact, ...]] = {
    "Ids, fields and messages": (
        Fact("ids", "id of a call", id_rule),
        Fact("names", "name of a tool", name_rule),
        Fact("fields", "fields it does not know", unknown_fields),
        Fact("item_ids", "ids of items", only_if("item_ids", "looked up: only its own are taken")),
        Fact("unenforced", "rules it does not enforce", unenforced),
        Fact(
            "system",
            "instructions stand",
            in_words("system", {"top": "apart from the messages", "inline": "among the messages"}),
        ),
        Fact(
            "system_later",
            "instructions behind the first message",
            yes_no("system_later", "accepted", "no: they become user text"),
        ),
        Fact(
            "system_before_reply",
            "where they stand there",
            lambda one: "before a reply" if one.system_later and one.system_before_reply else "",
        ),
        Fact(
            "speaker_names",
            "name of the one who speaks",
            lambda one: quoted(one.speaker_names) if one.speaker_names else "",
        ),
        Fact("developer", "developer role", yes_no("developer", no="no: it becomes system")),
        Fact("starts_with_user", "has to begin with the user", yes_no("starts_with_user")),
        Fact("ends_with_user", "may end with the assistant", yes_no("ends_with_user", "no", "yes")),
        Fact(
            "trimmed_ending",
            "words it shall continue",
            only_if("trimmed_ending", "must not end in white space"),
        ),
        Fact(
            "merge_roles",
            "two messages of one role in a row",
            yes_no("merge_roles", "have to be one message", "accepted"),
        ),
        Fact("media", "media in user messages", each_of("media")),
        Fact("media_types", "media types", lambda one: listed(one.media_types, "")),
        Fact("part_types", "types of parts", lambda one: listed(one.part_types, "")),
        Fact(
            "document_part",
            "documents are parts of the type",
            lambda one: quoted(one.document_part) if one.format == "openai-chat" else "",
        ),
        Fact("reply_media", "media in the messages of the model", each_of("reply_media")),
        Fact("named_sound", "sound of the model", only_if("named_sound", "sent back by its id")),
        Fact("media_by_url", "media by address alone", each_of("media_by_url")),
        Fact("file_ids", "media by file id", lambda one: "" if one.file_ids else "no"),
        Fact(
            "address_schemes",
            "addresses that it fetches",
            lambda one: listed(one.address_schemes, ""),
        ),
        Fact(
            "document_needs_text", "documents", only_if("document_needs_text", "only beside text")
        ),
        Fact("content_as_text", "text content", only_if("content_as_text", "one string, no list")),
        Fact(
            "lists_refused",
            "content that must not be a list",
            lambda one: f"that of: {', '.join(one.lists_refused)}" if one.lists_refused else "",
        ),
        Fact("blank_is_empty", "empty text", only_if("blank_is_empty", "counts as no content")),
    ),
    "Calls and results": (
        Fact(
            "results",
            "results stand",
            in_words(
                "results",
                {
                    "tool_messages": "in tool messages, one for each call",
                    "user_message": "in the next user message, before everything else",
                    "own_user_message": "in a user message of their own",
                    "items": "in items of the input",
                },
            ),
        ),
        Fact("result_names_tool", "result names its tool", only_if("result_names_tool", "yes")),
        Fact("result_media", "media in results", result_media, also="result_parts"),
        Fact(
            "empty_results",
            "empty results",
            yes_no("empty_results", "accepted", "no: a sentence stands in"),
        ),
        Fact(
            "result_error_flag",
            "failure of a result",
            failed_results,
            also="echoed_fields",
        ),
        Fact(
            "user_after_results",
            "user message behind results",
            yes_no(
                "user_after_results", "accepted", "no: a short assistant message stands between"
            ),
        ),
        Fact("user_beside_results", "another user message there", no_unless("user_beside_results")),
        Fact(
            "documents_beside_results",
            "documents beside results",
            no_unless("documents_beside_results"),
        ),
        Fact(
            "text_beside_calls",
            "text beside calls",
            yes_no("text_beside_calls", "accepted", "no: it goes into a message before"),
        ),
        Fact("calls_last", "text behind a call", only_if("calls_last", "no: calls are last")),
        Fact(
            "empty_content_beside_calls",
            "text of a message with only calls",
            in_words(
                "empty_content_beside_calls",
                {"null": "`null`", "empty": "an empty string", "omit": "left out"},
            ),
        ),
        Fact("calls_per_message", "calls in one message", most_calls),
        Fact("leaks", "calls printed into the text", leaked_calls, "text_forms"),
        Fact(
            "arguments_checked",
            "arguments in the history",
            only_if("arguments_checked", "have to be the text of a JSON object"),
        ),
    ),
    "Reasoning": (
        Fact(
            "reasoning",
            "reasoning that is sent back",
            in_words(
                "reasoning",
                {
                    "signed": "only with its own signature",
                    "open": "as text, to the provider it came from",
                    "none": "none",
                },
            ),
        ),
        Fact("reasoning_field", "where it stands", reasoning_field),
        Fact(
            "reasoning_same_model", "who can read it", only_if("reasoning_same_model", "its model")
        ),
        Fact(
            "reasoning_state",
            "what it has to carry",
            lambda target: listed(target.reasoning_state, ""),
        ),
        Fact("reasoning_placeholder", "reasoning of a message with calls", reasoning_placeholder),
        Fact("thinks", "thinks unless told not to", no_unless("thinks")),
        Fact("thinking_field", "what switches thinking", thinking_field),
        Fact("thinking", "how it is told to think", thinking, also="efforts"),
        Fact("thinking_limits", "budget for thinking", thinking_limits),
        Fact("signature_sentinel", "signature of a first call", signature_sentinel),
        Fact(
            "reasoning_refused",
            "reasoning where none is accepted",
            only_if("reasoning_refused", "refused"),
        ),
        Fact("tools_while_reasoning", "tools while it reasons", no_unless("tools_while_reasoning")),
        Fact(
            "forced_choice_with_reasoning",
            "forced call while it thinks",
            yes_no("forced_choice_with_reasoning"),
        ),
    ),
    "Tools": (
        Fact("max_tools", "tools in a request", tool_limit),
        Fact(
            "schema_required",
            "tool without parameters",
            yes_no("schema_required", "has to have a schema", "may go without a schema"),
        ),
        Fact(
            "tools_with_history",
            "tools left out, calls in the history",
            undeclared_tools,
            also="replayed_if_offered",
        ),
        Fact(
            "strict_tools",
            "leaving out the mark `strict`",
            lambda one: "" if one.strict_tools else "needed: it is refused",
        ),
        Fact("choice_modes", "tool choice", choices, also="choice_names"),
        Fact("late_choice", "of tools among the messages", no_unless("late_choice")),
        Fact("parallel_switch", "parallel calls can be switched off", yes_no("parallel_switch")),
        Fact(
            "parallel_needs_tools",
            "that switch without tools",
            only_if("parallel_needs_tools", "refused"),
        ),
        Fact("server_history", "calls it ran itself, sent back", no_unless("server_history")),
        Fact("unreplayed", "but not those of", lambda one: listed(one.unreplayed, "")),
        Fact(
            "group_names",
            "names of groups of tools",
            lambda one: f"`{one.group_names}`" if one.group_names else "",
        ),
        Fact("client_run", "of those, run by the caller", lambda one: listed(one.client_run, "")),
        Fact("mixed_tools", "functions beside tools it runs itself", no_unless("mixed_tools")),
        Fact("custom_tools", "tools for free text", yes_no("custom_tools")),
    ),
    "Parameters and cache marks": (
        *OUTPUT_FACTS,
        Fact(
            "token_limit_field",
            "limit of tokens",
            lambda one: listed(filter(None, [one.token_limit_field]), ""),
        ),
        Fact("seed_field", "seed", seed_name),
        Fact(
            "refused_params",
            "parameters that are refused",
            lambda one: listed(one.refused_params, ""),
        ),
        Fact(
            "kept_state",
            "what a request can continue",
            lambda one: "" if one.kept_state is None else listed(one.kept_state, "nothing"),
        ),
        Fact(
            "kept_instructions",
            "instructions in such a request",
            only_if("kept_instructions", "refused: those that are kept count"),
        ),
        Fact("unstored", "storing replies", only_if("unstored", "refused: `store` is `false`")),
        Fact("stream_only", "whole replies", only_if("stream_only", "none: it only streams")),
        Fact(
            "instructions_required",
            "field for instructions",
            only_if("instructions_required", "has to be there, be it empty"),
        ),
        Fact("refusals", "what else is refused", other_refusals),
        Fact(
            "body_version",
            "version in the body",
            lambda one: one.body_version and quoted(one.body_version),
        ),
        Fact("cache_marks", "cache marks", cache_marks, also="cache_order"),
        Fact("marked_tools", "cache marks on tools", unmarked("marked_tools")),
        Fact("marked_results", "cache marks inside of results", unmarked("marked_results")),
        Fact("marked_documents", "on other documents than PDF", unmarked("marked_documents")),
        Fact("cache_field", "what a cache mark is called", cache_field),
    ),
}
"""The facts in the order of a page."""


def answer_to(field: str, target: Target) -> tuple[str, str]:
    """The question and the answer of one field, for a rule that stands alone."""
    for facts in GROUPS.values():
        for fact in facts:
            if field in (fact.field, fact.also):
                return fact.question, fact.answer(target) or "not needed"
    return field, quoted(str(getattr(target, field)))
