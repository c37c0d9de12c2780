"""What was asked and decided about calls, in words for people."""

import msgspec

from canonicall.decisions import CallAsked, CallDecided, Record, Rule, UserWentOn

_WAITS_FOR = {"approval": "an approval", "external": "a result from outside"}


def in_words(record: Record) -> str:
    """One sentence for a record."""
    if isinstance(record, CallAsked):
        return f"a call waits for {_WAITS_FOR[record.what]}"
    if isinstance(record, UserWentOn):
        ended = "went on waiting" if record.policy == "wait" else "were given up"
        return f"the user went on; calls that waited {ended}"
    return decision_in_words(record)


def decision_in_words(record: CallDecided) -> str:
    """What was decided, for which calls, by whom and why."""
    words = "allowed" if record.decision == "allow" else "denied"
    if record.args is not None:
        words += f" with {msgspec.json.encode(record.args).decode()}"
    if record.scope != "once" and record.rule is not None:
        words += f" from now on: {rule_in_words(record.rule)}"
    if record.by == "rule" and record.rule is not None:
        words += f" by the rule {rule_in_words(record.rule)}"
    elif record.by:
        words += f" by {record.by}"
    return f"{words}: {record.reason}" if record.reason else words


def rule_in_words(rule: Rule) -> str:
    """A rule as it can be typed: the tool, and what its arguments have to be."""
    if not rule.arguments:
        return rule.tool
    return f"{rule.tool} {msgspec.json.encode(rule.arguments).decode()}"
