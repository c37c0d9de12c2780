"""A tool bound to what runs it: the definition a model is offered, and what is done with a call.

Whatever a scheduler has to know stands here as data. Nothing is scheduled: `call` starts the
function and gives back what it returns, a coroutine or a generator as it comes.
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from canonicall.errors import InvalidValue
from canonicall.guard.results import Returned, result_blocks
from canonicall.request import Tool
from canonicall.tools.context import ToolContext

Style: TypeAlias = Literal["plain", "coroutine", "generator", "async_generator"]
Arguments: TypeAlias = dict[str, Any]
Resources: TypeAlias = tuple[str, ...] | Callable[[Arguments], Iterable[str]]
Approval: TypeAlias = Literal["never", "recovered", "always"] | Callable[[Arguments], bool]


class Implementation(Protocol):
    """What runs a tool."""

    @property
    def style(self) -> Style:
        """What `start` gives back, as far as it can be told before."""
        ...

    def read(self, arguments: Arguments) -> Any:
        """The values that JSON arguments mean. Raises `InvalidArguments`."""
        ...

    def start(self, values: Any, context: ToolContext) -> Any:
        """Run the tool with what `read` gave."""
        ...

    def bound_to(self, instance: Any, owner: type) -> "Implementation":
        """The same for one object, where it is a method; else itself."""
        ...


class BoundTool(Struct, frozen=True, kw_only=True):
    """A tool that can be run. Made by `tool`, `tool_from_schema`, `tools_from` and others."""

    tool: Tool
    """What the model is offered."""
    implementation: Implementation | None = None
    """None where it is `external`."""
    external: bool = False
    """Nothing here runs it: its result is supplied later, by a person or another process."""
    sequential: bool = False
    """No other call of its batch runs beside it."""
    resources: Resources = ()
    """Names of what it works on, or a function of the arguments that tells them. Calls that share
    one do not run at the same time."""
    timeout: float | None = None
    """Seconds; None for no limit of its own."""
    approval: Approval = "never"
    """Whether somebody has to agree first: never, if the call was read from the text of a reply,
    always; a function of the arguments may decide."""
    polling: bool = False
    """Made to be called again and again with the same arguments: no sign of a loop."""
    read_only: bool = False
    """Changes nothing, so it may be started early, and again."""
    title: str = ""
    """A name for people."""
    output_schema: dict[str, Any] | None = None
    """JSON Schema of what it returns, where that is declared."""
    reading: Callable[[Any], Returned] = result_blocks
    """How what it returned becomes the content of a result."""

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.tool.name

    @property
    def description(self) -> str:
        """What the model is told of it."""
        return self.tool.description

    @property
    def parameters(self) -> dict[str, Any] | None:
        """JSON Schema of its arguments."""
        return self.tool.parameters

    @property
    def style(self) -> Style:
        """What `call` gives back: the value, or something that has to be awaited or iterated."""
        return "plain" if self.implementation is None else self.implementation.style

    def read(self, arguments: Arguments) -> Any:
        """The values that JSON arguments mean to the function. Raises `InvalidArguments`."""
        return self._runnable().read(arguments)

    def call(self, arguments: Arguments, context: ToolContext | None = None) -> Any:
        """Start the tool and give back what it returns, as it is."""
        runnable = self._runnable()
        return runnable.start(runnable.read(arguments), context or ToolContext())

    def returned(self, value: Any) -> Returned:
        """What the tool returned or raised, as the content of a result."""
        return result_blocks(value) if isinstance(value, BaseException) else self.reading(value)

    def resources_of(self, arguments: Arguments) -> tuple[str, ...]:
        """What a call with these arguments works on."""
        found = self.resources(arguments) if callable(self.resources) else self.resources
        return (found,) if isinstance(found, str) else tuple(found)

    def needs_approval(self, arguments: Arguments, *, recovered: bool = False) -> bool:
        """Whether somebody has to agree to a call with these arguments. `recovered`: it was read
        from the text of a reply."""
        if callable(self.approval):
            return bool(self.approval(arguments))
        return self.approval == "always" or (recovered and self.approval == "recovered")

    def renamed(self, name: str) -> "BoundTool":
        """The same tool under another name."""
        return replace(self, tool=replace(self.tool, name=checked_name(name)))

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """The function itself, for Python code that calls it."""
        function = getattr(self.implementation, "function", None)
        if function is None:
            raise self._not_run_here()
        return function(*positional, **named)

    def __get__(self, instance: Any, owner: type) -> "BoundTool":
        """A tool defined in a class is that of the object it is asked from."""
        made = self.implementation and self.implementation.bound_to(instance, owner)
        return self if made is self.implementation else replace(self, implementation=made)

    def _runnable(self) -> Implementation:
        if self.implementation is None:
            raise self._not_run_here()
        return self.implementation

    def _not_run_here(self) -> InvalidValue:
        return InvalidValue(
            "nothing here runs this tool.",
            where=self.name,
            help="It is external: append its result to the conversation when it is known.",
        )


def checked_name(name: Any) -> str:
    """`name`, if a tool can have it. Names that one provider refuses are mapped when rendered."""
    if isinstance(name, str) and name.strip():
        return name
    raise InvalidValue(f"{name!r} is no name for a tool.", where="name", help="Use some text.")


def checked(bound: BoundTool) -> BoundTool:
    """`bound`, if its declarations make sense."""
    timeout: Any = bound.timeout
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
        what = f"a timeout of {timeout!r} seconds leaves no time to run."
        raise InvalidValue(what, where=f"{bound.name}.timeout", help="Use None for no limit.")
    if not callable(bound.approval) and bound.approval not in ("never", "recovered", "always"):
        what = f"{bound.approval!r} says not whether approval is needed."
        help = 'Use "never", "recovered", "always", or a function of the arguments.'
        raise InvalidValue(what, where=f"{bound.name}.approval", help=help)
    resources: Any = bound.resources
    if callable(resources):
        return bound
    named = (resources,) if isinstance(resources, str) else tuple(resources)
    return replace(bound, resources=named)
