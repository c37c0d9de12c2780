"""Ollama's own `/api/chat`: a line of JSON for each piece, no key, no signatures.

Beside it stand the questions that clients ask first: which version, which models, and what one of
them can do. Source: ollama/ollama, api/types.go and docs/api.md.
"""

from collections.abc import Sequence
from typing import Any

from canonicall.facts.target import Target
from canonicall.testing.doors.door import GENERATE, MODELS, SHOW, VERSION, Asked, Door
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.model_limits import beyond_the_model
from canonicall.verify.node import Node
from canonicall.verify.refused import refused_fields
from canonicall.wire.error_body import ErrorBody

_MADE = "2026-01-01T00:00:00Z"
_DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "simulator",
    "families": ["simulator"],
    "parameter_size": "8.2B",
    "quantization_level": "Q4_K_M",
}


class OllamaDoor(Door):
    """`POST /api/chat`, `GET /api/tags`, `POST /api/show`, `GET /api/version`."""

    format = "ollama"
    routes = (
        ("POST", r"/api/chat$", GENERATE),
        ("GET", r"/api/tags$", MODELS),
        ("POST", r"/api/show$", SHOW),
        ("GET", r"/api/version$", VERSION),
    )
    no_model_named = "model is required"
    stream_type = "application/x-ndjson"

    def key(self, request: SimRequest) -> str:
        return super().key(request) or "none needed"

    def streams(self, asked: Asked, body: dict[str, Any]) -> bool:
        del asked
        return body.get("stream") is not False

    def model(self, asked: Asked, body: dict[str, Any]) -> str:
        """Older clients say `name` when they ask about a model."""
        named = body.get("name") if asked.action == SHOW else None
        return super().model(asked, body) or (named if isinstance(named, str) else "")

    def no_model(self, target: Target) -> Failure:
        return Failure(404, ErrorBody(f"model '{target.model}' not found"))

    def models(self, names: Sequence[str], target: Target) -> dict[str, Any]:
        return {"models": [self.one_model(name, target) for name in names]}

    def one_model(self, name: str, target: Target) -> dict[str, Any]:
        del target
        made = {"modified_at": _MADE, "size": 0, "digest": "0" * 64}
        return {"name": name, "model": name, **made, "details": _DETAILS}

    def shown(self, target: Target) -> dict[str, Any]:
        """What the model refuses in a request, it is not said to be capable of."""
        able = ["completion"]
        if not any(beyond_the_model({"tools": [{}]}, target)):
            able.append("tools")
        if not any(refused_fields(Node({"think": True}), target)):
            able.append("thinking")
        return {
            "modelfile": f"FROM {target.model}",
            "parameters": "",
            "template": "{{ .Prompt }}",
            "details": _DETAILS,
            "model_info": {"general.architecture": "simulator"},
            "capabilities": able,
            "modified_at": _MADE,
        }

    def version(self) -> dict[str, Any]:
        return {"version": "0.12.6"}
