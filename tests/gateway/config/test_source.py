"""One file becomes settings; a wrong one is refused with every fault, its place and what to do."""

import hashlib
import json
import re
from contextlib import suppress
from typing import get_args, get_origin

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall.client.secrets import Secret
from canonicall.client.transport import Timeouts
from canonicall.gateway.backs import Backs
from canonicall.gateway.config import (
    Choice,
    ModelSettings,
    Settings,
    UnusableSettings,
    load_file,
    read_settings,
)
from canonicall.testing import Simulator
from canonicall.testing.transport import SimulatorTransport

HASH = "sha256:" + hashlib.sha256(b"a key").hexdigest()
ENVIRON = {"OPENAI_API_KEY": "sk-openai-1", "SECOND": "sk-openai-2", "PORT": "9000"}

YAML = f"""
server: {{host: 0.0.0.0, port: "${{PORT}}", workers: 2, drain_seconds: 5}}
providers:
  openai:
    keys: ["${{OPENAI_API_KEY}}", "${{SECOND}}"]
    timeouts: {{first_byte: 60}}
  house:
    profile: vllm
    base_url: http://10.0.0.7:8000/v1
    key: "${{HOUSE_KEY:-none}}"
models:
  fast: openai:gpt-5-mini
  best: [anthropic:claude-opus-4-5, "openai/openai-responses:gpt-5"]
  shared:
    choices: [house:qwen, {{target: "openai:gpt-5", weight: 3}}]
    fallbacks: mistral:mistral-large-latest
keys:
  desk:
    hash: {HASH}
    expires: 2027-01-31
    models: fast
store: {{path: gateway.db}}
"""
TOML = f"""
[server]
host = "0.0.0.0"
port = "${{PORT}}"
workers = 2
drain_seconds = 5
[providers.openai]
keys = ["${{OPENAI_API_KEY}}", "${{SECOND}}"]
timeouts = {{first_byte = 60}}
[providers.house]
profile = "vllm"
base_url = "http://10.0.0.7:8000/v1"
key = "${{HOUSE_KEY:-none}}"
[models]
fast = "openai:gpt-5-mini"
best = ["anthropic:claude-opus-4-5", "openai/openai-responses:gpt-5"]
[models.shared]
choices = ["house:qwen", {{target = "openai:gpt-5", weight = 3}}]
fallbacks = "mistral:mistral-large-latest"
[keys.desk]
hash = "{HASH}"
expires = 2027-01-31
models = "fast"
[store]
path = "gateway.db"
"""


def read(text, file="gateway.yaml", environ=ENVIRON):
    return read_settings(text.encode(), file, environ)


def refused(text, file="gateway.yaml", environ=ENVIRON):
    """Every fault that is told, as lines."""
    with pytest.raises(UnusableSettings) as caught:
        read(text, file, environ)
    assert all(line.startswith(f"{file}: $") for line in str(caught.value).splitlines())
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(("text", "file"), [(YAML, "a.yaml"), (YAML, "a.yml"), (TOML, "a.toml")])
def test_both_languages_say_the_same(text, file):
    loaded = read(text, file)
    settings = loaded.settings
    assert loaded.warnings == ()
    assert (settings.server.port, settings.server.workers) == (9000, 2)
    assert settings.providers["openai"].keys == (Secret("sk-openai-1"), Secret("sk-openai-2"))
    assert settings.providers["openai"].timeouts == Timeouts(first_byte=60)
    assert settings.providers["house"].keys == (Secret("none"),)
    assert settings.models["fast"] == ModelSettings(choices=(Choice(target="openai:gpt-5-mini"),))
    assert settings.models["best"].fallbacks == ("openai/openai-responses:gpt-5",)
    assert [one.weight for one in settings.models["shared"].choices] == [1.0, 3.0]
    assert settings.models["shared"].fallbacks == ("mistral:mistral-large-latest",)
    assert settings.keys["desk"].expires == "2027-01-31"
    assert settings.keys["desk"].models == ("fast",)
    assert "sk-openai" not in repr(settings)


@pytest.mark.parametrize("file", ["a.yaml", "a.toml"])
@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_file_is_the_default_and_says_so(file, text):
    loaded = read(text, file)
    assert loaded.settings == Settings()
    assert [one.where for one in loaded.warnings] == ["$"]


def test_a_section_without_a_key_has_the_one_of_the_environment():
    settings = read(
        "providers: {openai: , house: {profile: openai, base_url: 'http://h/v1'}}"
    ).settings
    assert settings.providers["openai"].keys == (Secret("sk-openai-1"),)
    # A host of one's own must not get the provider's key.
    assert settings.providers["house"].keys == ()


def test_what_fills_an_address_may_come_from_the_environment():
    text = "providers: {azure: {key: x}, bedrock: {values: {region: eu-west-1}}}"
    environ = {"AZURE_OPENAI_RESOURCE": "desk", "AWS_REGION": "us-east-1"}
    providers = read(text, environ=environ).settings.providers
    assert providers["azure"].values["resource"] == "desk"
    assert providers["bedrock"].values["region"] == "eu-west-1"


def test_a_file_that_is_something_else_altogether_is_told_in_bearable_length():
    text = "\n".join(f"name{at}: 1" for at in range(5000))
    assert len(refused(text)) == 100


def test_a_model_may_have_its_target_by_name():
    settings = read("models: {a: {target: 'openai:gpt-5', fallbacks: ['xai:grok-4']}}").settings
    assert settings.models["a"].choices == (Choice(target="openai:gpt-5"),)


def test_references_are_filled_anywhere_in_a_text():
    text = "log: {file: 'a-${PORT}-${GONE:-x}-${EMPTY:-y}-$${PORT}'}"
    assert read(text, environ={"PORT": "1", "EMPTY": ""}).settings.log.file == "a-1-x-y-${PORT}"


def test_a_variable_cannot_change_the_structure():
    text = "log: {file: '${EVIL}'}"
    evil = "x'}\nserver: {open: true, host: 0.0.0.0}\n#${OPENAI_API_KEY}"
    settings = read(text, environ={"EVIL": evil}).settings
    assert settings.log.file == evil
    assert settings.server.open is False


FAULTS = [
    # names
    ("server: {prot: 1}", "$.server.prot: no setting here is called 'prot'. Did you mean 'port'?"),
    ("sever: {}", "$.sever: no setting here is called 'sever'. Did you mean 'server'?"),
    ("providers: {openai: {api_key: x}}", "$.providers.openai.api_key: no setting here is called 'api_key'. It is called 'key' here."),
    ("providers: {opnai: {}}", "$.providers.opnai: no provider is called 'opnai'. Did you mean 'openai'? Or set `profile` to the provider it behaves like."),
    ("providers: {House: {profile: vllm}}", "$.providers.House: 'House' cannot be the name of a provider. Use lower-case letters, digits, '.', '_' and '-'."),
    ("providers: {house: {profile: vlm}}", "$.providers.house.profile: no provider is called 'vlm'. Did you mean 'vllm'?"),
    ("providers: {openai: {format: openai-chta}}", "$.providers.openai.format: no format of the provider 'openai' is called 'openai-chta'. Did you mean 'openai-chat'?"),
    ("models: {a: 'antropic:x'}", "$.models.a.choices[0].target: no provider is called 'antropic'. Did you mean 'anthropic'?"),
    ("models: {a: 'openai/gemini:x'}", "$.models.a.choices[0].target: no format of the provider 'openai' is called 'gemini'. Known: openai-chat, openai-responses."),
    ("models: {a: {choices: 'openai:x', fallbacks: ['openai:y', 'opnai:z']}}", "$.models.a.fallbacks[1]: no provider is called 'opnai'. Did you mean 'openai'?"),
    # types
    ("server: {port: soon}", "$.server.port: expected a whole number, got text."),
    ("server: {port: [1]}", "$.server.port: expected a whole number, got a list."),
    ("server: 5", "$.server: expected a section, got a number. Its settings are: "),
    ("providers: [openai]", "$.providers: expected names with a value each, got a list."),
    ("log: {file: 5}", "$.log.file: expected text, got a number. Put it in quotes."),
    ("repair: {recover: sometimes}", "$.repair.recover: this is none of the choices. Choose from: off, known, always."),
    ("repair: {recover: known, leaks: true}", "$.repair.leaks: `recover` stands beside it. Give `recover` alone."),
    ("repair: {arguments: repiar}", "$.repair.arguments: this is none of the choices. Choose from: repair, report, off."),
    ("providers: {openai: {keys: 5}}", "$.providers.openai.keys: expected text, got a number. Refer to a variable that holds it: ${NAME}."),
    ("server: {drain_seconds: .inf}", "$.server.drain_seconds: the number is not finite."),
    ("1: {}", '$["1"]: the name 1 is not text. Put it in quotes: "1".'),
    ("[server]", "$: the file is not made of named sections. Begin with `providers:`."),
    # the environment
    ("providers: {openai: {key: '${GONE}'}}", "$.providers.openai.key: the environment variable GONE is not set. Set it, or give a default: ${GONE:-...}."),
    ("log: {file: $HOME}", "$.log.file: a dollar sign stands alone. Write ${NAME} for a variable, and $$ for the sign itself."),
    ("providers: {openai: {keys: ['']}}", "$.providers.openai.keys[0]: the key is empty. Refer to a variable that holds it: ${NAME}."),
    ("providers: {openai: {key: a, keys: b}}", "$.providers.openai.key: `keys` stands beside it. Give one of the two."),
    # addresses
    ("providers: {openai: {base_url: api.openai.com}}", "$.providers.openai.base_url: this is no address. Begin with https://."),
    ("providers: {azure: {key: x}}", '$.providers.azure.base_url: {resource} is not known. Set values["resource"], or the variable AZURE_OPENAI_RESOURCE or AZURE_RESOURCE_NAME.'),
    ("providers: {azure: {base_url: 'https://a/v1', base_urls: {anthropc: 'https://a'}}}", "$.providers.azure.base_urls.anthropc: no format of the provider 'azure' is called 'anthropc'. Did you mean 'anthropic'?"),
    ("providers: {azure: {base_url: 'https://a/v1', base_urls: {anthropic: 'a'}}}", "$.providers.azure.base_urls.anthropic: this is no address. Begin with https://."),
    # models
    ("models: {a: gpt-4o}", "$.models.a.choices[0].target: 'gpt-4o' names no provider. Write 'openai:gpt-4o'."),
    ("models: {a: openai}", "$.models.a.choices[0].target: 'openai' names no model. Write provider:model."),
    ("models: {'': 'openai:x'}", '$.models[""]: the name is empty. Name what clients ask for; * is anything.'),
    ("models: {a: []}", '$.models.a: nobody answers for it. Name a target: "provider:model".'),
    ("models: {a: {choices: [{weight: 1}]}}", "$.models.a.choices[0].target: it is missing."),
    ("models: {a: {choices: [{target: 'openai:x', weight: -1}]}}", "$.models.a.choices[0].weight: it must not be negative."),
    ("models: {a: {choices: [{target: 'openai:x', weight: 0}]}}", "$.models.a.choices: all weights are 0. Give one of them a weight."),
    ("models: {'gpt 4.1': openai}", '$.models["gpt 4.1"].choices[0].target: \'openai\' names no model. Write provider:model.'),
    ("models: {a: b, b: 'openai:x'}", "$.models.a.choices[0].target: 'b' is a name that clients ask for; a target is a model of a provider. Write provider:model, such as 'openai:x'."),
    ("models: {a: ['openai:x', b], b: 'openai:y'}", "$.models.a.fallbacks[0]: 'b' is a name that clients ask for; a target is a model of a provider. Write provider:model, such as 'openai:y'."),
    ("models: {a: a}", "$.models.a.choices[0].target: 'a' is a name that clients ask for; a target is a model of a provider. Write provider:model."),
    ("models: {a: 'openai: x'}", "$.models.a.choices[0].target: there is a space in 'openai: x'. Write provider:model without."),
    # what requests are sent with
    ("providers: {openai: {proxy: 'user:secret@host'}}", "$.providers.openai.proxy: this is no address of a proxy. Write http://host:port, or an empty text for none."),
    ("providers: {openai: {headers: {'a b': x}}}", '$.providers.openai.headers["a b"]: \'a b\' cannot be the name of a header. Use letters, digits and \'-\'.'),
    ('providers: {openai: {headers: {a: "x\\r\\ny: z"}}}', "$.providers.openai.headers.a: a header has printable characters only, in one line. Leave line breaks and the like out."),
    ("providers: {openai: {timeouts: {connect: 0}}}", "$.providers.openai.timeouts.connect: nothing would ever be in time. Give seconds above 0, or null to wait for ever."),
    # keys
    ("keys: {a: {}}", "$.keys.a.hash: it is missing."),
    ("keys: {a: {hash: sk-very-secret}}", "$.keys.a.hash: it must be `sha256:` and 64 digits, 0 to 9 and a to f. `canonicall keys new` prints a key and its hash."),
    (f"keys: {{a: {{hash: '{HASH}', expires: soon}}}}", "$.keys.a.expires: this is no day or moment of ISO 8601. Write 2027-01-31 or 2027-01-31T12:00Z."),
    (f"keys: {{a: {{hash: '{HASH}'}}, b: {{hash: '{HASH}'}}}}", "$.keys.b.hash: it is the same key as 'a'. Give each its own: `canonicall keys new`."),
    (f"keys: {{a: {{hash: '{HASH}', concurrent: -1}}}}", "$.keys.a.concurrent: it must not be negative. 0 is no limit."),
    # serving
    ("server: {port: 70000}", "$.server.port: ports end at 65535."),
    ("server: {workers: 0}", "$.server.workers: it must be 1 or more."),
    ("server: {drain_seconds: -1}", "$.server.drain_seconds: it must not be negative."),
    ("server: {host: 0.0.0.0}", "$.server.host: other machines could ask, and no virtual key is needed. Make one with `canonicall keys new`, or set `open: true` and `allowed_hosts` under `server`: the names by which clients ask."),
    ("server: {host: 0.0.0.0, open: true}", "$.server.host: other machines could ask, and no virtual key is needed. Make one with `canonicall keys new`, or set `open: true` and `allowed_hosts` under `server`: the names by which clients ask."),
    ("server: {head_seconds: 0}", "$.server.head_seconds: it must be above 0."),
    ("server: {max_head_bytes: 9}", "$.server.max_head_bytes: it must be 256 or more."),
    ("server: {allowed_origins: [app.example.com]}", "$.server.allowed_origins[0]: this is not an origin. Write it as https://app.example.com."),
    ("store: {days: 0}", "$.store.days: nothing would be kept. Give a number above 0."),
    ("store: {path: 'postgresql://user:secret'}", "$.store.path: the port of this URL of a PostgreSQL database is no number. Write it as postgresql://user@host/database."),
    ("store: {path: 'mysql://user:secret@host'}", "$.store.path: mysql:// names no store. Give the path of a file, or a postgresql:// URL."),
]  # fmt: skip


@each(("text", "told"), FAULTS, ids=[told.split(":")[0] for _, told in FAULTS])
def test_a_fault_is_told_with_its_place_and_what_to_do(text, told):
    (line,) = refused(text)
    assert line == told or (told.endswith(" ") and line.startswith(told))


def test_whether_calls_are_read_from_text_can_be_set_for_all_and_for_each():
    loaded = read(
        "repair: {recover: off}\nproviders: {vllm: {recover: always}, xai: {recover: off}}"
    )
    providers = loaded.settings.providers
    assert loaded.settings.repair.recover == "off"
    assert [providers[name].recover for name in ("vllm", "xai")] == ["always", "off"]
    config = Backs(loaded.settings, SimulatorTransport(Simulator)).means.config
    assert [config.recover_of(name) for name in ("vllm", "xai", "groq")] == ["always", "off", "off"]


@each(("value", "meant"), [("true", "known"), ("false", "off"), ("'false'", "off")])
def test_the_old_name_of_that_setting_is_read_with_a_note(value, meant):
    loaded = read(f"repair: {{leaks: {value}}}")
    assert loaded.settings.repair.recover == meant
    (told,) = [one for one in loaded.warnings if one.where == "$.repair.leaks"]
    assert told.help == f"Write recover: '{meant}'."


def test_all_faults_are_told_at_once():
    """One run of the gateway is enough to repair a whole file."""
    text = """
    server: {prot: 1, workers: -2}
    providers: {openai: {key: "${GONE}", format: gemini}}
    models: {a: 'nobody:x'}
    keys: {k: {hash: wrong, expires: never}}
    """
    assert [line.split(": ")[0] for line in refused(text)] == [
        *("$.providers.openai.key", "$.server.prot", "$.server.workers"),
        *("$.providers.openai.format", "$.models.a.choices[0].target"),
        *("$.keys.k.hash", "$.keys.k.expires"),
    ]


def test_no_fault_quotes_what_may_be_a_key():
    text = (
        "providers: {openai: sk-very-secret}\nkeys: {a: {hash: sk-very-secret}, b: sk-very-secret}"
    )
    lines = refused(text)
    assert len(lines) == 3
    assert "very-secret" not in "".join(lines)


@pytest.mark.parametrize(
    ("text", "file", "words"),
    [
        ("a: 1\na: 2", "a.yaml", "'a' stands twice in one section (line 2)"),
        ("a = 1\na = 2", "a.toml", "Cannot overwrite a value"),
        ("a: [", "a.yaml", "(line 1)"),
        ("a = [", "a.toml", "at end of document"),
        ("\n\na b", "a.toml", "line 3"),
        ("a: !!python/object:os.system x", "a.yaml", "could not determine a constructor"),
        ("a: 2026-02-30", "a.yaml", "this is not YAML"),
        ("a: 1\n---\nb: 2", "a.yaml", "expected a single document"),
        ("a: \x07", "a.yaml", "special characters are not allowed"),
        ("a: " + "[" * 5000, "a.yaml", "nested too deeply"),
        ("a = " + "[" * 5000, "a.toml", "nested too deeply"),
        ("a: " + "[" * 50 + "]" * 50, "a.yaml", "too large"),
        ("a: &a [*a]", "a.yaml", "too large"),
        ("a: &a [" + "x, " * 99 + "]\nb: &b [" + "*a, " * 99 + "]\nc: [" + "*b, " * 99 + "]", "a.yaml", "too large"),
        ("{}", "a.json", "End it with .toml or .yaml."),
        ("", "settings", "End it with .toml or .yaml."),
    ],
)  # fmt: skip
def test_what_cannot_be_parsed_is_told_in_one_line(text, file, words):
    (line,) = refused(text, file)
    assert words in line
    assert line.startswith("$: ")


def test_bytes_that_are_no_text_are_told():
    with pytest.raises(UnusableSettings, match="byte 4 is not UTF-8"):
        read_settings(b"a: \xff", "a.yaml", {})


def test_yaml_merges_are_no_duplicates():
    text = """
    providers:
      openai: &base {timeouts: {connect: 3}, key: x}
      mistral: {<<: *base, key: y}
    """
    providers = read(text).settings.providers
    assert providers["mistral"].timeouts == providers["openai"].timeouts == Timeouts(connect=3)
    assert providers["mistral"].keys == (Secret("y"),)


def test_a_file_is_read_from_the_disk(tmp_path):
    file = tmp_path / "gateway.toml"
    file.write_text("[models]\na = 'openai:gpt-5'\n")
    loaded = load_file(file, {})
    assert (list(loaded.settings.models), loaded.warnings) == (["a"], ())
    with pytest.raises(UnusableSettings, match=r"gone\.toml: \$: the file cannot be read: No such"):
        load_file(tmp_path / "gone.toml", {})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["x", "${A}", "$", "openai:x"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["server", "providers", "models", "keys", "store", "openai", "choices", "target", "key"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["server", "providers", "models", "keys", "store"]), values))
def test_whatever_is_in_a_file_only_our_own_error_is_raised(tree):
    with suppress(UnusableSettings):
        read_settings(yaml.safe_dump(tree).encode(), "a.yaml", {})


SECRETS = ("sk-live-0123456789abcdef", "sk-live-0123:abcdefghijkl/0123456789@host", "p'ss\\word\n1")


def places(kind, path=()):
    """The path to every setting, with a name for each entry of a table."""
    for field in msgspec.structs.fields(kind):
        yield from _inside(field.type, (*path, field.name))


def _inside(kind, path):
    arguments = get_args(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield path
        yield from places(kind, path)
    elif get_origin(kind) is dict:
        yield path
        yield from _inside(arguments[1], (*path, "mine"))
    elif get_origin(kind) is tuple:
        yield from _inside(arguments[0], (*path, 0))
    else:
        structs = [one for one in arguments if isinstance(one, type)]
        yield path
        for one in structs:
            if issubclass(one, msgspec.Struct):
                yield from places(one, path)


def holding(path, value):
    """A document with this value at a path."""
    for step in reversed(path):
        value = [value] if step == 0 else {step: value}
    return value


@each("path", list(places(Settings)), ids=lambda path: ".".join(map(str, path)))
def test_a_value_of_the_environment_is_never_told(path):
    """Whichever setting it is put in by mistake."""
    for secret in SECRETS:
        for text in ("${SECRET}", "${SECRET}:m", "openai:${SECRET}", "a ${SECRET} b"):
            document = json.dumps(holding(path, text))
            try:
                loaded = read(document, environ={"SECRET": secret})
                told = [str(one) for one in loaded.warnings]
            except UnusableSettings as error:
                told = [str(error)]
            shown = "".join(told)
            parts = [part for part in re.split(r"[:/@]", secret) if len(part) >= 8]
            assert not [one for one in (secret, repr(secret)[1:-1], *parts) if one in shown]


@pytest.mark.parametrize(("limit", "most"), [("MOST_BYTES", 30), ("MOST_VALUES", 5)])
def test_a_file_that_is_too_large_is_refused(monkeypatch, limit, most):
    text = "server: {port: 1, workers: 2, open: true, drain_seconds: 3}"
    assert read(text).settings.server.port == 1
    monkeypatch.setattr(f"canonicall.gateway.config.source.{limit}", most)
    assert "too large" in str(refused(text))


def test_limits_for_replies_are_settings():
    assert read("replies: {events: 5}").settings.replies.events == 5
    assert "$.replies.events" in str(refused("replies: {events: 0}"))
