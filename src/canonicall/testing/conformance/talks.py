"""Conversations that every provider has to be sent somehow: healthy ones, and all that goes wrong.

They are fixed, so that two runs show the same. `TOOLS` are what is offered beside them.
"""

from collections.abc import Sequence
from typing import TypeAlias

from canonicall.blocks import (
    CallClosed,
    Entry,
    Media,
    Message,
    Opaque,
    Origin,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from canonicall.outcome import Outcome
from canonicall.request import Tool

Talk: TypeAlias = tuple[Entry, ...]

_ARGS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_NAMES = ("weather", "time", "files.read", "läs fil", "n" * 140)
TOOLS = tuple(Tool(name, "Tells something about a city.", _ARGS) for name in _NAMES)

_PICTURE = Media(media_type="image/png", data="aGk=")
_PAPER = Media(media_type="application/pdf", data="cGFwZXI=")
_CLAUDE = Origin("anthropic", "anthropic", model="claude-sonnet-4-5")
_GEMINI = Origin("gemini", "gemini", model="gemini-3-pro-preview")
_KIMI = Origin("kimi", "openai-chat", model="kimi-k2-thinking")


def _user(*said: str | Media) -> Message:
    return Message("user", tuple(Text(text=one) if isinstance(one, str) else one for one in said))


def _told(text: str, role: str = "system") -> Message:
    return Message("developer" if role == "developer" else "system", (Text(text=text),))


def _said(*blocks: str | Thinking | ToolCall, origin: Origin | None = None) -> Message:
    made = tuple(Text(text=one) if isinstance(one, str) else one for one in blocks)
    return Message("assistant", made, origin=origin)


def _call(id: str, name: str = "weather", **args: object) -> ToolCall:
    return ToolCall(id=id, name=name, args=args or {"city": "Paris"})


def _result(id: str, *content: str | Media, error: bool = False) -> Message:
    blocks = tuple(Text(text=one) if isinstance(one, str) else one for one in content)
    return Message("tool", (ToolResult(call_id=id, content=blocks, error=error),))


def _thought(text: str, *seals: Opaque) -> Thinking:
    return Thinking(text=text, opaque=seals)


def _turns(ids: Sequence[str], name: str = "weather") -> Talk:
    """One question, call and result for each id."""
    made = ((_user("And now?"), _said(_call(id, name)), _result(id, "Sunny.")) for id in ids)
    return tuple(entry for turn in made for entry in turn)


_ASKED = _user("What is the weather in Paris?")
_SEALED = Opaque(domain="anthropic", kind="signature", value="c2lnbmVk")
_SIGNED = Opaque(domain="gemini-api", kind="signature", value="c2lnbmVk")

TALKS: dict[str, Talk] = {
    "empty": (),
    "words": (_user("Hello."), _said("Hello to you."), _user("How are you?")),
    "instructions": (_told("Be brief."), _told("Be kind.", "developer"), _ASKED),
    "later instructions": (_ASKED, _said("Sunny."), _told("Be brief."), _user("And now?")),
    "one call": (_ASKED, _said("I look.", _call("call_1")), _result("call_1", "Sunny.")),
    "parallel calls": (
        _ASKED,
        _said(_call("call_1"), _call("call_2", "time"), _call("call_3", city="Oslo")),
        *(_result("call_3", "Cold."), _result("call_1", "Sunny."), _result("call_2", "12:00")),
        *(_said("Sunny."), _user("Thanks.")),
    ),
    "many turns": _turns(["call_1", "call_2", "call_3", "call_4"]),
    "cancelled": (
        *(_ASKED, _said(_call("call_1"), _call("call_2", "time")), _result("call_1", "Sunny.")),
        *(CallClosed("call_2", Outcome.UNKNOWN, "Stopped."), _user("Go on.")),
    ),
    "open call": (_ASKED, _said(_call("call_1"))),
    "user went on": (_ASKED, _said(_call("call_1")), _user("Never mind.")),
    "late result": (
        *(_ASKED, _said(_call("call_1")), _user("Well?"), _said("I wait.")),
        *(_result("call_1", "Sunny."), _user("At last.")),
    ),
    "orphan result": (_ASKED, _result("call_9", "Of nothing."), _user("Well?")),
    "two results": (_ASKED, _said(_call("call_1")), _result("call_1", "A"), _result("call_1", "B")),
    "failed": (_ASKED, _said(_call("call_1")), _result("call_1", "No network.", error=True)),
    "empty result": (_ASKED, _said(_call("call_1")), _result("call_1"), _user("Well?")),
    "ids used again": _turns(["call_1"] * 3),
    "no ids": (_ASKED, _said(_call(""), _call("", "time")), _result("", "A"), _result("", "B")),
    "odd ids": _turns(["functions.weather:0", "toolu_01a", "é ü/?", "x" * 300, "hist_tool_x"]),
    "odd names": tuple(
        entry for at, name in enumerate(_NAMES) for entry in _turns([f"call_{at}"], name)
    ),
    "no name": (_ASKED, _said(ToolCall(id="call_1", name="", args={})), _result("call_1", "A")),
    "bad arguments": (
        _ASKED,
        _said(*(ToolCall(id=raw, name="weather", raw=raw) for raw in ('{"city": ', "[1]", ""))),
    ),
    "free text": (
        *(_ASKED, _said(ToolCall(id="call_1", name="shell", raw="date -u", kind="custom"))),
        _result("call_1", "Tuesday"),
    ),
    "thoughts": (
        *(_ASKED, _said(_thought("I look.", _SEALED), _call("toolu_1"), origin=_CLAUDE)),
        *(_result("toolu_1", "Sunny."), _said(_thought("Aha."), "Sunny.", origin=_KIMI)),
        *(_user("Go on."), _said(_thought("Hm.", _SIGNED), _call("call_2"), origin=_GEMINI)),
        _result("call_2", "Sunny."),
    ),
    "only a thought": (_ASKED, _said(_thought("I wonder.")), _user("Well?")),
    "media": (
        *(_user("Look.", _PICTURE, _PAPER), _said(_call("call_1"))),
        *(_result("call_1", "A map.", _PICTURE), _user(_PAPER)),
    ),
    "blank words": (_user("", " \n"), _said("", _call("call_1")), _result("call_1", " ")),
    "reply first": (_said("Hello."), _user("Hello."), _user("Are you there?"), _said("Yes.")),
    "cut reply": (
        _ASKED,
        Message("assistant", (Text(text="The weather"),), partial=True),
        _user("Go on."),
    ),
    "summary": (Message("user", (Summary(text="They spoke of Paris.", covers=9),)), _ASKED),
    "letters": (_user("\U0001f438 \x00 \u2028 日本 \ud800"), _said('{"a": "\\"}'), _user("</x>")),
}
"""By what is special about them."""
