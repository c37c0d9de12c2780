"""What OpenTelemetry calls the providers.

Source: attribute `gen_ai.provider.name` of the semantic conventions 1.41.0 ("If one of them
applies, then the respective value MUST be used; otherwise, a custom value MAY be used").
"""

_WELL_KNOWN = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}


def telemetry_name(provider: str) -> str:
    """The well-known value for a provider; its own name where there is none."""
    return _WELL_KNOWN.get(provider, provider) or "_OTHER"
