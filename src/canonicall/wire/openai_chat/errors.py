"""Error envelopes: OpenAI's, and the others that compatible hosts put in its place."""

from typing import Any

from canonicall.wire.error_body import ErrorBody

_MESSAGES = ("message", "detail", "msg", "error", "errors", "status_msg")


def decode_error(body: Any) -> ErrorBody:
    """What an error body says. Nothing is refused: a body of any kind is somebody's error."""
    if isinstance(body, list) and body:
        body = body[0]  # Gemini's compatible endpoint wraps the envelope in a list.
    if not isinstance(body, dict):
        return ErrorBody("" if body is None else str(body), native=None)
    inner = _inner(body)
    message = _sentence(inner)
    return ErrorBody(
        message,
        type=_text(inner.get("type")),
        code=_text(inner.get("code") or inner.get("status_code") or body.get("code")),
        param=_text(inner.get("param")),
        native=body,
    )


def encode_error(error: ErrorBody) -> dict[str, Any]:
    """OpenAI's envelope."""
    return {
        "error": {
            "message": error.message,
            "type": error.type or None,
            "param": error.param or None,
            "code": error.code or None,
        }
    }


def _inner(body: dict[str, Any]) -> dict[str, Any]:
    """The object that says it: `error`, MiniMax's `base_resp`, or the body itself."""
    for name in ("error", "base_resp"):
        if isinstance(body.get(name), dict):
            return dict(body[name])
    return body


def _sentence(value: Any) -> str:
    """The message in `value`; of a list of issues, all of them with their places."""
    match value:
        case str():
            return value
        case dict():
            loc = value.get("loc")
            place = ".".join(map(str, loc)) if isinstance(loc, list) else ""
            for name in _MESSAGES:
                if value.get(name):
                    said = _sentence(value[name])
                    return f"{place}: {said}" if place else said
            return ""
        case list():
            return "; ".join(filter(None, map(_sentence, value)))
        case _:
            return ""


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, (dict, list)) else str(value)
