"""Ollama's error bodies: `{"error": "..."}` (ollama/ollama, `api.StatusError`)."""

from typing import Any

from canonicall.wire.error_body import ErrorBody


def decode_error(body: dict[str, Any]) -> ErrorBody:
    """What an error body says."""
    said = body.get("error")
    if isinstance(said, dict):
        said = said.get("message")
    return ErrorBody(message=said if isinstance(said, str) else "", native=body)


def encode_error(error: ErrorBody) -> dict[str, Any]:
    """The body for an error."""
    return {"error": error.message}
