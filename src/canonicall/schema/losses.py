"""What fitting a schema changed: the kind of change, the place, and a sentence on it."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

Change: TypeAlias = Literal["weakened", "narrowed", "reworded"]
"""weakened: it allows more than before. narrowed: it allows less. reworded: it means the same."""

At: TypeAlias = "tuple[At, str | int] | None"
"""A place in a schema as a chain to its root. It is put into words only for a loss."""


class Loss(Struct, frozen=True):
    """One change."""

    change: Change
    at: At
    what: str

    @property
    def pointer(self) -> str:
        """JSON Pointer of the place; "" is the root."""
        return pointer_to(self.at)


class Fitted(Struct, frozen=True):
    """A schema as a rule takes it, and what that cost."""

    schema: dict[str, Any]
    losses: tuple[Loss, ...] = ()


def escaped(step: str) -> str:
    """A name as a step of a JSON Pointer."""
    return step.replace("~", "~0").replace("/", "~1")


def unescaped(step: str) -> str:
    """The name that a step of a JSON Pointer stands for."""
    return step.replace("~1", "/").replace("~0", "~") if "~" in step else step


def pointer_to(at: At) -> str:
    """The JSON Pointer of a place."""
    steps: list[str] = []
    while at is not None:
        at, step = at
        steps.append(escaped(str(step)))
    return "".join(f"/{step}" for step in reversed(steps))
