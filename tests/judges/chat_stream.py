"""The OpenAI SDK reads a stream of chat completions: its client, its parser, its accumulator."""

import warnings
from typing import Any

import pytest

from judges.sources import MISSING

openai = pytest.importorskip("openai", reason=MISSING)
httpx = pytest.importorskip("httpx", reason=MISSING)
streaming = pytest.importorskip("openai.lib.streaming.chat", reason=MISSING)


class _Answering(httpx.BaseTransport):
    """A provider that always sends the same stream."""

    data = b""

    def handle_request(self, request):
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, content=self.data, headers=headers)


_PROVIDER = _Answering()
_CLIENT = openai.OpenAI(
    api_key="none", base_url="http://test", http_client=httpx.Client(transport=_PROVIDER)
)


def accumulated(stream: bytes) -> dict[str, Any]:
    """The completion that the SDK puts together; an error inside the stream raises its APIError."""
    _PROVIDER.data = stream
    state = streaming.ChatCompletionStreamState()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # content in lists is news to the SDK's types
        for chunk in _CLIENT.chat.completions.create(model="m", messages=[], stream=True):
            state.handle_chunk(chunk)
        completion: dict[str, Any] = state.current_completion_snapshot.to_dict(mode="json")
    return completion
