"""Names in `facts/formats` that both the renderer and the judge read, beside those of the owners.

Where both read one list, both could be wrong together: the types of the official SDKs, botocore's
service model and mistral-common are asked what they know. Every difference has its reason here.
"""

import gzip
import json
from pathlib import Path
from typing import Annotated, Literal, Union, get_args, get_origin

import pytest

from canonicall.facts.bases import base_target
from canonicall.facts.registry import get_target
from canonicall.facts.vocabulary import vocabulary
from judges.sources import MISSING

typing_extensions = pytest.importorskip("typing_extensions", reason=MISSING)

OURS_ALONE = {
    ("anthropic", "displays"): {"highlights": "open to a request by a header"},
    ("anthropic", "mark_fields"): {"scope": "of the beta prompt-caching-scope-2026-01-05"},
    ("anthropic", "fields.request"): {
        "output_format": "the older name of output_config.format, still accepted",
        "temperature": "in the reference of the API; the SDK no longer has it",
        "top_k": "the same",
        "top_p": "the same",
    },
    ("openai-chat", "call_fields"): {"index": "of streams; recorded to be accepted in requests"},
    ("gemini", "fields.part"): {"response": "a note of this library, not sent"},
    ("gemini", "generationConfig"): {
        "_responseJsonSchema": "how the SDK itself spells it on the wire",
        "imageConfig": "in the reference of the Gemini API; the SDK has it among its settings",
    },
}
"""Names that the owner's types do not have, each with the reason why we do."""
_NO_ID = "a client writes it, or no id of it was recorded"
THEIRS_ALONE = {
    ("anthropic", "fields.request"): {"betas": "the SDK sends it as a header"},
    ("openai-responses", "item_prefixes"): dict.fromkeys(
        (
            *("additional_tools", "apply_patch_call", "apply_patch_call_output", "compaction"),
            *("compaction_trigger", "computer_call", "computer_call_output", "item_reference"),
            *("configuration_update", "custom_tool_call_output", "function_call_output"),
            *("local_shell_call", "local_shell_call_output", "mcp_approval_response", "program"),
            *("program_output", "shell_call", "shell_call_output"),
        ),
        _NO_ID,
    ),
    ("gemini", "generationConfig"): {
        "audioTimestamp": "of Vertex alone",
        "modelSelectionConfig": "of Vertex alone",
        "routingConfig": "of Vertex alone",
    },
}
"""Names that only the owner's types have, each with the reason why we do not."""


def hints(owner):
    return typing_extensions.get_type_hints(owner)


def values(hint):
    """The texts that a type allows."""
    if get_origin(hint) is Literal:
        return {one for one in get_args(hint) if isinstance(one, str)}
    return {one for inner in get_args(hint) for one in values(inner)}


def members(hint):
    """The types of a union, those of unions inside of it among them."""
    origin = get_origin(hint)
    if origin is Annotated:
        return members(get_args(hint)[0])
    if origin is Union:
        return [one for inner in get_args(hint) for one in members(inner)]
    if origin is not None and not isinstance(hint, type):
        return [one for inner in get_args(hint) for one in members(inner)]
    return [hint]


def kinds(hint, key="type"):
    """The values of the field that tells the types of a union apart."""
    found = [hints(one).get(key) for one in members(hint) if typing_extensions.is_typeddict(one)]
    return {value for one in found if one is not None for value in values(one)}


def beta():
    return pytest.importorskip("anthropic.types.beta", reason=MISSING)


def chat():
    return pytest.importorskip("openai.types.chat", reason=MISSING)


def responses():
    return pytest.importorskip("openai.types.responses", reason=MISSING)


def genai():
    return pytest.importorskip("google.genai.types", reason=MISSING)


def shapes():
    botocore = pytest.importorskip("botocore", reason=MISSING)
    folder = Path(botocore.__file__).parent / "data" / "bedrock-runtime"
    newest = max(folder.iterdir()) / "service-2.json.gz"
    return json.loads(gzip.decompress(newest.read_bytes()))["shapes"]


def anthropic_params():
    return pytest.importorskip("anthropic.types.beta.message_create_params", reason=MISSING)


THEIRS = {
    ("anthropic", "efforts"): lambda: values(hints(beta().BetaOutputConfigParam)["effort"]),
    ("anthropic", "displays"): lambda: values(
        hints(beta().BetaThinkingConfigAdaptiveParam)["display"]
    ),
    ("anthropic", "thinking"): lambda: kinds(beta().BetaThinkingConfigParam),
    ("anthropic", "thinking.adaptive"): lambda: set(hints(beta().BetaThinkingConfigAdaptiveParam)),
    ("anthropic", "thinking.enabled"): lambda: set(hints(beta().BetaThinkingConfigEnabledParam)),
    ("anthropic", "thinking.disabled"): lambda: set(hints(beta().BetaThinkingConfigDisabledParam)),
    ("anthropic", "thinking.between_tools"): lambda: set(
        hints(beta().BetaThinkingConfigBetweenToolsParam)
    ),
    ("anthropic", "choices"): lambda: kinds(beta().BetaToolChoiceParam),
    ("anthropic", "mark_fields"): lambda: set(hints(beta().BetaCacheControlEphemeralParam)),
    ("anthropic", "lifetimes"): lambda: values(hints(beta().BetaCacheControlEphemeralParam)["ttl"]),
    ("anthropic", "result_parts"): lambda: kinds(hints(beta().BetaToolResultBlockParam)["content"]),
    ("anthropic", "fields.request"): lambda: set(
        hints(anthropic_params().MessageCreateParamsNonStreaming)
    ),
    ("openai-chat", "roles"): lambda: kinds(chat().ChatCompletionMessageParam, "role"),
    ("openai-chat", "call_fields"): lambda: {
        name
        for one in members(chat().ChatCompletionMessageToolCallUnionParam)
        for name in hints(one)
    },
    ("openai-chat", "function_fields"): lambda: set(
        hints(pytest.importorskip("openai.types.shared_params").FunctionDefinition)
    ),
    ("openai-chat", "fields.request"): lambda: set(
        hints(
            pytest.importorskip(
                "openai.types.chat.completion_create_params"
            ).CompletionCreateParamsNonStreaming
        )
    ),
    ("openai-responses", "roles"): lambda: values(hints(responses().EasyInputMessageParam)["role"]),
    ("openai-responses", "item_prefixes"): lambda: kinds(
        pytest.importorskip("openai.types.responses.response_input_param").ResponseInputItemParam
    ),
    ("bedrock", "blocks"): lambda: set(shapes()["ContentBlock"]["members"]),
    ("bedrock", "lifetimes"): lambda: set(shapes()["CacheTTL"]["enum"]),
    ("bedrock", "media_formats.image"): lambda: set(shapes()["ImageFormat"]["enum"]),
    ("bedrock", "media_formats.document"): lambda: set(shapes()["DocumentFormat"]["enum"]),
    ("bedrock", "media_formats.video"): lambda: set(shapes()["VideoFormat"]["enum"]),
    ("bedrock", "media_formats.audio"): lambda: set(shapes()["AudioFormat"]["enum"]),
    ("bedrock", "fields.call"): lambda: set(shapes()["ToolUseBlock"]["members"]),
    ("bedrock", "fields.result"): lambda: set(shapes()["ToolResultBlock"]["members"]),
    ("gemini", "schema_types"): lambda: {one.value for one in genai().Type},
    ("gemini", "fields.part"): lambda: {
        field.alias or name for name, field in genai().Part.model_fields.items()
    },
    ("gemini", "generationConfig"): lambda: {
        field.alias or name for name, field in genai().GenerationConfig.model_fields.items()
    },
}
"""What the owners know, by format and name."""


def ours(format, name):
    """What our file says."""
    first, _, second = name.partition(".")
    if first == "fields":
        return {path.partition(".")[0] for path in getattr(get_target(format).fields, second)}
    if first == "generationConfig":
        paths = (path.split(".") for path in get_target(format).fields.request)
        return {path[1] for path in paths if path[0] == first}
    if first == "result_parts":
        return set(base_target(format).result_parts)
    known = getattr(vocabulary(format), first)
    return set(known[second] if second else known)


@pytest.mark.parametrize(("format", "name"), THEIRS, ids=map(" ".join, THEIRS))
def test_the_names_are_the_owner_s(format, name):
    mine, theirs = ours(format, name), THEIRS[format, name]()
    assert theirs
    assert mine - theirs == set(OURS_ALONE.get((format, name), ()))
    assert theirs - mine == set(THEIRS_ALONE.get((format, name), ()))


def test_mistral_knows_no_role_that_we_do_not():
    messages = pytest.importorskip("mistral_common.protocol.instruct.messages", reason=MISSING)
    assert {one.value for one in messages.Roles} <= set(vocabulary("openai-chat").roles)


def test_every_difference_is_of_a_comparison():
    assert {*OURS_ALONE, *THEIRS_ALONE} <= set(THEIRS)
