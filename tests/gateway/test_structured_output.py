"""Clients of the official SDKs ask for a reply of a certain form, from backs that speak otherwise."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from canonicall.testing.server import serve
from gateway_support import World
from sdk_fronts import FRONTS

pydantic = pytest.importorskip("pydantic", reason="the SDKs bring it")


class Place(pydantic.BaseModel):
    """Where somebody is."""

    city: str
    days: int


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
QUESTION = "I am in Lisbon for 3 days."
ANSWER = Place(city="Lisbon", days=3)


def converse_schema(body: dict[str, Any]) -> Any:
    return json.loads(body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"])


BACKS = {
    "openai:gpt-5": lambda body: body["response_format"]["json_schema"]["schema"],
    "openai/openai-responses:gpt-5": lambda body: body["text"]["format"]["schema"],
    "anthropic:claude-sonnet-4-5": lambda body: body["output_config"]["format"]["schema"],
    "gemini:gemini-3-pro": lambda body: body["generationConfig"]["responseJsonSchema"],
    "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0": converse_schema,
    "cohere:command-a": lambda body: body["response_format"]["json_schema"],
    "ollama/ollama:qwen3": lambda body: body["format"],
    "mistral:mistral-large": lambda body: body["response_format"]["json_schema"]["schema"],
}
"""Where each back has the schema."""


class Served:
    """A gateway on a port, a client of each SDK, and what the providers behind it saw."""

    def __init__(self, url: str, world: World) -> None:
        self.world = world
        self.clients = {name: front.connect(url) for name, front in FRONTS.items()}

    def seen(self, back: str) -> dict[str, Any]:
        """The last body that a back was sent; it was accepted."""
        last = self.world.of(back.partition(":")[0].partition("/")[0]).seen[-1]
        assert last.status == 200
        return last.body


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    world = World()
    with serve(world.gateway()) as server:
        made = Served(server.url, world)
        yield made
        for client in made.clients.values():
            client.close()


def saw_the_schema(body: dict[str, Any], back: str) -> bool:
    """Whether the back got a schema that says the same, in the place where it reads one."""
    schema = BACKS[back](body)
    fields = {name: one["type"] for name, one in schema["properties"].items()}
    return fields == {"city": "string", "days": "integer"} and {*schema["required"]} == {*fields}


@pytest.mark.parametrize("back", BACKS)
def test_a_chat_client_gets_a_parsed_reply(served: Served, back: str) -> None:
    completion = served.clients["chat"].chat.completions.parse(
        model=back,
        messages=[{"role": "user", "content": QUESTION}],
        response_format=Place,
    )
    assert completion.choices[0].message.parsed == ANSWER
    assert saw_the_schema(served.seen(back), back)


@pytest.mark.parametrize("back", ["anthropic:claude-sonnet-4-5", "gemini:gemini-3-pro"])
def test_a_chat_client_gets_a_parsed_stream(served: Served, back: str) -> None:
    with served.clients["chat"].chat.completions.stream(
        model=back,
        messages=[{"role": "user", "content": QUESTION}],
        response_format=Place,
    ) as stream:
        assert stream.get_final_completion().choices[0].message.parsed == ANSWER
    assert saw_the_schema(served.seen(back), back)


@pytest.mark.parametrize("back", BACKS)
def test_a_client_of_responses_gets_a_parsed_reply(served: Served, back: str) -> None:
    client = served.clients["responses"]
    response = client.responses.parse(model=back, input=QUESTION, text_format=Place)
    assert response.output_parsed == ANSWER
    assert saw_the_schema(served.seen(back), back)


@pytest.mark.parametrize("back", BACKS)
def test_a_client_of_messages_gets_json_by_its_schema(served: Served, back: str) -> None:
    message = served.clients["messages"].messages.create(
        model=back,
        max_tokens=100,
        messages=[{"role": "user", "content": QUESTION}],
        output_config={"format": {"type": "json_schema", "schema": SCHEMA}},
    )
    assert Place.model_validate_json(message.content[0].text) == ANSWER
    assert saw_the_schema(served.seen(back), back)


@pytest.mark.parametrize("back", [one for one in BACKS if not one.startswith("gemini")])
def test_a_client_of_gemini_gets_json_by_its_schema(served: Served, back: str) -> None:
    reply = served.clients["gemini"].models.generate_content(
        model=back,
        contents=QUESTION,
        config={"response_mime_type": "application/json", "response_schema": Place},
    )
    assert reply.parsed == ANSWER
    assert saw_the_schema(served.seen(back), back)


def test_a_host_that_knows_no_schema_is_asked_for_an_object(served: Served) -> None:
    back = "deepseek:deepseek-chat"
    completion = served.clients["chat"].chat.completions.create(
        model=back,
        messages=[{"role": "user", "content": f"{QUESTION} Answer in JSON."}],
        response_format={"type": "json_schema", "json_schema": {"name": "p", "schema": SCHEMA}},
    )
    assert isinstance(json.loads(completion.choices[0].message.content), dict)
    assert served.seen(back)["response_format"] == {"type": "json_object"}
