"""`target_for`: whom a request body is for, where only a provider is named.

A provider speaks several formats and serves many models, and a body shows which of them it is
for: by what only one format writes, and by the model it names.
"""

from typing import Any

from canonicall.detection import possible_formats
from canonicall.providers.registry import get_profile, get_target
from canonicall.target import Target


def target_for(body: Any, named: str) -> Target:
    """The target that `named` means for this body.

    A format or model that is named stays. Otherwise the body is taken to be in the provider's own
    format if it can be, else in another that the provider speaks.
    """
    head, _, model = named.partition(":")
    name, _, format = head.partition("/")
    if not isinstance(body, dict) or (format and model):
        return get_target(named)
    format = format or _format_of(body, get_profile(name).formats)
    return get_target(f"{name}/{format}:{model or _model_in(body, format)}")


def _format_of(body: dict[str, Any], formats: tuple[str, ...]) -> str:
    possible = possible_formats(body)
    return next((format for format in formats if format in possible), formats[0])


def _model_in(body: dict[str, Any], format: str) -> str:
    """The model that a body names. Where it usually stands in the address, it has its path."""
    model = body.get("modelId" if format == "bedrock" else "model")
    if not isinstance(model, str):
        return ""
    return model.rpartition("models/")[2] if format == "gemini" else model
