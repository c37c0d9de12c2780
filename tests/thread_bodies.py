"""Requests of Anthropic's threads, as its SDK and its clients send them."""

import json
from typing import Any

from gateway_backs import BOTH
from gateway_support import Answer, ask
from sdk_fronts import anthropic

TOOL = {"name": "get_weather", "input_schema": {"type": "object"}}


def known(city: str, what: str) -> str:
    return f"{what} of {city}"


def tools() -> list[Any]:
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return known(city, "get_weather")

    def local_time(city: str) -> str:
        """The local time in a city."""
        return known(city, "local_time")

    return [anthropic.beta_tool(get_weather), anthropic.beta_tool(local_time)]


def run(client: Any, model: str, *, streamed: bool, **more: Any) -> Any:
    runner = client.beta.messages.tool_runner(
        model=model,
        max_tokens=4000,
        system="Be brief.",
        tools=tools(),
        messages=[{"role": "user", "content": BOTH}],
        stream=streamed,
        **more,
    )
    return runner.until_done()


def text_of(message: Any) -> str:
    return "".join(one.text for one in message.content if one.type == "text")


def body_of(model: str, **more: Any) -> dict[str, Any]:
    user = {"role": "user", "content": BOTH}
    tools = [{**TOOL, "name": name} for name in ("get_weather", "local_time")]
    body = {"model": model, "max_tokens": 4000, "messages": [user], "tools": tools}
    return body | {"system": "Be brief.", "thread": {"type": "create"}} | more


def next_of(model: str, id: str, *messages: Any, **more: Any) -> dict[str, Any]:
    thread = {"type": "continue", "previous_message_id": id}
    return {"model": model, "max_tokens": 4000, "messages": list(messages), "thread": thread} | more


def results_of(message: dict[str, Any], text: str = "") -> dict[str, Any]:
    calls = [one for one in message["content"] if one["type"] == "tool_use"]
    return {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": one["id"],
                "content": text or known(one["input"]["city"], one["name"]),
            }
            for one in calls
        ],
    }


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def post(gateway: Any, body: dict[str, Any], **more: Any) -> Answer:
    return await ask(gateway, "/v1/messages", body, **more)


def said(answer: Answer) -> str:
    assert answer.status == 200, answer.body
    if answer.body.startswith(b"{"):
        return "".join(one.get("text", "") for one in answer.json["content"])
    events = [json.loads(line[6:]) for line in answer.body.splitlines() if line[:6] == b"data: "]
    return "".join(one.get("delta", {}).get("text", "") for one in events)


def details(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = answer.json["error"].get("details", {})
    return found
