"""The words of every format for how a reply ended."""

FRONTS = ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "cohere", "ollama"]

WITH_CALLS = {
    "openai-chat": "tool_calls", "openai-responses": "completed", "anthropic": "tool_use",
    "gemini": "STOP", "bedrock": "tool_use", "cohere": "TOOL_CALL", "ollama": "stop",
}  # fmt: skip
ENDED = {
    "openai-chat": "stop", "openai-responses": "completed", "anthropic": "end_turn",
    "gemini": "STOP", "bedrock": "end_turn", "cohere": "COMPLETE", "ollama": "stop",
}  # fmt: skip
CUT = {
    "openai-chat": "length", "openai-responses": "max_output_tokens", "anthropic": "max_tokens",
    "gemini": "MAX_TOKENS", "bedrock": "max_tokens", "cohere": "MAX_TOKENS", "ollama": "length",
}  # fmt: skip
FILTERED = {
    "openai-chat": "content_filter", "openai-responses": "content_filter", "gemini": "SAFETY",
    "bedrock": "content_filtered", "anthropic": "refusal", "cohere": "ERROR",
}  # fmt: skip
