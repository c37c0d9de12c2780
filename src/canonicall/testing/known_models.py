"""Names of models that each provider serves, for lists of models and first tries."""

_MODELS = {
    "anthropic": ("claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-5-5"),
    "azure": ("gpt-5.2", "gpt-4.1"),
    "bedrock": ("anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-pro-v1:0"),
    "cerebras": ("qwen-3-coder-480b", "gpt-oss-120b"),
    "cohere": ("command-a-03-2025",),
    "deepseek": ("deepseek-chat", "deepseek-reasoner"),
    "gemini": ("gemini-3-pro-preview", "gemini-2.5-flash"),
    "groq": ("openai/gpt-oss-120b", "llama-3.3-70b-versatile"),
    "kimi": ("kimi-k2-0905-preview", "kimi-k2-thinking"),
    "kimi-hosted": ("moonshotai/Kimi-K2-Instruct",),
    "minimax": ("MiniMax-M2",),
    "mistral": ("mistral-large-latest", "magistral-medium-latest"),
    "ollama": ("qwen3:8b", "gpt-oss:20b"),
    "openai": ("gpt-5.2", "gpt-4.1"),
    "openrouter": ("anthropic/claude-sonnet-4.5", "moonshotai/kimi-k2"),
    "qwen": ("qwen3-max",),
    "vertex": ("gemini-3-pro-preview", "claude-sonnet-4-5"),
    "xai": ("grok-4-1-fast",),
    "zai": ("glm-4.6",),
}


def models_of(provider: str) -> tuple[str, ...]:
    """Models to show for a provider; one made-up name where none is known."""
    return _MODELS.get(provider, (f"{provider}-model",))
