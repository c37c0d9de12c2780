"""What single models or hosts cannot do, whatever the format allows: recorded, or reported with the
words of the refusal."""

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.testing.error_kinds import kind_of
from canonicall.testing.failure import Failure
from canonicall.verify.violation import refuse
from canonicall.wire.error_body import ErrorBody

_SOURCE = "recorded or reported refusals"


class Limit(Struct, frozen=True):
    """One thing that some models of a provider refuse."""

    provider: str
    models: str | tuple[str, ...]
    where: str
    is_broken: Callable[[dict[str, Any]], bool]
    words: str | Callable[[dict[str, Any]], str]
    code: str = ""
    status: int = 400
    names_param: bool = True
    """Whether the error names the parameter apart from its words."""
    more: dict[str, Any] | None = None
    """What the error says besides its words."""


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
    return isinstance(reasoning, dict) and reasoning.get("effort") is not None


def _has_tools_in_chat(body: dict[str, Any]) -> bool:
    return "messages" in body and _has_tools(body)


def _instructed(body: dict[str, Any]) -> int | None:
    """Where the first instructions stand, if there are any."""
    messages = body.get("messages")
    listed = messages if isinstance(messages, list) else []
    roles = [one.get("role") if isinstance(one, dict) else None for one in listed]
    return next((at for at, role in enumerate(roles) if role in ("system", "developer")), None)


def _role_refused(body: dict[str, Any]) -> str:
    at = _instructed(body) or 0
    role = body["messages"][at]["role"]
    return f"Unsupported value: 'messages[{at}].role' does not support '{role}' with this model."


def _is_hot(body: dict[str, Any]) -> bool:
    temperature = body.get("temperature")
    return isinstance(temperature, int | float) and temperature > _HOTTEST


def _is_silent(body: dict[str, Any]) -> bool:
    """Whether a model that speaks is asked for text, which is what is asked for by default."""
    config = body.get("generationConfig")
    wanted = config.get("responseModalities") if isinstance(config, dict) else None
    return not isinstance(wanted, list) or "AUDIO" not in wanted


def _names_a_tool(body: dict[str, Any]) -> bool:
    return isinstance(body.get("tool_choice"), dict)


_NO_TOOLS = (
    "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To"
    " use function tools, use /v1/responses or set reasoning_effort to 'none'."
)
_HOTTEST = 2
_MAX_TOKENS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
    " 'max_completion_tokens' instead."
)

LIMITS = (
    # The error text is widely reported, of all models that reason.
    Limit(
        "openai",
        ("gpt-5*", "o1*", "o3*", "o4*"),
        "$.max_tokens",
        lambda body: "messages" in body and body.get("max_tokens") is not None,
        _MAX_TOKENS,
        code="unsupported_parameter",
    ),
    Limit(
        "openai",
        "gpt-5-chat*",
        "$.tools",
        _has_tools,
        "tools is not supported in this model. For a list of supported models, refer to"
        " https://platform.openai.com/docs/guides/function-calling"
        "#models-supporting-function-calling.",
        status=404,
        names_param=False,
    ),
    Limit(
        "openai",
        "gpt-5-chat*",
        "$.reasoning.effort",
        _has_effort,
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        code="unsupported_parameter",
    ),
    # genkit-ai/genkit#6303: not even where it is told not to reason, which it cannot be told.
    *(
        Limit(host, "*gpt-6-astra*", "$.reasoning_effort", _has_tools_in_chat, _NO_TOOLS)
        for host in ("openai", "azure")
    ),
    Limit(
        "openai",
        ("o1-mini*", "o1-preview*"),
        "$.messages",
        lambda body: _instructed(body) is not None,
        _role_refused,
        code="unsupported_value",
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
        names_param=False,
    ),
    Limit(
        "doubleword",
        "*",
        "$.temperature",
        _is_hot,
        lambda body: f"Validation: Temperature must be between 0 and 2, got {body['temperature']}",
    ),
    Limit(
        "gemini",
        "*-tts*",
        "$.generationConfig.responseModalities",
        _is_silent,
        "The requested combination of response modalities (TEXT) is not supported by the model."
        " models/{model} accepts the following combination of response modalities:\n* AUDIO\n",
    ),
    # Models whose template has no place for tools; ollama/ollama, server/routes.go.
    Limit(
        "ollama",
        ("gemma:*", "gemma2*", "gemma3*", "llama2*", "llava*", "codellama*", "phi3*", "tinyllama*"),
        "$.tools",
        _has_tools,
        "registry.ollama.ai/library/{model} does not support tools",
    ),
    # The name of the chosen function is lost on the way to the host.
    Limit(
        "openrouter",
        "x-ai/grok-4",
        "$.tool_choice",
        _names_a_tool,
        "Provider returned error",
        more={
            "metadata": {
                "provider_name": "xAI",
                "raw": '{"code":"Client specified an invalid argument","error":"Invalid request'
                ' content: Required function  is not present in the provided tools."}',
            }
        },
    ),
    Limit(
        "openrouter",
        "google/gemma-3n*",
        "$.messages",
        lambda body: _instructed(body) is not None,
        "Provider returned error",
        more={
            "metadata": {
                "provider_name": "Google AI Studio",
                "raw": '{"error": {"code": 400, "message": "Developer instruction is not enabled'
                ' for models/gemma-3n-e4b-it", "status": "INVALID_ARGUMENT"}}',
            }
        },
    ),
    # Requests go only to hosts that serve what they ask for, and this model had none.
    Limit(
        "openrouter",
        "mistralai/mistral-7b-instruct:free",
        "$.tool_choice",
        _names_a_tool,
        "No endpoints found that support the provided 'tool_choice' value. To learn more about"
        " provider routing, visit: https://openrouter.ai/docs/provider-routing",
        status=404,
    ),
)


def beyond_the_model(body: dict[str, Any], target: Target) -> Iterator[Failure]:
    """The answers to what this model cannot do."""
    for limit in LIMITS:
        globs = (limit.models,) if isinstance(limit.models, str) else limit.models
        is_model = any(fnmatchcase(target.model, glob) for glob in globs)
        is_meant = limit.provider == target.provider and is_model
        if is_meant and limit.is_broken(body):
            told = limit.words if isinstance(limit.words, str) else limit.words(body)
            words = told.replace("{model}", target.model)
            broken = refuse("parameter_unsupported", limit.where, words, source=_SOURCE)
            param = limit.where.removeprefix("$.") if limit.names_param else ""
            error = ErrorBody(words, kind_of(target, 400), limit.code, param, limit.more)
            yield Failure(limit.status, error, violations=(broken,))
