"""LongCat Flash: Hermes with tags of its own."""

from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import each_call, each_result

SYNTAXES = (
    Syntax(
        name="longcat",
        openers=(json_opener("<longcat_tool_call>", "</longcat_tool_call>"),),
        thinking=(("<longcat_think>", "</longcat_think>"), ("<think>", "</think>")),
        noise=("<longcat_s>", "</longcat_s>"),
        models=("*longcat*",),
        print_calls=each_call("<longcat_tool_call>", "</longcat_tool_call>"),
        print_results=each_result("<longcat_tool_response>", "</longcat_tool_response>"),
    ),
)
