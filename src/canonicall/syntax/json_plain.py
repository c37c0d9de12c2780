"""Calls printed as bare JSON, by models that nobody taught a syntax, or that forgot theirs.

Nothing marks these calls but their form, so they count only if every member is one that calls have,
and only for tools that were offered, where it is known which ones were. They stand at the start of
the reply (behind thoughts), in a fence, or, where tools were offered, behind words; other JSON in
the middle of prose, and what stands in other code, is an example and stays text.

`json_plain` reads what models of every house print: `{"name": ..., "arguments": ...}`, lists of it,
chat completions' `{"tool_calls": [...]}` and `{"toolCalls": [...]}` with or without the message
around it, Anthropic's `tool_use` blocks with or without the message around them, Gemini's
`functionCall`, and `{"tool_name": ..., "parameters": ...}`. The words in such a message are kept.

`json_array_required` is what vLLM and SGLang make a model write where a call is required: nothing
stands before it. `xlam` (xLAM 2, Hammer 2) writes a bare list, or puts it behind the marks of
others. `ollama_template_generic` is what ollama reads with the markers of common templates;
templates with a syntax of their own have their own names here. `generic_none` is a model without
any syntax: all is text.
"""

from msgspec.structs import replace

from canonicall.blocks import ToolCall
from canonicall.errors import InvalidValue
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_calls import bare_opener, fenced_openers, json_opener
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import list_of_calls

_ENDINGS = ("finish_reason", "stop_reason", "stop_sequence", "refusal", "logprobs")
_ANY = JsonForm(
    names=("name", "function", "tool_name", "tool"),
    arguments=("arguments", "parameters", "input", "args"),
    ids=("id", "tool_call_id", "call_id"),
    inner=("function", "tool_call", "toolCall", "function_call", "functionCall", "message"),
    lists=("tool_calls", "toolCalls", "function_calls", "content", "parts", "choices"),
    words=("content", "text"),
    frames=("type", "index", "role", "model", "object", "created", "usage", *_ENDINGS),
    is_strict=True,
)
_STRICT = JsonForm(is_strict=True)
_BARE = (bare_opener("{", form=_STRICT), bare_opener("[", form=_STRICT))
_MISTRAL = json_opener("[TOOL_CALLS]", "[/TOOL_CALLS]")
_HERMES = json_opener("<tool_call>", "</tool_call>")


def _refuse(calls: tuple[ToolCall, ...]) -> str:
    """Where all is text no call can be said."""
    if not calls:
        return ""
    raise InvalidValue(
        "generic_none has no form for calls: all that is read with it is text.",
        where=f"call {calls[0].name!r}",
        help="Print the call in a syntax that has one, json_plain for example.",
    )


SYNTAXES = (
    Syntax(
        name="json_plain",
        openers=(
            bare_opener("{", form=_ANY),
            bare_opener("[", form=_ANY),
            *fenced_openers(form=_ANY),
        ),
        is_marked=False,
        print_calls=list_of_calls("", ""),
    ),
    Syntax(
        name="json_array_required",
        kin_of="json_plain",
        openers=(replace(bare_opener("[", form=_STRICT), place="start"),),
        is_marked=False,
        print_calls=list_of_calls("", ""),
    ),
    Syntax(
        name="xlam",
        kin_of="json_plain",
        openers=(*_BARE, *fenced_openers(form=_STRICT), _MISTRAL, _HERMES),
        is_marked=False,
        # xLAM 2 is made of Llama 3.1 and of Qwen 2.5.
        noise=("<|eot_id|>", "<|im_end|>"),
        print_calls=list_of_calls("", ""),
    ),
    Syntax(
        name="ollama_template_generic",
        kin_of="json_plain",
        openers=(*(replace(one, place="start") for one in _BARE), _MISTRAL, _HERMES),
        is_marked=False,
        print_calls=list_of_calls("", ""),
    ),
    Syntax(
        name="generic_none",
        openers=(),
        is_marked=False,
        notation="custom",
        print_calls=_refuse,
    ),
)
