"""What OpenAI's own Chat Completions endpoint accepts: the base of all compatible hosts.

Sources: types of `openai` 3.49.0 and the OpenAPI document of 2026-08-21, where no other is named.
"""

from msgspec.structs import replace

from canonicall.facts.schema_rules import SchemaRule
from canonicall.facts.target import FieldRule, IdRule, NameRule, Target

SOURCE = "types of `openai` 3.49.0; OpenAPI document of 2026-08-21"
"""Where the rules of this file were read, unless one names another source."""
DATE = "2026-11"

FORMAT = "openai-chat"

# completion_create_params.py
_REQUEST_FIELDS = (
    *("messages", "model", "audio", "frequency_penalty", "function_call", "functions"),
    *("logit_bias", "logprobs"),
    *("max_completion_tokens", "max_tokens", "metadata", "modalities", "moderation", "n"),
    *("parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key"),
    *("prompt_cache_options", "prompt_cache_retention", "reasoning_effort", "response_format"),
    *("safety_identifier", "seed", "service_tier", "stop", "store", "stream", "stream_options"),
    *("temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity"),
    "web_search_options",
)

# The extras of a part stand in the object that has the name of its type. Notes of this format are
# no wire fields: `field`, `refusal`, and the chunks of a thought.
_PART_FIELDS = ("image_url", "input_audio", "file", "field", "refusal", "thinking")

# Copilot and Azure still refuse more than 40 characters (BerriAI/litellm#17343).
_IDS = IdRule(style="prefixed", prefix="call_", pattern="[A-Za-z0-9_-]+", max_length=40)
# shared/function_definition.py: letters, digits, underscores and dashes, at most 64.
_NAMES = NameRule(pattern="[A-Za-z0-9_-]+", max_length=64)

TARGET = Target(
    format=FORMAT,
    provider="openai",
    domain="openai",
    ids=_IDS,
    names=_NAMES,
    schemas=SchemaRule(
        # "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the
        # top level" (error text, from third-party reports)
        root_refused=("oneOf", "anyOf", "allOf", "enum", "not"),
        # "array schema missing items" (error text, from third-party reports)
        items_required=True,
    ),
    # Nothing is closed here: most compatible hosts ignore what they do not know.
    fields=FieldRule(
        request=_REQUEST_FIELDS,
        # chat_completion_assistant_message_param.py and those of the other roles
        message=("name", "refusal", "audio"),
        part=_PART_FIELDS,
        call=("function.name", "function.arguments", "custom.name", "custom.input", "field"),
        # shared_params/function_definition.py
        tool=(
            *("function.name", "function.description", "function.parameters", "function.strict"),
            "custom",
        ),
    ),
    # "An assistant message with 'tool_calls' must be followed by tool messages responding to each
    # 'tool_call_id'."
    results="tool_messages",
    # chat_completion_tool_message_param.py: a string or text parts, nothing else, and no flag.
    result_media=(),
    result_parts=("text",),
    result_error_flag=False,
    # chat_completion_content_part_param.py: text, image_url, input_audio, file.
    media=("image", "audio", "document"),
    # "Image URLs are only allowed for messages with role 'user'" (openai/openai-node#1030);
    # chat_completion_assistant_message_param.py: text and refusal, and `audio` by its id.
    reply_media=(),
    named_sound=True,
    system="inline",
    developer=True,
    # chat_completion_assistant_message_param.py: `tool_calls` stand beside the content, which is
    # optional then.
    calls_last=True,
    empty_content_beside_calls="null",
    # No reasoning is returned or accepted on this endpoint.
    reasoning="none",
    # "Invalid 'tools': array too long. Expected an array with maximum length 128".
    max_tools=128,
    # chat_completion_allowed_tool_choice_param.py: a list of tools, or a single one.
    choice_names="many",
    parallel_switch=True,
    # chat_completion_custom_tool_param.py
    custom_tools=True,
    cache_marks=0,
    served=(
        ("ids", replace(_IDS, refused=False)),
        ("names", replace(_NAMES, refused=False)),
        ("max_tools", 0),
        ("developer", True),
        ("result_media", ("image", "document", "audio", "video")),
        ("choice_names", "many"),
        ("forced_choice_with_reasoning", True),
        ("unenforced", ("empty_tools", "empty_tool_calls", "choice_without_tools")),
    ),
)
