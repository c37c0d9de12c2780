"""What single models refuse of the parameters of sampling."""

from typing import Any

from refusals.claude import claude
from refusals.converse import converse
from refusals.openai import chat
from refusals.responses import items
from refusals.rows import Refusal


def plain(words: str, model: str, provider: str = "openai", **more: Any) -> Refusal:
    return chat(words, provider=provider, model=model, tools=None, **more)


BOTH = r"`temperature` and `top_p` cannot both be specified for this model\. Please use only one"
CLAUDE_AT_BEDROCK = "us.anthropic.claude-opus-4-1-20250805-v1:0"
SAMPLED = {"temperature": 0.5, "topP": 0.9}
ROWS = {
    "a temperature of a model that reasons": plain(
        r"'temperature' does not support 0\.5 with this model\. Only the default \(1\)",
        "gpt-5", temperature=0.5,
    ),
    "a temperature of one, in the Responses API": items(
        r"Unsupported parameter: 'temperature' is not supported", model="o3", temperature=0.5
    ),
    "a share of the words": plain(r"'top_p' is not supported", "gpt-5-mini", top_p=0.9),
    "words that end a reply": plain(r"'stop' is not supported with this model", "o4-mini", stop="X"),
    "a temperature beside an effort": plain(
        r"'temperature' does not support 0 with this model",
        "gpt-5.2", temperature=0, reasoning_effort="low",
    ),
    "a share of the words beside an effort": items(
        r"'top_p' is not supported", model="gpt-5.1", top_p=0.5, reasoning={"effort": "high"}
    ),
    "azure: words that end a reply": plain(r"'stop' is not supported", "gpt-5", "azure", stop="X"),
    "xai: words that end a reply": plain(
        r"Model grok-4 does not support parameter stop", "grok-4", "xai", stop=["X"]
    ),
    "xai: a penalty": plain(
        r"does not support parameter presencePenalty", "grok-4.5", "xai", presence_penalty=0
    ),
    "kimi: a temperature": plain(
        r"invalid temperature: only 1 is allowed for this model", "kimi-k2.6", "kimi", temperature=0
    ),
    "claude: a temperature and a share of the words": claude(
        BOTH, model="claude-sonnet-4-5", temperature=0.5, top_p=0.9
    ),
    "bedrock: a temperature and a share of the words": converse(
        BOTH, model=CLAUDE_AT_BEDROCK, inferenceConfig=SAMPLED
    ),
}  # fmt: skip

ACCEPTED = {
    "the usual temperature of a model that reasons": plain("", "gpt-5", temperature=1),
    "a temperature without an effort": plain("", "gpt-5.1", temperature=0.2),
    "a temperature beside no effort": plain(
        "", "gpt-5.2", temperature=0.2, reasoning_effort="none"
    ),
    "a temperature of a model that does not reason": plain(
        "", "gpt-4.1", temperature=0.2, stop="X"
    ),
    "words that end a reply of Grok 3": plain("", "grok-3", "xai", stop=["X"]),
    "the one temperature of Kimi": plain("", "kimi-k2.6", "kimi", temperature=1),
    "a share of the words alone, at Claude": claude("", model="claude-sonnet-4-5", top_p=0.9),
}
