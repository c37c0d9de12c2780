"""HyperCLOVA X SEED Think: a list of calls as JSON, in a message to a role of its own.

The prompt has written the role of the reply, so the text begins with the recipient:
`-> tool/function_call`. A thought is a message of the role `assistant/think`; its end and the
header of the next message mean nothing.
"""

from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import list_of_calls

_TO, _END, _NEXT = "-> tool/function_call", "<|im_end|>", "<|im_start|>assistant"

SYNTAXES = (
    Syntax(
        name="hyperclovax",
        openers=(json_opener(_TO, _END),),
        thinking=(("/think\n", _END),),
        thinking_place="start",
        noise=(_END, _NEXT, "<|endofturn|>", "<|stop|>"),
        print_calls=list_of_calls(f"{_TO}\n", _END),
    ),
)
