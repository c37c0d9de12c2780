"""Recorded traffic against the simulators: what a provider accepted its simulator answers, and what
it refused over the request is refused, in the same words.

Signatures and stored items of the real providers are unknown to a simulator, so they are let pass
here.
"""

import json
import re
from functools import cache

from batches import each
from canonicall.codec import decode_response
from canonicall.facts.registry import find_profile
from canonicall.testing.exchange import SimRequest
from canonicall.testing.simulator import Simulator
from canonicall.verify import verify_stream
from corpus.support import every_record, needs_corpus

pytestmark = needs_corpus

PATHS = {
    "anthropic-messages": ("anthropic", "/v1/messages"),
    "openai-chat": ("openai-chat", "/v1/chat/completions"),
    "openai-responses": ("openai-responses", "/v1/responses"),
    "gemini-generate": ("gemini", "/v1beta/models/{model}:generateContent"),
    "bedrock-converse": ("bedrock", "/model/{model}/converse"),
    "cohere-v2": ("cohere", "/v2/chat"),
    "ollama-chat": ("ollama", "/api/chat"),
}
STREAMS = {
    "gemini-generate": "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    "bedrock-converse": "/model/{model}/converse-stream",
}

_BEHIND = "what is behind an address"
_RETURNS = (
    "pydantic/pydantic-ai:tests/models/cassettes/test_multimodal_tool_returns/"
    "test_multimodal_tool_return_matrix"
)
# Refused by the provider, answered by its simulator: what was wrong is not in the request.
ANSWERED_ANYWAY = {
    "pydantic/pydantic-ai:tests/models/cassettes/test_groq/test_tool_use_failed_error.yaml#0": (
        "the model, not the request: it made arguments that do not fit the schema"
    ),
    "0xPlaygrounds/rig:tests/cassettes/llamacpp/error_matrix/tools_without_jinja.yaml#0": (
        "a server that was started without the switch for tools"
    ),
    "0xPlaygrounds/rig:tests/cassettes/llamacpp/error_matrix/context_overflow_blocking.yaml#0": (
        "a server that was started for short conversations"
    ),
    "0xPlaygrounds/rig:tests/cassettes/deepseek/wire_shape_matrix/"
    "chat_completion_rejects_an_unknown_model_with_the_provider_body.yaml#0": (
        "which models there are, a simulator is told by `models`"
    ),
    "0xPlaygrounds/rig:tests/cassettes/openai/error_identity_edge/"
    "nonexistent_previous_response_reference_carries_identity.yaml#0": (
        "what is stored is let pass here, as it has to be for the others"
    ),
    "0xPlaygrounds/rig:tests/cassettes/llamacpp/multimodal_matrix/malformed_data_uri.yaml#0": (
        "what is in an image"
    ),
    "traceloop/openllmetry:packages/opentelemetry-instrumentation-openai/tests/traces/cassettes/"
    "test_vision/test_vision.yaml#2": _BEHIND,
    "Arize-ai/openinference:python/instrumentation/openinference-instrumentation-openai/tests/"
    "openinference/instrumentation/openai/cassettes/test_input_value_image_hiding/"
    "TestInputValueImageHiding.test_input_value_hides_regular_url_images.yaml#0": _BEHIND,
    f"{_RETURNS}[tool_return_content-url-audio-openai_responses].yaml#1": _BEHIND,
    f"{_RETURNS}[direct-url-image-google_vertex].yaml#2": _BEHIND,
}
# Refused with the recorded status, in words of ours: those of the library that reads the body there
# name its own kind of error.
OWN_WORDS = {
    "0xPlaygrounds/rig:tests/cassettes/llamacpp/error_matrix/malformed_request_field.yaml#0"
}


# Refused in the recorded words but for the number of the message: the conversation begins with the
# assistant, and whether the service counts a message before it is not known.
COUNTED_OTHERWISE = {
    "anomalyco/opencode:packages/llm/test/fixtures/recordings/anthropic-messages/"
    "rejects-malformed-assistant-tool-order-without-patch.json#0": ("messages.0", "messages.1")
}


# Liberties that a host takes with the format, and its simulator with it: Mistral tells the usage in
# the chunk that ends the choice, as all its recorded streams do.
LIBERTIES = {"mistral": {"event_out_of_order"}}


@cache
def simulator(provider):
    return Simulator(provider, signatures="any")


def answer(record):
    _, path = PATHS[record["protocol"]]
    if record["stream"]:
        path = STREAMS.get(record["protocol"], path)
    url = path.format(model=record["model"] or "any-model")
    body = json.dumps(_unmasked(record)).encode()
    asked = SimRequest.of("POST", url, body, {"authorization": "Bearer any"})
    return simulator(record["provider"]).answer(asked)


def _unmasked(record):
    """The request with ids as they are: Mistral's have nine characters, which `call_REDACTED_1` has
    not, and those of items begin with their kind."""
    request = record["request"]
    if not record["ids_redacted"]:
        return request
    text = json.dumps(request)
    for number in range(20, 0, -1):
        if record["provider"] == "mistral":
            text = text.replace(f'"call_REDACTED_{number}"', f'"redact{number:03}"')
        if record["protocol"] == "openai-responses":
            text = text.replace(f'"id": "id_REDACTED_{number}"', f'"id": "rs_{number}"')
    return json.loads(text)


def is_served(record):
    profile = find_profile(record["provider"])
    if record["protocol"] not in PATHS or record["request"] is None or profile is None:
        return False
    return PATHS[record["protocol"]][0] in profile.formats


@cache
def served():
    return [record for record in every_record() if is_served(record)]


def accepted():
    return [record for record in served() if record["status"] == 200]


def refused():
    """All but what has to do with keys, limits of a plan, and models that are no more."""
    wanted = ("tool-or-thinking", "request-shape")
    return [record for record in served() if record.get("error_category") in wanted]


@each("record", accepted)
def test_what_a_provider_accepted_its_simulator_answers(record):
    """The answer decodes in the format it was asked in; a stream is grammatical."""
    response = answer(record)
    data = response.data
    assert response.status == 200, data
    format, _ = PATHS[record["protocol"]]
    if response.headers["content-type"] == "application/json":
        assert decode_response(data, format).message.blocks
    else:
        counts = verify_stream(data, format).counts
        assert set(counts) <= LIBERTIES.get(record["provider"], set())


@each("record", refused)
def test_what_a_provider_refused_its_simulator_refuses(record):
    response = answer(record)
    if record["id"] in ANSWERED_ANYWAY:
        assert response.status == 200
    else:
        assert response.status == record["status"], response.data
        ours, theirs = COUNTED_OTHERWISE.get(record["id"], ("", ""))
        told = said(json.loads(response.data))
        # Where in the bytes of the body a reader gave up is not known of a body that was parsed.
        wanted = re.sub(r" at line \d+ column \d+$", "", said(record["response"]))
        assert told.replace(ours, theirs, bool(ours)) == wanted or record["id"] in OWN_WORDS


def said(body):
    """The words of an error, in whichever envelope they stand."""
    error = body.get("error", body)
    return error if isinstance(error, str) else error["message"]


def test_every_recorded_host_has_a_simulator():
    """Of Perplexity nothing is recorded but the answer to a wrong key."""
    whole = [one for one in every_record() if one["request"] and one["protocol"] in PATHS]
    hosts = {one["provider"] for one in whole if not is_served(one)}
    assert hosts == {"perplexity"}


def test_enough_is_recorded_and_every_exception_is_among_it():
    assert len(accepted()) > 3_300
    assert len(refused()) >= 25
    assert {*ANSWERED_ANYWAY, *COUNTED_OTHERWISE} <= {record["id"] for record in refused()}
