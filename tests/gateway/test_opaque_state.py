"""State that only its issuer can read, on its way through clients of other formats."""

import json
from base64 import b64decode
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.blocks import Opaque, Thinking
from canonicall.codec.decode import decode_request
from canonicall.gateway.opaque import Carried, packed, restored, unpacked
from canonicall.testing.server import serve
from front_bodies import request_of
from gateway_backs import BOTH, MORE, alias, models, thinking_world
from gateway_support import ask
from sdk_fronts import FRONTS

SEAL = "c2ltMX"
"""How the seals of simulators begin."""
SEALED = ("anthropic/anthropic", "bedrock/bedrock", "gemini/gemini", "openai/openai-responses")

texts = st.text(st.characters(exclude_categories=["Cs"]))
carried = st.builds(
    Carried,
    provider=texts,
    model=texts,
    opaque=st.lists(st.builds(Opaque, domain=texts, kind=texts, value=texts), max_size=3).map(
        tuple
    ),
    text=st.none() | texts,
)


@given(carried)
def test_what_is_packed_is_unpacked_in_either_alphabet(one: Carried) -> None:
    text = packed(one)
    assert unpacked(text) == one
    assert b64decode(text, validate=True)
    # google-genai holds signatures as bytes, and writes them for the web.
    assert unpacked(text.translate(str.maketrans("+/", "-_"))) == one
    assert unpacked(text.rstrip("=")) == one


@given(carried, st.data())
def test_damaged_state_is_none_and_raises_nothing(one: Carried, data: st.DataObject) -> None:
    text = packed(one)
    at = data.draw(st.integers(0, len(text)))
    damaged = text[:at] + data.draw(st.text(max_size=3)) + text[at + 1 :]
    found = unpacked(damaged)
    assert found is None or isinstance(found, Carried)


def _pieces(thought: str, cuts: list[int]) -> list[str]:
    edges = [0, *sorted(cut % (len(thought) + 1) for cut in cuts), len(thought)]
    return [thought[begin:end] for begin, end in pairwise(edges)]


@given(texts, st.lists(st.integers(0, 99), max_size=4))
def test_a_thought_that_comes_back_in_pieces_is_one_again(thought: str, cuts: list[int]) -> None:
    signed = Opaque("anthropic", "signature", "c2VhbA==")
    state = packed(Carried("anthropic", "claude", (signed,), thought))
    *before, last = _pieces(thought, cuts)
    parts: list[Any] = [{"text": piece, "thought": True} for piece in before]
    parts.append({"text": last, "thought": True, "thoughtSignature": state})
    parts.append({"functionCall": {"id": "a", "name": "f", "args": {}}})
    said = [{"role": "user", "parts": [{"text": "Go."}]}, {"role": "model", "parts": parts}]
    request = restored(decode_request({"contents": said}, "gemini"), {})
    made = list(request.conversation.messages)[-1]
    thoughts = [block for block in made.blocks if isinstance(block, Thinking)]
    assert [(one.text, one.opaque) for one in thoughts] == [(thought, (signed,))]


@pytest.mark.parametrize("front", [name for name in FRONTS if name != "chained"])
def test_where_the_store_is_lost_every_back_goes_on(front: str) -> None:
    """Two gateways with a store each, one after the other: what the first kept is gone."""
    world = thinking_world()
    connect = FRONTS[front].connect
    with (
        serve(world.gateway(models())) as one,
        serve(world.gateway(models())) as other,
        connect(one.url) as client,
        connect(other.url) as later,
    ):
        for back in SEALED:
            conversing = FRONTS[front](client)
            said = conversing.ask(alias(back), BOTH)
            conversing.client = later
            answer = conversing.answer(alias(back), said, ["one", "two"])
            assert answer.text == "It is so: one; two."
    assert {one.status for sim in world.simulators.values() for one in sim.seen} == {200}


@pytest.mark.parametrize("front", [name for name in FRONTS if name != "chained"])
def test_nothing_of_the_state_is_in_ids(front: str) -> None:
    world = thinking_world()
    with serve(world.gateway(models())) as server, FRONTS[front].connect(server.url) as client:
        for back in SEALED:
            said = FRONTS[front](client).ask(alias(back), BOTH)
            for id, _, _ in said.calls:
                assert len(id or "") <= 40
                assert SEAL not in (id or "")


@pytest.mark.parametrize("format", ["openai-responses", "anthropic", "gemini"])
@pytest.mark.parametrize(
    "back", ["anthropic/anthropic", "gemini/gemini", "openai/openai-responses"]
)
async def test_damaged_state_from_a_client_is_left_out_and_never_an_error(
    format: str, back: str
) -> None:
    world = thinking_world()
    gateway = world.gateway(models())
    state = packed(Carried("anthropic", "claude-opus-5-5", (Opaque("anthropic", "x", "y"),), "T"))
    for damaged in (state[:-9], state[:20] + "AAAA" + state[24:], state[:16], "Y2Fub25pY2FsbDEu"):
        path, body = request_of(format, alias(back), MORE)
        answer = await ask(gateway, path, _with_thought(format, body, damaged))
        assert answer.status == 200, (damaged, answer.body)
        last = world.of(back.partition("/")[0]).seen[-1]
        assert last.status == 200
        assert damaged not in json.dumps(last.body)
    await gateway.close()


def _with_thought(format: str, body: dict[str, Any], state: str) -> dict[str, Any]:
    """`body` with an answer before its question, whose thought has that state."""
    if format == "openai-responses":
        asked = {"role": "user", "content": "Before?"}
        thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": state}
        said = {"type": "message", "role": "assistant", "content": "Yes."}
        again = {"role": "user", "content": body["input"]}
        return {**body, "input": [asked, thought, said, again]}
    if format == "anthropic":
        thinking = {"type": "thinking", "thinking": "T", "signature": state}
        said = {"role": "assistant", "content": [thinking, {"type": "text", "text": "Yes."}]}
        asked = {"role": "user", "content": "Before?"}
        return {**body, "messages": [asked, said, *body["messages"]]}
    parts = [{"text": "T", "thought": True, "thoughtSignature": state}, {"text": "Yes."}]
    before = [
        {"role": "user", "parts": [{"text": "Before?"}]},
        {"role": "model", "parts": parts},
    ]
    return {**body, "contents": [*before, *body["contents"]]}
