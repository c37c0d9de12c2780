"""What OpenTelemetry calls the providers.

Source: attribute `gen_ai.provider.name` of the semantic conventions 1.41.0 ("If one of them
applies, then the respective value MUST be used; otherwise, a custom value MAY be used").
"""

from canonicall.facts.registry import named_profile


def telemetry_name(provider: str) -> str:
    """The well-known value for a provider; its own name where there is none."""
    profile = named_profile(provider)
    return (profile.telemetry_name if profile is not None else "") or provider or "_OTHER"
