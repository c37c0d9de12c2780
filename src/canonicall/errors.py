"""The exceptions canonicall raises, arranged by who can put it right.

    CanonicallError
    ├── InvalidValue             the calling code handed over a value that cannot be stored
    │   └── InvalidArguments     the arguments of a call are not what its tool takes
    ├── UnknownName              no format, provider or tool has this name
    ├── UnknownCall              a strict conversation has no such call
    ├── MalformedBody            a request or response body is not what its format says
    │   ├── ForeignHistory       it is the stored history of another framework
    │   ├── ReplyTooLarge        a reply is beyond one of the limits for replies
    │   └── MostlyUnread         most of what it says was not understood, and would be lost
    ├── StateElsewhere           a request continues what the target does not keep
    ├── UntranslatableSchema     a target cannot say what the schema of a tool says
    └── UnreadableConversation   a stored conversation cannot be read
        └── NewerVersion         it was written by a newer canonicall

Others are defined beside what raises them: `AgentFailed`, `ModelError`, `MissingSetting`,
`StoreError` and more.

Damaged *conversations* raise nothing: a result without its call, a reused id or a missing
answer has a defined meaning and is reported as a finding (`canonicall.findings`). Only a strict
conversation refuses results of unknown calls.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

_MOST_LISTED = 10
_SIMILAR = 0.6
_TYPING_MISTAKE = 0.9
"""How alike two names have to be for one to be suggested for the other, from 0 to 1."""


class CanonicallError(Exception):
    """Anything canonicall raises on purpose."""


class InvalidValue(CanonicallError, ValueError):
    """A value that cannot be part of a conversation. `where` is the path to it."""

    def __init__(self, what: str, *, where: str, help: str = "") -> None:
        self.what = what
        self.where = where
        self.help = help
        super().__init__(f"{where}: {what}" + (f" {help}" if help else ""))


class InvalidArguments(InvalidValue):
    """Arguments that the tool named `tool` cannot be run with. `where` is the path to the fault."""

    def __init__(self, tool: str, what: str, *, where: str) -> None:
        self.tool = tool
        super().__init__(what, where=where)


class UnknownName(CanonicallError, LookupError):
    """A name that nothing is registered under. `known` are the names that would do.

    `aliases` would do as well: a name may be meant for one, but they are not listed. `meant` is
    suggested unless the name is almost a known one.
    """

    def __init__(
        self,
        kind: str,
        name: object,
        known: Iterable[str],
        *,
        aliases: Iterable[str] = (),
        meant: str = "",
    ) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        cutoff = _TYPING_MISTAKE if meant else _SIMILAR
        near = get_close_matches(str(name), sorted({*self.known, *aliases}), n=1, cutoff=cutoff)
        self.meant = near[0] if near else meant
        listed = f"Known: {', '.join(self.known)}." if self.known else "There is none yet."
        hint = f"Did you mean {self.meant!r}?" if self.meant else listed
        super().__init__(f"no {kind} is called {name!r}. {hint}")

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownCall(CanonicallError, LookupError):
    """A strict conversation was given a result, or a closing, of a call that it does not have.

    `id` is the id that was given, empty where there was none. `known` are the canonical ids of the
    calls that are open.
    """

    def __init__(self, id: str, known: Mapping[str, str], *, where: str) -> None:
        """`known`: the raw ids of the open calls, by their canonical ids."""
        self.id = id
        self.known = tuple(known)
        self.where = where
        named = f"no call has the id {id!r}." if id else "it names no call."
        shown = [f"{one} ({raw})" if raw else one for one, raw in known.items()]
        listed = ", ".join(shown[:_MOST_LISTED])
        more = f" and {len(self.known) - _MOST_LISTED} more" if self.known[_MOST_LISTED:] else ""
        calls = f"Open calls: {listed}{more}." if self.known else "No call is open."
        super().__init__(f"{where}: {named} {calls}")

    def __str__(self) -> str:
        return str(self.args[0])


class MalformedBody(CanonicallError, ValueError):
    """A body that cannot be read at all. `where` is the path to the fault."""

    def __init__(self, what: str, *, where: str = "$") -> None:
        self.what = what
        self.where = where
        super().__init__(f"{where}: {what}")


class ForeignHistory(MalformedBody):
    """Messages as another framework stores them, given in place of a request.

    `framework` is its name, `form` the function or type that gives this form.
    """

    def __init__(self, framework: str, *, form: str, instead: str, format: str = "") -> None:
        self.framework = framework
        self.form = form
        of = f"a request of {format}" if format else "the request of a provider"
        super().__init__(
            f"this looks like a {framework} history ({form}), which is not {of}. {instead}"
        )


class ReplyTooLarge(MalformedBody):
    """A reply that is larger than is read. `limit` is the field of `ReplyLimits` that it is beyond.

    The same request would bring the same again, so it is not sent again.
    """

    def __init__(self, what: str, *, limit: str) -> None:
        self.limit = limit
        help = f"If such replies are wanted, raise `{limit}` of the limits for replies."
        super().__init__(f"{what} {help}")


class MostlyUnread(MalformedBody):
    """A body of which less than half was understood: most of the conversation would be lost.

    `understood` of `total` texts, calls and results would go on. `format` is what it was read as.
    """

    def __init__(
        self, understood: int, total: int, *, counted: str, format: str, seen: str = ""
    ) -> None:
        """`counted`: the total by kind. `seen`: what the messages look like, in a sentence."""
        self.understood = understood
        self.total = total
        self.format = format
        several = f"{total} texts, calls and results ({counted})"
        of = several if "," in counted else counted
        super().__init__(
            f"read as {format}, only {understood} of {of} would be sent; the rest was not"
            f" understood. {seen or 'Its messages are not in a form that this format has.'}"
            " Name the format that the body is in, or give the body that is sent to the provider."
        )


class StateElsewhere(CanonicallError, ValueError):
    """A request that continues what another provider keeps: it cannot be sent to this target.

    `names` are the fields that refer to what is kept, `target` is who does not have it.
    """

    def __init__(self, names: Iterable[str], *, target: str) -> None:
        self.names = tuple(names)
        self.target = target
        fields = ", ".join(f"`{name}`" for name in self.names)
        super().__init__(
            f"the request continues what only its provider keeps ({fields}), and {target} does not"
            " have that. Send the whole conversation without this reference, send it to the"
            " provider that keeps the rest, or ask through a gateway that stores conversations."
        )


class UntranslatableSchema(CanonicallError, ValueError):
    """A schema that a target can only be given with a loss, which was not to be."""

    def __init__(self, what: str, *, tool: str, where: str) -> None:
        self.what = what
        self.tool = tool
        self.where = where
        help = "Allow losses to have it sent all the same."
        super().__init__(f"{where} (tool {tool!r}): {what} {help}")


class UnreadableConversation(CanonicallError, ValueError):
    """A persisted conversation is damaged beyond its last line. `line` counts from 1."""

    def __init__(self, what: str, *, line: int, help: str = "") -> None:
        self.what = what
        self.line = line
        self.help = help
        super().__init__(f"line {line}: {what}" + (f" {help}" if help else ""))


class NewerVersion(UnreadableConversation):
    """The conversation was written by a newer canonicall than this one."""

    def __init__(self, found: int, known: int, *, line: int) -> None:
        self.found = found
        self.known = known
        super().__init__(
            f"the conversation has format version {found}, this canonicall reads up to {known}.",
            line=line,
            help="Upgrade canonicall; the file is not changed.",
        )
