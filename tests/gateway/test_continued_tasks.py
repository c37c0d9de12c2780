"""A tool task of four turns that OpenAI's SDK continues by reference: each turn after a restart, the
third with another provider, with a fork in the middle, and with another key that finds nothing."""

from pathlib import Path
from typing import Any

import pytest

from canonicall.gateway.config import KeySettings, StoreSettings
from canonicall.gateway.governance.keys import hash_of
from canonicall.testing.server import serve
from gateway.test_conversations import FAMILIES, outputs, respond
from gateway_backs import BOTH, MORE, models, thinking_world
from sdk_fronts import openai

pytestmark = pytest.mark.deep
KEYS = {name: KeySettings(hash=hash_of(f"key of {name}")) for name in ("desk", "other")}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kept", ["conversation", "previous_response_id"])
@pytest.mark.parametrize("model", FAMILIES)
def test_a_task_of_four_turns(tmp_path: Path, model: str, kept: str, streamed: bool) -> None:
    world, store = thinking_world(), StoreSettings(path=str(tmp_path / "store.db"))
    other = FAMILIES[FAMILIES.index(model) - 1]
    clients = {
        name: openai.OpenAI(base_url="http://later", api_key=f"key of {name}", max_retries=0)
        for name in KEYS
    }

    def turn(model: str, given: Any, key: str = "desk", **before: Any) -> Any:
        with serve(world.gateway(models(), store=store, keys=KEYS)) as server:
            client = clients[key]
            client.base_url = f"{server.url}/v1"
            if before == {"conversation": ""}:
                before["conversation"] = client.conversations.create().id
                made.append(before["conversation"])
            return respond(client, streamed=streamed, model=model, input=given, **before)

    made: list[str] = []

    def after(response: Any) -> dict[str, Any]:
        return {"conversation": made[0]} if made else {"previous_response_id": response.id}

    first = turn(model, BOTH, **({"conversation": ""} if kept == "conversation" else {}))
    second = turn(model, outputs(first), **after(first))
    third = turn(other, MORE, **after(second))
    fourth = turn(model, outputs(third), **after(third))
    assert second.output_text == "It is so: get_weather of Paris; local_time of Paris."
    assert fourth.output_text == "It is so: get_weather of Oslo."
    fork = turn(other, "Fork?", previous_response_id=second.id)
    assert fork.output_text == "You said: Fork?"
    last = turn(model, "Main?", **after(fourth))
    assert last.output_text == "You said: Main?"
    with pytest.raises((openai.NotFoundError, openai.BadRequestError), match="not found"):
        turn(model, "Mine?", "other", **after(fourth))
    for client in clients.values():
        client.close()
