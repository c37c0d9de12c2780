"""The subjects of `make bench-diff`, and the worker that measures them for one revision.

The worker imports `canonicall` from its PYTHONPATH and uses only names that the packages export at
the top, so one file serves every revision. It first prints the names of the subjects. For each line
`{"subject", "batch", "size"}` that it reads, it prints the CPU time of `size` pieces of work. Their
inputs are made before the clock starts, from the number of the batch and the position in it: no
input is used twice, and two workers that are asked the same use the same inputs.
"""

import gc
import json
import sys
from collections.abc import Callable
from time import process_time
from typing import TypeAlias, TypeVar

import orjson

from canonicall import (
    Conversation,
    Message,
    Renderer,
    Tool,
    decode_response,
    get_target,
    parse,
    translate,
    verify,
)
from gateway_requests import requests
from request_bodies import (
    anthropic_request,
    chat_request,
    damaged_chat_request,
    responses_request,
    steps_of,
)
from streams import anthropic_stream, chat_stream, translate_stream
from traffic import mixed_messages

STEPS = 100
EVENTS = 1_000
MESSAGES_PER_TURN = 4
TURNS_EACH = 20
"""How many turns are added to one conversation, so that none grows long."""
TOOLS = [Tool("read_file", parameters={"type": "object", "properties": {"path": {}}})]

Input = TypeVar("Input")
Prepare: TypeAlias = Callable[[list[str]], Callable[[], object]]
"""Makes an input for each mark; what it returns does the work on all of them."""


def measured(subject: str, batch: int, size: int) -> float:
    """Seconds of CPU time for one batch, with the garbage of earlier ones collected."""
    work = SUBJECTS[subject]([f"b{batch:05d}n{at:05d}" for at in range(size)])
    gc.collect()
    begin = process_time()
    work()
    return process_time() - begin


def _each(make: Callable[[str], Input], work: Callable[[Input], object]) -> Prepare:
    """Work on one input after the other."""

    def prepare(marks: list[str]) -> Callable[[], None]:
        inputs = [make(mark) for mark in marks]

        def work_on_all() -> None:
            for one in inputs:
                work(one)

        return work_on_all

    return prepare


def _translation(
    make: Callable[[int, str], bytes], source: str, target: str, *, steps: int = STEPS
) -> Prepare:
    return _each(lambda mark: make(steps, mark), lambda body: translate(body, source, target).data)


def _verification(make: Callable[[int, str], bytes], target: str) -> Prepare:
    return _each(lambda mark: make(STEPS, mark), lambda body: verify(body, target))


def _stream(make: Callable[[int, str], list[bytes]], source: str, target: str) -> Prepare:
    return _each(
        lambda mark: make(EVENTS, mark), lambda chunks: translate_stream(chunks, source, target)
    )


def _more_turns(marks: list[str]) -> Callable[[], None]:
    """Conversations of 200 messages that were rendered, and one more turn for each mark."""
    work: list[tuple[Conversation, Renderer, list[Message]]] = []
    for at, mark in enumerate(marks):
        if at % TURNS_EACH == 0:
            conversation = Conversation.of(mixed_messages(2 * STEPS, mark=mark))
            renderer = Renderer(get_target("anthropic"))
            renderer.render(conversation)
        turn = mixed_messages(MESSAGES_PER_TURN, mark=f"more{mark}")
        work.append((conversation, renderer, turn))

    def append_and_render() -> None:
        for conversation, renderer, turn in work:
            conversation.extend(turn)
            renderer.render(conversation)

    return append_and_render


def _printed_call(mark: str) -> str:
    (step,) = steps_of(1, mark)
    call = json.dumps({"name": "read_file", "arguments": step.arguments})
    return f"{step.text}\n<tool_call>\n{call}\n</tool_call>"


def _response(mark: str) -> bytes:
    (step,) = steps_of(1, mark)
    function = {"name": "read_file", "arguments": json.dumps(step.arguments)}
    call = {"id": f"call_{step.id}", "type": "function", "function": function}
    message = {"role": "assistant", "content": step.text, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    body = {"id": f"chatcmpl-{mark}", "object": "chat.completion", "model": "gpt-4.1"}
    return orjson.dumps({**body, "choices": [choice], "usage": usage})


SUBJECTS: dict[str, Prepare] = {
    "chat-anthropic-5k": _translation(chat_request, "openai-chat", "anthropic", steps=1),
    "chat-anthropic": _translation(chat_request, "openai-chat", "anthropic"),
    "anthropic-chat": _translation(anthropic_request, "anthropic", "openai"),
    "responses-anthropic": _translation(responses_request, "openai-responses", "anthropic"),
    "chat-gemini": _translation(chat_request, "openai-chat", "gemini"),
    "chat-mistral": _translation(chat_request, "openai-chat", "mistral"),
    "damaged-anthropic": _translation(damaged_chat_request, "openai-chat", "anthropic"),
    "verify-anthropic": _verification(anthropic_request, "anthropic"),
    "stream-chat-anthropic": _stream(chat_stream, "openai-chat", "anthropic"),
    "stream-anthropic-chat": _stream(anthropic_stream, "anthropic", "openai-chat"),
    "one-more-turn": _more_turns,
    "parse-call": _each(_printed_call, lambda text: parse(text, syntax="hermes", tools=TOOLS)),
    "decode-response": _each(_response, lambda body: decode_response(body, "openai-chat")),
    "gateway-translated": requests("anthropic", stream=False),
    "gateway-translated-stream": requests("anthropic", stream=True),
    "gateway-forwarded": requests("openai", stream=False),
    "gateway-forwarded-stream": requests("openai", stream=True),
}
"""Requests have 520 KB, or 5 KB; streams have 1,000 events. Those of the gateway have 5 KB and 200
events, with replies of 5 KB."""


def main() -> None:
    """Measure what is asked for, until nothing more is asked."""
    print(json.dumps(list(SUBJECTS)), flush=True)
    for line in sys.stdin:
        print(json.dumps(measured(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
