"""How a refusal is told: the provider, the model, the body, and the words of the answer."""

from typing import Any, NamedTuple

CLAUDE, GEMINI, NOVA = "claude-haiku-4-5", "gemini-3-pro-preview", "amazon.nova-pro-v1:0"
PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/{model}:generateContent",
    "bedrock": "/model/{model}/converse",
    "cohere": "/v2/chat",
    "ollama": "/api/chat",
}
OBJECT = {"type": "object", "properties": {}}


class Refusal(NamedTuple):
    """A body that a provider refuses."""

    provider: str
    format: str
    model: str
    body: dict[str, Any]
    words: str
    """A pattern for the words of the answer, where they are known."""
    status: int = 400

    @property
    def path(self) -> str:
        return PATHS[self.format].format(model=self.model)

    @property
    def target(self) -> str:
        """Whom to render for. A provider with several formats is named with this one."""
        return f"{self.provider}/{self.format}:{self.model}"
