"""What the Messages API accepts.

Sources: platform.claude.com (pages named at the rules), the typed models of the `anthropic` SDK
2.8, and error texts of the live API. Only this file states these rules; the renderer obeys them.
A provider's profile overrides what a model or a compatible host does differently.
"""

from msgspec.structs import replace

from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.facts.target import IdRule, NameRule, Target

SOURCE = "platform.claude.com; types of the `anthropic` SDK 2.8; error texts of the live API"
"""Where the rules of this file were read, unless one names another source."""
DATE = "2026-11"

# SDK lib/_parse/_transform.py: what is not here is moved into the description.
_STRICT = StrictRule(
    keywords=(
        *("type", "properties", "required", "additionalProperties", "items", "minItems"),
        *("enum", "const", "anyOf", "allOf", "$ref", "$defs", "title", "description", "format"),
    ),
    formats=(
        *("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6"),
        "uuid",
    ),
    # Docs "Structured outputs": no recursion.
    refs="acyclic",
    min_items=(0, 1),
    # The same: const and enum of other values are moved into the description.
    plain_values=True,
    # Docs "Structured outputs", limits of a request; "Schema is too complex" beyond them
    # (pydantic-ai 2.66.0, _anthropic_schema_limits.py).
    max_tools=20,
    max_optional=24,
    max_unions=16,
    # 24 in one schema were recorded as "too complex for compilation", 24 in several were taken
    # (0xPlaygrounds/rig, strict_schema_limits): each one roughly doubles the grammar.
    max_optional_each=23,
)

# "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"; no length is documented.
_IDS = IdRule(prefix="toolu_", pattern="[a-zA-Z0-9_-]+", max_length=64)
# "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
_NAMES = NameRule(pattern="[a-zA-Z0-9_-]+", max_length=128)

TARGET = Target(
    format="anthropic",
    provider="anthropic",
    # Claude API, Bedrock, Vertex and Foundry verify each other's signatures.
    domain="anthropic",
    ids=_IDS,
    names=_NAMES,
    schemas=SchemaRule(
        # "input_schema does not support oneOf, allOf, or anyOf at the top level"
        root_refused=("oneOf", "allOf", "anyOf"),
        # "JSON schema is invalid. It must match JSON Schema draft 2020-12"
        draft="2020-12",
        # Third-party reports of a refusal: keys of `properties` match ^[a-zA-Z0-9_.-]{1,64}$.
        property_pattern="[a-zA-Z0-9_.-]{1,64}",
        told=True,
        strict=_STRICT,
    ),
    # SDK json_output_format_param.py: there is no other type.
    output_modes=("schema",),
    # SDK lib/_parse/_transform.py: any type at the root, and what strict tools may say.
    output_schemas=SchemaRule(object_root=False, draft="2020-12", told=True, strict=_STRICT),
    output_strict="always",
    # Docs "Handle tool calls": all results in the next user message, before everything else.
    results="user_message",
    # SDK tool_result_block_param.py: text, image, document, search_result, tool_reference.
    result_media=("image", "document"),
    result_parts=(
        *("text", "image", "document", "search_result", "tool_reference", "browser_state"),
    ),
    result_error_flag=True,
    # SDK tool_result_block_param.py: the toolset of the call that it answers.
    echoed_fields=("toolset_name",),
    # pydantic-ai 2.66.0: blocks of the advisor without the tool are refused.
    replayed_if_offered=("advisor",),
    media=("image", "document"),
    # "'image' blocks are not permitted within assistant turns." (epam/ai-dial-adapter-bedrock#306)
    reply_media=(),
    system="top",
    # Older models: "role 'system' is not supported on this model"; profiles name the newer ones.
    system_later=False,
    # "final assistant content cannot end with trailing whitespace"
    trimmed_ending=True,
    # platform.claude.com: mid-conversation-system-messages
    system_before_reply=True,
    # SDK message_create_params.py: consecutive messages of one role are combined.
    # Text behind a call: "`tool_use` ids were found without `tool_result` blocks" (recorded 2026).
    calls_last=True,
    merge_roles=True,
    starts_with_user=True,
    # 4.6 and later: "This model does not support assistant message prefill. The conversation must
    # end with a user message." (docs "Errors")
    ends_with_user=True,
    # "Invalid `signature` in `thinking` block": only what a Claude model signed is accepted.
    reasoning="signed",
    reasoning_state=("signature", "redacted"),
    # "Requests which include `tool_use` or `tool_result` blocks must define tools" on some routes.
    tools_with_history=True,
    # Docs "Mid-conversation system messages": available_tools_limit_exceeded above 10,000.
    max_tools=10_000,
    # SDK tool_choice_param.py: auto, any, tool (one name), none.
    choice_names="one",
    custom_tools=False,
    # "Thinking may not be enabled when tool_choice forces tool use."
    forced_choice_with_reasoning=False,
    # langchain-anthropic 1.7.7: marks inside of a result are put on the result.
    marked_results=False,
    # "A maximum of 4 blocks with cache_control may be provided."
    cache_marks=4,
    # "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
    cache_order=True,
    # Threads are the Claude API's own (its profile); no other host is known to keep them.
    kept_state=(),
    # SDK lib/threads/_thread_state.py: CREATE_ONLY_FIELDS.
    kept_instructions=True,
    served=(
        ("ids", replace(_IDS, refused=False)),
        ("names", replace(_NAMES, refused=False)),
        ("starts_with_user", False),
        ("ends_with_user", False),
        ("system_later", True),
        ("tools_with_history", False),
        ("empty_results", True),
        ("choice_modes", ("auto", "required", "none")),
        ("choice_names", "one"),
        ("forced_choice_with_reasoning", True),
        (
            "unenforced",
            (
                *("unknown_field", "empty_result", "blank_text", "trailing_whitespace"),
                *("thinking_unsigned", "thinking_budget", "cache_mark_order"),
                *("too_many_cache_marks", "cache_mark_misplaced", "bad_cache_mark"),
                *("too_many_messages", "compaction_misplaced", "compaction_repeated"),
                "calls_in_wrong_role",
            ),
        ),
    ),
)
