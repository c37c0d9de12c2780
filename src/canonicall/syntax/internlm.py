"""InternLM 2.5 and Intern-S1: one object for each call between `<|action_start|>` and
`<|action_end|>`, behind the mark of a plugin. SGLang expects a space between the two marks, the
model writes none; both are read.
"""

from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import each_call, each_result

_END = "<|action_end|>"

SYNTAXES = (
    Syntax(
        name="internlm2",
        openers=(
            json_opener("<|action_start|><|plugin|>", _END),
            json_opener("<|action_start|> <|plugin|>", _END),
        ),
        noise=("<|im_end|>",),
        print_calls=each_call(
            "<|action_start|><|plugin|>\n", "<|action_end|>", between="", arguments="parameters"
        ),
        print_results=each_result(
            "<|im_start|>environment name=<|plugin|>\n", "<|im_end|>\n", between=""
        ),
    ),
)
