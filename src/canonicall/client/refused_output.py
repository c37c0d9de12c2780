"""What a refusal teaches about the format of the reply: which one cannot be asked for."""

import re
from typing import Any

from canonicall.facts.target import Refusal, Target

_OUTPUT = re.compile(
    r"response_format|text\.format|output_(?:config\.)?format|response format|response mime type"
    r"|json mode",
    re.IGNORECASE,
)
"""How an error speaks of it."""
_BESIDE_TOOLS = re.compile(r"combined with tool|function calling|tool use", re.IGNORECASE)
_FIELDS = {
    "openai-chat": ("response_format",),
    "cohere": ("response_format",),
    "gemini": (
        "generationConfig.responseMimeType",
        "generationConfig.responseSchema",
        "generationConfig.responseJsonSchema",
    ),
}


def less_output(words: str, target: Target) -> dict[str, Any]:
    """The fields of `target` to ask with once more; none where an error is about something else.

    Any object stands in for a schema, and nothing for any object. Beside tools it is left out, and
    without tools it is asked for again.
    """
    if _OUTPUT.search(words) is None:
        return {}
    if _BESIDE_TOOLS.search(words) is not None and target.format in _FIELDS:
        fields = _FIELDS[target.format]
        refused = (Refusal(field=one, beside="tools", error=words) for one in fields)
        return {"refusals": (*target.refusals, *refused)}
    return {"output_modes": ("object",) if len(target.output_modes) > 1 else ()}
