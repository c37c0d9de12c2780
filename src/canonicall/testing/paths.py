"""Where each wire format is asked for a reply."""

_PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/{model}:generateContent",
    "bedrock": "/model/{model}/converse",
    "cohere": "/v2/chat",
    "ollama": "/api/chat",
}


def path_of(format: str, model: str) -> str:
    """The path of one model's replies."""
    return _PATHS[format].format(model=model)
