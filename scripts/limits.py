"""The page docs/limits.md, made of the settings: `python -m scripts.limits > docs/limits.md`.

A bound is one row: what it is on, its default, how it is set, what happens beyond it, and the test
that proves it. Defaults are read from where they are in force, so that the page cannot say another
number. A test holds that it is up to date, that every setting which is a bound has its row, and
that every test which it names exists. Add a bound to the section of `SECTIONS` that it belongs to.
"""

import sys
from typing import Any, NamedTuple

from canonicall.cli import files
from canonicall.client import connection, sending, unpacking
from canonicall.client.retrying import RetryPolicy
from canonicall.client.transport import Timeouts
from canonicall.discovery import asking
from canonicall.framing import eventstream
from canonicall.framing.limits import ReplyLimits
from canonicall.gateway.config import KeySettings, ServerSettings, StoreSettings, source
from canonicall.guard import results
from canonicall.importing import pieces
from canonicall.runtime import mcp_transports

_REPLIES, _SERVER, _STORE, _TIMES = ReplyLimits(), ServerSettings(), StoreSettings(), Timeouts()
_KEYS, _RETRY = KeySettings(hash=""), RetryPolicy()
_TOO_LARGE = "The reply ends with the error `reply_too_large` (502); it is not asked for again."
_LATE = "The attempt fails with `timeout`, and is made again where that may help."
_FIXED = "fixed"
_SILENT = "test_direct_transport.py::test_a_silent_host_is_not_waited_for"


class Bound(NamedTuple):
    """One row."""

    on: str
    default: Any
    set_by: str
    """The setting of the gateway, or the argument in Python."""
    beyond: str
    test: str
    """The file, and the test in it."""


def _reply(field: str, on: str) -> Bound:
    test = "tests/gateway/test_faults_bounds.py::test_a_stream_without_an_end_is_ended"
    set_by = f"`replies.{field}`, `ClientConfig(replies=ReplyLimits({field}=...))`"
    return Bound(on, getattr(_REPLIES, field), set_by, _TOO_LARGE, test)


def _time(field: str, on: str, test: str, beyond: str = _LATE) -> Bound:
    set_by = f"`providers.NAME.timeouts.{field}`, `Timeouts({field}=...)`"
    return Bound(on, getattr(_TIMES, field), set_by, beyond, f"tests/client/{test}")


def _server(field: str, on: str, beyond: str, test: str) -> Bound:
    return Bound(on, getattr(_SERVER, field), f"`server.{field}`", beyond, f"tests/gateway/{test}")


def _store(field: str, on: str, beyond: str, test: str) -> Bound:
    return Bound(on, getattr(_STORE, field), f"`store.{field}`", beyond, f"tests/gateway/{test}")


def _key(field: str, on: str) -> Bound:
    name = "test_limits_are_told_in_the_callers_own_words_and_survive_a_reload"
    test = f"tests/gateway/test_governed.py::{name}"
    return Bound(on, getattr(_KEYS, field), f"`keys.NAME.{field}`", "429 with `retry-after`.", test)


SECTIONS: dict[str, tuple[Bound, ...]] = {
    "Replies of providers": (
        _reply("total_bytes", "bytes of one reply, unpacked"),
        _reply("event_bytes", "bytes of one event, or of a line that does not end"),
        _reply("events", "events of one stream"),
        _reply("values", "JSON values in a reply or in one event"),
        Bound(
            "bytes of one frame of an AWS event stream",
            eventstream.LARGEST,
            _FIXED,
            "The stream ends with an error.",
            "tests/framing/test_eventstream.py::test_a_length_that_nothing_can_have_is_refused_at_once",
        ),
        Bound(
            "bytes of the head of an answer",
            connection.LARGEST_HEAD,
            _FIXED,
            "The attempt fails with `connection`.",
            "tests/client/test_direct_transport.py::test_a_head_without_an_end_is_not_read_for_ever",
        ),
        Bound(
            "bytes that wait for their reader",
            connection.MOST_BUFFERED,
            _FIXED,
            "The host has to wait.",
            "tests/client/test_direct_transport.py::test_a_host_waits_for_whoever_reads_slowly",
        ),
        Bound(
            "bytes that are unpacked at a time",
            unpacking.SLICE,
            _FIXED,
            "Other requests run between two slices.",
            "tests/client/test_direct_transport.py::"
            "test_what_is_packed_is_unpacked_a_little_at_a_time",
        ),
        Bound(
            "bytes of an error response",
            sending.MOST_OF_AN_ERROR,
            _FIXED,
            "The rest is not read.",
            "tests/client/test_reply_limits.py::test_of_an_error_only_so_much_is_read",
        ),
    ),
    "Times of one exchange, in seconds": (
        _time(
            "connect",
            "making a connection",
            "test_direct_transport.py::test_nobody_waits_for_a_connection_for_ever",
        ),
        _time("first_byte", "from the request to the first byte", _SILENT),
        _time("between_bytes", "between two bytes", _SILENT),
        _time("total", "from the request to the last byte", _SILENT),
        _time(
            "after_end",
            "what may follow the end of a reply",
            "test_reply_limits.py::test_what_follows_the_end_is_not_waited_for_long",
            "The reply is complete without it.",
        ),
        Bound(
            "attempts at one target",
            _RETRY.attempts,
            "`RetryPolicy(attempts=...)`; the gateway makes 3",
            "The next target of the chain is asked.",
            "tests/client/test_retrying.py::test_delays_double_up_to_the_longest_and_then_end",
        ),
    ),
    "Requests to the gateway": (
        _server(
            "max_body_bytes",
            "bytes of a body, unpacked",
            "413.",
            "test_http_manners.py::test_a_body_that_is_too_large_ends_the_connection",
        ),
        _server(
            "max_body_depth",
            "levels of its JSON",
            "400.",
            "test_http_manners.py::test_a_body_that_cannot_be_read_is_told_so",
        ),
        _server(
            "max_head_bytes",
            "bytes of the first line and the headers of a request",
            "431.",
            "server/test_connections.py::test_the_head_of_a_request_is_bounded",
        ),
        _server(
            "max_headers",
            "headers of a request",
            "431.",
            "server/test_connections.py::test_the_head_of_a_request_is_bounded",
        ),
        _server(
            "max_connections",
            "open connections of one worker",
            "The one that has been idle longest is closed. If none is idle, the new one gets 503.",
            "server/test_connections.py::test_idle_connections_give_way_to_new_ones",
        ),
        _server(
            "head_seconds",
            "seconds for the head of a request",
            "408.",
            "server/test_connections.py::test_a_client_that_stops_sending_is_not_waited_for",
        ),
        _server(
            "body_seconds",
            "seconds for its body",
            "408.",
            "server/test_connections.py::test_a_client_that_stops_sending_is_not_waited_for",
        ),
        _server(
            "idle_seconds",
            "seconds between two requests of a connection",
            "The connection is closed.",
            "server/test_connections.py::test_a_connection_is_kept_for_the_next_request_and_then_closed",
        ),
        _server(
            "read_seconds",
            "seconds in which a client does not read",
            "The connection is closed.",
            "server/test_connections.py::test_a_client_that_does_not_read_is_not_written_to_for_ever",
        ),
        _server(
            "keep_alive_seconds",
            "seconds of silence in a stream",
            "The client gets a sign of life.",
            "test_faults_silence.py::test_signs_of_life_before_the_first_byte_and_between",
        ),
        Bound(
            "seconds in which requests are taken after SIGTERM; 5 if other machines can connect",
            _SERVER.notice,
            "`server.notice_seconds`",
            "The port is closed.",
            "tests/gateway/server/test_processes.py::test_the_port_is_closed_after_the_notice",
        ),
        _server(
            "drain_seconds",
            "seconds for requests at the end of the server",
            "They are ended.",
            "server/test_processes.py::test_what_takes_longer_than_the_drain_is_broken_off",
        ),
        _key("requests_per_minute", "requests of one key in a minute; 0 is no limit"),
        _key("tokens_per_minute", "tokens of one key in a minute; 0 is no limit"),
        _key("concurrent", "requests of one key at once; 0 is no limit"),
    ),
    "Stored conversations": (
        _store(
            "days",
            "days that a conversation is kept",
            "It is forgotten.",
            "test_turn_tree.py::test_what_is_too_old_is_forgotten_while_it_runs",
        ),
        _store(
            "max_turns",
            "turns of one conversation; 0 is no limit",
            "400.",
            "test_conversations.py::test_a_chain_of_responses_has_so_many_turns",
        ),
        _store(
            "max_bytes",
            "bytes of one conversation; 0 is no limit",
            "400.",
            "test_conversations.py::test_a_conversation_has_so_many_bytes",
        ),
    ),
    "Files, tools and discovery": (
        Bound(
            "bytes of a configuration file",
            source.MOST_BYTES,
            _FIXED,
            "It is refused.",
            "tests/gateway/config/test_source.py::test_a_file_that_is_too_large_is_refused",
        ),
        Bound(
            "values in a configuration file",
            source.MOST_VALUES,
            _FIXED,
            "It is refused.",
            "tests/gateway/config/test_source.py::test_a_file_that_is_too_large_is_refused",
        ),
        Bound(
            "bytes of one document or line of a file, session files among them",
            pieces.MOST_BYTES,
            _FIXED,
            "It is refused.",
            "tests/importing/test_documents.py::test_a_document_without_an_end_is_refused",
        ),
        Bound(
            "seconds until somebody writes to a named pipe that is read",
            files.PATIENCE,
            _FIXED,
            "The verb ends with an error.",
            "tests/cli/test_writing.py::test_a_pipe_that_nobody_writes_to_is_an_error",
        ),
        Bound(
            "characters of a tool's result",
            results.DEFAULT_LIMIT,
            "`limit` of `tool`",
            "It is shortened in the middle, with a finding.",
            "tests/guard/test_results.py::test_long_results_are_shortened_and_the_value_is_kept",
        ),
        Bound(
            "bytes of one answer of an MCP server by HTTP",
            mcp_transports.MOST_BYTES,
            _FIXED,
            "The call has an error; the connection stays.",
            "tests/runtime/test_mcp.py::"
            "test_an_answer_that_is_too_long_is_an_error_of_its_call_alone",
        ),
        Bound(
            "bytes of one line of the output of an MCP server that is a program",
            mcp_transports.MOST_BYTES,
            _FIXED,
            "The program is ended, and its calls have an error.",
            "tests/runtime/test_mcp.py::test_output_that_cannot_be_read_ends_the_program",
        ),
        Bound(
            "bytes of an answer to discovery, lists of models among them",
            asking.MOST_BYTES,
            _FIXED,
            "The rest is not read.",
            "tests/client/test_reply_limits.py::test_of_a_list_of_models_only_so_much_is_read",
        ),
    ),
}
_INTRODUCTION = """\
# Limits

Everything that comes from outside is bounded. A setting such as `replies.events` belongs into the
file of the gateway ([gateway.md](gateway.md#replies)); the other spelling is for programs.

```yaml
replies: {total_bytes: 134217728, event_bytes: 67108864}
```

A reply that is beyond a limit would be so again: it is neither asked for again nor from another
target. What is packed is unpacked a slice at a time, and counted as it is then.

This page is made by `python -m scripts.limits > docs/limits.md`.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_INTRODUCTION, *map(_section, SECTIONS)])


def _section(title: str) -> str:
    rows = ["| limit on | default | set by | beyond it | test |", "|---|---|---|---|---|"]
    for one in SECTIONS[title]:
        test = one.test.rpartition("::")[2] if "::" in one.test else one.test.rpartition("/")[2]
        link = f"[{test}](../{one.test.partition('::')[0]})"
        rows.append(f"| {one.on} | {_shown(one.default)} | {one.set_by} | {one.beyond} | {link} |")
    return f"## {title}\n\n" + "\n".join(rows) + "\n"


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


if __name__ == "__main__":
    sys.stdout.write(page())
