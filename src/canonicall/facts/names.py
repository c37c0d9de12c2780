"""The names of the built-in providers, for type checkers and editors.

The files in `hosts/` decide which providers there are; a test compares them with this list.
"""

from typing import Literal, TypeAlias

from canonicall.facts.target import Format

ProviderName: TypeAlias = Literal[
    "anthropic",
    "avian",
    "azure",
    "bedrock",
    "bedrock-mantle",
    "braintrust-proxy",
    "cerebras",
    "chatgpt-codex",
    "cloudflare",
    "cohere",
    "copilot",
    "crusoe",
    "databricks",
    "deepseek",
    "doubleword",
    "fireworks",
    "gemini",
    "generic",
    "gpustack",
    "groq",
    "huggingface",
    "kimi",
    "kimi-hosted",
    "llama-cpp-python",
    "llamacpp",
    "minimax",
    "mirascope-router",
    "mistral",
    "mistralrs",
    "ollama",
    "openai",
    "opencode-zen",
    "openrouter",
    "pydantic-gateway",
    "qwen",
    "snowflake",
    "together",
    "venice",
    "vercel-gateway",
    "vertex",
    "vllm",
    "writer",
    "xai",
    "zai",
]
FALLBACK = "generic"
"""The provider whose rules are used for an unknown one: those that hold at every chat host."""
TargetName: TypeAlias = ProviderName | Format | str
"""Any text, because a model may follow and providers can be registered; editors offer the names."""
