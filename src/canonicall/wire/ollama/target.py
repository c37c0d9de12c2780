"""What Ollama's native chat API accepts.

Source: ollama/ollama, `api/types.go` (`ChatRequest`, `Message`, `ToolCall`), `server/routes.go` and
`docs/api`.
"""

from canonicall.facts.schema_rules import SchemaRule
from canonicall.facts.target import IdRule, Target

SOURCE = "ollama/ollama: api/types.go, server/routes.go, docs/api"
"""Where the rules of this file were read, unless one names another source."""
DATE = "2026-11"

TARGET = Target(
    format="ollama",
    provider="ollama",
    domain="ollama",
    # `ToolCall.ID` is any text; the server itself makes `call_` and eight characters.
    ids=IdRule(prefix="call_", max_length=40),
    # `ToolProperty` has these fields and drops all others, `$ref` among them.
    schemas=SchemaRule(
        keywords=("anyOf", "type", "items", "description", "enum", "properties", "required"),
        others="ignored",
        refs="none",
    ),
    # `format` is made a grammar, with all of JSON Schema that `llama/json-schema-to-grammar` knows.
    output_schemas=SchemaRule(object_root=False),
    output_strict="never",
    results="tool_messages",
    # `Message.ToolName`: older builds find the call by the tool's name only.
    result_names_tool=True,
    # `Message.Content` is text; images stand beside it.
    content_as_text=True,
    # `Message.ToolCalls` stands beside the text.
    calls_last=True,
    empty_content_beside_calls="empty",
    # `Message.Images` stands on messages of every role.
    media=("image",),
    # api/types.go: images are data; nothing is fetched.
    media_by_url=(),
    reply_media=("image",),
    # `Message.Thinking` is plain text.
    reasoning="open",
    reasoning_field="thinking",
    # There is no `tool_choice`.
    choice_modes=("auto",),
    choice_names="no",
    parallel_switch=False,
)
