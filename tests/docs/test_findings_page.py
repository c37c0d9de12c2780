"""docs/findings.md lists exactly the finding codes of the source, with what is really done.

Here the page as a whole and the tables about conversations; those about bodies are provoked in
test_findings_of_bodies.py, those about sessions in test_findings_of_sessions.py, those about text in
test_findings_of_text.py, those about calls in test_findings_of_calls.py, those of the gateway in
test_findings_of_gateway.py. How codes are followed is in tests/finding_codes.py.
"""

import re
from collections.abc import Callable, Iterable

from batches import each
from canonicall import (
    Action,
    CallClosed,
    CallDecided,
    Conversation,
    Finding,
    Message,
    Outcome,
    Text,
    ToolCall,
    ToolResult,
    drop,
    dump,
    load,
    shorten,
)
from finding_codes import (
    ABOUT_BODIES,
    ABOUT_CALLS,
    ABOUT_CONVERSATIONS,
    ABOUT_GATEWAY,
    ABOUT_SESSIONS,
    ABOUT_TEXT,
    PAGE,
    codes_in_source,
    documented,
    done_in_source,
    sections,
)


def test_the_page_lists_exactly_the_codes_of_the_source():
    assert set(documented(*sections())) == codes_in_source()


def test_every_table_is_provoked_here_or_in_a_file_beside_this():
    tables = [heading for heading in sections() if documented(heading)]
    reading, *writing = ABOUT_BODIES
    bodies = [reading, ABOUT_SESSIONS, *writing]
    assert tables == [*ABOUT_CONVERSATIONS, *bodies, ABOUT_TEXT, *ABOUT_CALLS, ABOUT_GATEWAY]


def test_no_action_of_the_source_is_missing():
    """Where the source leaves no doubt which action a code goes with, the page has it."""
    shown = documented(*sections())
    assert {code: done - shown[code] for code, done in done_in_source().items()} == {
        code: set() for code in done_in_source()
    }


# A way to provoke each code. What is done about it has to be what the page says.


def _told(*entries: Message) -> Conversation:
    return Conversation.of(entries)


def _call(id: str = "x", **fields: object) -> Message:
    return Message("assistant", (ToolCall(id=id, **{"name": "tool", **fields}),))


def _result(id: str = "x", text: str = "one", **fields: object) -> Message:
    return Message("tool", (ToolResult(call_id=id, content=(Text(text=text),), **fields),))


def _closed(*, after: Iterable[Message] = (), then: Message | None = None) -> Conversation:
    chat = _told(*after)
    chat.close("x", Outcome.UNKNOWN)
    if then is not None:
        chat.append(then)
    return chat


def _circular() -> dict[str, object]:
    value: dict[str, object] = {}
    value["inner"] = value
    return value


def _asked(*entries: Message) -> Conversation:
    return _told(Message("user", (Text(text="Hello " * 100),)), *entries)


PROVOKED: dict[str, Callable[[], Iterable[Finding]]] = {
    "lone_surrogate": lambda: _told(Message("user", (Text(text="\ud83d"),))).report,
    "circular_value": lambda: _told(_call(args=_circular())).report,
    "arguments_unreadable": lambda: _told(_call(raw='{"city": "Ba')).report,
    "arguments_unwrapped": lambda: _told(_call(raw='"{}"')).report,
    "arguments_disagree": lambda: _told(_call(args={"a": 1}, raw='{"a": 2}')).report,
    "call_in_wrong_role": lambda: _told(Message("user", _call().blocks)).report,
    "missing_tool_name": lambda: _told(_call(name="")).report,
    "missing_call_id": lambda: _told(_call("")).report,
    "reused_call_id": lambda: _told(_call(), _result(), _call()).report,
    "raw_id_taken_over": lambda: _asked(_call(), _asked().entries[0], _call()).report,
    "result_before_call": lambda: _told(_result(), _call()).report,
    "matched_by_position": lambda: _told(_call(), _result("")).report,
    "matched_by_spelling": lambda: _told(_call("call_x"), _result("toolu_x")).report,
    "orphan_result": lambda: _told(_result()).report,
    "result_pending": lambda: (
        _told(_call(), _result(is_complete=False), _result(), _result(is_complete=False)).report
    ),
    "stand_in_replaced": lambda: (
        *_told(_call(), _result(synthetic=True), _result()).report,
        *_closed(after=(_call(), _result(synthetic=True))).report,
    ),
    "duplicate_result": lambda: _told(_call(), _result(), _result()).report,
    "conflicting_result": lambda: _told(_call(), _result(), _result(text="two")).report,
    "late_result": lambda: _closed(after=[_call()], then=_result()).report,
    "orphan_closing": lambda: _closed().report,
    "orphan_decision": lambda: _told(_call("y"), CallDecided("x", "allow")).report,
    "outcome_corrected": lambda: (
        _told(_call(), _result(is_complete=False), CallClosed("x", Outcome.NOT_RUN)).report
    ),
    "already_ended": lambda: _closed(after=(_call(), _result())).report,
    "compacted": lambda: drop(_asked(), 1).report,
    "cut_moved": lambda: drop(_asked(_call(), _result()), 2).report,
    "nothing_to_compact": lambda: drop(_asked(), 0).report,
    "shortened": lambda: shorten(_asked(), 100).report,
    "truncated_line": lambda: load(dump(_asked())[:-9]).report,
    "unended_line": lambda: load(dump(_asked())[:-1]).report,
    "unreadable_line": lambda: load(dump(_asked()) + b"?\n", recover=True).report,
}


def test_there_is_a_way_to_provoke_every_code():
    assert set(PROVOKED) == set(documented(*ABOUT_CONVERSATIONS))


@each("code", PROVOKED)
def test_the_page_says_what_is_done(code):
    """The actions in the table are those that really occur."""
    done = {finding.action.value for finding in PROVOKED[code]() if finding.code == code}
    assert done
    assert done == documented(*ABOUT_CONVERSATIONS)[code]


def test_the_page_names_every_action():
    assert {f"`{action}`" for action in Action} <= set(
        re.findall(r"`\w+`", PAGE.read_text("utf-8"))
    )
