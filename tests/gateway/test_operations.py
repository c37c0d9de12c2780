"""What operators ask, and who may ask it."""

import json

import pytest

from canonicall.client.secrets import Secret
from canonicall.errors import InvalidValue
from canonicall.facts.profile import load_profile
from canonicall.facts.registry import find_profile
from canonicall.gateway.config import (
    Choice,
    KeySettings,
    LogSettings,
    ModelSettings,
    ProviderSettings,
    Settings,
)
from canonicall.gateway.exchange import HttpRequest
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.keys import new_key
from canonicall.gateway.governance.metrics import Metrics
from canonicall.gateway.operations import answer
from gateway_support import World, ask

ADMIN, ADMIN_HASH = new_key(bytes(32))
PLAIN, PLAIN_HASH = new_key(bytes(31) + b"\x01")
KEYS = {
    "root": KeySettings(hash=ADMIN_HASH, admin=True),
    "team": KeySettings(hash=PLAIN_HASH, models=("fast",), requests_per_minute=10),
}
ROUTES = [
    ("GET", "keys"),
    ("POST", "keys/team/revoke"),
    ("GET", "limits"),
    ("GET", "config"),
    ("POST", "reload"),
    ("GET", "breakers"),
    ("GET", "reports"),
    ("GET", "reports/r1"),
    ("POST", "discover"),
]
WANTED = b'{"url": "http://192.168.0.9:8000/v1"}'


class Gateway:
    """As much of one as is asked."""

    def __init__(self, settings=None):
        self.settings = settings if settings is not None else Settings(keys=KEYS)
        self.gate = Gate(self.settings.keys, open_to_all=not self.settings.keys)
        self.metrics = Metrics()
        self.is_ending = False
        self.writable = True
        self.kept, self.reloads, self.wrong = [], 0, None
        self.discovered = []

    def now(self):
        return 1000.0

    async def store_problem(self):
        return "" if self.writable else "database or disk is full"

    async def reread(self):
        if self.wrong is not None:
            raise self.wrong
        self.reloads += 1
        return {"models": 1}

    async def keep_revoked(self, hash):
        self.kept.append(hash)

    def breakers(self):
        return [{"provider": "openai", "state": "closed"}]

    async def reports(self, most):
        return [{"id": f"r{at}"} for at in range(min(most, 3))]

    async def report(self, id):
        return {"id": id} if id == "r1" else None

    async def discover(self, wanted):
        self.discovered.append(wanted)
        if self.wrong is not None:
            raise self.wrong
        return {"url": wanted.url}


def request(path, method="GET", *, key=ADMIN, client="127.0.0.1", query=None, body=b"", **headers):
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    if key:
        named["authorization"] = f"Bearer {key}"
    return HttpRequest(method, path, query or {}, named, body, client)


async def asked(app, path, method="GET", **options):
    response = await answer(request(path, method, **options), app)
    return response.status, json.loads(response.body)


async def admin(app, path, method="GET", **options):
    return await asked(app, f"/canonicall/admin/{path}", method, **options)


async def test_other_paths_are_others_business():
    for path in (
        "/",
        "/v1/messages",
        "/healthz/",
        "/metricsx",
        "/canonicall/translate",
        "/canonicall/admin",
    ):
        assert await answer(request(path), Gateway()) is None


async def test_health_is_that_it_answers():
    app = Gateway()
    app.is_ending, app.writable = True, False
    assert await asked(app, "/healthz", key="") == (200, {"status": "alive"})
    assert (await answer(request("/healthz", "HEAD"), app)).status == 200


async def test_readiness_is_that_requests_can_come():
    app = Gateway()
    assert await asked(app, "/readyz", key="") == (200, {"status": "ready"})
    app.is_ending = True
    assert await asked(app, "/readyz") == (503, {"status": "not ready", "why": ["draining"]})
    app.writable = False
    reasons = ["draining", "the store cannot be written: database or disk is full"]
    assert (await asked(app, "/readyz"))[1]["why"] == reasons


async def test_metrics_in_the_form_of_prometheus():
    response = await answer(request("/metrics", key=""), Gateway())
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert b"canonicall_requests_open 0.0" in response.body


async def test_without_metrics_it_says_what_to_install():
    app = Gateway()
    app.metrics = None
    status, body = await asked(app, "/metrics")
    assert status == 501
    assert "canonicall[server]" in body["error"]["message"]


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_the_admin_endpoints_want_an_admin_key(method, path):
    app = Gateway()
    assert (await admin(app, path, method, key="", body=WANTED))[0] == 401
    assert (await admin(app, path, method, key="sk-wrong", body=WANTED))[0] == 401
    assert (await admin(app, path, method, key=PLAIN, body=WANTED))[0] == 403
    assert (app.kept, app.reloads, app.discovered) == ([], 0, [])
    assert (await admin(app, path, method, body=WANTED))[0] == 200


async def test_an_open_gate_opens_nothing_to_admins_while_there_are_keys():
    app = Gateway()
    app.gate = Gate(KEYS, open_to_all=True)
    assert (await admin(app, "keys", key=""))[0] == 401
    assert (await admin(app, "keys", key="sk-wrong"))[0] == 401


async def test_a_revoked_admin_key_opens_nothing():
    app = Gateway()
    assert (await admin(app, "keys/root/revoke", "POST"))[0] == 200
    assert (await admin(app, "keys"))[0] == 401


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
async def test_without_keys_this_machine_may(client):
    status, _ = await admin(Gateway(Settings()), "config", key="", client=client)
    assert status == 200


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8400", "127.0.0.1:8400", "[::1]:8400", "[::1]"]
)
async def test_under_the_names_it_has(host):
    status, _ = await admin(Gateway(Settings()), "config", key="", host=host)
    assert status == 200


@pytest.mark.parametrize(
    "options",
    [
        {"client": "192.0.2.1"},
        {"client": ""},
        {"client": "localhost.example.org"},
        {"origin": "https://example.org"},
        {"origin": "null"},
        {"x_forwarded_for": "192.0.2.1"},
        {"forwarded": "for=192.0.2.1"},
        {"host": "example.org"},
        {"host": "example.org:8400"},
        {"host": "localhost.example.org:8400"},
    ],
)
async def test_others_may_not_nor_pages_nor_proxies(options):
    status, body = await admin(Gateway(Settings()), "reload", "POST", key="", **options)
    assert (status, body["error"]["type"]) == (403, "permission")


async def test_wrong_methods_and_paths():
    app = Gateway()
    response = await answer(request("/canonicall/admin/reload"), app)
    assert (response.status, response.headers["allow"]) == (405, "POST")
    assert (await asked(app, "/healthz", "POST"))[0] == 405
    assert (await admin(app, "nothing"))[0] == 404
    assert (await admin(app, "nothing", key=""))[0] == 401
    assert app.reloads == 0


async def test_keys_are_listed_without_their_hashes():
    app = Gateway()
    app.gate.revoke("team")
    _, body = await admin(app, "keys")
    assert [(key["name"], key["state"]) for key in body["keys"]] == [
        ("root", "active"),
        ("team", "revoked"),
    ]
    assert body["keys"][1]["models"] == ["fast"]
    text = json.dumps(body)
    assert ADMIN_HASH[:15] in text
    assert ADMIN_HASH[:16] not in text


async def test_a_key_is_revoked_at_once_and_that_is_kept():
    app = Gateway()
    await app.gate.admit(PLAIN, "fast", 0.0)
    assert await admin(app, "keys/team/revoke", "POST") == (
        200,
        {"key": "team", "state": "revoked"},
    )
    assert app.kept == [PLAIN_HASH]
    assert (await admin(app, "keys", key=PLAIN))[0] == 401
    status, body = await admin(app, "keys/nobody/revoke", "POST")
    assert (status, body["error"]["message"]) == (404, "No key is called 'nobody'.")


async def test_limits_show_what_is_spent():
    app = Gateway()
    (await app.gate.admit(PLAIN, "fast", 990.0)).release(25, 999.0)
    await app.gate.admit(PLAIN, "fast", 1000.0)
    _, body = await admin(app, "limits")
    assert body["keys"][1] == {
        "key": "team",
        "running": 1,
        "concurrent": 0,
        "requests": 2,
        "requests_per_minute": 10,
        "tokens": 25,
        "tokens_per_minute": 0,
    }


async def test_the_settings_are_shown_without_secrets():
    secrets = ("hunter1", "hunter2", "hunter3", "hunter4", "hunter5")
    provider = ProviderSettings(
        base_url="https://me:hunter1@host.test/v1?api_key=hunter2",
        keys=(Secret("hunter3"), Secret("other")),
        headers={"x-secret": "hunter4"},
        values={"region": "hunter5"},
    )
    settings = Settings(
        keys=KEYS,
        providers={"mine": provider},
        models={"fast": ModelSettings(choices=(Choice(target="mine:m"),))},
        log=LogSettings(file="requests.jsonl"),
    )
    _, body = await admin(Gateway(settings), "config")
    text = json.dumps(body)
    assert not any(secret in text for secret in (*secrets, ADMIN_HASH, PLAIN_HASH))
    assert body["providers"]["mine"]["keys"] == ["***", "***"]
    assert body["providers"]["mine"]["headers"] == {"x-secret": "***"}
    assert body["models"]["fast"]["choices"] == [{"target": "mine:m", "weight": 1.0}]
    assert set(body) == set(Settings.__struct_fields__)


async def test_a_reload_says_what_it_did_or_why_not():
    app = Gateway()
    assert await admin(app, "reload", "POST") == (200, {"reloaded": True, "told": {"models": 1}})
    app.wrong = InvalidValue("no number.", where="$.server.port")
    status, body = await admin(app, "reload", "POST")
    assert (status, body["error"]["type"]) == (422, "invalid_settings")
    assert "$.server.port" in body["error"]["message"]


async def test_reports_and_breakers():
    app = Gateway()
    assert (await admin(app, "breakers"))[1]["breakers"][0]["state"] == "closed"
    assert len((await admin(app, "reports", query={"most": "2"}))[1]["reports"]) == 2
    assert len((await admin(app, "reports", query={"most": "999999999"}))[1]["reports"]) == 3
    for wrong in ("-1", "x", "", "²", "9" * 5000):
        assert (await admin(app, "reports", query={"most": wrong}))[0] == 400
    assert (await admin(app, "reports/r1"))[1] == {"id": "r1"}
    assert (await admin(app, "reports/r2"))[0] == 404


async def test_an_endpoint_is_found_out_about():
    app = Gateway()
    asked_for = {"url": "http://localhost:8000", "model": "m", "key": "k", "format": "gemini"}
    status, body = await admin(app, "discover", "POST", body=json.dumps(asked_for).encode())
    assert (status, body) == (200, {"url": "http://localhost:8000"})
    (wanted,) = app.discovered
    assert (wanted.model, wanted.key, wanted.format) == ("m", "k", "gemini")


@pytest.mark.parametrize("body", [b"", b"[]", b'{"url": 1}', b'{"url": "x", "more": 1}', b"\xff"])
async def test_what_is_no_question_is_refused(body):
    app = Gateway()
    status, said = await admin(app, "discover", "POST", body=body)
    assert (status, said["error"]["type"]) == (400, "malformed")
    assert app.discovered == []


async def test_why_nothing_was_found_out_is_told():
    app = Gateway()
    app.wrong = InvalidValue("nobody answers.", where="http://localhost:1")
    status, body = await admin(app, "discover", "POST", body=WANTED)
    assert (status, body["error"]["type"]) == (422, "not_discovered")
    assert "nobody answers" in body["error"]["message"]


async def test_a_gateway_finds_out_about_a_simulated_endpoint():
    """With the proof and the profile, and without the key; nothing is registered by it."""
    gateway = World().gateway()
    place = {"url": "http://mistral.sim/v1", "model": "open-mistral-7b"}
    wanted = {**place, "key": "sk-endpoint-0123456789", "name": "found"}
    answer = await ask(gateway, "/canonicall/admin/discover", wanted)
    assert answer.status == 200, answer.body
    found = answer.json
    assert (found["wire_format"], found["provider"]) == ("openai-chat", "found")
    assert all(one["evidence"] for one in found["statements"])
    assert load_profile(found["profile"], "test").rules["user_after_results"].value is False
    assert wanted["key"].encode() not in answer.body
    assert find_profile("found") is None
    nowhere = await ask(gateway, "/canonicall/admin/discover", {"url": "no address"})
    assert nowhere.status == 422
    await gateway.close()
