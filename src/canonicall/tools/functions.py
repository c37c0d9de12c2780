"""`tool`: a Python function as a tool. What it says of itself is all that is needed."""

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypedDict, Unpack, overload

from canonicall.errors import InvalidValue
from canonicall.request import Tool
from canonicall.tools.bound import (
    Approval,
    Arguments,
    BoundTool,
    Resources,
    Style,
    checked,
    checked_name,
)
from canonicall.tools.callables import plain_function
from canonicall.tools.context import ToolContext
from canonicall.tools.docstrings import read_docstring
from canonicall.tools.signature import Signature, Values

_SELF = ("self", "cls")


class Declared(TypedDict, total=False):
    """What may be declared of a tool; the fields of `BoundTool` say what each means."""

    external: bool
    sequential: bool
    resources: Resources
    timeout: float | None
    approval: Approval
    polling: bool
    read_only: bool
    title: str
    output_schema: dict[str, Any] | None


class _Decorator(Protocol):
    def __call__(self, function: Callable[..., Any], /) -> BoundTool: ...


@overload
def tool(
    function: Callable[..., Any],
    /,
    *,
    name: str = "",
    description: str = "",
    strict: bool | None = None,
    **declared: Unpack[Declared],
) -> BoundTool: ...


@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    strict: bool | None = None,
    **declared: Unpack[Declared],
) -> _Decorator: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    strict: bool | None = None,
    **declared: Unpack[Declared],
) -> BoundTool | _Decorator:
    """A function as a tool: `@tool`, `@tool(timeout=10)` or `tool(function)`.

    Name, description and schema come from the function's name, its docstring and its annotations;
    what is given here counts more. An `external` tool is described by a function that is never run.
    """

    def made(function: Callable[..., Any], /) -> BoundTool:
        return _made(function, name, description, strict, declared)

    return made if function is None else made(function)


def _made(
    function: Any, name: str, description: str, strict: bool | None, declared: Declared
) -> BoundTool:
    if isinstance(function, BoundTool):
        help = "A tool is made of the function itself."
        raise InvalidValue("it is a tool already.", where=function.name, help=help)
    is_method = isinstance(function, classmethod) or _is_method(function)
    inner = function.__func__ if isinstance(function, classmethod) else function
    if not callable(inner):
        what = f"expected a function, got {type(function).__name__}."
        raise InvalidValue(what, where="tool", help="Use @tool above a def, or tool(function).")
    named = checked_name(name or _name_of(inner))
    said = read_docstring(_docstring(inner))
    signature = Signature(inner, named, said.parameters, skip_first=is_method)
    offered = Tool(named, description or said.description, signature.schema, strict=strict)
    implementation = FunctionRun(inner, signature, function if is_method else None)
    is_external = declared.get("external", False)
    return checked(
        BoundTool(tool=offered, implementation=None if is_external else implementation, **declared)
    )


class FunctionRun:
    """A function, run with the values its signature makes of JSON arguments."""

    def __init__(
        self, function: Callable[..., Any], signature: Signature, unbound: Any = None
    ) -> None:
        self.function = function
        self.style = style_of(function)
        self._signature = signature
        self._unbound = unbound
        """The method as it stands in its class, as long as it belongs to no object."""

    def read(self, arguments: Arguments) -> Values:
        return self._signature.values(arguments)

    def start(self, values: Values, context: ToolContext) -> Any:
        if self._unbound is not None:
            raise InvalidValue(
                "it is a method, and no object is known to call it on.",
                where=_name_of(self.function),
                help="Take the tool from an object: instance.method.",
            )
        return self._signature.start(self.function, values, context)

    def bound_to(self, instance: Any, owner: type) -> "FunctionRun":
        if self._unbound is None or (instance is None and not hasattr(self._unbound, "__func__")):
            return self
        return FunctionRun(self._unbound.__get__(instance, owner), self._signature)


def style_of(function: Any) -> Style:
    """What a function gives back when it is called, as far as its definition tells."""
    inner = plain_function(function)
    if inspect.isasyncgenfunction(inner):
        return "async_generator"
    if inspect.iscoroutinefunction(inner):
        return "coroutine"
    return "generator" if inspect.isgeneratorfunction(inner) else "plain"


def _is_method(function: Any) -> bool:
    """Whether a function stands in a class body and waits for its object."""
    name = getattr(function, "__qualname__", "")
    holder = name.rpartition(".")[0] if isinstance(name, str) else ""
    if not holder or holder.endswith("<locals>") or not inspect.isroutine(function):
        return False
    try:
        first = next(iter(inspect.signature(function).parameters), "")
    except (TypeError, ValueError):
        return False
    return first in _SELF


def _name_of(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", None)
    if name is None:
        # Objects that can be called have the name of their class, in the spelling of functions.
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(function).__name__).lower()
    if name == "<lambda>":
        raise InvalidValue(
            "a lambda has no name.", where="tool", help="Give one: tool(function, name=...)."
        )
    return str(name)


def _docstring(function: Any) -> str | None:
    """The text of a function; of an object that can be called, that of `__call__` or its class."""
    while isinstance(function, partial):
        function = function.func
    if inspect.isroutine(function) or inspect.isclass(function):
        return inspect.getdoc(function)
    return inspect.getdoc(plain_function(function)) or inspect.getdoc(type(function))
