"""The signature of a function, as the arguments of a tool.

In: any callable. Out: the JSON Schema of its arguments, and from a JSON object the values to call
it with. Parameters that are none of the model's business are left out: `self`, the context, and
what `functools.partial` has set already.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import Parameter
from types import GenericAlias
from typing import Any, NamedTuple, Unpack, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET

from canonicall.errors import InvalidArguments, InvalidValue
from canonicall.tools.annotations import Schemas, readable, value_as
from canonicall.tools.context import ToolContext

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_CONTEXT = object()
"""Stands where the context of the call belongs."""


class Values(NamedTuple):
    """What a function is called with."""

    positional: tuple[Any, ...]
    named: dict[str, Any]

    def start(self, function: Callable[..., Any], context: ToolContext) -> Any:
        """Call `function` with these values."""
        positional = [context if one is _CONTEXT else one for one in self.positional]
        named = {name: context if one is _CONTEXT else one for name, one in self.named.items()}
        return function(*positional, **named)


class Signature:
    """How JSON arguments become the arguments of one function."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        texts: Mapping[str, str],
        *,
        skip_first: bool = False,
    ) -> None:
        self._name = name
        self._parameters: list[Parameter] = []
        """Those that the model fills."""
        self._order: list[Parameter] = []
        """Those, and the one for the context."""
        self._others: Any = UNSET
        """What `**` takes besides the named ones; UNSET where there is no `**`."""
        hints = _hints(function, name)
        preset = _preset(function)
        for parameter in list(_parameters(function, name))[1 if skip_first else 0 :]:
            annotation = hints.get(parameter.name, Any)
            if _is_context(annotation):
                self._order.append(parameter.replace(annotation=ToolContext))
            elif parameter.name not in preset:
                self._take(parameter.replace(annotation=annotation))
        self._takes_rest = any(one.kind is Parameter.VAR_POSITIONAL for one in self._parameters)
        self._object = self._struct()
        self.schema = self._schema(texts)

    def values(self, arguments: Any) -> Values:
        """The values that `arguments` mean. Raises `InvalidArguments` where they mean none."""
        if not isinstance(arguments, Mapping):
            raise InvalidArguments(
                self._name, f"expected an object, got {type(arguments).__name__}.", where="args"
            )
        if self._others is UNSET:
            return self._placed(self._converted(arguments, self._object, "args"), {})
        known = self._object.__struct_fields__
        named = {name: value for name, value in arguments.items() if name in known}
        more = {
            name: self._converted(value, self._others, f"args.{name}")
            for name, value in arguments.items()
            if name not in known
        }
        return self._placed(self._converted(named, self._object, "args"), more)

    def _take(self, parameter: Parameter) -> None:
        annotation = parameter.annotation
        taken = [parameter.replace(annotation=readable(annotation))]
        if parameter.kind is Parameter.VAR_KEYWORD and get_origin(annotation) is Unpack:
            taken = list(_unpacked(get_args(annotation)[0]))
        elif parameter.kind is Parameter.VAR_KEYWORD:
            self._others, taken = readable(annotation), []
        elif parameter.kind is Parameter.VAR_POSITIONAL:
            taken = [parameter.replace(annotation=readable(GenericAlias(list, (annotation,))))]
        self._parameters += taken
        self._order += taken

    def _struct(self) -> type[msgspec.Struct]:
        """All parameters as one type, so that they are checked in one pass."""
        fields: list[Any] = [
            (one.name, one.annotation)
            if _is_required(one)
            else (one.name, one.annotation, msgspec.field(default_factory=lambda: UNSET))
            for one in self._parameters
        ]
        try:
            return msgspec.defstruct(
                "arguments", fields, kw_only=True, forbid_unknown_fields=True, gc=False
            )
        except (TypeError, ValueError) as error:
            raise self._unusable(error) from None

    def _schema(self, texts: Mapping[str, str]) -> dict[str, Any]:
        try:
            schemas = Schemas(self._object)
            others = None if self._others is UNSET else Schemas(self._others)
        except (TypeError, RecursionError) as error:
            raise self._unusable(error) from None
        defs = dict(schemas.defs)
        schema: dict[str, Any] = defs.pop(schemas.root["$ref"].rpartition("/")[2])
        del schema["title"]
        if others is not None:
            schema["additionalProperties"] = others.root or True
            defs |= others.defs
        for one in self._parameters:
            held = schema["properties"][one.name]
            if texts.get(one.name) and "description" not in held:
                held["description"] = texts[one.name]
            default = _json_default(one)
            if default is not UNSET:
                held.setdefault("default", default)
        return {**schema, "$defs": defs} if defs else schema

    def _unusable(self, error: BaseException) -> InvalidValue:
        told = str(error).strip().splitlines()
        return InvalidValue(
            f"its parameters have no JSON Schema: {told[-1] if told else type(error).__name__}.",
            where=self._name,
            help="Annotate with types that have a form in JSON, or use tool_from_schema.",
        )

    def _converted(self, value: Any, kind: Any, where: str) -> Any:
        try:
            return _converted(value, kind)
        except msgspec.ValidationError as error:
            what, _, path = str(error).rpartition(" - at `$")
            raise InvalidArguments(
                self._name, f"{what or path}.", where=where + path[:-1] if what else where
            ) from None
        except RecursionError:
            raise InvalidArguments(self._name, "it is nested too deeply.", where=where) from None

    def _placed(self, read: Any, more: dict[str, Any]) -> Values:
        """Each value where its parameter wants it. Defaults are the function's own business."""
        positional: list[Any] = []
        for one in self._order:
            is_context = one.annotation is ToolContext
            value: Any = _CONTEXT if is_context else getattr(read, one.name)
            if one.kind is Parameter.VAR_POSITIONAL:
                positional += [] if value is UNSET else value
            elif one.kind is Parameter.POSITIONAL_ONLY or (
                self._takes_rest and one.kind in _POSITIONAL
            ):
                positional.append(one.default if value is UNSET else value)
            elif value is not UNSET:
                more[one.name] = value
        return Values(tuple(positional), more)


def _converted(value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind, dec_hook=value_as, str_keys=True)
    except msgspec.ValidationError:
        whole, changed = _with_whole_numbers(value)
        if not changed:
            raise
        # 3.0 is an integer to JSON Schema, and to models.
        try:
            return msgspec.convert(whole, kind, dec_hook=value_as, str_keys=True)
        except msgspec.ValidationError:
            pass
        raise


def _parameters(function: Callable[..., Any], name: str) -> Iterator[Parameter]:
    try:
        yield from inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise InvalidValue(
            f"its signature cannot be read: {error}.",
            where=name,
            help="Wrap it in a function of your own, or use tool_from_schema.",
        ) from None


def context_parameter(function: Callable[..., Any]) -> str:
    """The parameter that takes the context; empty where there is none."""
    try:
        hints = get_type_hints(plain_function(function))
    except (NameError, TypeError, AttributeError):
        return ""
    return next((name for name, kind in hints.items() if _is_context(kind)), "")


def plain_function(function: Any) -> Any:
    """The function that is run in the end, with its annotations and its text."""
    while isinstance(function, partial):
        function = function.func
    if inspect.isclass(function):
        return function.__init__
    if inspect.isroutine(function):
        return function
    return type(function).__call__


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(plain_function(function), include_extras=True)
    except NameError as error:
        raise InvalidValue(
            f"an annotation cannot be resolved: {error}.",
            where=name,
            help="Define the type at the top of the module, or leave out"
            " `from __future__ import annotations`.",
        ) from None
    except TypeError:
        # Functions written in C have no annotations.
        return {}


def _preset(function: Any) -> set[str]:
    """The names that partials have set; those set by place are in no signature any more."""
    names: set[str] = set()
    while isinstance(function, partial):
        names |= set(function.keywords)
        function = function.func
    return names


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, type):
        return issubclass(annotation, ToolContext)
    return any(_is_context(one) for one in get_args(annotation) if isinstance(one, type))


def _unpacked(kind: Any) -> Iterator[Parameter]:
    """The members of a typed dictionary that a `**` parameter is annotated with."""
    for name, annotation in get_type_hints(kind, include_extras=True).items():
        is_required = name in kind.__required_keys__
        inner = get_args(annotation)[0] if _is_marked(annotation) else annotation
        yield Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if is_required else UNSET,
            annotation=readable(inner),
        )


def _is_marked(annotation: Any) -> bool:
    return getattr(get_origin(annotation), "_name", "") in ("Required", "NotRequired")


def _is_required(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty and parameter.kind is not Parameter.VAR_POSITIONAL


def _json_default(parameter: Parameter) -> Any:
    """The default as a model is told it; UNSET where there is none, or it says nothing."""
    if parameter.default is Parameter.empty or parameter.default is UNSET:
        return UNSET
    try:
        plain = msgspec.to_builtins(parameter.default, str_keys=True)
        msgspec.convert(plain, parameter.annotation, dec_hook=value_as, str_keys=True)
        return msgspec.json.decode(msgspec.json.encode(plain))
    except (TypeError, ValueError, NotImplementedError, RecursionError):
        return UNSET


def _with_whole_numbers(value: Any) -> tuple[Any, bool]:
    """`value` with 3 in place of 3.0 everywhere, and whether there was any."""
    if type(value) is float and value.is_integer():
        return int(value), True
    if isinstance(value, (list, tuple)):
        items = [_with_whole_numbers(one) for one in value]
        return [one for one, _ in items], any(changed for _, changed in items)
    if isinstance(value, Mapping):
        members = {key: _with_whole_numbers(one) for key, one in value.items()}
        return {key: one for key, (one, _) in members.items()}, any(
            changed for _, changed in members.values()
        )
    return value, False
