"""Anthropic's Messages API: `/v1/messages`, its token count, and its list of models."""

from collections.abc import Mapping, Sequence
from typing import Any

from canonicall.gateway.exchange import HttpRequest, Refused
from canonicall.gateway.fronts.front import (
    COUNT,
    GENERATE,
    MODEL,
    MODEL_NAME,
    MODELS,
    Asked,
    Front,
    page_size,
)
from canonicall.wire.anthropic.response import encode_model

_CREATED = "1970-01-01T00:00:00Z"
_PAGE = 20
"""docs: list models, `limit`."""


class MessagesFront(Front):
    """For the SDK of Anthropic and agents such as Claude Code."""

    format = "anthropic"
    routes = (
        ("POST", r"(?:/anthropic)?(?:/v1)?/messages", GENERATE),
        ("POST", r"(?:/anthropic)?(?:/v1)?/messages/count_tokens", COUNT),
        ("GET", r"(?:/anthropic)?/v1/models", MODELS),
        ("GET", r"(?:/anthropic)?/v1/models/" + MODEL_NAME, MODEL),
    )
    beside = r"/anthropic/.*|(?:/v1)?/messages/.*"
    call_prefix = "toolu_"
    response_prefix = "msg_"
    body_headers = ("anthropic-beta",)

    def asked(self, request: HttpRequest) -> Asked | None:
        asked = super().asked(request)
        if asked is None or asked.action in (GENERATE, COUNT):
            return asked
        # OpenAI's list of models has the same path; only this header tells whose client it is.
        return asked if self.is_beside(request) else None

    def is_beside(self, request: HttpRequest) -> bool:
        return "anthropic-version" in request.headers or super().is_beside(request)

    def overflow(self, tokens: int, limit: int) -> Refused:
        figures = f": {tokens} tokens > {limit} maximum" if tokens and limit else "."
        return Refused(400, "context_overflow", f"prompt is too long{figures}")

    def models(self, names: Sequence[str], query: Mapping[str, str]) -> dict[str, Any]:
        size = page_size(query.get("limit", ""), _PAGE)
        before, after = query.get("before_id"), query.get("after_id")
        begin = names.index(after) + 1 if after in names else 0
        if before in names:
            end = names.index(before)
            begin = max(end - size, 0)
            has_more = begin > 0
        else:
            end = min(begin + size, len(names))
            has_more = end < len(names)
        shown = names[begin:end]
        edges = (shown[0], shown[-1]) if shown else (None, None)
        listed = [self.one_model(name) for name in shown]
        return {"data": listed, "has_more": has_more, "first_id": edges[0], "last_id": edges[1]}

    def one_model(self, name: str) -> dict[str, Any]:
        return encode_model(name, _CREATED)

    def error(self, refused: Refused, request_id: str = "") -> Any:
        body = super().error(refused)
        if refused.details:
            body["error"].setdefault("details", {}).update(refused.details)
        return {**body, "request_id": request_id or None}
