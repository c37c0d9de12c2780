"""What single models cannot do, whatever the format allows. All of it is recorded traffic."""

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from canonicall.target import Target
from canonicall.testing.failure import Failure
from canonicall.verify.violation import refuse
from canonicall.wire.error_body import ErrorBody

_SOURCE = "recorded refusals"


class Limit(Struct, frozen=True):
    """One thing that some models of a provider refuse."""

    provider: str
    models: str
    where: str
    is_broken: Callable[[dict[str, Any]], bool]
    words: str
    code: str = ""
    status: int = 400


def _has_tools(body: dict[str, Any]) -> bool:
    return bool(body.get("tools"))


def _has_own_tools(body: dict[str, Any]) -> bool:
    """Whether tools are offered that the provider does not run itself."""
    tools = body.get("tools")
    listed = tools if isinstance(tools, list) else []
    kinds = [one.get("type") for one in listed if isinstance(one, dict)]
    return "function" in kinds or "custom" in kinds


def _has_effort(body: dict[str, Any]) -> bool:
    reasoning = body.get("reasoning")
    asked = reasoning.get("effort") if isinstance(reasoning, dict) else None
    return asked is not None or body.get("reasoning_effort") is not None


LIMITS = (
    Limit(
        "openai",
        "gpt-5-chat*",
        "$.tools",
        _has_tools,
        "tools is not supported in this model. For a list of supported models, refer to"
        " https://platform.openai.com/docs/guides/function-calling"
        "#models-supporting-function-calling.",
        status=404,
    ),
    Limit(
        "openai",
        "gpt-5-chat*",
        "$.reasoning.effort",
        _has_effort,
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        code="unsupported_parameter",
    ),
    Limit(
        "openai",
        "*-deep-research*",
        "$.tools",
        _has_own_tools,
        "Deep research models only support the 'web_search_preview', 'code_interpreter', 'mcp',"
        " and 'file_search' tools.",
    ),
    Limit(
        "groq",
        "*llama-guard*",
        "$.tools",
        _has_tools,
        "`tool calling` is not supported with this model",
    ),
    Limit(
        "xai",
        "grok-code-fast*",
        "$.reasoning_effort",
        _has_effort,
        "Model {model} does not support parameter reasoningEffort.",
    ),
)


def beyond_the_model(body: dict[str, Any], target: Target) -> Iterator[Failure]:
    """The answers to what this model cannot do."""
    for limit in LIMITS:
        is_meant = limit.provider == target.provider and fnmatchcase(target.model, limit.models)
        if is_meant and limit.is_broken(body):
            words = limit.words.replace("{model}", target.model)
            broken = refuse("parameter_unsupported", limit.where, words, source=_SOURCE)
            param = limit.where.removeprefix("$.")
            error = ErrorBody(words, "invalid_request_error", limit.code, param)
            yield Failure(limit.status, error, violations=(broken,))
