"""Recorded pairs of calls and results, with the ids of the results respelled.

A client or a host that rewrites ids on the way rewrites all of them in the same manner. Each result
must find its own call again or none: a wrong pair is worse than a missing one.
"""

import re
from functools import cache

import pytest
from msgspec.structs import replace

from canonicall import Conversation, Message, ToolCall, ToolResult, decode_request
from corpus.support import FORMATS, every_record, needs_corpus

pytestmark = needs_corpus
PREFIX = re.compile("^(call_|toolu_|tooluse_|fc_)")
SPELLINGS = {
    "as OpenAI": lambda id: "call_" + PREFIX.sub("", id),
    "as Anthropic": lambda id: "toolu_" + PREFIX.sub("", id),
    "as stored": lambda id: "hist_tool_" + PREFIX.sub("", id),
    "bare": lambda id: PREFIX.sub("", id),
    "plain characters": lambda id: re.sub("[^A-Za-z0-9_-]", "_", id),
    "cut at 40": lambda id: id[:40],
    "cut at 64": lambda id: id[:64],
    "blanks": lambda id: f" {id}\n",
    "joined": lambda id: f"{id}|fc_1",
}


@cache
def paired():
    """The entries of recorded conversations as they came, and which entry answers which call."""
    found = []
    for record in every_record():
        format = FORMATS.get(record["protocol"])
        is_accepted = record["request"] and record["status"] == 200
        if not (format and is_accepted and record["has_tool_results"]):
            continue
        conversation = decode_request(record["request"], format).conversation
        if any(one.call.raw_id for one in conversation.ledger.values()):
            entries = [as_it_came(entry) for entry in conversation.entries]
            found.append((record["id"], entries, answered(conversation)))
    assert len(found) > 500
    return found


def as_it_came(entry):
    """An entry without what the conversation found out about it."""
    if not isinstance(entry, Message):
        return entry
    blocks = []
    for block in entry.blocks:
        if isinstance(block, ToolCall):
            blocks.append(replace(block, id=block.raw_id, raw_id=""))
        elif isinstance(block, ToolResult) and block.bound:
            blocks.append(replace(block, call_id=block.raw_id, raw_id="", bound=False))
        else:
            blocks.append(block)
    return replace(entry, blocks=tuple(blocks))


def respelled(entry, spell):
    """An entry whose results name their calls in another spelling."""
    blocks = [
        replace(block, call_id=spell(block.call_id))
        if isinstance(block, ToolResult) and block.call_id
        else block
        for block in entry.blocks
    ]
    return replace(entry, blocks=tuple(blocks))


def answered(conversation):
    """The content that each call got, in call order; None for an open one."""
    return [one.result and one.result.content for one in conversation.ledger.values()]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_result_is_given_to_another_call(spelling):
    found = lost = 0
    wrong = []
    for id, entries, known in paired():
        again = Conversation.of(respelled(entry, SPELLINGS[spelling]) for entry in entries)
        for number, (was, now) in enumerate(zip(known, answered(again), strict=True)):
            if now is None:
                lost += was is not None
            elif now == was:
                found += 1
            else:
                wrong.append((id, number))
    assert wrong == []
    assert found > 20 * lost, f"{found} pairs, {lost} orphans"
