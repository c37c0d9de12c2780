"""What single models refuse to be told about thinking: an effort, a level, a budget."""

from typing import Any

from refusals.claude import claude
from refusals.google import gemini
from refusals.openai import chat
from refusals.own_formats import ollama
from refusals.responses import items
from refusals.rows import Refusal


def told(words: str, model: str, effort: str, provider: str = "openai") -> Refusal:
    return chat(words, provider=provider, model=model, tools=None, reasoning_effort=effort)


def asked(words: str, model: str, effort: str) -> Refusal:
    return items(words, model=model, tools=None, reasoning={"effort": effort})


def thinks(words: str, model: str, **config: Any) -> Refusal:
    return gemini(words, model=model, tools=None, generationConfig={"thinkingConfig": config})


ROWS = {
    "an effort of a model that does not reason": told(
        r"Unrecognized request argument supplied: reasoning_effort", "gpt-4.1", "low"
    ),
    "an effort of one that does not, in the Responses API": asked(
        r"Unsupported parameter: 'reasoning\.effort' is not supported with this model",
        "gpt-4o", "low",
    ),
    "the least effort of an old model": told(
        r"'reasoning_effort' does not support 'minimal' with this model\. Supported values are:"
        r" 'low', 'medium', and 'high'\.",
        "o3", "minimal",
    ),
    "no effort where the model always reasons": told(
        r"does not support 'none' with this model\. Supported values are: 'minimal', 'low'",
        "gpt-5", "none",
    ),
    "an effort of another generation": asked(
        r"'minimal' is not supported with the 'gpt-5\.1' model\. Supported values are: 'none',"
        r" 'low', 'medium', and 'high'\.",
        "gpt-5.1", "minimal",
    ),
    "less than the one effort there is": asked(r"'low' is not supported", "gpt-5-pro", "low"),
    "azure: an effort of a model that does not reason": told(
        r"Unrecognized request argument supplied", "gpt-4o", "high", "azure"
    ),
    "copilot: an effort of a model that does not reason": told(
        r'reasoning_effort "medium" was provided, but model gpt-4o does not support reasoning',
        "gpt-4o", "medium", "copilot",
    ),
    "xai: an effort of a model that decides itself": told(
        r"Model grok-4 does not support parameter reasoningEffort", "grok-4", "high", "xai"
    ),
    "xai: no effort where the model always reasons": told(r"none", "grok-4.5", "none", "xai"),
    "groq: an effort of a model that does not reason": told(
        r"reasoning_effort", "llama-3.3-70b-versatile", "low", "groq"
    ),
    "groq: an effort of a model that knows a switch": told(
        r"must be one of `none` or `default`", "qwen/qwen3-32b", "high", "groq"
    ),
    "groq: no effort where the model always reasons": told(
        r"reasoning_effort", "openai/gpt-oss-120b", "none", "groq"
    ),
    "claude: thinking of a model that never does": claude(
        r"'claude-3-5-haiku-20241022' does not support thinking",
        model="claude-3-5-haiku-20241022", thinking={"type": "enabled", "budget_tokens": 1024},
    ),
    "gemini: thinking of a model that never does": thinks(
        r"thinking_config is not supported", "gemini-2.0-flash", includeThoughts=True
    ),
    "gemini: a level of a model that has a budget": thinks(
        r"Thinking level is not supported for this model", "gemini-2.5-flash", thinkingLevel="LOW"
    ),
    "gemini: a level that the model does not know": thinks(
        r"Thinking level MINIMAL is not supported for this model",
        "gemini-3.1-pro-preview", thinkingLevel="MINIMAL",
    ),
    "gemini: no thinking where the model always does": thinks(
        r"Budget 0 is invalid\. This model only works in thinking mode",
        "gemini-2.5-pro", thinkingBudget=0,
    ),
    "gemini: a budget beyond the largest": thinks(
        r"The thinking budget \(52428\) is invalid", "gemini-2.5-flash", thinkingBudget=52428
    ),
    "gemini: a budget below the least": thinks(
        r"The thinking budget \(100\) is invalid", "gemini-2.5-flash-lite", thinkingBudget=100
    ),
    "gemini: a level and a budget": thinks(
        r"only one of thinking budget and thinking level",
        "gemini-3-flash-preview", thinkingLevel="LOW", thinkingBudget=1024,
    ),
}  # fmt: skip

ACCEPTED = {
    "no effort of a newer model": told("", "gpt-5.1", "none"),
    "the least effort of GPT-5": asked("", "gpt-5", "minimal"),
    "an effort of the small Grok": told("", "grok-3-mini", "high", "xai"),
    "an effort of the Grok that has one": told("", "grok-4.3", "none", "xai"),
    "the switch of Qwen at Groq": told("", "qwen/qwen3-32b", "default", "groq"),
    "thinking of Qwen at Ollama": ollama("", model="qwen3:8b", think=True),
    "a level that newer servers of Ollama read past": ollama("", model="qwen3:8b", think="high"),
    "a level of gpt-oss at Ollama": ollama("", model="gpt-oss:20b", think="high"),
    "no thinking of a Gemini that never does": thinks("", "gemini-2.0-flash", thinkingBudget=0),
    "no thinking of a small Gemini": thinks("", "gemini-2.5-flash-lite", thinkingBudget=0),
    "a budget that Gemini chooses": thinks("", "gemini-2.5-pro", thinkingBudget=-1),
    "a budget of Gemini 3": thinks("", "gemini-3-pro-preview", thinkingBudget=2000),
    "a level of Gemini 3": thinks("", "gemini-3-flash-preview", thinkingLevel="minimal"),
}
