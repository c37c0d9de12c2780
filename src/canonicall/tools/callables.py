"""Callables of every kind: the function behind them, and their parameters with annotations.

Parameters that are set already, by `functools.partial` or because the function is a method, are no
parameters any more.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from inspect import Parameter
from typing import Any, get_args, get_origin, get_type_hints

from msgspec import UNSET

from canonicall.errors import InvalidValue
from canonicall.tools.context import ToolContext


def parameters_of(
    function: Callable[..., Any], name: str, *, skip_first: bool
) -> Iterator[Parameter]:
    """The parameters that a call has to fill, the one for the context among them."""
    hints = _hints(function, name)
    preset = _preset(function)
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise InvalidValue(
            f"its signature cannot be read: {error}.",
            where=name,
            help="Wrap it in a function of your own, or use tool_from_schema.",
        ) from None
    for one in found[1 if skip_first else 0 :]:
        if one.name not in preset:
            yield one.replace(annotation=hints.get(one.name, Any))


def is_context(annotation: Any) -> bool:
    """Whether a parameter takes the context of the call."""
    if isinstance(annotation, type):
        return issubclass(annotation, ToolContext)
    return any(is_context(one) for one in get_args(annotation) if isinstance(one, type))


def context_parameter(function: Callable[..., Any]) -> str:
    """The parameter that takes the context; empty where there is none."""
    try:
        hints = get_type_hints(plain_function(function))
    except (NameError, TypeError, AttributeError):
        return ""
    return next((name for name, kind in hints.items() if is_context(kind)), "")


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


def unpacked(kind: Any) -> Iterator[Parameter]:
    """The members of a typed dictionary that a `**` parameter is annotated with."""
    for name, annotation in get_type_hints(kind, include_extras=True).items():
        is_required = name in kind.__required_keys__
        inner = get_args(annotation)[0] if _is_marked(annotation) else annotation
        yield Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if is_required else UNSET,
            annotation=inner,
        )


def _is_marked(annotation: Any) -> bool:
    return getattr(get_origin(annotation), "_name", "") in ("Required", "NotRequired")
