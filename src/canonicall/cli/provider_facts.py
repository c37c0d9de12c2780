"""What a target accepts, in sentences: each field of `Target` as a question and its answer.

In: a target. Out: groups of facts for a page. A field that says nothing here, such as the name of a
field that is never sent, has no answer and is left out. Every field has its place in `GROUPS`,
but for `schemas`, which provider_schemas.py tells.
"""

from canonicall.cli.provider_outputs import OUTPUT_FACTS
from canonicall.cli.provider_words import Fact, each, listed, named, only, quoted, unless, yes_no
from canonicall.target import Target


def _ids(target: Target) -> str:
    rule = target.ids
    told = {
        "prefixed": f"{quoted(rule.prefix)} and more, {quoted(rule.pattern)},"
        f" at most {rule.max_length} characters",
        "numbered": "`functions.{name}:{number}`, counted through the conversation",
        "short": f"exactly {rule.max_length} letters and digits",
        "echoed": "only ids that it gave itself; calls without one go without",
    }[rule.style]
    return told if rule.refused else f"{told}; others are taken, and lead the model astray"


def _names(target: Target) -> str:
    rule = target.names
    return f"{quoted(rule.pattern)}, {rule.min_length} to {rule.max_length} characters"


def _unknown_fields(target: Target) -> str:
    places = target.fields.closed
    return f"refused in: {', '.join(places)}" if places else "not known to be refused"


def _reasoning_field(target: Target) -> str:
    is_said = target.reasoning == "open" and target.format in ("openai-chat", "cohere", "ollama")
    return quoted(target.reasoning_field) if is_said else ""


def _placeholder(target: Target) -> str:
    text = target.reasoning_placeholder
    if text is None:
        return ""
    words = {"": "an empty text", " ": "a space"}.get(text, quoted(text))
    return f"has to be there; where there is none, {words} stands in"


def _efforts(target: Target) -> str:
    return "" if target.efforts is None else listed(target.efforts)


def _sentinel(target: Target) -> str:
    text = target.signature_sentinel
    return f"{quoted(text)} stands in for it" if text else ""


def _split(target: Target) -> str:
    most = target.calls_per_message
    return f"at most {most}; more are split over messages" if most else "no limit known"


def _choices(target: Target) -> str:
    named = {"one": "or one tool by name", "many": "or tools by name", "no": "no tool by name"}
    return f"{listed(target.choice_modes)}, {named[target.choice_names]}"


def _refusals(target: Target) -> str:
    told = []
    for one in target.refusals:
        beside = f"beside {quoted(one.beside)}" if one.beside else ""
        words = (quoted(one.field), listed(one.values, ""), beside, listed(one.beside_values, ""))
        told.append(" ".join(filter(None, words)))
    return "; ".join(told)


def _cache(target: Target) -> str:
    order = ", the longest first" if target.cache_order else ""
    return f"at most {target.cache_marks}{order}" if target.cache_marks else "none"


def _cache_field(target: Target) -> str:
    is_said = target.cache_marks and target.format == "openai-chat"
    return quoted(target.cache_field) if is_said else ""


GROUPS: dict[str, tuple[Fact, ...]] = {
    "Ids, fields and messages": (
        Fact("ids", "id of a call", _ids),
        Fact("names", "name of a tool", _names),
        Fact("fields", "fields it does not know", _unknown_fields),
        Fact("item_ids", "ids of items", only("item_ids", "looked up: only its own are taken")),
        Fact("unenforced", "rules it does not enforce", lambda one: listed(one.unenforced, "")),
        Fact(
            "system",
            "instructions stand",
            named("system", {"top": "apart from the messages", "inline": "among the messages"}),
        ),
        Fact(
            "system_later",
            "instructions behind the first message",
            yes_no("system_later", "accepted", "no: they become user text"),
        ),
        Fact("developer", "developer role", yes_no("developer", no="no: it becomes system")),
        Fact("starts_with_user", "has to begin with the user", yes_no("starts_with_user")),
        Fact("ends_with_user", "may end with the assistant", yes_no("ends_with_user", "no", "yes")),
        Fact(
            "merge_roles",
            "two messages of one role in a row",
            yes_no("merge_roles", "have to be one message", "accepted"),
        ),
        Fact("media", "media in user messages", each("media")),
        Fact("part_types", "types of parts", lambda one: listed(one.part_types, "")),
        Fact("reply_media", "media in the messages of the model", unless("reply_media")),
        Fact("media_by_url", "media by address alone", each("media_by_url")),
        Fact("document_needs_text", "documents", only("document_needs_text", "only beside text")),
        Fact("content_as_text", "text content", only("content_as_text", "one string, no list")),
        Fact("blank_is_empty", "empty text", only("blank_is_empty", "counts as no content")),
    ),
    "Calls and results": (
        Fact(
            "results",
            "results stand",
            named(
                "results",
                {
                    "tool_messages": "in tool messages, one for each call",
                    "user_message": "in the next user message, before everything else",
                    "own_user_message": "in a user message of their own",
                    "items": "in items of the input",
                },
            ),
        ),
        Fact("result_names_tool", "result names its tool", yes_no("result_names_tool")),
        Fact("result_media", "media in results", each("result_media")),
        Fact(
            "empty_results",
            "empty results",
            yes_no("empty_results", "accepted", "no: a sentence stands in"),
        ),
        Fact(
            "result_error_flag",
            "failure of a result",
            yes_no("result_error_flag", "marked by a field", "said in its text"),
        ),
        Fact(
            "user_after_results",
            "user message behind results",
            yes_no(
                "user_after_results", "accepted", "no: a short assistant message stands between"
            ),
        ),
        Fact("user_beside_results", "another user message there", unless("user_beside_results")),
        Fact(
            "text_beside_calls",
            "text beside calls",
            yes_no("text_beside_calls", "accepted", "no: it goes into a message before"),
        ),
        Fact("calls_last", "text behind a call", only("calls_last", "no: calls are last")),
        Fact(
            "empty_content_beside_calls",
            "text of a message with only calls",
            named(
                "empty_content_beside_calls",
                {"null": "`null`", "empty": "an empty string", "omit": "left out"},
            ),
        ),
        Fact("calls_per_message", "calls in one message", _split),
        Fact(
            "arguments_checked",
            "arguments in the history",
            only("arguments_checked", "have to be the text of a JSON object"),
        ),
    ),
    "Reasoning": (
        Fact(
            "reasoning",
            "reasoning that is sent back",
            named(
                "reasoning",
                {
                    "signed": "only with its own signature",
                    "open": "as text, to the provider it came from",
                    "none": "none",
                },
            ),
        ),
        Fact("reasoning_field", "where it stands", _reasoning_field),
        Fact("reasoning_same_model", "who can read it", only("reasoning_same_model", "its model")),
        Fact(
            "reasoning_state",
            "what it has to carry",
            lambda target: listed(target.reasoning_state, ""),
        ),
        Fact("reasoning_placeholder", "reasoning of a message with calls", _placeholder),
        Fact("thinking", "how thinking is switched", lambda one: listed(one.thinking, "")),
        Fact("efforts", "efforts it knows", _efforts),
        Fact("signature_sentinel", "signature of a first call", _sentinel),
        Fact(
            "reasoning_refused",
            "reasoning where none is accepted",
            only("reasoning_refused", "refused"),
        ),
        Fact(
            "forced_choice_with_reasoning",
            "forced call while it thinks",
            yes_no("forced_choice_with_reasoning"),
        ),
    ),
    "Tools": (
        Fact("max_tools", "tools in a request", lambda one: f"at most {one.max_tools:,}"),
        Fact(
            "schema_required",
            "tool without parameters",
            yes_no("schema_required", "has to have a schema", "may go without a schema"),
        ),
        Fact(
            "tools_with_history",
            "tools left out, calls in the history",
            yes_no("tools_with_history", "refused", "accepted"),
        ),
        Fact("strict_tools", "strict tools are taken", unless("strict_tools")),
        Fact("choice_modes", "tool choice", _choices, also="choice_names"),
        Fact("parallel_switch", "parallel calls can be switched off", yes_no("parallel_switch")),
        Fact(
            "parallel_needs_tools",
            "that switch without tools",
            only("parallel_needs_tools", "refused"),
        ),
        Fact("server_history", "calls it ran itself, sent back", unless("server_history")),
        Fact("custom_tools", "tools for free text", yes_no("custom_tools")),
    ),
    "Parameters and cache marks": (
        *OUTPUT_FACTS,
        Fact(
            "token_limit_field",
            "limit of tokens",
            lambda one: listed(filter(None, [one.token_limit_field]), ""),
        ),
        Fact("seed_field", "seed", lambda one: quoted(one.seed_field)),
        Fact("refused_params", "parameters that are refused", each("refused_params")),
        Fact("unstored", "storing replies", only("unstored", "refused: `store` is `false`")),
        Fact("stream_only", "whole replies", only("stream_only", "none: it only streams")),
        Fact(
            "instructions_required",
            "field for instructions",
            only("instructions_required", "has to be there, be it empty"),
        ),
        Fact("refusals", "what else is refused", _refusals),
        Fact(
            "body_version",
            "version in the body",
            lambda one: one.body_version and quoted(one.body_version),
        ),
        Fact("cache_marks", "cache marks", _cache, also="cache_order"),
        Fact("cache_field", "what a cache mark is called", _cache_field),
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
