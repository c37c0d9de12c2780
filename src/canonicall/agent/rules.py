"""Decisions that stand: which calls a rule means, and what was decided about them before.

What is in force follows from the log alone, so it is the same after a restart and in a fork. Of
several decisions that mean a call, the last one counts.
"""

import re
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from canonicall.blocks import ToolCall
from canonicall.conversation import Conversation
from canonicall.decisions import CallDecided, Rule, is_standing


def rule_for(name: str) -> Rule:
    """The rule that means every call of this tool, and of no other."""
    return Rule(_exactly(name))


def rule_like(call: ToolCall) -> Rule:
    """The rule that means every call with the tool and the arguments of this one."""
    arguments = {
        name: _exactly(value) if isinstance(value, str) else value
        for name, value in (call.args or {}).items()
    }
    return Rule(_exactly(call.name), arguments)


def _exactly(text: str) -> str:
    """The glob that means this text and no other."""
    return re.sub(r"([*?\[])", r"[\1]", text)


def means(rule: Rule, call: ToolCall) -> bool:
    """Whether `call` is one of those that `rule` is about."""
    if not fnmatchcase(call.name, rule.tool):
        return False
    given = call.args or {}
    return all(
        name in given and _is_as_wanted(given[name], wanted)
        for name, wanted in rule.arguments.items()
    )


def _is_as_wanted(given: Any, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return isinstance(given, str) and fnmatchcase(given, wanted)
    # As JSON: to Python, true is 1.
    return _as_json(given) == _as_json(wanted)


def _as_json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


class Standing:
    """The decisions of a conversation that are about later calls. Each entry is read once."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._read = 0
        self._decisions: list[CallDecided] = []

    def about(self, call: ToolCall) -> CallDecided | None:
        """What was decided about calls like this one; None where nobody has."""
        entries = self._conversation.entries
        for entry in entries[self._read :]:
            if isinstance(entry, CallDecided) and is_standing(entry):
                self._decisions.append(entry)
        self._read = len(entries)
        for decision in reversed(self._decisions):
            if decision.rule is not None and means(decision.rule, call):
                return decision
        return None
