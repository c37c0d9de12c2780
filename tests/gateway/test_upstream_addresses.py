"""Where upstreams are is told to operators alone: not in errors, streams or reports of clients."""

import hashlib

import pytest

from batches import each
from canonicall.client.secrets import Secret
from canonicall.client.transport import TransportError
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import (
    Choice,
    KeySettings,
    ModelSettings,
    ProviderSettings,
    RepairSettings,
    Settings,
)
from canonicall.gateway.upstream_addresses import HIDDEN, UpstreamAddresses
from gateway.test_faults_frames import OTHER
from gateway_faults import BACKS, FRONTS, FULL, Play, Upstream, stream_of
from gateway_support import UPSTREAM_KEY, ask, simulated_providers

URL = "http://10.1.2.3:8000/v1/chat"
BROKEN = TransportError("no connection: refused.", where=URL, phase="setup")
MOVED = Play((), 307, {"location": "http://inside.corp/v1?x=1"})
ERROR = Play.json(b'{"error":{"message":"see openai.sim:80 or http://10.1.2.3:8000/x"}}', 400)
CLIENT, ADMIN = "ck-client", "ck-admin"


def hashed(key: str) -> str:
    return f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"


def gateway_before(upstream: Upstream, target: str) -> Gateway:
    settings = Settings(
        providers=simulated_providers(),
        models={"m": ModelSettings(choices=(Choice(target=target),))},
        repair=RepairSettings(continue_streams=False),
        keys={
            "client": KeySettings(hash=hashed(CLIENT)),
            "admin": KeySettings(hash=hashed(ADMIN), admin=True),
        },
    )
    return Gateway(settings, transport=upstream)


def names_an_address(text: str) -> bool:
    return "10.1.2.3" in text or ".sim" in text or ".corp" in text


@each("key", [CLIENT, ADMIN], ids=["client", "admin"])
@each("streams", [True, False], ids=["streamed", "whole"])
@each("front", FRONTS)
@each("what", ["broken", "moved", "error"])
async def test_only_an_operator_is_told_where_an_upstream_is(
    what: str, front: str, streams: bool, key: str
) -> None:
    play = {"broken": BROKEN, "moved": MOVED, "error": ERROR}[what]
    for back in (front, OTHER[front]):
        gateway = gateway_before(Upstream(play), BACKS[back])
        one = FRONTS[front]
        path, body = one.streamed("m") if streams else one.whole("m")
        shown = {"authorization": f"Bearer {key}"}
        answer = await ask(gateway, path, body, headers=shown)
        assert answer.status >= 400
        assert names_an_address(answer.body.decode()) is (key == ADMIN)
        id = answer.headers["x-canonicall-request-id"]
        report = await ask(gateway, f"/canonicall/reports/{id}", headers=shown)
        assert report.status == 200
        assert names_an_address(report.body.decode()) is (key == ADMIN)


@each("front", FRONTS)
async def test_a_stream_that_breaks_does_not_say_where(front: str) -> None:
    for back in (front, OTHER[front]):
        data = stream_of(FULL, back)
        broken = TransportError("the connection broke.", where=URL, phase="connection")
        play = Play.stream(back, data[: len(data) // 2], broken)
        for key in (CLIENT, ADMIN):
            gateway = gateway_before(Upstream(play), BACKS[back])
            path, body = FRONTS[front].streamed("m")
            shown = {"authorization": f"Bearer {key}"}
            answer = await ask(gateway, path, body, headers=shown)
            assert answer.status == 200
            assert b"the connection broke" in answer.body
            assert names_an_address(answer.body.decode()) is (key == ADMIN)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://platform.openai.com/docs.", "see https://platform.openai.com/docs."),
        ("at http://up.example:81/v1/x: no.", f"at {HIDDEN}: no."),
        ("at up.example:81 or up.example", f"at {HIDDEN} or up.example"),
        ("at http://192.168.0.7/x (moved)", f"at {HIDDEN} (moved)"),
        ("at http://[::1]:80/x", f"at {HIDDEN}"),
        ("at http://db/x, http://x.internal", f"at {HIDDEN}, {HIDDEN}"),
        ("nothing", "nothing"),
    ],
)
def test_addresses_of_ones_own_are_hidden_and_public_ones_are_not(text, shown):
    provider = ProviderSettings(base_url="http://up.example:81/v1", keys=(Secret(UPSTREAM_KEY),))
    assert UpstreamAddresses(Settings(providers={"openai": provider})).hidden(text) == shown
