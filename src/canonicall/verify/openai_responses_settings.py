"""What single hosts of the Responses API refuse around the items: a field left out, or one sent."""

from collections.abc import Iterator

from canonicall.target import Target
from canonicall.verify.node import Node
from canonicall.verify.openai_outputs import responses_output
from canonicall.verify.violation import Violation, refuse

PARAMS = {
    "max_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "reasoning": "reasoning",
}
"""Parameters by their canonical names, and the fields that hold them."""


def setting_violations(root: Node, target: Target) -> Iterator[Violation]:
    if target.unstored and root.get("store") is not False:
        error = "Store must be set to false"
        yield refuse("parameter_unsupported", "$.store", error, source="openai/codex#26173")
    if target.stream_only and root.get("stream") is not True:
        error, source = "Stream must be set to true", "leookun/cursor-byok#14"
        yield refuse("parameter_unsupported", "$.stream", error, source=source)
    if target.instructions_required and not root.has("instructions"):
        error, source = "Instructions are required", "leookun/cursor-byok#88"
        yield refuse("missing_field", "$.instructions", error, source=source)
    yield from responses_output(root, target)
    for name in target.refused_params:
        field = PARAMS.get(name, "")
        if field and root.has(field):
            error, source = f"Unsupported parameter: {field}", "kortix-ai/suna#5124"
            yield refuse("parameter_unsupported", root.at(field), error, source=source)
