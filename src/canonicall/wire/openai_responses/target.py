"""What the Responses API accepts."""

from msgspec.structs import replace

from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.facts.target import IdRule, NameRule, Target

SOURCE = "types of the `openai` SDK; OpenAPI document; error texts of the live API"
"""Where the rules of this file were read, unless one names another source."""
DATE = "2026-11"

FORMAT = "openai-responses"

# SDK lib/_pydantic.py: all properties required, objects closed, nothing beside a `$ref`. Keywords
# and limits are those of the guide "Structured outputs" of 2025, not read again; `default` was
# recorded as accepted.
_STRICT = StrictRule(
    keywords=(
        *("type", "properties", "required", "additionalProperties", "items", "enum", "const"),
        *("anyOf", "$ref", "$defs", "title", "description", "default", "$schema", "pattern"),
        *("format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minItems", "maxItems"),
    ),
    formats=(
        *("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"),
    ),
    ref_alone=True,
    all_required=True,
    # Not documented; the narrower value is taken.
    typed=True,
    max_depth=10,
    max_properties=5_000,
    max_values=1_000,
    max_characters=120_000,
)

# "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64"
_IDS = IdRule(prefix="call_", max_length=64)
# OpenAPI FunctionToolParam.name: ^[a-zA-Z0-9_-]+$, 1 to 128.
_NAMES = NameRule(max_length=128)

TARGET = Target(
    format=FORMAT,
    provider="openai",
    domain="openai",
    ids=_IDS,
    names=_NAMES,
    # Before GPT-5.6: "Tool choice '<name>' not found in 'tools' parameter." (pydantic-ai)
    late_choice=False,
    schemas=SchemaRule(
        # "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the
        # top level" (error text, from third-party reports)
        root_refused=("oneOf", "anyOf", "allOf", "enum", "not"),
        # "array schema missing items" (error text, from third-party reports)
        items_required=True,
        strict=_STRICT,
    ),
    # Calls and their outputs are items of the input, one for each (response_input_item_param.py).
    results="items",
    # SDK response_function_call_output_item_param.py: input_text, input_image, input_file.
    result_media=("image", "document"),
    # Those are read as text and media; no other part can be sent.
    result_parts=("text",),
    # SDK response_input_content_param.py, the same three.
    media=("image", "document"),
    # "Invalid value: 'input_image'." in a message of the model (response_output_message_param.py).
    reply_media=(),
    # `instructions` stands for the first system message; later ones are items.
    system="top",
    developer=True,
    # "The encrypted content ... could not be verified": only who wrote it can read it, and only
    # inside one model family (guide "Reasoning models", reasoning.context).
    reasoning="signed",
    reasoning_state=("encrypted", "item_id"),
    reasoning_same_model=True,
    # SDK custom_tool_param.py.
    custom_tools=True,
    # SDK tool_choice_allowed_param.py.
    choice_names="many",
    # "Invalid 'tools': array too long. Expected an array with maximum length 128"
    max_tools=128,
    # "Expected an ID that begins with 'fc'."; "Duplicate item found with id" (vercel/ai#7883).
    item_ids=True,
    # OpenAPI: NamespaceToolParam and FunctionCallOutputItemParam.
    group_names="[a-zA-Z0-9_-]{0,64}",
    # "No tool output found for local shell call call_1." (response_input_item_param.py)
    client_run=("computer", "local_shell", "shell", "apply_patch"),
    # SDK response_create_params.py and response_input_item_param.py.
    kept_state=("previous_response_id", "conversation", "prompt", "item_reference"),
    served=(
        ("ids", replace(_IDS, refused=False)),
        ("names", replace(_NAMES, refused=False)),
        ("max_tools", 0),
        ("item_ids", False),
        ("choice_names", "many"),
        ("result_media", ("image", "document")),
    ),
)
