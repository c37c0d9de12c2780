"""Each code of the gateway's table in docs/findings.md is provoked: what is done is what it says."""

import pytest
from msgspec.structs import replace

from canonicall.blocks import Text, ToolCall
from finding_codes import ABOUT_GATEWAY, documented
from gateway_faults import BACKS, BROKEN, CALLS, FRONTS, Faulty, Play, Upstream, said, stream_of

_WORDS = stream_of(said(Text(text="Let me see.")), "openai-chat")
_CALL = stream_of(said(CALLS[0]), "anthropic")
_PATCH = ToolCall(id="call_1", name="apply_patch", args={"input": "a", "why": "b"})
_TEXTS = {"type": "custom", "name": "apply_patch"}
_UNFIT = ToolCall(id="call_1", name="get_weather", args={"city": ["Paris"]})

PROVOKED: dict[str, tuple[str, list[Play]]] = {
    "arguments_beside_text": (
        "anthropic",
        [Play.stream("anthropic", stream_of(said(_PATCH), "anthropic"))],
    ),
    "arguments_unfit": (
        "anthropic",
        [Play.stream("anthropic", stream_of(said(_UNFIT), "anthropic"))],
    ),
    "input_truncated": (
        "anthropic",
        [
            Play.json(b'{"error":{"message":"prompt is too long: 9 tokens > 5 maximum"}}', 400),
            Play.stream("anthropic", stream_of(said(Text(text="Yes.")), "anthropic")),
        ],
    ),
    "reply_not_stored": ("openai-chat", [Play.stream("openai-chat", _WORDS)]),
    "stream_continued": (
        "openai-chat",
        [
            Play.stream("openai-chat", _WORDS[: _WORDS.index(b"stop") - 40], BROKEN),
            Play.stream("openai-chat", _WORDS),
        ],
    ),
    "stream_ended_early": (
        "anthropic",
        [Play.stream("anthropic", _CALL[: _CALL.index(b"event: message_delta")], BROKEN)],
    ),
}


def test_there_is_a_way_to_provoke_every_code() -> None:
    assert set(PROVOKED) == set(documented(ABOUT_GATEWAY))


@pytest.mark.parametrize("code", PROVOKED)
async def test_the_page_says_what_is_done(code: str) -> None:
    """The actions in the table are those that are in the report of the request."""
    back, plays = PROVOKED[code]
    world = Faulty(Upstream(*plays), BACKS[back], goes_on=True)
    if code == "reply_not_stored":
        await world.gateway.keeping.database.read("PRAGMA query_only=1")
    front = FRONTS["openai-responses"]
    tools = [*front.body["tools"], _TEXTS]
    input = [{"role": "user", "content": "Hello."}, *front.body["input"]]
    more = {"tools": tools, "input": input, "truncation": "auto", "store": True}
    front = replace(front, body=front.body | more)
    report = await world.report(await world.ask(front))
    done = {
        one["action"] for one in (*report["request"], *report["response"]) if one["code"] == code
    }
    assert done == documented(ABOUT_GATEWAY)[code]
