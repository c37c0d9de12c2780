"""Keys are planted in all that goes wrong; no log, metric, error, header or report has one."""

import io
import json
import logging

import pytest

from canonicall.blocks import Text
from canonicall.gateway.governance.metrics import Metrics
from canonicall.gateway.governance.request_log import RequestLog
from gateway.test_faults_frames import NO_REPLIES
from gateway_faults import (
    BACKS,
    FRONTS,
    UPSTREAM_KEY,
    Faulty,
    Play,
    Upstream,
    assert_no_key,
    said,
    stream_of,
)

_QUOTED = f"Incorrect API key provided: {UPSTREAM_KEY}"
_WORDS = stream_of(said(Text(text="Well.")), "anthropic")
_WORDS = _WORDS[: _WORDS.index(b"event: content_block_stop")]
_ERROR = {"type": "error", "error": {"type": "api_error", "message": _QUOTED}}
QUOTING: dict[str, Play | Exception] = {
    **NO_REPLIES,
    **{
        f"status {status}": Play.json(json.dumps(_ERROR).encode(), status)
        for status in (400, 401, 403, 404, 413, 422, 429, 500, 503)
    },
    "header": Play.json(b"{}", 500, x_request=UPSTREAM_KEY, retry_after=UPSTREAM_KEY),
    "behind words": Play.stream(
        "anthropic", _WORDS, b"event: error\ndata: " + json.dumps(_ERROR).encode() + b"\n\n"
    ),
    "as a type behind words": Play.stream(
        "anthropic",
        _WORDS,
        b'event: error\ndata: {"type":"error","error":{"type":"%s","message":"x"}}\n\n'
        % UPSTREAM_KEY.encode(),
    ),
    "as a type": Play.json(json.dumps({"error": {"type": UPSTREAM_KEY, "code": 7}}).encode(), 400),
}


@pytest.mark.parametrize("front", FRONTS)
async def test_no_key_is_told(front: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for what, play in QUOTING.items():
        for streams in (True, False):
            written = io.BytesIO()
            log, metrics = RequestLog(written), Metrics()
            world = Faulty(Upstream(play), BACKS["anthropic"], watchers=(log, metrics))
            answer = await world.ask(front, streams=streams)
            report = await world.report(answer)
            log.close()
            assert written.getvalue(), what
            assert_no_key(written.getvalue(), metrics.text(), report, answer.body, answer.headers)
    assert_no_key(caplog.text)
