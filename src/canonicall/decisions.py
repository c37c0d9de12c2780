"""What was asked and decided about calls, as entries of a conversation.

They are part of the log and of nothing else: no provider sees them, and no result is bound by them.
Because they are data, whoever opens the conversation again knows who allowed what, and a decision
that stands for more than its call is in force again.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

Verdict: TypeAlias = Literal["allow", "deny"]
Scope: TypeAlias = Literal["once", "session", "rule"]
"""once: this call. session: every later call of its tool. rule: every later call that a rule
means."""
WhilePending: TypeAlias = Literal["wait", "supersede"]
"""What becomes of calls that wait for an approval or a result when the user says something else:
they go on waiting, and the words with them; or they are over."""


class Rule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which calls a decision is about."""

    tool: str
    """The name of a tool, or a glob: `*`, `?` and `[...]` as in file names."""
    arguments: dict[str, Any] = {}
    """What arguments have to be: text is a glob for the whole text, anything else is equal. One
    that is not named here may be anything; one that is named has to be there.

    Where the rule allows, a wildcard does not match ``; & | < > ` $ ( )``, a line break, or `..` as
    a segment of a path: what begins another command or leads out of a folder is written out in the
    rule, or somebody is asked."""
    recovered: bool = False
    """Where the rule allows: whether it means calls that were read from the text of a reply too. A
    rule that denies always does."""


class _Record(
    Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="entry", gc=False
):
    pass


class CallAsked(_Record, frozen=True, tag="call_asked"):
    """A call began to wait: for somebody's decision, or for a result from outside."""

    call_id: str
    what: Literal["approval", "external"]
    by: str = ""
    """Who wants the call: the model, as "provider:model"."""
    bound: bool = False
    """Its call was found: `call_id` is canonical and final. Set by the conversation."""


class CallDecided(_Record, frozen=True, tag="call_decided"):
    """What somebody said to a call; or to calls that are yet to come, then without a `call_id`."""

    call_id: str
    decision: Verdict
    scope: Scope = "once"
    rule: Rule | None = None
    """The calls it stands for, where the scope is more than this call; or the rule that decided,
    where it decided this one."""
    args: dict[str, Any] | None = None
    """The arguments that were put in place of the model's."""
    reason: str = ""
    by: str = ""
    """Who decided: "user", "rule", or whatever the program calls itself."""
    bound: bool = False
    """Its call was found: `call_id` is canonical and final. Set by the conversation."""


class UserWentOn(_Record, frozen=True, tag="user_went_on"):
    """The user said something while calls waited, and this is what became of them."""

    policy: WhilePending
    call_ids: tuple[str, ...]
    bound: bool = False
    """The ids are canonical and final. Set by the conversation."""


Record: TypeAlias = CallAsked | CallDecided | UserWentOn
RECORDS = (CallAsked, CallDecided, UserWentOn)


def is_standing(entry: object) -> bool:
    """Whether an entry decides about calls that are yet to come."""
    return isinstance(entry, CallDecided) and entry.scope != "once"
