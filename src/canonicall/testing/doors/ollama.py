"""Ollama's own `/api/chat`: a line of JSON for each piece, no key, no signatures."""

from collections.abc import Sequence
from typing import Any

from canonicall.target import Target
from canonicall.testing.doors.door import GENERATE, MODELS, Asked, Door
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.wire.error_body import ErrorBody


class OllamaDoor(Door):
    """`POST /api/chat`, `GET /api/tags`."""

    format = "ollama"
    routes = (("POST", r"/api/chat$", GENERATE), ("GET", r"/api/tags$", MODELS))
    no_model_named = "model is required"
    stream_type = "application/x-ndjson"

    def key(self, request: SimRequest) -> str:
        return super().key(request) or "none needed"

    def streams(self, asked: Asked, body: dict[str, Any]) -> bool:
        del asked
        return body.get("stream") is not False

    def no_model(self, target: Target) -> Failure:
        return Failure(404, ErrorBody(f"model '{target.model}' not found"))

    def models(self, names: Sequence[str], target: Target) -> dict[str, Any]:
        return {"models": [self.one_model(name, target) for name in names]}

    def one_model(self, name: str, target: Target) -> dict[str, Any]:
        del target
        made = {"modified_at": "2026-01-01T00:00:00Z", "size": 0, "digest": "0" * 64}
        return {"name": name, "model": name, **made, "details": {"family": "simulator"}}
