"""Granite before version 4.

Granite 3 writes a list behind `<|tool_call|>`, or `<tool_call>`, or nothing; no marker ends it.
Granite 3.2 says its thought between two sentences. The 20B model for function calling writes one
object behind each `<function_call>`; a list there is plainly meant as calls and read as such.
"""

from canonicall.syntax.declaration import Syntax, only_named
from canonicall.syntax.json_calls import bare_opener, json_opener
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import each_call, each_result, list_of_calls

_END = "<|end_of_text|>"

SYNTAXES = (
    Syntax(
        name="granite3",
        openers=(
            # Others, who close the same marker, are read alike where nobody named them.
            json_opener("<|tool_call|>", "<|/tool_call|>"),
            *only_named(
                json_opener("<tool_call>", "</tool_call>"),
                bare_opener("[", form=JsonForm(is_strict=True)),
            ),
        ),
        thinking=(
            ("Here is my thought process:", "Here is my response:"),
            ("<think>", "</think>"),
        ),
        noise=(_END,),
        print_calls=list_of_calls("<|tool_call|>", ""),
    ),
    Syntax(
        name="granite_20b_fc",
        openers=(json_opener("<function_call>", "</function_call>"),),
        noise=(_END, "<|endoftext|>"),
        print_calls=each_call("<function_call> ", "", between=""),
        print_results=each_result("<function_response> ", "", between=""),
    ),
)
