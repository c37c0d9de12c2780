"""Mistral's own packages judge the bodies made for Mistral.

mistral-common validates messages and tools as the server does, by tokenizer version. The types of
the mistralai SDK say which fields a body has.

Versions 1 and 2 know no tool-call ids and no images and are not served any more: they are left out.
Version 3 forbids text beside calls; it is asked about the models that the profile says the same of.
"""

import pytest
from hypothesis import given, settings

from batches import sampled
from canonicall.codec.encode import encode_request
from corpus.support import needs_corpus
from judges.sources import MISSING, damaged_requests, recorded_refusals, refusals, switched_requests
from judges.typed import TypedJudge

common = pytest.importorskip("mistral_common.protocol.instruct.request", reason=MISSING)
validator = pytest.importorskip("mistral_common.protocol.instruct.validator", reason=MISSING)
exceptions = pytest.importorskip("mistral_common.exceptions", reason=MISSING)
pydantic = pytest.importorskip("pydantic", reason=MISSING)
sdk = pytest.importorskip("mistralai.client.models", reason=MISSING)

TARGETS = {
    "v3": "mistral:open-mistral-7b",
    "v7": "mistral",
    "v11": "mistral",
    "v13": "mistral",
    "v15": "mistral",
}
JUDGED = ("model", "messages", "tools", "tool_choice", "parallel_tool_calls")
FIELDS = TypedJudge(sdk.ChatCompletionRequestTypedDict)
every_version = pytest.mark.parametrize("version", TARGETS)


class Server:
    """What a server with tokenizers of one version says to a body."""

    def __init__(self, version):
        mode = validator.ValidationMode.serving
        self.validator = validator.get_validator(validator.TokenizerVersion(version), mode)

    def __call__(self, body):
        judged = {name: body[name] for name in JUDGED if name in body}
        judged["messages"] = [_with_words_of_documents(one) for one in body["messages"]]
        try:
            request = common.ChatCompletionRequest.model_validate(judged)
            self.validator.validate_request(request)
        except pydantic.ValidationError as error:
            return [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
        except (exceptions.MistralCommonException, ValueError) as error:
            return [str(error)]
        return []


def _with_words_of_documents(message):
    """The service reads documents itself, and a tokenizer sees only the words it finds in them."""
    if not isinstance(message.get("content"), list):
        return message
    words = {"type": "text", "text": "Words of a document."}
    parts = [words if one["type"] == "document_url" else one for one in message["content"]]
    return {**message, "content": parts}


SERVERS = {version: Server(version) for version in TARGETS}


def fields_judge(body):
    """The SDK's types. `schema_definition` is the SDK's name for what is `schema` on the wire."""
    form = body.get("response_format", {})
    if "schema" in form.get("json_schema", {}):
        schema = dict(form["json_schema"])
        schema["schema_definition"] = schema.pop("schema")
        body = body | {"response_format": form | {"json_schema": schema}}
    return FIELDS(body)


@every_version
def test_after_every_switch_of_provider(version):
    assert refusals(SERVERS[version], switched_requests(), TARGETS[version]) == []


@every_version
@settings(max_examples=40)
@given(damaged_requests)
def test_any_damaged_conversation(version, asked):
    assert refusals(SERVERS[version], [("damaged", asked)], TARGETS[version]) == []


@needs_corpus
@pytest.mark.parametrize("version", sampled(reversed(TARGETS), every=len(TARGETS)))
def test_every_recorded_tool_conversation(version):
    assert recorded_refusals(SERVERS[version], TARGETS[version]) == []


def test_fields_after_every_switch_of_provider():
    assert refusals(fields_judge, switched_requests(), "mistral") == []


@settings(max_examples=60)
@given(damaged_requests)
def test_fields_of_any_damaged_conversation(asked):
    assert refusals(fields_judge, [("damaged", asked)], "mistral") == []


@needs_corpus
def test_fields_of_every_recorded_tool_conversation():
    assert recorded_refusals(fields_judge, "mistral") == []


def made_body(version="v13"):
    return encode_request(switched_requests()[0][1], TARGETS[version]).body


@every_version
def test_the_server_refuses_a_lost_result(version):
    body = made_body(version)
    lost = next(one for one in body["messages"] if one["role"] == "tool")
    body["messages"].remove(lost)
    assert SERVERS[version](body) == ["Not the same number of function calls and responses"]


@pytest.mark.parametrize("version", ["v3", "v7", "v11"])
def test_the_server_refuses_a_foreign_id(version):
    body = made_body(version)
    reply = next(one for one in body["messages"] if one.get("tool_calls"))
    reply["tool_calls"][0]["id"] = "toolu_01"
    assert SERVERS[version](body) != []


def test_the_types_refuse_a_field_that_is_not_there():
    told = fields_judge(made_body() | {"logit_bias": {}})
    assert told == ["logit_bias: Extra inputs are not permitted, got {}"]
