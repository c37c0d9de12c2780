"""The kinds of parameters in `parameter_kinds.toml` are those of the official SDKs' types."""

import pytest

from canonicall.facts.parameter_kinds import known_parameters
from judges.sources import MISSING

pytest.importorskip("pydantic", reason=MISSING)

from judges.parameter_kinds import (
    in_protobuf,
    of_hints,
    of_model,
    of_shape,
    typed_dict,
)

MORE = {
    # Not OpenAI's: of vLLM and others, and of Mistral (mistralai 3.7.0).
    "openai-chat": {"top_k": ("integer",), "random_seed": ("integer",)},
    # The reference of the Messages API has them, the SDK no longer does.
    "anthropic": {"temperature": ("number",), "top_p": ("number",), "top_k": ("integer",)},
    # The SDK's method for streams sets it.
    "cohere": {"stream": ("boolean",)},
}
"""What the file has beyond the types."""
WIDER = {
    # A number at Together and Fireworks.
    "openai-chat": {"logprobs": ("integer", "boolean")},
}
"""What other hosts take besides."""


def chat():
    module = pytest.importorskip("openai.types.chat.completion_create_params", reason=MISSING)
    return of_hints(typed_dict(module.CompletionCreateParamsNonStreaming))


def responses():
    module = pytest.importorskip("openai.types.responses.response_create_params", reason=MISSING)
    return of_hints(typed_dict(module.ResponseCreateParamsNonStreaming))


def anthropic():
    module = pytest.importorskip("anthropic.types.beta.message_create_params", reason=MISSING)
    hints = typed_dict(module.MessageCreateParamsNonStreaming)
    # It goes into a header.
    return of_hints({name: one for name, one in hints.items() if name != "betas"})


def gemini():
    types = pytest.importorskip("google.genai.types", reason=MISSING)
    beside = (
        *("toolConfig", "safetySettings", "labels", "cachedContent", "serviceTier"),
        *("modelArmorConfig", "continuationToken"),
    )
    settings, config = of_model(types.GenerateContentConfig), of_model(types.GenerationConfig)
    found = {path: one for path, one in settings.items() if path.partition(".")[0] in beside}
    found |= {
        f"generationConfig.{path}": one
        for path, one in config.items()
        if not path.startswith("responseSchema.")
    }
    found |= {"generationConfig": ("object",), "tools": ("objects",), "model": ("text",)}
    return in_protobuf({path: one for path, one in found.items() if path.count(".") < 3})


def bedrock():
    pytest.importorskip("botocore", reason=MISSING)
    return of_shape("ConverseRequest")


def cohere():
    client = pytest.importorskip("cohere", reason=MISSING).ClientV2
    hints = typed_dict(client.chat)
    others = ("return", "request_options")
    return of_hints({name: one for name, one in hints.items() if name not in others})


def ollama():
    types = pytest.importorskip("ollama._types", reason=MISSING)
    return of_model(types.ChatRequest)


SDKS = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
    "cohere": cohere,
    "ollama": ollama,
}


def flat(known, before="", *, in_camel_case):
    found = {}
    for name, one in known.items():
        if one.kinds and ("_" not in name or not in_camel_case):
            found[before + name] = one.kinds
            found |= flat(one.inner, f"{before}{name}.", in_camel_case=in_camel_case)
    return found


@pytest.mark.parametrize("format", SDKS)
def test_the_kinds_are_those_of_the_sdk(format):
    expected = SDKS[format]() | MORE.get(format, {}) | WIDER.get(format, {})
    assert flat(known_parameters(format), in_camel_case=format == "gemini") == expected


@pytest.mark.parametrize("format", WIDER)
def test_what_is_wider_than_the_sdk_is_wider_in_fact(format):
    for path, kinds in WIDER[format].items():
        assert set(SDKS[format]()[path]) < set(kinds)
