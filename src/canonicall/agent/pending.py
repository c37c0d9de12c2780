"""The calls that wait for somebody, and what is written down about them.

Everything that is asked and decided becomes an entry of the conversation, here and nowhere else.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec.structs import replace

from canonicall.agent.inputs import Decided
from canonicall.agent.rules import Standing, rule_for
from canonicall.blocks import ToolCall
from canonicall.conversation import Conversation
from canonicall.decisions import CallAsked, CallDecided, Rule, UserWentOn, WhilePending
from canonicall.errors import InvalidValue
from canonicall.outcome import Outcome

Need: TypeAlias = Literal["approval", "external"]


def waiting_calls(conversation: Conversation) -> dict[str, tuple[ToolCall, Need]]:
    """The open calls that wait for somebody, by what is on record: each as it would be run."""
    needs: dict[str, Need] = {}
    edited: dict[str, CallDecided] = {}
    for entry in conversation.entries:
        if isinstance(entry, CallAsked):
            needs[entry.call_id] = entry.what
        elif isinstance(entry, CallDecided):
            needs.pop(entry.call_id, None)
            edited[entry.call_id] = entry
    waiting: dict[str, tuple[ToolCall, Need]] = {}
    for one in conversation.ledger.open:
        if one.id in needs:
            said = edited.get(one.id)
            is_edited = said is not None and said.args is not None
            call = replace(one.call, args=said.args, raw=None) if said and is_edited else one.call
            waiting[one.id] = (call, needs[one.id])
    return waiting


class Pending:
    """Which calls wait for a decision, and which for a result from outside."""

    def __init__(self, conversation: Conversation, *, heeds_standing: bool = True) -> None:
        """`heeds_standing`: whether what was decided before has a say."""
        self._conversation = conversation
        self._needs: dict[str, Need] = {}
        self._standing = Standing(conversation) if heeds_standing else None

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._needs

    def __bool__(self) -> bool:
        return bool(self._needs)

    @property
    def ids(self) -> tuple[str, ...]:
        """All of them, in the order they began to wait."""
        return tuple(self._needs)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Those that wait for a decision."""
        return tuple(id for id, need in self._needs.items() if need == "approval")

    def add(self, calls: Iterable[ToolCall], need: Need, by: str) -> None:
        """These calls, which `by` wants, wait from now on."""
        for call in calls:
            self._needs[call.id] = need
            self._conversation.append(CallAsked(call.id, need, by))

    def add_again(self, call_id: str, need: Need) -> None:
        """This call waited when the conversation was left: that is on record already."""
        self._needs[call_id] = need

    def drop(self, call_id: str) -> None:
        """This call waits no more."""
        self._needs.pop(call_id, None)

    def takes(self, decision: Decided) -> bool:
        """Whether a decision can still change anything.

        The first one counts. Nobody has to agree to a result from outside, but it can be declined.
        """
        need = self._needs.get(decision.call_id)
        return need == "approval" or (need == "external" and decision.decision == "deny")

    def by_rule(self, call: ToolCall) -> CallDecided | None:
        """What stands for a call like this one; written down, where it does."""
        stands = None if self._standing is None else self._standing.about(call)
        if stands is None:
            return None
        said = CallDecided(
            call.id, stands.decision, rule=stands.rule, reason=stands.reason, by="rule"
        )
        self._conversation.append(said)
        return said

    def decided(self, said: Decided, call: ToolCall | None) -> None:
        """Write down what somebody said, to a call or to calls that are yet to come."""
        edited = None if said.edited is None else said.edited.args
        self._conversation.append(
            CallDecided(
                said.call_id if call is None else call.id,
                said.decision,
                said.scope,
                _rule_of(said, call),
                edited,
                said.reason,
                said.by,
            )
        )

    def user_went_on(self, policy: WhilePending) -> None:
        """Write down what becomes of what waits, now that the user said something else."""
        self._conversation.append(UserWentOn(policy, self.ids))

    def true_end(self, call_id: str, outcome: Outcome) -> Outcome:
        """How a call ends that waits no more: what is outside may have acted already."""
        return Outcome.UNKNOWN if self._needs.get(call_id) == "external" else outcome


def _rule_of(said: Decided, call: ToolCall | None) -> Rule | None:
    if said.scope == "session" and call is not None:
        return rule_for(call)
    if said.scope == "once" and call is not None:
        return None
    if said.rule is None or said.scope != "rule":
        raise InvalidValue(
            "it says not which calls it is about.",
            where="Decided",
            help='Give a call_id, or scope="rule" and a rule.',
        )
    return said.rule
