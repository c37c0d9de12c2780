"""All that providers are known to refuse is refused by their simulators, in the words they are known
for; and what the renderer makes of each such body is answered."""

import re

import pytest

from batches import each
from canonicall import MalformedBody, translate
from canonicall.testing.simulator import Simulator
from refusals import (
    claude,
    claude_beside,
    claude_newer,
    claude_parts,
    converse,
    efforts,
    google,
    google_services,
    hosts,
    hosts_alike,
    mistral,
    openai,
    own_formats,
    responses,
    sampling,
    wrong_kinds,
)
from testing.asking import ask

FAMILIES = {
    "claude": claude.ROWS,
    "claude beside": claude_beside.ROWS,
    "claude newer": claude_newer.ROWS,
    "claude parts": claude_parts.ROWS,
    "openai": openai.ROWS | responses.ROWS,
    "hosts": mistral.ROWS | hosts.ROWS | hosts_alike.ROWS,
    "gemini": google.ROWS | google_services.ROWS,
    "converse": converse.ROWS,
    "efforts": efforts.ROWS,
    "own formats": own_formats.ROWS,
    "sampling": sampling.ROWS,
    "wrong kinds": wrong_kinds.ROWS,
}
ROWS = {f"{family}: {name}": row for family, rows in FAMILIES.items() for name, row in rows.items()}
# What differs a little from a row and is no violation.
ACCEPTED = {
    **claude_beside.ACCEPTED,
    **claude_newer.ACCEPTED,
    **claude_parts.ACCEPTED,
    **converse.ACCEPTED,
    **efforts.ACCEPTED,
    **google_services.ACCEPTED,
    **hosts.ACCEPTED,
    **mistral.ACCEPTED,
    **openai.ACCEPTED,
    **own_formats.ACCEPTED,
    **responses.ACCEPTED,
    **sampling.ACCEPTED,
    **wrong_kinds.ACCEPTED,
}
every_row = each("row", ROWS.values(), ids=ROWS)

# What no renderer can put right, and why.
UNREADABLE = "an unknown role", "ollama: a list as content", "a lifetime in seconds"
UNKNOWABLE = {
    "a thought of somebody else": "it says that it is Claude's",
    "a hidden thought of somebody else": "it says that it is Claude's",
    "a mark on a hidden thought": "it says that it is Claude's",
    "an empty thought": "it says that it is Claude's",
    "a mark on a thought": "it says that it is Claude's",
    "reasoning of somebody else": "it says that it is OpenAI's",
    "a signature of somebody else": "it says that it is Gemini's",
    "a reply that is not known": "only the provider knows what it has stored",
    "a conversation that is not known": "only the provider knows what it has stored",
    "a conversation that is not known, in an object": "only the provider knows what it has stored",
    "a picture that is not stored": "only the provider knows what it has stored",
    "many functions": "which of them could be spared is not for us to say",
    "many tools": "which of them could be spared is not for us to say",
    "very many messages": "nothing is cut off in silence; `compact` does it when asked",
    "a long result": "nothing is cut off in silence; `compact` does it when asked",
    "tools of a model that knows none": "without them, the question could not be answered either",
}


def asked(row, body):
    """The answer of a simulator; a field that needs a beta header comes with it."""
    headers = {"anthropic_beta": "compact-2026-09-04"} if "compaction" in body else {}
    return ask(Simulator(row.provider), row.path, body, **headers)


def is_of(name, kinds):
    return any(name.endswith(f": {kind}") for kind in kinds)


@every_row
def test_it_is_refused(row):
    status, answer = asked(row, row.body)
    assert status == row.status, answer
    assert re.search(row.words, str(answer).replace("\\", ""), re.DOTALL), answer


@each("row", ACCEPTED.values(), ids=ACCEPTED)
def test_its_sound_neighbour_is_answered(row):
    status, answer = asked(row, row.body)
    assert status == 200, answer


@each(
    "row",
    [row for name, row in ROWS.items() if not is_of(name, (*UNREADABLE, *UNKNOWABLE))],
    ids=[name for name in ROWS if not is_of(name, (*UNREADABLE, *UNKNOWABLE))],
)
def test_it_is_not_sent(row):
    rendered = translate(row.body, row.format, row.target)
    status, answer = asked(row, rendered.body)
    assert status == 200, answer


@pytest.mark.parametrize(
    "row",
    [row for name, row in ROWS.items() if is_of(name, UNREADABLE)],
    ids=[name for name in ROWS if is_of(name, UNREADABLE)],
)
def test_it_is_not_even_read(row):
    with pytest.raises(MalformedBody):
        translate(row.body, row.format, row.target)


def test_the_exceptions_are_needed():
    """Each of them names rows, and what is sent for these is refused as well."""
    assert all(any(is_of(name, [kind]) for name in ROWS) for kind in (*UNREADABLE, *UNKNOWABLE))
    for name, row in ROWS.items():
        if is_of(name, UNKNOWABLE):
            rendered = translate(row.body, row.format, row.target)
            assert asked(row, rendered.body)[0] == row.status, name
