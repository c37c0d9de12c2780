"""What llama.cpp's server takes and refuses: the simulated one, and the real one where it is there."""

import json
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from batches import each
from canonicall import CanonicallError, translate
from canonicall.testing import Simulator
from canonicall.testing.exchange import SimRequest
from models.answers import ANSWERS, body_of

CHAT = "/v1/chat/completions"


@each(("name", "changes", "is_taken"), ANSWERS["simulated"])
def test_the_simulated_server(name, changes, is_taken):
    request = SimRequest.of("POST", CHAT, body_of(changes), {"authorization": "Bearer any"})
    assert (Simulator("llamacpp").answer(request).status == HTTPStatus.OK) is is_taken


@pytest.mark.deep
@pytest.mark.needs("models")
@each(("name", "changes", "is_taken"), ANSWERS["real"])
def test_the_real_server(llama, name, changes, is_taken):
    assert (_status(llama.base_url("calls"), body_of(changes)) == HTTPStatus.OK) is is_taken


def _status(url: str, body: dict[str, Any]) -> int:
    head = {"content-type": "application/json"}
    request = Request(f"{url}/chat/completions", json.dumps(body).encode(), head)  # noqa: S310  loopback
    try:
        with urlopen(request, timeout=120) as answer:  # noqa: S310
            answer.read()
            return int(answer.status)
    except HTTPError as error:
        error.close()
        return error.code


@pytest.mark.deep
@pytest.mark.needs("models")
@each(("name", "changes", "is_taken"), ANSWERS["real"])
def test_the_real_server_takes_what_is_rendered_for_it(llama, name, changes, is_taken):
    """Whatever is wrong with messages and tools, as long as they are some."""
    if not changes.keys() <= {"messages", "tools"}:
        pytest.skip("not about messages and tools")
    if name == "two assistants at the end":
        pytest.skip("learned from the refusal: test_agent.py")
    try:
        sent = translate(body_of(changes), "openai-chat", "llamacpp:any")
    except CanonicallError as refused:
        pytest.skip(f"refused before it is sent: {type(refused).__name__}")
    assert _status(llama.base_url("calls"), sent.body) == HTTPStatus.OK
