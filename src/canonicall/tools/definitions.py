"""Tools that are defined elsewhere: by a JSON Schema, or by the tool list of any provider."""

from collections.abc import Callable, Mapping
from typing import Any, Unpack

from msgspec.structs import replace

from canonicall.codec.decode import decode_tools
from canonicall.errors import InvalidArguments, InvalidValue, UnknownName
from canonicall.guard.problems import problems_in
from canonicall.guard.validators import UnusableSchema, errors_in, validator_of
from canonicall.request import Tool
from canonicall.tools.bound import Arguments, BoundTool, checked, checked_name
from canonicall.tools.callables import context_parameter
from canonicall.tools.context import ToolContext
from canonicall.tools.functions import Declared, style_of
from canonicall.tools.toolset import Toolset

Run = Callable[..., Any]
"""Takes the arguments as one object, and the context if it has a parameter for it."""


def tool_from_schema(
    name: str,
    schema: dict[str, Any] | None = None,
    *,
    run: Run | None = None,
    description: str = "",
    strict: bool | None = None,
    **declared: Unpack[Declared],
) -> BoundTool:
    """A tool with a JSON Schema of its own. Without `run` it is external.

    `run` gets the arguments as one object: names in a schema need not be names in Python.
    """
    given: Any = schema
    if given is not None and not isinstance(given, dict):
        what = f"expected a JSON Schema, got {type(given).__name__}."
        raise InvalidValue(what, where=f"{name}.parameters", help="Give it as an object.")
    offered = Tool(checked_name(name), description, schema, strict=strict)
    return bound_tool(offered, run, **declared)


def bound_tool(offered: Tool, run: Run | None, **declared: Unpack[Declared]) -> BoundTool:
    """A definition and what runs it; external where nothing does."""
    if run is None or declared.get("external"):
        declared["external"] = True
        return checked(BoundTool(tool=offered, **declared))
    implementation = SchemaRun(run, offered.name, offered.parameters)
    return checked(BoundTool(tool=offered, implementation=implementation, **declared))


def tools_from(
    tools: list[dict[str, Any]], format: str, *, run: Mapping[str, Run] | None = None
) -> Toolset:
    """The tool list of a request in any wire format. Tools that `run` does not name are external.

    What the format's decoder had to say is in `findings` of the toolset.
    """
    decoded, findings = decode_tools(tools, format)
    runs = dict(run or {})
    bound = [bound_tool(one, runs.pop(one.name, None)) for one in decoded]
    for name in runs:
        raise UnknownName("tool in the list", name, [one.name for one in decoded])
    return replace(Toolset.of(*bound), findings=findings)


class SchemaRun:
    """A function of the whole arguments object, which the schema has to accept."""

    def __init__(self, function: Run, name: str, schema: dict[str, Any] | None) -> None:
        self.function = function
        self.style = style_of(function)
        self._name = name
        self._schema = schema
        self._context = context_parameter(function)

    def read(self, arguments: Any) -> Arguments:
        if not isinstance(arguments, dict):
            what = f"expected an object, got {type(arguments).__name__}."
            raise InvalidArguments(self._name, what, where="args")
        schema = self._schema or {}
        try:
            validator = validator_of(schema)
        except UnusableSchema:
            # `validate_call` tells it of every call; here is nothing to hold it against.
            return arguments
        try:
            refused = None if validator.is_valid(arguments) else self._refused(arguments, schema)
        except (TypeError, ValueError, RecursionError) as error:
            what = f"they cannot be checked: {error}."
            raise InvalidArguments(self._name, what, where="args") from None
        if refused is not None:
            raise refused
        return arguments

    def start(self, values: Arguments, context: ToolContext) -> Any:
        return self.function(values, **({self._context: context} if self._context else {}))

    def bound_to(self, instance: Any, owner: type) -> "SchemaRun":  # noqa: ARG002
        return self

    def _refused(self, arguments: Arguments, schema: dict[str, Any]) -> InvalidArguments:
        problems = problems_in(arguments, errors_in(arguments, validator_of(schema)), schema)
        for path in problems.missing:
            return InvalidArguments(self._name, "it is required.", where=f"args.{path}")
        for one in problems.wrong:
            what = f"expected {one.expected}, got {one.got}."
            return InvalidArguments(
                self._name, what, where=f"args.{one.path}" if one.path else "args"
            )
        for unknown in problems.unknown:
            return InvalidArguments(
                self._name, "there is no such argument.", where=f"args.{unknown.path}"
            )
        return InvalidArguments(self._name, "the schema does not accept them.", where="args")
