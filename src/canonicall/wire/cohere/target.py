"""What Cohere's chat API (v2) accepts.

Sources: the API reference (docs.cohere.com/reference/chat) and the typed models of the `cohere`
SDK (`AssistantChatMessageV2`, `ToolChatMessageV2`, `V2ChatRequest`).
"""

from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.facts.target import IdRule, NameRule, Refusal, Target

SOURCE = "docs.cohere.com/reference/chat; types of the `cohere` SDK"
"""Where the rules of this file were read, unless one names another source."""
DATE = "2026-11"

TARGET = Target(
    format="cohere",
    provider="cohere",
    domain="cohere",
    # Any text; no rule is published.
    ids=IdRule(prefix="call_", max_length=64),
    # No rule is published; this is what every provider takes.
    names=NameRule(pattern="[A-Za-z_][A-Za-z0-9_-]{2,63}", max_length=64, min_length=3),
    # SDK content.py, assistant_message_v2content_item.py and tool_content.py.
    part_types=("text", "image_url", "thinking", "document"),
    result_parts=("text", "document"),
    # docs.cohere.com, "Parameter types for tool use", notes on `strict_tools`: at least one
    # required parameter, and 200 fields in all tools. Objects may be open, for all that is said.
    schemas=SchemaRule(
        strict=StrictRule(some_required=True, closed=False, any_json=True, max_fields=200)
    ),
    # docs.cohere.com, "Structured outputs": the model is always held to the schema, of an object.
    output_schemas=SchemaRule(),
    output_strict="never",
    # SDK response_format_v2.py: "The parameter is not supported when used in combinations with the
    # `documents` or `tools` parameters." The words of the refusal are not known.
    refusals=(
        Refusal(
            field="response_format.type",
            values=("json_object",),
            beside="tools",
            error="",
        ),
        Refusal(
            field="response_format.type",
            values=("json_object",),
            beside="documents",
            error="",
        ),
    ),
    results="tool_messages",
    # API reference: user content is text and image_url, tool content is text and document.
    media=("image",),
    # SDK: `AssistantMessageV2ContentItem` is text or thinking.
    reply_media=(),
    # SDK: `content` is optional beside `tool_calls`.
    calls_last=True,
    empty_content_beside_calls="omit",
    ends_with_user=True,
    # SDK: a content block of type `thinking`; it has no signature.
    reasoning="open",
    reasoning_field="content",
    # API reference: `tool_choice` is REQUIRED or NONE, and left out where the model may choose.
    choice_modes=("required", "none"),
    choice_names="no",
    parallel_switch=False,
)
