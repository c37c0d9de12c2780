"""What a provider takes although its profile says not to send it.

A profile is narrow on purpose: what is rendered by it has to pass with every model and every
version of the service. A simulator that refused by it would refuse what the provider takes. So what
was recorded with status 200 is let through here, and nothing else is.
"""

from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from canonicall.target import IdRule, NameRule, Target

_ANY_CHOICE = {"choice_modes": ("auto", "required", "none"), "choice_names": "many"}
_PAIRS = ("missing_result", "orphan_result_sent")
_DOTTED = NameRule(pattern=r"[A-Za-z_][A-Za-z0-9_.:-]*", max_length=64)
_SHORT_IDS = IdRule(pattern=".+")
_ANY_IDS = IdRule(pattern=r"[\w.:-]+", max_length=64)


class Taken(Struct, frozen=True):
    """Fields of a target as its service really is."""

    provider: str
    format: str
    fields: dict[str, Any]
    models: tuple[str, ...] = ("*",)


TAKEN = (
    # Recorded with six Claude models: a history with tools and no `tools`; one that begins with an
    # assistant message (anomalyco/opencode, pydantic-ai on Bedrock 2026-07).
    Taken("anthropic", "anthropic", {"tools_with_history": False, "starts_with_user": False}),
    Taken("vertex", "anthropic", {"tools_with_history": False, "starts_with_user": False}),
    # docs, "Mid-conversation system messages": it returns 200 and reads past them.
    Taken(
        "anthropic", "anthropic", {"system_later": True}, ("claude-sonnet-5", "claude-sonnet-5-2*")
    ),
    # "none" garbles the answer, but it is answered.
    Taken("mistral", "openai-chat", {"choice_modes": ("auto", "required", "none")}),
    # mistral-common 1.13: any role may be first.
    Taken("mistral", "openai-chat", {"starts_with_user": False}),
    # mistral-common allows this order from 1.13 on; recorded with these models.
    Taken(
        "mistral",
        "openai-chat",
        {"user_after_results": True},
        ("ministral-*", "mistral-small-*"),
    ),
    # ollama/ollama, openai/openai.go: the field is not read at all.
    Taken("ollama", "openai-chat", _ANY_CHOICE),
    # Results without an id are paired by their place; a named choice is read past.
    Taken("zai", "openai-chat", {**_ANY_CHOICE, "ids": IdRule(style="echoed", refused=False)}),
    # Ids of every host behind it, `functions.name:0` and `tool_0_name_...` among them; the role
    # `developer` goes to hosts that know it and becomes `system` elsewhere.
    Taken("openrouter", "openai-chat", {"ids": _ANY_IDS, "developer": True}),
    # Recorded with Kimi alone, which numbers its calls (`functions.name:0`) whoever serves it.
    Taken("avian", "openai-chat", {"ids": replace(_ANY_IDS, style="numbered")}, ("*kimi-k2*",)),
    Taken("huggingface", "openai-chat", {"ids": _ANY_IDS, "unenforced": ("empty_tools",)}),
    # The id of the response before that of the call: `resp_...:call_0`.
    Taken("bedrock-mantle", "openai-responses", {"ids": _ANY_IDS}),
    # Results without an id are paired by their place.
    Taken("writer", "openai-chat", {"ids": IdRule(style="echoed")}),
    # Its own ids are `chatcmpl-tool-` and 32 digits.
    Taken("vllm", "openai-chat", {"ids": IdRule(max_length=64)}),
    # Recorded in 2024 with this model alone: the result names a call of another conversation.
    Taken("anthropic", "anthropic", {"unenforced": _PAIRS}, ("claude-3-opus-20240229",)),
    # Recorded in 2025 with these models: the call is answered in plain user text. An unequal number
    # of results is refused by them as well, and nothing of the kind is known of Gemini 3.
    Taken(
        "gemini",
        "gemini",
        {"unenforced": ("missing_result",)},
        ("gemini-2.0-flash-lite", "gemini-2.5-pro"),
    ),
    # The error text on other names says that dots and colons are allowed.
    Taken("gemini", "gemini", {"names": _DOTTED}),
    Taken("vertex", "gemini", {"names": _DOTTED}),
    # ollama/ollama, openai/openai.go: messages go into the template as they come, paired or not
    # (recorded: two calls, one result).
    Taken("ollama", "openai-chat", {"unenforced": _PAIRS}),
    # ollama/ollama, server/prompt.go: the same at its own endpoint.
    Taken("ollama", "ollama", {"unenforced": (*_PAIRS, "results_not_adjacent")}),
    # pydantic-ai, 2026-07: these families may be told a conversation that begins with them.
    Taken(
        "bedrock",
        "bedrock",
        {"starts_with_user": False},
        ("*anthropic.*", "*qwen.*", "*xai.*", "*openai.*"),
    ),
    # docs.x.ai names 350, its SDK 128.
    Taken("xai", "openai-chat", {"max_tools": 350}),
    Taken("xai", "openai-responses", {"max_tools": 350}),
    # Of the ids of calls, a length is all that OpenAI was ever reported to refuse.
    *(Taken(host, "openai-chat", {"ids": _SHORT_IDS}) for host in ("azure", "copilot", "openai")),
    # Of these hosts, no rule for ids is published or reported: they have to be there and to match.
    *(
        Taken(host, "openai-chat", {"ids": IdRule(refused=False)})
        for host in ("deepseek", "groq", "minimax", "ollama", "qwen", "xai")
    ),
    # Recorded with Pixtral: a document as the result of a tool.
    Taken("bedrock", "bedrock", {"result_media": ("image", "document")}, ("*pixtral*",)),
)


def as_served(target: Target) -> Target:
    """`target` with the rules its service is recorded to have."""
    for row in TAKEN:
        if (row.provider, row.format) == (target.provider, target.format) and any(
            fnmatchcase(target.model.lower(), glob) for glob in row.models
        ):
            target = replace(target, **row.fields)
    return target
