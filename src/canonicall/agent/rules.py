"""Decisions that stand: which calls a rule means, and what was decided about them before.

What is in force follows from the log alone, so it is the same after a restart and in a fork. Of
several decisions that mean a call, the last one counts.

A rule compares text and does not understand it, so what it allows is kept narrow: its wildcards
stay within one command and below one folder, they stand for no option that runs a program or writes
a file (`program_options`), and a call that was read from text is allowed only by a rule that says
so, because somebody else may have written that text. What it denies is not kept narrow: a denial
that missed its call would leave it to what was allowed before.
"""

import re
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from canonicall.agent.program_options import risky_options
from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.conversation import Conversation
from canonicall.decisions import CallDecided, Rule, Verdict, is_standing

_WILDCARD = re.compile(r"\[([^!\]])\]|[*?]|\[!?+\]?+[^\]]*\]")
"""As `fnmatch` has them. One character in brackets is that character, and is kept."""

_EDGE = r"/\\\s\"'=:,?#;&|<>`$()"
"""What a segment of a path can stand between, in a path, a URL or a command."""
_BEYOND = re.compile(
    # What begins another command, or names a file, in the shells of Unix and Windows. Not only
    # `$(`: fish runs what is in parentheses alone, and bash what `${x@P}` makes of its value
    # (github.com/QwenLM/qwen-code/issues/8582).
    r"[;&|<>`$()]"
    # All that any reader takes for the end of a line, as `str.splitlines` has them.
    r"|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]"
    # The folder above as a segment of a path, also in the spelling of URLs
    # (https://url.spec.whatwg.org/#double-dot-path-segment).
    rf"|(?:(?<![^{_EDGE}])|(?<=%2f)|(?<=%5c))(?:\.|%2e){{2}}(?=[{_EDGE}]|%2f|%5c|\Z)",
    re.IGNORECASE,
)
"""What a wildcard that allows does not match."""


def rule_for(call: ToolCall) -> Rule:
    """The rule that means every call of this call's tool, and of no other."""
    return Rule(_exactly(call.name), recovered=call.recovered)


def rule_like(call: ToolCall) -> Rule:
    """The rule that means every call with the tool and the arguments of this one."""
    arguments = {
        name: _exactly(value) if isinstance(value, str) else value
        for name, value in arguments_of(call).items()
    }
    return Rule(_exactly(call.name), arguments, recovered=call.recovered)


def _exactly(text: str) -> str:
    """The glob that means this text and no other."""
    return re.sub(r"([*?\[])", r"[\1]", text)


def means(rule: Rule, call: ToolCall, decision: Verdict) -> bool:
    """Whether `call` is one of those that `rule` is about, where that was decided about them."""
    if not fnmatchcase(call.name, rule.tool):
        return False
    if call.recovered and decision == "allow" and not rule.recovered:
        return False
    given = arguments_of(call)
    return all(
        name in given and _is_as_wanted(given[name], wanted, decision)
        for name, wanted in rule.arguments.items()
    )


def _is_as_wanted(given: Any, wanted: Any, decision: Verdict) -> bool:
    if isinstance(wanted, str):
        return (
            isinstance(given, str)
            and fnmatchcase(given, wanted)
            and (decision == "deny" or not _reaches_beyond(given, wanted))
        )
    # As JSON: to Python, true is 1.
    return _as_json(given) == _as_json(wanted)


def _reaches_beyond(text: str, pattern: str) -> bool:
    """Whether a wildcard of `pattern`, which matches `text`, stands for what it must not.

    Whatever is written out in the pattern is in the text too, so there is one more of them in the
    text exactly where a wildcard stands for it.
    """
    written_out = _WILDCARD.sub(lambda found: found[1] or "x", pattern)
    return len(_BEYOND.findall(text)) > len(_BEYOND.findall(written_out)) or len(
        risky_options(text)
    ) > len(risky_options(written_out))


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
            if decision.rule is not None and means(decision.rule, call, decision.decision):
                return decision
        return None
