"""mistral-common prints conversations as Mistral's models have seen them, by tokenizer version.

What it prints does not hang on the vocabulary, so one of single bytes will do: it has all the
special tokens of all versions, which no real one has.
"""

import base64
import json

import pytest

from canonicall import Text, ToolCall, ToolResult, parse, syntax_of_model
from canonicall.syntax.registry import get_syntax
from judges.sources import MISSING

pytest.importorskip("tiktoken", reason=MISSING)
base = pytest.importorskip("mistral_common.tokens.tokenizers.base", reason=MISSING)
instruct = pytest.importorskip("mistral_common.tokens.tokenizers.instruct", reason=MISSING)
mistral = pytest.importorskip("mistral_common.tokens.tokenizers.mistral", reason=MISSING)
normalize = pytest.importorskip("mistral_common.protocol.instruct.normalize", reason=MISSING)
request = pytest.importorskip("mistral_common.protocol.instruct.request", reason=MISSING)
tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken", reason=MISSING)
validator = pytest.importorskip("mistral_common.protocol.instruct.validator", reason=MISSING)

SYNTAXES = {
    "v3": ("mistral_nemo", "Mistral-Nemo-Instruct-2407"),
    "v7": ("mistral_v7", "Mistral-Small-3.1-24B-Instruct-2503"),
    "v11": ("mistral_v11", "Mistral-Small-3.2-24B-Instruct-2506"),
    "v13": ("mistral", "Magistral-Small-2509"),
}
ARGS = {
    "place": 'Zürich "Nord" <b>&',
    "lines": "a\n  b\n",
    "nothing": None,
    "nested": {"b": [{"unit": "°C"}, True, 0.5], "a": {}},
}
CALLS = (
    ToolCall(id="abcdefgh0", name="weather", args=ARGS),
    ToolCall(id="abcdefgh1", name="now", args={}),
)
RESULTS = (
    ToolResult(call_id="abcdefgh0", name="weather", content=(Text(text='{"temp": 3}'),)),
    ToolResult(call_id="abcdefgh1", name="now", content=(Text(text="12:00 ☀\n"),)),
)
every_version = pytest.mark.parametrize("version", SYNTAXES)


def printed(version):
    """What stands between the question and the answer."""
    known = base.TokenizerVersion(version)
    specials = [
        {"rank": rank, "token_str": token.value, "is_control": True}
        for rank, token in enumerate(base.SpecialTokens)
    ]
    single = [
        {"rank": byte, "token_bytes": base64.b64encode(bytes([byte])).decode(), "token_str": None}
        for byte in range(256)
    ]
    tokens = tekken.Tekkenizer(
        vocab=single,
        special_tokens=specials,
        pattern=r"[\s\S]",
        vocab_size=len(single) + len(specials),
        num_special_tokens=len(specials),
        version=known,
    )
    printer = mistral.MistralTokenizer(
        getattr(instruct, f"InstructTokenizer{version.upper()}")(tokens),
        validator=validator.get_validator(known, validator.ValidationMode.test),
        request_normalizer=normalize.get_normalizer(known),
    )
    asked = request.ChatCompletionRequest.model_validate({"model": "model", "messages": messages()})
    encoded = printer.encode_chat_completion(asked).tokens
    text = tokens.decode(encoded, special_token_policy=base.SpecialTokenPolicy.KEEP)
    return text.partition("QUESTION[/INST]")[2].partition("ANSWER")[0]


def messages():
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.args)},
        }
        for call in CALLS
    ]
    results = [
        {"role": "tool", "tool_call_id": one.call_id, "name": one.name, "content": one.text}
        for one in RESULTS
    ]
    return [
        {"role": "user", "content": "QUESTION"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *results,
        {"role": "assistant", "content": "ANSWER"},
        {"role": "user", "content": "And now?"},
    ]


@every_version
def test_calls_and_results_are_printed_so(version):
    syntax = get_syntax(SYNTAXES[version][0])
    ours = syntax.print_calls(CALLS) + "</s>" + syntax.print_results(RESULTS)
    assert ours == printed(version)


@every_version
def test_what_is_printed_is_read(version):
    reply = printed(version).partition("[TOOL_RESULTS]")[0]
    for syntax in (SYNTAXES[version][0], "auto"):
        parsed = parse(reply, syntax=syntax)
        assert [(one.name, one.args) for one in parsed.calls] == [("weather", ARGS), ("now", {})]
        assert parsed.text == ""


@every_version
def test_the_syntax_is_known_by_the_name_of_the_model(version):
    syntax, model = SYNTAXES[version]
    assert syntax_of_model(model) == syntax
