"""The exceptions canonicall raises, arranged by who can put it right.

    CanonicallError
    ├── InvalidValue             the calling code handed over a value that cannot be stored
    └── UnreadableConversation   a stored conversation cannot be read
        └── NewerVersion         it was written by a newer canonicall

Damaged *conversations* raise nothing: a result without its call, a reused id or a missing
answer has a defined meaning and is reported as a finding (`canonicall.findings`).
"""


class CanonicallError(Exception):
    """Anything canonicall raises on purpose."""


class InvalidValue(CanonicallError, ValueError):
    """A value that cannot be part of a conversation. `where` is the path to it."""

    def __init__(self, what: str, *, where: str, help: str = "") -> None:
        self.what = what
        self.where = where
        self.help = help
        super().__init__(f"{where}: {what}" + (f" {help}" if help else ""))


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
