"""What OpenAI's own Chat Completions endpoint accepts: the base of all compatible hosts.

Sources: types of `openai` 3.49.0 and the OpenAPI document of 2026-08-21, where no other is named.
"""

from canonicall.target import IdRule, NameRule, Target

FORMAT = "openai-chat"

TARGET = Target(
    format=FORMAT,
    provider="openai",
    domain="openai",
    # Copilot and Azure still refuse more than 40 characters (BerriAI/litellm#17343).
    ids=IdRule(style="prefixed", prefix="call_", pattern="[A-Za-z0-9_-]+", max_length=40),
    # shared/function_definition.py: letters, digits, underscores and dashes, at most 64.
    names=NameRule(pattern="[A-Za-z0-9_-]+", max_length=64),
    # "An assistant message with 'tool_calls' must be followed by tool messages responding to each
    # 'tool_call_id'."
    results="tool_messages",
    # chat_completion_tool_message_param.py: a string or text parts, nothing else, and no flag.
    result_media=(),
    result_error_flag=False,
    # chat_completion_content_part_param.py: text, image_url, input_audio, file.
    media=("image", "audio", "document"),
    system="inline",
    developer=True,
    # chat_completion_assistant_message_param.py: content is optional beside tool_calls.
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
)
