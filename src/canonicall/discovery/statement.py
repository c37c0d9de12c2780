"""What discovery says: a question, an answer, and the exchanges that prove it.

Nothing is said without evidence. A question that no probe could settle has no answer, and stays
unknown: whoever reads it must not take silence for a no.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from canonicall.facts.profile import Confidence
from canonicall.facts.target import FORMATS

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "wire_format": (
        "Which wire format answers",
        {"enum": list(FORMATS)},
    ),
    "structured_calls": ("Calls come as structured data", {"type": "boolean"}),
    "text_syntax": ("The syntax of calls that are printed in text", {"type": "string"}),
    "parallel_calls": ("One reply may hold several calls", {"type": "boolean"}),
    "argument_streaming": (
        "How arguments come in a stream: piece by piece, or each call whole",
        {"enum": ["pieces", "whole"]},
    ),
    "usage_in_streams": ("A stream tells the tokens", {"type": "boolean"}),
    "call_ids": ("What ids of calls look like", {"type": "string"}),
    "ids_reused": ("Another reply has the same ids again", {"type": "boolean"}),
    "foreign_ids": ("Ids of any form are taken in a history", {"type": "boolean"}),
    "plain_ids": ("Ids like call_ and 24 letters are taken in a history", {"type": "boolean"}),
    "finish_with_calls": ("The word for the end of a reply with calls", {"type": "string"}),
    "reasoning_setting": ("Reasoning can be asked for", {"type": "boolean"}),
    "reasoning_field": ("Where reasoning stands in a reply", {"type": "string"}),
    "reasoning_signed": ("Reasoning comes with a signature", {"type": "boolean"}),
    "reasoning_replay": ("Reasoning is taken back in a history", {"type": "boolean"}),
    "choice_required": (
        "tool_choice that forces a call",
        {"enum": ["obeyed", "ignored", "refused"]},
    ),
    "choice_named": ("tool_choice that names a tool", {"enum": ["obeyed", "ignored", "refused"]}),
    "choice_none": ("tool_choice that forbids calls", {"enum": ["obeyed", "ignored", "refused"]}),
    "parallel_switch": ("The switch for parallel calls is taken", {"type": "boolean"}),
    "schema_keywords": ("Schemas may use more than the plain keywords", {"type": "boolean"}),
    "strict_tools": ("A tool can be declared strict", {"type": "boolean"}),
    "tools_with_history": (
        "Tools have to be declared when the history has calls",
        {"type": "boolean"},
    ),
    "system_role": ("A system message is taken", {"type": "boolean"}),
    "developer_role": ("There is a developer role", {"type": "boolean"}),
    "system_later": ("Instructions may stand behind the first message", {"type": "boolean"}),
    "user_after_results": ("A user message may follow results", {"type": "boolean"}),
    "users_in_a_row": ("Two messages of the user may follow each other", {"type": "boolean"}),
    "assistant_first": ("The first message may be the assistant's", {"type": "boolean"}),
    "text_beside_calls": ("A message may have text beside its calls", {"type": "boolean"}),
    "empty_results": ("A result may be empty", {"type": "boolean"}),
    "token_limit_field": ("What the limit of tokens is called", {"type": "string"}),
}
"""For each question what it asks, and the JSON Schema of its answer."""

Verdict: TypeAlias = Literal["agrees", "contradicts", "unproven"]


class Evidence(Struct, frozen=True):
    """One exchange, shortened, without any key."""

    probe: str
    sent: str
    received: str


class Statement(Struct, frozen=True):
    """One answer. None: nobody knows, and the evidence says what was tried."""

    question: str
    answer: Any
    evidence: tuple[Evidence, ...] = ()
    confidence: Confidence = "B"
    """As in profiles: B is seen live, C is said by others, U is uncertain."""
    note: str = ""
    """What is remarkable about it."""


class Comparison(Struct, frozen=True):
    """What documentation says about a question, beside what the probes showed."""

    question: str
    said: Any
    probed: Any
    verdict: Verdict
    """unproven: only the documentation says so. Where they contradict, the probe counts."""
    quote: str = ""
    """The words of the documentation."""
