"""What each format calls an error, by its status."""

from canonicall.facts.target import Target

_KINDS = {
    "gemini": {
        400: "INVALID_ARGUMENT",
        429: "RESOURCE_EXHAUSTED",
        500: "INTERNAL",
        503: "UNAVAILABLE",
    },
    "bedrock": {
        400: "ValidationException",
        429: "ThrottlingException",
        500: "InternalServerException",
        503: "ServiceUnavailableException",
    },
}
_USUAL = {
    400: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
    529: "overloaded_error",
}


def kind_of_missing(format: str) -> str:
    """What a format calls it that nothing is there."""
    return {"gemini": "NOT_FOUND", "bedrock": "UnknownOperationException"}.get(
        format, "not_found_error"
    )


def kind_of(target: Target, status: int) -> str:
    """What this format calls an error of a status."""
    return _KINDS.get(target.format, _USUAL)[status]
