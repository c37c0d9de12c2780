"""Calls written as tags against the vectors of public engines."""

from msgspec.structs import replace

from batches import each
from canonicall.syntax.registry import get_syntax
from vectors.recorded import thoughts_apart, without_turn_tokens, words_of_prompt
from vectors.support import Case, by_reason, case, check, needs_vectors, vectors
from vectors.vector import Vector

pytestmark = needs_vectors

EXCEPTIONS = by_reason(
    (
        "without a schema a bare value is a string, as lmdeploy reads it too: a postcode is no number",
        """
        hf-transformers-0009 smg-0085 smg-0089 smg-0090 smg-0126 smg-0130 smg-0197 smg-0202
        smg-0219 smg-0221 smg-0225
        """,
    ),
    (
        "the vector lacks the schema that the engine's test has, so bare values are strings",
        "ollama-0156 ollama-0172 vllm-0117",
    ),
    (
        "the schema says string, and the engine makes a number of it; the text is a string",
        "hf-transformers-0022",
    ),
    (
        "values are not trimmed beyond the line ends that belong to the tags",
        "smg-0204 smg-0216",
    ),
    (
        "entities and quotes in values are kept: the templates escape nothing",
        "ai-sdk-middleware-0164 smg-0133 sglang-0118",
    ),
    (
        "words behind calls and before the end of their block are kept; the engine drops them",
        """
        ai-sdk-middleware-0296 dynamo_parity-0098 dynamo_parity-0134 dynamo_parity-0563
        smg-0087 smg-0127 vllm-3305 vllm-3317
        """,
    ),
    (
        "what cannot be read as a call is text, tags and all; the engine drops it or its tags",
        """
        ai-sdk-middleware-0272 ai-sdk-middleware-0276 ai-sdk-middleware-0279 sglang-0014
        sglang-0457 vllm-3010
        """,
    ),
    (
        "a closing tag that nothing opened is text: prose may speak of it",
        "ai-sdk-middleware-0375",
    ),
    (
        "the beginning of a tag at the very end is text; the engine holds it back for ever",
        "ollama-0346 sglang-0013 sglang-0211 sglang-0273 vllm-3012 vllm-3386",
    ),
    (
        "recorded before the stream ended: at its end the engine gives these letters out as well",
        "sglang-0413 sglang-0414 sglang-0415",
    ),
    (
        "an argument whose closing tag is missing is kept; the engine drops it",
        "dynamo_parity-0119",
    ),
    (
        "the vector says that the text is a call and that it is none; it is one",
        "smg-0209",
    ),
    (
        "words follow a closing tag where the call may not go on, so it is part of the value",
        "ai-sdk-middleware-0299",
    ),
    (
        "a tool that was not offered is called, with a finding: so the model can be told",
        "sglang-0012 sglang-0198 vllm-0796 vllm-0797 vllm-3007 vllm-3009",
    ),
    (
        "arguments that the tool does not have are kept; the guard judges them, not the reader",
        "ai-sdk-middleware-0243 vllm-3327 vllm-3328 vllm-3329",
    ),
    (
        "a member called __proto__ or constructor is dangerous in JavaScript only",
        "ai-sdk-middleware-0281 ai-sdk-middleware-0282 ai-sdk-middleware-0285",
    ),
    (
        "an argument given twice: the last one counts",
        "ai-sdk-middleware-0453",
    ),
    (
        "an argument without a name is no argument; what was said is kept as text",
        "ai-sdk-middleware-0012 sglang-0291 vllm-3319",
    ),
    (
        "a tag that the syntax does not have is part of the value, or no call",
        """
        ai-sdk-middleware-0178 ai-sdk-middleware-0180 ai-sdk-middleware-0447 mlx-lm-0014
        """,
    ),
    (
        "a closing tag of another name does not end a value, and the call stands",
        "sglang-0323",
    ),
    (
        "elements in a value that may be an object are one",
        "llama.cpp-0250",
    ),
    (
        "a tag without its end names the tool no less: the engine takes the next tag for the name",
        "vllm-3435 vllm-3436",
    ),
    (
        "a call outside of its block counts",
        "vllm-3457 vllm-3459",
    ),
    (
        "the engine's words repeat letters of its tags, or lose some, while it streams",
        "vllm-3312 vllm-3333 vllm-3334",
    ),
    (
        "the text still has the signs of the tokenizer, which a server undoes before there is text",
        "vllm-3323",
    ),
    (
        "the model opens the thought again that the prompt has opened: that is no part of it",
        "llama.cpp-0015",
    ),
)
TOOLS_OFF = by_reason(
    (
        "the engine was told to read no calls",
        """
        vllm-0624 vllm-0625 vllm-0627 vllm-0628 vllm-0629 vllm-0632 vllm-0640 vllm-0642
        vllm-0643 vllm-0644 vllm-0646 vllm-0654 vllm-0655 vllm-0661 vllm-0664 vllm-0669
        vllm-0670 vllm-0671 vllm-0672 vllm-0673 vllm-1948 vllm-1949 vllm-1950 vllm-1954
        vllm-1955 vllm-1956 vllm-1966 vllm-1967 vllm-1968 vllm-2002 vllm-2003 vllm-2004
        vllm-2014 vllm-2015 vllm-2016 vllm-2026 vllm-2027 vllm-2028 vllm-2062 vllm-2063
        vllm-2064 vllm-2068 vllm-2069 vllm-2070 vllm-2092 vllm-2093 vllm-2094 vllm-2104
        vllm-2105 vllm-2106 vllm-2128 vllm-2129 vllm-2130 vllm-2134 vllm-2135 vllm-2136
        vllm-2140 vllm-2141 vllm-2142 vllm-3490
        """,
    ),
)

OPENED_BY_PROMPT = ("vllm-0144", "vllm-0145")
"""The engine was told that the reply starts in thinking; it expects no words, and a call ends it."""
_SEARCH = {
    "name": "search",
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "filters": {"type": "object"},
            "tags": {"type": "array"},
            "limit": {"type": "integer"},
            "verbose": {"type": "boolean"},
        },
    },
}


def _as_recorded(vector: Vector) -> Vector:
    """The vector with what was lost in recording it."""
    names = [call["name"] for call in vector.expected_calls]
    if not vector.tools and "search" in names and vector.id.startswith("vllm-"):
        # The same replies are recorded with this tool and without it; the values have types.
        vector = replace(vector, tools=[_SEARCH])
    if vector.id == "vllm-3506":
        # Its tool is recorded as the text of a Python object that has this name in it.
        vector = replace(vector, tools=[{"name": "get_weather"}])
    vector = thoughts_apart(words_of_prompt(without_turn_tokens(vector)))
    if vector.id.startswith("sglang-") and "to=self" in vector.text:
        # The detector of calls ran alone, so thoughts are in the words.
        vector = replace(vector, expected_content="", expected_reasoning=vector.expected_content)
    tools = [one for one in vector.tools or [] if isinstance(one, dict)]
    return replace(vector, tools=tools, starts_in_reasoning=_starts_in_thought(vector))


def _starts_in_thought(vector: Vector) -> bool:
    """Whether the prompt has opened a thought, which the text alone does not say.

    Templates that open a thought also say so where thinking is off and they close it at once.
    """
    if vector.id in OPENED_BY_PROMPT or (vector.starts_in_reasoning and vector.expected_reasoning):
        return True
    for opening, closing in get_syntax(vector.format).thinking:
        before, found, _ = vector.text.partition(closing)
        if found and opening not in before:
            return True
    return False


FORMATS = (
    "qwen3_coder_xml",
    "seed_oss",
    "glm45_xml",
    "ling3",
    "poolside_laguna",
    "hunyuan_v3",
    "minimax_m2",
    "minimax_m3",
    "deepseek_v32_dsml",
    "deepseek_v4_dsml",
    "step3_steptml",
    "kimi_k3_xtml",
    "muse_glimmer_atem",
    "dots",
    "minicpm5_xml",
)


def case_of(vector: Vector) -> Case:
    around = ("<tool_call>", "</tool_call>") if vector.format == "glm45_xml" else None
    return case(_as_recorded(vector), around=around, skipped=TOOLS_OFF.get(vector.id, ""))


@each("vector", vectors(*FORMATS))
def test_texts_of_models(vector: Vector) -> None:
    """Each is read as its engine expects, or the reason why not is named."""
    check(case_of(vector), EXCEPTIONS)
