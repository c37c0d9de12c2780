"""What Bedrock's Converse API accepts, whichever model stands behind it.

Sources: the `bedrock-runtime` service model of botocore (shapes `ToolUseId`, `ToolName`,
`ContentBlock`, `ToolResultContentBlock`, `ToolChoice`) and the Converse pages of the Bedrock
documentation; error texts are quoted where they are the only source.
"""

from msgspec.structs import replace

from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.facts.target import FieldRule, IdRule, NameRule, Target

SOURCE = "service model `bedrock-runtime` of botocore; Bedrock documentation, Converse"
"""Where the rules of this file were read, unless one names another source."""
DATE = "2026-11"

# User guide, "Get validated JSON results from models": no recursion, no limits of numbers and
# texts, objects closed, `minItems` of 0 or 1.
_STRICT = StrictRule(
    keywords=(
        *("type", "properties", "required", "additionalProperties", "items", "minItems"),
        *("enum", "const", "anyOf", "allOf", "$ref", "$defs", "title", "description", "format"),
        "default",
    ),
    formats=(
        *("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6"),
        "uuid",
    ),
    refs="acyclic",
    min_items=(0, 1),
)

# Claude behind it compiles the schemas of strict tools as it does elsewhere, with the same limits:
# "tools.1.custom: For 'array' type, property 'maxItems' is not supported" (BerriAI/litellm#39115),
# optional parameters of all tools together (strands-agents/harness-sdk#2664).
_STRICT_TOOLS = replace(
    _STRICT, plain_values=True, max_tools=20, max_optional=24, max_unions=16, max_optional_each=23
)

PART = (
    *("text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent"),
    *("cachePoint", "reasoningContent", "citationsContent", "searchResult", "toolAddition"),
    *("toolRemoval", "json", "context", "citations", "error", "redactedContent"),
)
"""The names of members of a block, and of what it holds."""
_OFFICE = "application/vnd.openxmlformats-officedocument"
_MEDIA_TYPES = (
    *("image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "audio/*", "text/*"),
    *("application/pdf", "application/msword", "application/vnd.ms-excel"),
    *(f"{_OFFICE}.wordprocessingml.document", f"{_OFFICE}.spreadsheetml.sheet"),
    *("application/json", "application/xml", "video/mp4", "video/webm", "video/mpeg", "video/mpg"),
    *("video/quicktime", "video/x-matroska", "video/x-flv", "video/x-ms-wmv", "video/3gpp"),
)

TARGET = Target(
    format="bedrock",
    provider="bedrock",
    # Claude's signatures are verified alike on Bedrock and on Anthropic's own API (pydantic-ai,
    # `providers/bedrock.py`).
    domain="anthropic",
    # Service model: `ToolUseId` is [a-zA-Z0-9_.:-]+, 1 to 64 characters.
    ids=IdRule(prefix="tooluse_", pattern="[A-Za-z0-9_.:-]+", max_length=64),
    # Service model: `ToolName` is [a-zA-Z0-9_-]+, 1 to 64 characters.
    names=NameRule(pattern="[A-Za-z0-9_-]+", max_length=64),
    # Service model: `ContentBlock`, and what media, results and reasoning hold besides. "The value
    # at [...] can only set one of the following keys"; 'Unknown parameter in
    # messages[1].content[0].toolUse: "reasoningSignature", must be one of: [...]'.
    fields=FieldRule(
        part=PART,
        call=("toolUseId", "name", "input", "type"),
        result=("toolUseId", "content", "status", "type"),
        closed=("part", "call", "result", "message"),
    ),
    # `inputSchema.json` is that of an object; Claude behind it: "input_schema does not support
    # oneOf, allOf, or anyOf at the top level".
    schemas=SchemaRule(root_refused=("oneOf", "allOf", "anyOf"), strict=_STRICT_TOOLS),
    # Service model: `OutputFormatType` is json_schema and nothing else.
    output_modes=("schema",),
    output_schemas=SchemaRule(object_root=False, draft="2020-12", told=True, strict=_STRICT),
    output_strict="always",
    # "Expected toolResult blocks at messages.N.content for the following Ids".
    results="user_message",
    # Service model: `ToolResultContentBlock`.
    result_media=("image", "document", "video"),
    # "The text field in the ContentBlock object is blank"; several models refuse an empty list.
    empty_results=False,
    # Service model: `ToolResultBlock.status`.
    result_error_flag=True,
    media=("image", "document", "video"),
    # botocore, bedrock-runtime: a source is bytes or an `s3Location`
    address_schemes=("s3://",),
    file_ids=False,
    # Service model: `ImageFormat`, `DocumentFormat`, `VideoFormat`; any text is a document.
    media_types=_MEDIA_TYPES,
    # Converse API reference, `Message`: images and documents only in the role user.
    reply_media=(),
    # A document block needs a text block in the same message [Converse API reference].
    document_needs_text=True,
    system="top",
    system_later=False,
    # "Roles must alternate between user and assistant".
    # Text behind a call: "`tool_use` ids were found without `tool_result` blocks" (recorded 2026).
    calls_last=True,
    merge_roles=True,
    # "A conversation must start with a user message."
    starts_with_user=True,
    # "This model does not support assistant message prefill."
    ends_with_user=True,
    reasoning="signed",
    # "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    tools_with_history=True,
    replayed_if_offered=("*",),
    # Service model: `ToolChoice` is auto, any or tool; there is no none and no list of tools.
    choice_modes=("auto", "required"),
    choice_names="one",
    parallel_switch=False,
    # Prompt caching, Bedrock user guide: at most four checkpoints.
    cache_marks=4,
    # The same page: longer lifetimes stand before shorter ones.
    cache_order=True,
    # Amazon Nova user guide, "Invoke": a last message of the assistant is continued. Claude from
    # 4.6 on refuses it; of other makers no refusal is known.
    served=(
        ("ends_with_user", False),
        ("result_media", ("image", "document", "video")),
    ),
)
