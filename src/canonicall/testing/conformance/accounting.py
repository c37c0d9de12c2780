"""Where the text of a model went: what the law that no text is lost counts."""

import re
from functools import cache

from canonicall.blocks import Text, Thinking, ToolCall
from canonicall.findings import Action
from canonicall.reply import Reply
from canonicall.syntax.declaration import Syntax

_MORE = re.compile(r"and (\d+) more characters")


def lost_words(words: tuple[str, ...], reply: Reply) -> list[str]:
    """The words that are nowhere: neither said, thought or called, nor named by a finding.

    A finding shows the beginning of what was left out and counts the rest: so many are not lost.
    """
    there = _all_of(reply)
    missing = [word for word in words if word not in there]
    counted = sum(int(found[1]) for found in _MORE.finditer(there))
    # The last word that is shown may be shown in part.
    shown_in_part = len(_MORE.findall(there)) * max(map(len, words), default=0)
    return missing if sum(map(len, missing)) > counted + shown_in_part else []


def _all_of(reply: Reply) -> str:
    parts = [finding.why for finding in reply.findings]
    for block in reply.message.blocks:
        match block:
            case Text(text=text) | Thinking(text=text):
                parts.append(text)
            case ToolCall():
                parts += [block.name, block.id, block.raw or ""]
    return " ".join(parts)


def is_all_there(text: str, reply: Reply, syntax: Syntax) -> bool:
    """Whether a reply without calls has every character of the text, in its order.

    Only white space may be missing, and what the syntax declares to say nothing. Where there are
    calls, or something was left out with a finding, the words tell.
    """
    if reply.calls or any(one.action is Action.DROPPED for one in reply.findings):
        return True
    blocks = reply.message.blocks
    said = "".join(one.text for one in blocks if isinstance(one, Text | Thinking))
    return _aligns(text, "".join(said.split()), _silent(syntax))


@cache
def _silent(syntax: Syntax) -> re.Pattern[str]:
    """What means nothing to the reader of the words."""
    marks = {*syntax.noise, *(mark for pair in syntax.thinking for mark in pair)}
    literal = map(re.escape, sorted(marks, key=len, reverse=True))
    return re.compile("|".join((*syntax.frames, *literal)) or r"(?!)")


def _aligns(text: str, said: str, silent: re.Pattern[str]) -> bool:
    """Whether `text` is `said` with silent marks and white space between its characters."""
    todo, seen = [(0, 0)], set()
    while todo:
        at, told = todo.pop()
        if (at, told) in seen:
            continue
        seen.add((at, told))
        if at == len(text):
            if told == len(said):
                return True
            continue
        mark = silent.match(text, at)
        if mark is not None and mark.end() > at:
            todo.append((mark.end(), told))
        if text[at].isspace():
            todo.append((at + 1, told))
        elif told < len(said) and text[at] == said[told]:
            todo.append((at + 1, told + 1))
    return False
