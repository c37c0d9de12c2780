"""What single models or hosts refuse, whatever the format allows: the limits in their files."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from canonicall.facts.habits import Condition, Limit, error_type
from canonicall.facts.target import Target
from canonicall.testing.failure import Failure
from canonicall.testing.habits import habits_of
from canonicall.verify.violation import refuse
from canonicall.wire.error_body import ErrorBody

_SOURCE = "recorded or reported refusals"


def beyond_the_model(body: dict[str, Any], target: Target) -> Iterator[Failure]:
    """The answers to what this model cannot do."""
    for limit in habits_of(target).limits:
        is_meant = any(fnmatchcase(target.model, glob) for glob in limit.models)
        if is_meant and is_broken(limit, body):
            where, text = f"$.{limit.field}", text_of(limit, body, target.model)
            broken = refuse("parameter_unsupported", where, text, source=_SOURCE)
            param = limit.field if limit.names_param else ""
            kind = error_type(target.format, 400)
            error = ErrorBody(text, kind, limit.error_code, param, limit.more)
            yield Failure(limit.status, error, violations=(broken,))


def is_broken(limit: Limit, body: dict[str, Any]) -> bool:
    """Whether a body goes beyond a limit."""
    wanted = limit.when
    return (
        all(_at(body, path) not in (None, "", [], {}) for path in wanted.has)
        and all(isinstance(_at(body, path), dict) for path in wanted.objects)
        and all(_is_above(_at(body, path), most) for path, most in wanted.above.items())
        and all(_lacks(_at(body, path), entry) for path, entry in wanted.lacks.items())
        and (not wanted.roles or _with_role(body, wanted) is not None)
        and (not wanted.tool_types or _has_tool(body, wanted.tool_types))
    )


def text_of(limit: Limit, body: dict[str, Any], model: str) -> str:
    """The text of the error with its gaps filled."""
    index = _with_role(body, limit.when)
    text = limit.text.replace("{model}", model)
    text = text.replace("{value}", str(_at(body, limit.field)))
    if index is None:
        return text
    return text.replace("{index}", str(index)).replace("{role}", body["messages"][index]["role"])


def _at(body: dict[str, Any], path: str) -> Any:
    value: Any = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _is_above(value: Any, most: float) -> bool:
    return isinstance(value, int | float) and value > most


def _lacks(value: Any, entry: str) -> bool:
    return not isinstance(value, list) or entry not in value


def _with_role(body: dict[str, Any], wanted: Condition) -> int | None:
    """The number of the first message with one of the roles, if there is any."""
    roles = [one.get("role") for one in _objects(body, "messages")]
    return next((at for at, role in enumerate(roles) if role in wanted.roles), None)


def _has_tool(body: dict[str, Any], types: tuple[str, ...]) -> bool:
    return any(one.get("type") in types for one in _objects(body, "tools"))


def _objects(body: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The entries of a list; an empty object for each that is none."""
    listed = body.get(name)
    entries = listed if isinstance(listed, list) else []
    return [one if isinstance(one, dict) else {} for one in entries]
