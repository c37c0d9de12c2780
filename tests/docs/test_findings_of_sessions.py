"""The table of docs/findings.md about sessions: each code is provoked, with what is done about it."""

import pytest

from canonicall import read_document
from canonicall.importing.documents import kind_of
from finding_codes import ABOUT_SESSIONS, documented
from importing.session_files import AGENTS, as_lines, claude_entry, tool_result

CLAUDE = AGENTS["claude-code"]
PI = AGENTS["pi"]
EDIT = {"targetId": "e4", "replacement": {"content": "Most of them pass."}}


def _read(*more):
    return read_document(CLAUDE.session() + as_lines(list(more))).findings


def _written_back(*more):
    data = CLAUDE.session(interrupted=True) + as_lines(list(more))
    return kind_of(data).write_back(data).findings


PROVOKED = {
    "session_bookkeeping": lambda: _read({"type": "queue-operation", "sessionId": "5f0c"}),
    "session_side_chain": lambda: _read(
        claude_entry("s1", "a2", "user", "Look around.", isSidechain=True)
    ),
    "session_branch_left": lambda: _read(
        claude_entry("u2", "a3", "user", "One."), claude_entry("u3", "a3", "user", "Other.")
    ),
    "session_compacted": lambda: _read(
        claude_entry("u2", "a3", "user", "So far.", isCompactSummary=True)
    ),
    "session_edited": lambda: (
        read_document(
            PI.session()
            + as_lines([{"type": "context_edit", "id": "e9", "parentId": "e4", **EDIT}])
        ).findings
    ),
    "session_error_left_out": lambda: _read(
        claude_entry("x1", "a3", "assistant", "API Error", isApiErrorMessage=True)
    ),
    "session_result_added": _written_back,
    "session_entry_dropped": lambda: _written_back(
        claude_entry("r9", "a4", "user", [tool_result("gone")])
    ),
}


def test_there_is_a_way_to_provoke_every_code():
    assert set(PROVOKED) == set(documented(ABOUT_SESSIONS))


@pytest.mark.parametrize("code", PROVOKED)
def test_the_page_says_what_is_done(code):
    """The actions in the table are those that really occur."""
    done = {finding.action.value for finding in PROVOKED[code]() if finding.code == code}
    assert done == documented(ABOUT_SESSIONS)[code]
