"""The official SDKs as clients of the gateway: one class for each front, all with the same verbs.

Each holds a conversation as a program with that SDK does: what came back goes into its history as
the SDK gave it, and nothing else is known to it.
"""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from msgspec import Struct

from judges.sources import MISSING

anthropic = pytest.importorskip("anthropic", reason=MISSING)
genai = pytest.importorskip("google.genai", reason=MISSING)
openai = pytest.importorskip("openai", reason=MISSING)

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = {"get_weather": "The weather in a city.", "local_time": "The local time in a city."}


class Said(Struct, frozen=True):
    """What a model said, in the terms of a program that uses it."""

    text: str
    calls: tuple[tuple[str, str, dict[str, Any]], ...]
    """Id, name and arguments of each."""
    thought: str = ""


class Conversing:
    """A conversation of one SDK; `streamed` may change from turn to turn."""

    format: ClassVar[str]

    def __init__(self, client: Any, *, streamed: bool = False, thinks: bool = True) -> None:
        self.client = client
        self.streamed = streamed
        self.thinks = thinks
        self.more: dict[str, Any] = {}
        """Other fields of its requests: of `config` in Gemini's."""
        self.history: list[Any] = []

    def ask(self, model: str, text: str) -> Said:
        """Say something to the model."""
        self.history.append(self.user(text))
        return self.reply(model)

    def answer(self, model: str, said: Said, results: Sequence[str]) -> Said:
        """Give the results of the calls, in their order."""
        given = zip(said.calls, results, strict=True)
        self.give([(id, name, result) for (id, name, _), result in given])
        return self.reply(model)

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def give(self, results: list[tuple[str, str, str]]) -> None:
        raise NotImplementedError

    def reply(self, model: str) -> Said:
        """Ask for the next turn, and keep it."""
        raise NotImplementedError


class ChatConversing(Conversing):
    """Chat Completions."""

    format = "openai-chat"
    tools: ClassVar[list[Any]] = [
        {"type": "function", "function": {"name": name, "description": what, "parameters": SCHEMA}}
        for name, what in TOOLS.items()
    ]

    @staticmethod
    def connect(url: str, key: str = "any") -> Any:
        return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)

    def give(self, results: list[tuple[str, str, str]]) -> None:
        self.history += [
            {"role": "tool", "tool_call_id": id, "content": text} for id, _, text in results
        ]

    def reply(self, model: str) -> Said:
        asked: dict[str, Any] = {"model": model, "messages": self.history, "tools": self.tools}
        if self.thinks:
            asked["reasoning_effort"] = "low"
        asked |= self.more
        completions = self.client.chat.completions
        if self.streamed:
            with completions.stream(**asked) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = completions.create(**asked).choices[0].message
        # What programs keep of a message: none knows of `reasoning_content`.
        kept: dict[str, Any] = {"role": "assistant", "content": message.content}
        calls = [
            (one.id, one.function.name, json.loads(one.function.arguments))
            for one in message.tool_calls or ()
        ]
        if calls:
            kept["tool_calls"] = [
                {
                    "id": one.id,
                    "type": "function",
                    "function": {"name": one.function.name, "arguments": one.function.arguments},
                }
                for one in message.tool_calls
            ]
        self.history.append(kept)
        thought = getattr(message, "reasoning_content", None) or ""
        return Said(message.content or "", tuple(calls), thought)


class ResponsesConversing(Conversing):
    """Responses, with the whole history in every request and nothing stored."""

    format = "openai-responses"
    tools: ClassVar[list[Any]] = [
        {
            "type": "function",
            "name": name,
            "description": what,
            "parameters": SCHEMA,
            "strict": False,
        }
        for name, what in TOOLS.items()
    ]
    chained: ClassVar[bool] = False
    connect = ChatConversing.connect

    def give(self, results: list[tuple[str, str, str]]) -> None:
        self.history += [
            {"type": "function_call_output", "call_id": id, "output": text}
            for id, _, text in results
        ]

    def reply(self, model: str) -> Said:
        asked: dict[str, Any] = {"model": model, "input": self.history, "tools": self.tools}
        if self.thinks:
            asked["reasoning"] = {"effort": "low", "summary": "auto"}
        return self.kept(self.made({**asked, **self.storage(), **self.more}))

    def storage(self) -> dict[str, Any]:
        return {"store": False, "include": ["reasoning.encrypted_content"]}

    def made(self, asked: dict[str, Any]) -> Any:
        if not self.streamed:
            return self.client.responses.create(**asked)
        with self.client.responses.stream(**asked) as stream:
            return stream.get_final_response()

    def kept(self, response: Any) -> Said:
        self.history += [
            item.model_dump(exclude_none=True, exclude={"parsed_arguments"})
            for item in response.output
        ]
        return responses_said(response)


class ChainedConversing(ResponsesConversing):
    """Responses, with the history at the server: each request names the response before it."""

    chained = True
    last: str = ""

    def storage(self) -> dict[str, Any]:
        return {"previous_response_id": self.last} if self.last else {}

    def kept(self, response: Any) -> Said:
        self.history.clear()
        self.last = response.id
        return responses_said(response)


def responses_said(response: Any) -> Said:
    """What a response says."""
    items = response.output
    calls = tuple(
        (one.call_id, one.name, json.loads(one.arguments))
        for one in items
        if one.type == "function_call"
    )
    thoughts = [part.text for one in items if one.type == "reasoning" for part in one.summary]
    return Said(response.output_text, calls, "".join(thoughts))


class MessagesConversing(Conversing):
    """Anthropic's Messages."""

    format = "anthropic"
    tools: ClassVar[list[Any]] = [
        {"name": name, "description": what, "input_schema": SCHEMA} for name, what in TOOLS.items()
    ]

    @staticmethod
    def connect(url: str, key: str = "any") -> Any:
        return anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)

    def give(self, results: list[tuple[str, str, str]]) -> None:
        blocks = [
            {"type": "tool_result", "tool_use_id": id, "content": text} for id, _, text in results
        ]
        self.history.append({"role": "user", "content": blocks})

    def reply(self, model: str) -> Said:
        asked: dict[str, Any] = {
            "model": model,
            "messages": self.history,
            "tools": self.tools,
            "max_tokens": 4000,
        }
        if self.thinks:
            asked["thinking"] = {"type": "adaptive"}
        asked |= self.more
        if self.streamed:
            with self.client.messages.stream(**asked) as stream:
                message = stream.get_final_message()
        else:
            message = self.client.messages.create(**asked)
        # The SDK's own way to give a message back.
        self.history.append({"role": "assistant", "content": message.content})
        calls = tuple(
            (one.id, one.name, one.input) for one in message.content if one.type == "tool_use"
        )
        text = "".join(one.text for one in message.content if one.type == "text")
        thought = "".join(one.thinking for one in message.content if one.type == "thinking")
        return Said(text, calls, thought)


class GeminiConversing(Conversing):
    """Gemini's generateContent."""

    format = "gemini"
    declared: ClassVar[list[Any]] = [
        {"name": name, "description": what, "parameters_json_schema": SCHEMA}
        for name, what in TOOLS.items()
    ]

    @staticmethod
    def connect(url: str, key: str = "any") -> Any:
        return genai.Client(api_key=key, http_options={"base_url": url})

    def user(self, text: str) -> Any:
        return genai.types.Content(role="user", parts=[genai.types.Part(text=text)])

    def give(self, results: list[tuple[str, str, str]]) -> None:
        made = genai.types
        parts = [
            made.Part(
                function_response=made.FunctionResponse(id=id, name=name, response={"output": text})
            )
            for id, name, text in results
        ]
        self.history.append(made.Content(role="user", parts=parts))

    def reply(self, model: str) -> Said:
        config: dict[str, Any] = {
            "tools": [{"function_declarations": self.declared}],
            "automatic_function_calling": {"disable": True},
        }
        if self.thinks:
            config["thinking_config"] = {"include_thoughts": True, "thinking_level": "low"}
        asked = {"model": model, "contents": self.history, "config": config | self.more}
        models = self.client.models
        if self.streamed:
            chunks = list(models.generate_content_stream(**asked))
            contents = [one.candidates[0].content for one in chunks if one.candidates]
        else:
            contents = [models.generate_content(**asked).candidates[0].content]
        parts = [part for content in contents for part in content.parts or ()]
        self.history.append(genai.types.Content(role="model", parts=parts))
        calls = tuple(
            (one.function_call.id, one.function_call.name, one.function_call.args)
            for one in parts
            if one.function_call
        )
        words = "".join(part.text for part in parts if part.text and not part.thought)
        thought = "".join(part.text for part in parts if part.text and part.thought)
        return Said(words, calls, thought)


FRONTS: dict[str, type[Conversing]] = {
    "chat": ChatConversing,
    "responses": ResponsesConversing,
    "chained": ChainedConversing,
    "messages": MessagesConversing,
    "gemini": GeminiConversing,
}
