"""Names of models that each provider serves, for lists of models and first tries."""

_MODELS = {
    "anthropic": ("claude-haiku-4-5", "claude-opus-4-6", "claude-opus-5-5"),
    "avian": ("moonshotai/kimi-k2.5",),
    "azure": ("gpt-5.2", "gpt-4.1"),
    "bedrock": ("anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-pro-v1:0"),
    "bedrock-mantle": ("openai.gpt-oss-20b", "openai.gpt-5.5"),
    "braintrust-proxy": ("gpt-4o-mini",),
    "cerebras": ("qwen-3-coder-480b", "gpt-oss-120b"),
    "chatgpt-codex": ("gpt-5.5", "gpt-5.4"),
    "cloudflare": ("workers-ai/@cf/openai/gpt-oss-20b",),
    "cohere": ("command-a-03-2025",),
    "copilot": ("gpt-4o", "gpt-5.3-codex"),
    "crusoe": ("zai/GLM-5.2",),
    "databricks": ("databricks-claude-3-7-sonnet",),
    "deepseek": ("deepseek-chat", "deepseek-reasoner"),
    "doubleword": ("Qwen/Qwen3.5-397B-A17B-FP8", "deepseek-ai/DeepSeek-V4-Flash"),
    "gemini": ("gemini-3-pro-preview", "gemini-2.5-flash"),
    "gpustack": ("qwen3",),
    "groq": ("openai/gpt-oss-120b", "llama-3.3-70b-versatile"),
    "huggingface": ("deepseek-ai/DeepSeek-R1", "meta-llama/Llama-3.1-8B-Instruct"),
    "kimi": ("kimi-k2-0905-preview", "kimi-k2-thinking"),
    "kimi-hosted": ("moonshotai/Kimi-K2-Instruct",),
    "minimax": ("MiniMax-M2",),
    "mirascope-router": ("gpt-5-mini",),
    "mistral": ("mistral-large-latest", "magistral-medium-latest"),
    "mistralrs": ("Qwen/Qwen3-4B",),
    "ollama": ("qwen3:8b", "gpt-oss:20b"),
    "openai": ("gpt-5.2", "gpt-4.1"),
    "opencode-zen": ("gpt-5.2-codex",),
    "openrouter": ("anthropic/claude-sonnet-4.5", "moonshotai/kimi-k2"),
    "pydantic-gateway": ("gpt-5",),
    "qwen": ("qwen3-max",),
    "snowflake": ("claude-sonnet-4-6", "openai-gpt-4.1"),
    "venice": ("mistral-small-3-2-24b-instruct", "qwen3-5-9b"),
    "vercel-gateway": ("anthropic/claude-sonnet-4", "openai/gpt-5"),
    "vertex": ("gemini-3-pro-preview", "claude-sonnet-4-5"),
    "writer": ("palmyra-x4",),
    "xai": ("grok-4-1-fast",),
    "zai": ("glm-4.6",),
}


def models_of(provider: str) -> tuple[str, ...]:
    """Models to show for a provider; one made-up name where none is known."""
    return _MODELS.get(provider, (f"{provider}-model",))
