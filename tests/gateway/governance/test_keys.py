"""Virtual keys: made, hashed, found, expired."""

import hashlib

import pytest

from canonicall.errors import InvalidValue
from canonicall.gateway.config import KeySettings
from canonicall.gateway.governance.keys import KeyRing, hash_of, new_key, shown_key

KEY, HASH = new_key(bytes(range(32)))
NEW_YEAR_2030 = 1_893_456_000.0
"""2030-01-01T00:00:00Z"""


def ring(**settings):
    return KeyRing({"team": KeySettings(hash=HASH, **settings)})


def test_a_new_key_is_found_by_its_hash_and_the_hash_does_not_tell_it():
    assert hashlib.sha256(KEY.encode()).hexdigest() == HASH.removeprefix("sha256:")
    assert ring().find(KEY).name == "team"
    assert KEY.startswith("sk-canonicall-")
    assert len(KEY) > 40


@pytest.mark.parametrize("shown", ["", HASH, KEY[:-1], KEY + "x", KEY.lower(), "\udc80"])
def test_nothing_else_is_found(shown):
    assert ring().find(shown) is None


def test_other_bytes_make_another_key():
    assert new_key(bytes(32)) != new_key(bytes(31) + b"\x01")


def test_too_few_bytes_make_none():
    with pytest.raises(InvalidValue, match="can be guessed"):
        new_key(b"short")


def test_a_hash_in_capitals_is_the_same():
    upper = "sha256:" + HASH.removeprefix("sha256:").upper()
    assert KeyRing({"team": KeySettings(hash=upper)}).find(KEY) is not None


@pytest.mark.parametrize("wrong", ["", KEY, "md5:00", HASH[:-1], HASH + "0"])
def test_what_is_no_hash_is_refused_by_its_place_and_never_repeated(wrong):
    with pytest.raises(InvalidValue) as caught:
        KeyRing({"team": KeySettings(hash=wrong)})
    assert caught.value.where == "$.keys.team.hash"
    assert KEY not in str(caught.value)


def test_two_names_for_one_key_are_refused():
    with pytest.raises(InvalidValue, match="the same as that of 'a'") as caught:
        KeyRing({"a": KeySettings(hash=HASH), "b": KeySettings(hash=HASH)})
    assert caught.value.where == "$.keys.b.hash"


@pytest.mark.parametrize(
    ("expires", "end"),
    [
        ("2029-12-31", NEW_YEAR_2030),
        ("2030-01-01T00:00:00Z", NEW_YEAR_2030),
        ("2030-01-01T00:00", NEW_YEAR_2030),
        ("2030-01-01 01:00:00+01:00", NEW_YEAR_2030),
    ],
)
def test_a_day_counts_to_its_end_and_a_moment_to_itself(expires, end):
    key = ring(expires=expires).find(KEY)
    assert [key.state(end - 0.001), key.state(end)] == ["active", "expired"]


def test_the_last_day_there_is_never_ends():
    assert ring(expires="9999-12-31").find(KEY).state(1e12) == "active"


def test_a_key_without_an_end_has_none():
    assert ring().find(KEY).state(1e12) == "active"


@pytest.mark.parametrize("wrong", ["soon", "2030-13-01", "31.12.2030"])
def test_what_is_no_date_is_refused(wrong):
    with pytest.raises(InvalidValue, match="neither a day nor a moment") as caught:
        ring(expires=wrong)
    assert caught.value.where == "$.keys.team.expires"


def test_models_by_name_and_by_pattern():
    key = ring(models=("fast", "claude-*")).find(KEY)
    names = ("fast", "claude-", "claude-opus", "faster", "my-claude-opus", "")
    assert [key.allows(name) for name in names] == [True, True, True, False, False, False]


def test_revoked_by_the_settings_or_later():
    assert ring(revoked=True).find(KEY).state(0) == "revoked"
    assert ring().find(KEY).state(0, {HASH}) == "revoked"


def test_only_the_beginning_of_a_hash_is_shown():
    shown = ring().find(KEY).shown_hash
    assert HASH.startswith(shown[:-1])
    assert len(shown) == 16


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"authorization": "Bearer k1"}, {}),
        ({"authorization": "bearer  k1 "}, {}),
        ({"x-api-key": "k1"}, {}),
        ({"x-goog-api-key": "k1"}, {}),
        ({"api-key": "k1"}, {}),
        ({}, {"key": "k1"}),
        ({"authorization": "Basic zzz", "x-api-key": "k1"}, {}),
    ],
)
def test_a_key_is_taken_from_where_any_sdk_puts_it(headers, query):
    assert shown_key(headers, query) == "k1"


def test_no_key_is_empty():
    assert shown_key({"authorization": "Basic k"}, {}) == ""


def test_hashing_takes_any_text():
    assert hash_of("\ud800") != hash_of("\ud801")
