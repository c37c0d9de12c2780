"""What generateContent accepts. Profiles of single models override it (Gemini 3 and later)."""

from canonicall.facts.schema_rules import SchemaRule
from canonicall.facts.target import FieldRule, IdRule, NameRule, Target
from canonicall.wire.gemini.field_names import PART, REQUEST

SOURCE = "ai.google.dev; types of google-genai; error texts of the live API"
"""Where the rules of this file were read, unless one names another source."""
DATE = "2026-11"

FORMAT = "gemini"
PROVIDER = "gemini"

# The keywords documented for `parametersJsonSchema` (third-party audit of the page, 2026-09); from
# `propertyOrdering` on those of Google's own `Schema` (google-genai, types.py) and `uniqueItems`,
# which was recorded in a request that was accepted.
_KEYWORDS = (
    *("type", "title", "description", "properties", "required", "additionalProperties", "enum"),
    *("format", "minimum", "maximum", "items", "prefixItems", "minItems", "maxItems", "anyOf"),
    *("$ref", "$defs", "propertyOrdering", "default", "example", "pattern", "uniqueItems"),
    *("minLength", "maxLength", "minProperties", "maxProperties"),
)

TARGET = Target(
    format=FORMAT,
    provider=PROVIDER,
    # Vertex is a domain of its own: each refuses the other's signatures
    # (pydantic-ai, providers/google.py).
    domain="gemini-api",
    fields=FieldRule(
        request=REQUEST,
        part=PART,
        call=PART,
        tool=(
            *("parameters", "parametersJsonSchema", "response", "responseJsonSchema", "behavior"),
            *("retrieval", "computerUse"),
            *("fileSearch", "googleSearch", "googleMaps", "codeExecution", "enterpriseWebSearch"),
            *("googleSearchRetrieval", "parallelAiSearch", "urlContext", "mcpServers"),
            "exaAiSearch",
        ),
        closed=("request", "message", "part", "call", "tool"),
    ),
    # The id is optional; one that a call carried is echoed (google-genai, FunctionCall.id).
    ids=IdRule(style="echoed", prefix="", pattern=".+", max_length=200),
    # "Invalid function name. Must start with a letter or an underscore. [...] with a maximum
    # length of 64." Dots and colons are allowed too, but not by everybody else.
    names=NameRule(pattern="[A-Za-z_][A-Za-z0-9_-]*", max_length=64),
    # Other keywords: refused in `parameters` ("Unknown name [...]: Cannot find field."); what the
    # other field does with them is not documented, so none is sent (litellm#14330).
    schemas=SchemaRule(keywords=_KEYWORDS, told=True, type_lists="null"),
    # google-genai, types.py, `GenerateContentConfig`: a reply is any JSON, and "the full JSON
    # Schema may be sent", of which these are read.
    output_schemas=SchemaRule(
        object_root=False, keywords=(*_KEYWORDS, "oneOf", "$id", "$anchor"), others="ignored"
    ),
    output_strict="never",
    # All results of a model turn stand in one user content, with nothing else in it: "the number
    # of function response parts is equal to the number of function call parts" (API error text).
    results="own_user_message",
    # google-genai, FunctionResponse.name: required.
    result_names_tool=True,
    # FunctionResponse.parts is read by Gemini 3 and later only (pydantic-ai, profiles/google.py).
    result_media=(),
    # FunctionResponse.response: the key "error" says what went wrong (google-genai).
    result_error_flag=True,
    media=("image", "document", "audio", "video"),
    # A turn of the model holds the same parts (google-genai, Content).
    reply_media=("image", "document", "audio", "video"),
    system="top",
    system_later=False,
    merge_roles=True,
    # "function call turn comes immediately after a user turn or after a function response turn".
    starts_with_user=True,
    ends_with_user=True,
    # ai.google.dev/gemini-api/docs/thought-signatures
    reasoning="signed",
    signature_sentinel="skip_thought_signature_validator",
    tools_with_history=False,
    # "Tool type of tool_call part does not match with tool call context" (pydantic-ai).
    unreplayed=("MEDIA_PROCESSING",),
    # google-genai, Tool.function_declarations: at most 512.
    max_tools=512,
    choice_modes=("auto", "required", "none"),
    choice_names="many",
    # FunctionCallingConfig has no switch for parallel calls.
    parallel_switch=False,
    cache_marks=0,
    served=(
        # The same error text: dots and colons are taken.
        ("names", NameRule(pattern="[A-Za-z_][A-Za-z0-9_.:-]*", max_length=64)),
        ("max_tools", 512),
    ),
)
