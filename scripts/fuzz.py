"""A campaign of damaged input at every door: `python -m scripts.fuzz --cases 20000 --seed 1`.

Each case is one input that is good, made from samples or recorded (where `CANONICALL_CORPUS` is
set), and damaged: as bytes, as JSON, or as a sequence of lines and events. The doors:

- `stream`: a stream of any format, cut at random places, read and written again in another format;
- `reply`: a whole reply, read and written again in another format;
- `request`: the body of a request, read as a front door reads it;
- `session`: a session file of a coding agent, or another document, read and repaired;
- `settings`: the configuration file of a gateway.

Counted are, by door, format and what went wrong, each with an example:

- `error`: an exception that is no `CanonicallError`;
- `ending`: a stream that was written for a damaged one, and has no end that its clients know.

Case `n` of a seed is the same whatever else is run: `--seed 1 --start n --cases 1` is that case
alone. The exit code is 1 where anything is counted.
"""

import argparse
import copy
import json
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import msgspec

from canonicall import (
    CanonicallError,
    Message,
    Reply,
    StreamDecoder,
    StreamEncoder,
    Text,
    Thinking,
    ToolCall,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    fold,
    verify_stream,
)
from canonicall.facts.target import FORMATS
from canonicall.folding import events_of
from canonicall.gateway.config import ServerSettings, read_settings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.reading import mended_body
from canonicall.importing.documents import kind_of, read_document
from canonicall.reply import Usage
from scripts.golden.inputs import InputsMissing, recordings

_TESTS = Path(__file__).resolve().parents[1] / "tests"
_RECORDED = 600
"""Recordings that are used, evenly spread."""
_NESTED: Any = "x"
for _ in range(150):
    _NESTED = [_NESTED]
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e308, 2**63, 2**70, "", " ", "\x00", "x", "x" * 300),
    *("\ud83d\ude00", "assistant", "tool", "completed", "in_progress", "stop", "length", "null"),
    *([], {}, [[]], [None], [{}], {"": ""}, {"type": None}, {"type": "text"}, [1, "a", None, {}]),
    *({"type": {"type": {}}}, [{"type": []}], {"role": "user"}, "{", '{"a":', "[1]", "7", _NESTED),
)
"""What takes the place of something else."""
_BYTES = (
    *(b"NaN", b"1e999", b"9" * 400, b'"\\ud800"', b'"\xff\xfe"', b"undefined", b"\x00", b"\n\n"),
    *(b"[" * 2000, b'{"a":' * 500, b"data:", b"event: error\n", b"[DONE]", b"\r", b"\xef\xbb\xbf"),
)


_ENDINGS = {"unknown_event", "stream_not_ended"}


class Case(NamedTuple):
    """One input at one door."""

    door: str
    format: str
    data: bytes


Door: TypeAlias = Callable[[Case, Random], str]
"""Gives what went wrong beside exceptions; empty where nothing did."""


def _reply() -> Reply:
    call = ToolCall(id="call_1", name="get_weather", args={"a": 1.5}, raw='{"a":1.5}')
    other = ToolCall(id="call_2", name="look", args={"b": ["x"]}, raw='{"b":["x"]}')
    blocks = (Thinking(text="Let me see."), Text(text="Well, 5 < 6."), call, other)
    return Reply(
        Message("assistant", blocks, finish="tool_calls"), Usage(input_tokens=3, output_tokens=4)
    )


_SETTINGS = b"""
server: {port: 8401, workers: 2, open: false}
providers:
  openai: {key: "${OPENAI_API_KEY:-sk-1}", base_url: "https://api.openai.com/v1"}
  mine:
    {profile: generic, base_url: "http://127.0.0.1:1/v1", headers: {x-a: b}, timeouts: {total: 5}}
models:
  fast: [openai:gpt-5, "mine:m"]
  best: {choices: [{target: "openai:gpt-5", weight: 2}], fallbacks: ["mine:m"]}
keys:
  desk: {hash: "sha256:%s", models: [fast], expires: 2027-01-31}
prompts: {p: {messages: [{role: user, content: "Hi {{name}}"}]}}
replies: {events: 100}
store: {path: "", days: 3}
""" % (b"a" * 64)
_TOML = b"""
profiles = []
[server]
port = 8401
[providers.openai]
keys = ["a", "b"]
[models]
fast = "openai:gpt-5"
[keys.desk]
hash = "sha256:%s"
expires = 2027-01-31
""" % (b"b" * 64)


@cache
def samples() -> tuple[Case, ...]:
    """All inputs that are good."""
    made = [Case("settings", "a.yaml", _SETTINGS), Case("settings", "a.toml", _TOML)]
    reply = _reply()
    request = _weather_request()
    for format in FORMATS:
        stream = StreamEncoder(format, seed="s").feed_all(events_of(reply))
        body = msgspec.json.encode(encode_response(reply, format))
        asked = encode_request(request, format).data
        made += [Case("stream", format, stream)] * 6 + [Case("reply", format, body)] * 4
        made += [Case("request", format, asked)] * 4
    sys.path.append(str(_TESTS))
    for agent in import_module("importing.session_files").AGENTS.values():
        made.append(Case("session", "auto", agent.session()))
        made.append(Case("session", agent.name, agent.session(interrupted=True)))
    return (*made, *_recorded())


def _weather_request() -> Any:
    return decode_request(
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "The weather?"}]},
                {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "get_weather", "arguments": '{"city":"Rome"}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
                {"role": "user", "content": "And tomorrow?"},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {"name": "get_weather", "parameters": {"type": "object"}},
                }
            ],
        },
        "openai-chat",
    )


def _recorded() -> list[Case]:
    try:
        found = [one for one in recordings(_RECORDED) if one.format]
    except InputsMissing:
        return []
    made = []
    for one in found:
        if one.stream is not None:
            made.append(Case("stream", one.format, one.stream[:60_000]))
        elif one.response is not None:
            made.append(Case("reply", one.format, json.dumps(one.response).encode()[:60_000]))
        if one.request is not None:
            made.append(Case("request", one.format, json.dumps(one.request).encode()[:60_000]))
    return made


def damaged(case: Case, random: Random) -> Case:
    """The case with some damage."""
    data = case.data
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        change = random.choice(_CHANGES)
        data = change(data, random) if data else random.randbytes(20)
    return case._replace(data=data)


def _flip(data: bytes, random: Random) -> bytes:
    made = bytearray(data)
    for _ in range(random.randrange(1, 6)):
        made[random.randrange(len(made))] = random.randrange(256)
    return bytes(made)


def _cut(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] if random.random() < 0.5 else data[at:]


def _splice(data: bytes, random: Random) -> bytes:
    """A part of it again, or gone, or something foreign in its place."""
    start = random.randrange(len(data))
    end = min(len(data), start + random.randrange(1, 200))
    put = random.choice((b"", data[start:end] * 2, random.choice(_BYTES)))
    return data[:start] + put + data[end:]


def _lines(data: bytes, random: Random) -> bytes:
    """Lines or events dropped, repeated, in another order."""
    end = b"\n\n" if b"\n\n" in data else b"\n"
    lines = data.split(end)
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(3):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case _:
            lines[at], lines[other] = lines[other], lines[at]
    return end.join(lines)


def _value(data: bytes, random: Random) -> bytes:
    """A value of one JSON object in it is another."""
    places = [at for at in range(len(data)) if data[at : at + 1] == b"{"]
    if not places:
        return _flip(data, random)
    # Objects on lines of their own first: they are the messages.
    starts = [at for at in places if at == 0 or data[at - 1 : at] in (b"\n", b" ")] or places
    at = random.choice(starts)
    try:
        value, end = json.JSONDecoder().raw_decode(data[at:].decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return _splice(data, random)
    size = len(
        data[at:].decode("utf-8", "surrogateescape")[:end].encode("utf-8", "surrogateescape")
    )
    _change(value, random)
    text = json.dumps(value).encode()
    return data[:at] + text + data[at + size :]


def _change(value: Any, random: Random) -> None:
    places = list(_places(value))
    if not places:
        return
    holder, key = random.choice(places)
    what = random.randrange(6)
    if what < 4:
        holder[key] = copy.deepcopy(random.choice(_VALUES))
    elif what == 4:
        del holder[key]
    elif isinstance(holder, dict):
        holder[random.choice(("type", "role", "content", "", "index"))] = holder.pop(key)
    else:
        holder.insert(random.randrange(len(holder) + 1), copy.deepcopy(holder[key]))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        for key, inner in list(one.items() if isinstance(one, dict) else enumerate(one)):
            yield one, key
            if isinstance(inner, dict | list):
                waiting.append(inner)


_CHANGES = (_value, _value, _value, _value, _flip, _cut, _splice, _lines)


def _at_stream(case: Case, random: Random) -> str:
    decoder = StreamDecoder(case.format)
    events = []
    at = 0
    while at < len(case.data):
        end = at + random.choice((1, 7, 100, 5000))
        events += decoder.feed(case.data[at:end])
        at = end
    events += decoder.close()
    fold(events)
    format = random.choice(list(FORMATS))
    written = StreamEncoder(format).feed_all(events)
    return _ending(written, format)


def _ending(written: bytes, format: str) -> str:
    """Why clients of a format would not see that a stream ends. What else is wrong in it may be
    what the damaged input says: it is passed on, with a finding."""
    codes = {one.code for one in verify_stream(written, format)}
    # Figures of a provider go back to its format as they came, damaged or not.
    return "" if "frame_malformed" in codes else " ".join(sorted(codes & _ENDINGS))


def _at_reply(case: Case, random: Random) -> str:
    reply = decode_response(case.data, case.format)
    format = random.choice(list(FORMATS))
    msgspec.json.encode(encode_response(reply, format))
    written = StreamEncoder(format).feed_all(events_of(reply))
    return _ending(written, format)


def _at_request(case: Case, random: Random) -> str:
    try:
        body, _, _ = mended_body(case.data, ServerSettings(), strict=False)
    except Refused:
        return ""
    request = decode_request(body, case.format)
    encode_request(request, random.choice(list(FORMATS)))
    return ""


def _at_session(case: Case, random: Random) -> str:
    kind = kind_of(case.data, case.format)
    document = read_document(case.data, case.format)
    if kind.write_back is not None:
        kind.write_back(case.data)
    encode_request(document.request, random.choice(list(FORMATS)))
    return ""


def _at_settings(case: Case, random: Random) -> str:
    del random
    read_settings(case.data, case.format, {"OPENAI_API_KEY": "sk-1"})
    return ""


DOORS: dict[str, Door] = {
    "stream": _at_stream,
    "reply": _at_reply,
    "request": _at_request,
    "session": _at_session,
    "settings": _at_settings,
}


def case_of(seed: int, number: int) -> tuple[Case, Random]:
    """Case `number` of a seed, and the random numbers that go on with it."""
    random = Random(f"{seed}:{number}")  # noqa: S311  the same again for the same seed
    door = random.choice(list(DOORS))
    fitting = [one for one in samples() if one.door == door]
    return damaged(random.choice(fitting), random), random


def failure_of(case: Case, random: Random) -> str:
    """What went wrong with a case; empty where nothing did."""
    try:
        wrong = DOORS[case.door](case, random)
    except (CanonicallError, Refused):
        return ""
    except Exception as error:  # noqa: BLE001  that is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"error: {type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
    return f"ending: {wrong}" if wrong else ""


def main() -> int:
    """Run the campaign that the command line asks for."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--cases", type=int, default=20_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--start", type=int, default=0)
    arguments.add_argument("--show", action="store_true", help="print the input of each failure")
    given = arguments.parse_args()
    counted: Counter[str] = Counter()
    doors: Counter[str] = Counter()
    examples: dict[str, int] = {}
    for number in range(given.start, given.start + given.cases):
        case, random = case_of(given.seed, number)
        doors[case.door] += 1
        wrong = failure_of(case, random)
        if wrong:
            group = f"{case.door} {case.format} {wrong}"
            counted[group] += 1
            examples.setdefault(group, number)
            if given.show:
                sys.stdout.write(f"{number}: {group}\n{case.data!r}\n")
    told = ", ".join(f"{door} {count:,}" for door, count in sorted(doors.items()))
    sys.stdout.write(f"seed {given.seed}: {given.cases:,} cases ({told})\n")
    for group, count in counted.most_common():
        sys.stdout.write(f"{count:6} {group} (case {examples[group]})\n")
    return 1 if counted else 0


if __name__ == "__main__":
    sys.exit(main())
