"""What the client tells of itself while it asks: typed values, each with a sentence for people."""

import shlex
from typing import Any

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.reply import Usage


class _Notice(Struct, frozen=True, tag_field="kind"):
    @property
    def kind(self) -> str:
        """One word for what happened."""
        return str(self.__struct_config__.tag)

    @property
    def refused_by(self) -> str:
        """The provider that refused the request, where this tells of it; else empty."""
        return ""


class Retrying(_Notice, frozen=True, tag="retrying"):
    """The same request is sent again after a while."""

    target: Target
    attempt: int
    """The number of the attempt that failed; the first is 1."""
    delay: float
    why: str
    refused: bool = False
    """The request was refused for what the model wrote, which may be none the next time."""
    another_key: bool = False
    """At once, with another of the provider's keys."""

    @property
    def refused_by(self) -> str:
        return self.target.provider if self.refused else ""

    @property
    def detail(self) -> str:
        how = "with another key" if self.another_key else f"in {self.delay:.1f} s"
        return f"{name_of(self.target)}: again {how}: {_after_name(self.why, self.target)}"


class Recovered(_Notice, frozen=True, tag="recovered"):
    """A request that was refused is sent once more, in another form.

    Where that is accepted, the target is asked in that form for as long as the client lives.
    """

    target: Target
    code: str
    """What was wrong, as `explain` calls it; "unknown" where nobody knows."""
    change: dict[str, Any]
    """The fields of the target that are different now."""
    why: str

    @property
    def refused_by(self) -> str:
        return self.target.provider

    @property
    def detail(self) -> str:
        changed = ", ".join(sorted(self.change)) or "translated"
        return f"{name_of(self.target)}: refused ({self.code}), rendered again ({changed})"


class Saved(_Notice, frozen=True, tag="saved"):
    """A request that was refused was written to a file, without keys."""

    target: Target
    file: str

    @property
    def detail(self) -> str:
        said = f"{name_of(self.target)}: the refused request is in {self.file}"
        return f"{said}; canonicall explain {shlex.quote(self.file)}"


class Switched(_Notice, frozen=True, tag="switched"):
    """Another target is asked, because no reply came from the one before."""

    target: Target
    to: Target
    why: str
    refused: bool = False
    """The one before refused the request itself."""

    @property
    def refused_by(self) -> str:
        return self.target.provider if self.refused else ""

    @property
    def detail(self) -> str:
        why = _after_name(self.why, self.target)
        return f"{name_of(self.target)} failed, asking {name_of(self.to)}: {why}"


class Skipped(_Notice, frozen=True, tag="skipped"):
    """A target is not asked: it failed again and again, and is left alone for a while."""

    target: Target
    failures: int
    """In a row."""
    seconds: float
    """Until it is asked again; 0 where somebody is just trying whether it answers."""

    @property
    def detail(self) -> str:
        until = f"again in {self.seconds:.0f} s" if self.seconds else "somebody else is trying it"
        return f"{name_of(self.target)}: not asked after {self.failures} failures, {until}"


class Answered(_Notice, frozen=True, tag="answered"):
    """The reply is there, or as much of it as came."""

    target: Target
    attempts: int
    first: float
    """Seconds from the request to the first content, in the attempt that brought it."""
    seconds: float
    """Seconds of all attempts, with the waiting between them."""
    usage: Usage | None = None
    complete: bool = True

    @property
    def detail(self) -> str:
        how = "" if self.complete else ", cut off"
        return f"{name_of(self.target)}: {self.seconds:.2f} s, attempt {self.attempts}{how}"


def _after_name(why: str, target: Target) -> str:
    """What is told behind the name of a target: errors begin with it themselves."""
    return why.removeprefix(f"{name_of(target)}: ")


def name_of(target: Target) -> str:
    """A target as a person writes it."""
    return f"{target.provider}:{target.model}" if target.model else target.provider
