"""LongCat: JSON as Hermes writes it, or a name and pairs of tags as GLM does, in tags of its own.

LongCat Flash was taught JSON, and later models the pairs; all write either at times. Printed is
JSON, which every value fits into.
"""

from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import each_call, each_result
from canonicall.syntax.xml_keys import KeyForm, key_openers

_FORM = KeyForm(
    call="<longcat_tool_call>",
    call_end="</longcat_tool_call>",
    key=("<longcat_arg_key>", "</longcat_arg_key>"),
    value=("<longcat_arg_value>", "</longcat_arg_value>"),
)

SYNTAXES = (
    Syntax(
        name="longcat",
        openers=(json_opener(_FORM.call, _FORM.call_end), *key_openers(_FORM)),
        thinking=(("<longcat_think>", "</longcat_think>"), ("<think>", "</think>")),
        noise=("</longcat_s>",),
        print_calls=each_call(_FORM.call, _FORM.call_end),
        print_results=each_result("<longcat_tool_response>", "</longcat_tool_response>"),
    ),
)
