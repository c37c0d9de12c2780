"""A model as a session sees it: asked with a request, it answers with the events of a stream."""

from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import Protocol, TypeAlias

from canonicall.errors import CanonicallError
from canonicall.events import Event
from canonicall.folding import events_of
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.target import Target


class ModelError(CanonicallError):
    """No reply will come. `status` is the HTTP status, 0 where there was none."""

    def __init__(
        self, message: str, *, status: int = 0, kind: str = "", refused_by: str | None = None
    ) -> None:
        """`refused_by`: the provider that refused the last request, empty where none did; None if
        it is the one that was asked and `status` says so."""
        self.message = message
        self.status = status
        self.kind = kind
        self.refused_by = refused_by
        super().__init__(message)


class Notice(Protocol):
    """What a model tells of itself while it is asked: that it tries again, or asks another."""

    @property
    def kind(self) -> str:
        """One word for what happened, as `StatusEvent` has it."""
        ...

    @property
    def detail(self) -> str:
        """The same in a sentence, for people."""
        ...

    @property
    def refused_by(self) -> str:
        """The provider that refused a request before the reply came; empty where none did."""
        ...


Notify: TypeAlias = Callable[[Notice], None]


class Model(Protocol):
    """Whatever answers requests. Its last event is `StreamEnded`; else it raises `ModelError`."""

    def ask(
        self, request: Request, target: Target, *, notice: Notify | None = None
    ) -> AsyncIterator[Event]:
        """The events of the reply, as they come; `notice` hears what happens meanwhile."""
        ...


class LocalModel:
    """A model that is a plain function of the request: scripted ones, small ones, for tests."""

    def __init__(self, model: Callable[[Request], Reply]) -> None:
        self._model = model

    async def ask(
        self, request: Request, target: Target, *, notice: Notify | None = None
    ) -> AsyncIterator[Event]:
        """The reply in one piece."""
        del target, notice
        try:
            reply = self._model(request)
        except CanonicallError as error:
            raise ModelError(str(error)) from error
        for event in events_of(reply):
            yield event


def model_over_http() -> Model:
    """Asks providers over HTTP, with the keys and addresses of the environment.

    The client is above the runtime, which needs no sockets where it is given a model: it is loaded
    only here, by name.
    """
    model: Model = import_module("canonicall.client.model").HttpModel()
    return model
