"""Recorded traffic against the simulators: what a provider accepted its simulator answers, and what
it refused over tools or thinking is refused.

Signatures and stored items of the real providers are unknown to a simulator, so they are let pass
here. Hosts without a profile have no simulator.
"""

import json
from functools import cache

from canonicall.codec import decode_response
from canonicall.providers.registry import find_profile
from canonicall.testing.exchange import SimRequest
from canonicall.testing.simulator import Simulator
from canonicall.verify import verify_stream
from corpus.support import each, every_record, needs_corpus

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

# Accepted once, refused by the rules of today: the verifier's tests have the same names.
_ANSWERED_IN_WORDS = "the call is answered in plain user text; the documentation forbids that"
REFUSED_ANYWAY = {
    "DataDog/dd-trace-py:tests/contrib/anthropic/cassettes/"
    "anthropic_completion_tools_call_with_tool_result_stream_helper.yaml#0": (
        "of 2024: the result has the id of another recording's call; the API refuses that today"
    ),
    "social-growth-studio/req_llm:test/support/fixtures/google/gemini_2_0_flash_lite/"
    "tool_round_trip_2.json#0": _ANSWERED_IN_WORDS,
    "social-growth-studio/req_llm:test/support/fixtures/google/gemini_2_5_pro/"
    "tool_round_trip_2.json#0": _ANSWERED_IN_WORDS,
    "activeagents/activeagent:test/fixtures/vcr_cassettes/integration/ollama/chat/common_format/"
    "tools_test/test_agent_common_format_multiple_tools.yml#1": (
        "two calls, one result: Ollama prints whatever it gets into the template"
    ),
}
# Refused by the provider, answered by its simulator.
_STRICT = "a limit of the compiler of strict schemas that nobody has written down"
_ANTHROPIC = "0xPlaygrounds/rig:tests/cassettes/anthropic"
_MEDIA = (
    "pydantic/pydantic-ai:tests/models/cassettes/test_multimodal_tool_returns/"
    "test_multimodal_tool_return_matrix"
)
ANSWERED_ANYWAY = {
    f"{_ANTHROPIC}/strict_schema_limits/"
    "twenty_four_optional_parameters_in_one_schema_hit_internal_limit.yaml#0": _STRICT,
    f"{_MEDIA}[direct-uploaded_file-video-bedrock_nova].yaml#1": (
        "a video by its address in S3; the same video as bytes is accepted"
    ),
    f"{_MEDIA}[direct-url_force_download-audio-openai_responses].yaml#2": (
        "whether a file of this kind can be read is seen only inside the file"
    ),
    "pydantic/pydantic-ai:tests/models/cassettes/test_groq/test_tool_use_failed_error.yaml#0": (
        "the model, not the request: it made arguments that do not fit the schema"
    ),
    "0xPlaygrounds/rig:tests/cassettes/llamacpp/error_matrix/tools_without_jinja.yaml#0": (
        "a server that was started without the switch for tools"
    ),
    "social-growth-studio/req_llm:test/support/fixtures/openrouter/x_ai_grok_4/"
    "object_basic.json#0": "a fault of the router: the function it misses is declared",
    "social-growth-studio/req_llm:test/support/fixtures/openrouter/"
    "mistralai_mistral_7b_instruct_free/object_streaming.json#0": (
        "which hosts stand behind a model changes from day to day"
    ),
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
    body = json.dumps(_with_short_ids(record)).encode()
    asked = SimRequest.of("POST", url, body, {"authorization": "Bearer any"})
    return simulator(record["provider"]).answer(asked)


def _with_short_ids(record):
    """Mistral's ids have nine characters, which `call_REDACTED_1` has not."""
    request = record["request"]
    if record["provider"] != "mistral" or not record["ids_redacted"]:
        return request
    text = json.dumps(request)
    for number in range(20, 0, -1):
        text = text.replace(f'"call_REDACTED_{number}"', f'"redact{number:03}"')
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
    wanted = "tool-or-thinking"
    return [record for record in served() if record.get("error_category") == wanted]


@each(accepted(), size=250)
def test_what_a_provider_accepted_its_simulator_answers(record):
    """The answer decodes in the format it was asked in; a stream is grammatical."""
    response = answer(record)
    data = response.data
    if record["id"] in REFUSED_ANYWAY:
        assert response.status == 400
        return
    assert response.status == 200, data
    format, _ = PATHS[record["protocol"]]
    if response.headers["content-type"] == "application/json":
        assert decode_response(data, format).message.blocks
    else:
        counts = verify_stream(data, format).counts
        assert set(counts) <= LIBERTIES.get(record["provider"], set())


@each(refused())
def test_what_a_provider_refused_over_tools_its_simulator_refuses(record):
    response = answer(record)
    if record["id"] in ANSWERED_ANYWAY:
        assert response.status == 200
    else:
        assert response.status == record["status"], response.data


def test_enough_is_recorded_and_every_exception_is_among_it():
    assert len(accepted()) > 3_000
    assert len(refused()) >= 25
    assert set(REFUSED_ANYWAY) <= {record["id"] for record in accepted()}
    assert set(ANSWERED_ANYWAY) <= {record["id"] for record in refused()}
