"""A model as a session sees it: asked with a request, it answers with the events of a stream."""

from collections.abc import AsyncIterator, Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol, TypeAlias

from msgspec import Struct

from canonicall.codec import Encoded
from canonicall.errors import CanonicallError
from canonicall.events import Event
from canonicall.facts.target import Target
from canonicall.findings import Finding, Report
from canonicall.folding import events_of
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.syntax.recovery import Recover
from canonicall.transcript.turns import Diagnostics


class ModelError(CanonicallError):
    """No reply will come. `status` is the HTTP status, 0 where there was none."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        kind: str = "",
        refused_by: str | None = None,
        refused_model: str = "",
        diagnostics: Diagnostics | None = None,
    ) -> None:
        """`refused_by`: the provider that refused the last request, empty where none did; None if
        it is the one that was asked and `status` says so. `refused_model`: the model that it was
        asked for. `diagnostics`: of the request that a provider answered with an error."""
        self.message = message
        self.status = status
        self.kind = kind
        self.refused_by = refused_by
        self.refused_model = refused_model
        self.diagnostics = diagnostics
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


class Repaired(Struct, frozen=True):
    """A notice: the request is sent with changes. `of` makes one where there is something to say.

    `HttpModel` gives one for each request. A model of your own that calls `encode_request` does the
    same: `if repaired := Repaired.of(encoded): notice(repaired)`.
    """

    target: Target
    findings: tuple[Finding, ...]
    """All that was changed, with additions that are not faults among them."""
    diagnostics: Diagnostics

    @classmethod
    def of(cls, encoded: Encoded) -> "Repaired | None":
        """The notice for a request; None where it needed no change, or only additions that every
        such request to its target needs."""
        report = encoded.report
        if not report.has_repairs:
            return None
        return cls(encoded.target, report.changes, encoded.diagnostics)

    @property
    def kind(self) -> str:
        """The word `repaired`."""
        return "repaired"

    @property
    def refused_by(self) -> str:
        """Empty: the request was not refused yet."""
        return ""

    @property
    def detail(self) -> str:
        """The target, and the codes of the findings with how often each occurs."""
        counts = Report(self.findings).counts
        named = ", ".join(f"{code}={count}" for code, count in counts.items())
        return f"{self.target.name}: {named}"


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


def model_over_http(
    save_refused: str | Path | None = None, recover: Recover | None = None
) -> Model:
    """Asks providers over HTTP, with the keys and addresses of the environment.

    The client is above the runtime, which needs no sockets where it is given a model: it is loaded
    only here, by name. `save_refused`: the folder for refused requests. `recover`: whether calls
    are read from the text of replies.
    """
    config = import_module("canonicall.client.config").ClientConfig
    settings = config.from_environment(save_refused=save_refused, recover=recover or "known")
    model: Model = import_module("canonicall.client.model").HttpModel(settings)
    return model
