"""Cohere's `/v2/chat`. It signs nothing."""

from collections.abc import Sequence
from typing import Any

from canonicall.facts.target import Target
from canonicall.testing.doors.door import GENERATE, MODEL, MODELS, Door
from canonicall.testing.failure import Failure
from canonicall.wire.error_body import ErrorBody


class CohereDoor(Door):
    """`POST /v2/chat`, `GET /v1/models`."""

    format = "cohere"
    routes = (
        ("POST", r"/v2/chat$", GENERATE),
        ("GET", r"/models$", MODELS),
        ("GET", r"/models/(?P<name>[^/]+)$", MODEL),
    )

    no_model_named = "model is required"

    def no_key(self, shown: str) -> Failure:
        return Failure(
            401, ErrorBody("Incorrect API key provided." if shown else "no api key supplied")
        )

    def no_model(self, target: Target) -> Failure:
        what = (
            f"model '{target.model}' not found, make sure the correct model ID was used and that"
            " you have access to the model."
        )
        return Failure(404, ErrorBody(what))

    def models(self, names: Sequence[str], target: Target) -> dict[str, Any]:
        return {"models": [self.one_model(name, target) for name in names]}

    def one_model(self, name: str, target: Target) -> dict[str, Any]:
        del target
        return {"name": name, "endpoints": ["chat"], "features": ["tools"]}

    def response(self, body: dict[str, Any], target: Target, number: int) -> dict[str, Any]:
        del target
        return {**body, "id": body.get("id") or f"00000000-0000-4000-8000-{number:012d}"}
