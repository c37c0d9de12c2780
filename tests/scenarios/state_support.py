"""Calls for the tests of the stored state, and what the ledger knows of them."""

from canonicall import Origin, ToolCall

KIMI = Origin("kimi", model="kimi-k2")


def call(id="", name="read_file", **args):
    return ToolCall(id=id, name=name, args=args)


def answers(conversation):
    """What each call was answered with, in call order."""
    return [one.result and one.result.text for one in conversation.ledger.values()]


def outcomes(conversation):
    return [one.outcome for one in conversation.ledger.values()]


def codes(appended):
    return [finding.code for finding in appended.findings]
