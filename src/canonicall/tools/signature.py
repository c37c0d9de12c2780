"""The signature of a function, as the arguments of a tool.

In: any callable. Out: the JSON Schema of its arguments, and from a JSON object the values to call
it with. Parameters that are none of the model's business are left out: `self`, the context, and
what `functools.partial` has set already.
"""

from collections.abc import Callable, Mapping
from inspect import Parameter
from types import GenericAlias
from typing import Any, NamedTuple, Unpack, get_args, get_origin

import msgspec
from msgspec import UNSET

from canonicall.errors import InvalidArguments, InvalidValue
from canonicall.tools.annotations import Schemas, readable, value_as
from canonicall.tools.callables import is_context, parameters_of, unpacked
from canonicall.tools.context import ToolContext

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class Values(NamedTuple):
    """What a function is called with."""

    positional: tuple[Any, ...]
    named: dict[str, Any]


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
        context: Parameter | None = None
        before_context = 0
        self._others: Any = UNSET
        """What `**` takes besides the named ones; UNSET where there is no `**`."""
        for parameter in parameters_of(function, name, skip_first=skip_first):
            if is_context(parameter.annotation):
                context, before_context = parameter, len(self._parameters)
            else:
                self._take(parameter)
        self._place(context, before_context)
        self._object = self._struct()
        self.schema = self._schema(texts)

    def values(self, arguments: Any) -> Values:
        """The values that `arguments` mean. Raises `InvalidArguments` where they mean none."""
        if type(arguments) is not dict and not isinstance(arguments, Mapping):
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

    def start(self, function: Callable[..., Any], values: Values, context: ToolContext) -> Any:
        """Call `function` with `values`, and with the context if it asks for it."""
        positional, named = values
        if self._context_at is not None:
            at = self._context_at
            return function(*positional[:at], context, *positional[at:], **named)
        if self._context:
            return function(*positional, **named, **{self._context: context})
        return function(*positional, **named)

    def _take(self, parameter: Parameter) -> None:
        annotation = parameter.annotation
        taken = [parameter.replace(annotation=readable(annotation))]
        if parameter.kind is Parameter.VAR_KEYWORD and get_origin(annotation) is Unpack:
            taken = [
                one.replace(annotation=readable(one.annotation))
                for one in unpacked(get_args(annotation)[0])
            ]
        elif parameter.kind is Parameter.VAR_KEYWORD:
            self._others, taken = readable(annotation), []
        elif parameter.kind is Parameter.VAR_POSITIONAL:
            taken = [parameter.replace(annotation=readable(GenericAlias(list, (annotation,))))]
        self._parameters += taken

    def _place(self, context: Parameter | None, before_context: int) -> None:
        """Decide once which values go by place and which by name."""
        starred = [one.name for one in self._parameters if one.kind is Parameter.VAR_POSITIONAL]
        self._rest = starred[0] if starred else ""
        """The parameter with a star; empty where there is none."""
        # Behind a star, whatever stands before it has to go by place.
        by_place = _POSITIONAL if starred else (Parameter.POSITIONAL_ONLY,)
        placed = [one for one in self._parameters if one.kind in by_place]
        self._by_place = [(one.name, one.default) for one in placed]
        named = [one for one in self._parameters if one not in placed and one.name != self._rest]
        self._by_name = [one.name for one in named]
        self._context = context.name if context else ""
        self._context_at = before_context if context and context.kind in by_place else None

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
        for name in self._by_name:
            value = getattr(read, name)
            if value is not UNSET:
                more[name] = value
        positional = [
            default if (value := getattr(read, name)) is UNSET else value
            for name, default in self._by_place
        ]
        if self._rest and (rest := getattr(read, self._rest)) is not UNSET:
            positional += rest
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
