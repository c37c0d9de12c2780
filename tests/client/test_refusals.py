"""Refused requests as files: what is in them, what is not, and who can read them."""

import json
import stat

import pytest
from click.testing import CliRunner

from batches import each
from canonicall import (
    Agent,
    ClientConfig,
    Conversation,
    HttpModel,
    InvalidValue,
    Media,
    Message,
    ModelError,
    Params,
    Request,
    Session,
    StatusEvent,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    encode_request,
    get_target,
    verify,
)
from canonicall.cli.verbs import cli
from canonicall.client.failure import of_response
from canonicall.client.redaction import redacted_request
from canonicall.client.refusals import RefusedRequest, refused_request
from canonicall.client.retrying import RetryPolicy
from canonicall.client.sending import _MOST_FILES
from canonicall.errors import MalformedBody
from canonicall.facts.registry import find_profile
from canonicall.gateway.config import Choice, LogSettings, ModelSettings
from canonicall.importing.documents import read_document
from canonicall.testing.exchange import SimResponse
from corpus.support import FORMATS, every_record, needs_corpus
from gateway_support import World, ask

from client_support import Direct, DirectResponse, asked

KEY = "sk-test-0123456789abcdef"
OPENAI = "openai:gpt-5.2"
WORDS = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with"
    f" 'tool_calls'. (key {KEY})"
)
ERROR = {"error": {"message": WORDS, "type": "invalid_request_error"}}


class Refusing(Direct):
    """A provider that refuses every request, or those that hold some bytes."""

    def __init__(self, status=400, word=b"", then=None, error=ERROR):
        self.status, self.word, self.then, self.error = status, word, then, error

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        if self.word in body:
            return DirectResponse(SimResponse.json(self.status, self.error))
        return await self.then.post(url, headers, body, timeouts, proxy=proxy)


def model(folder, transport=None, **settings):
    config = ClientConfig(
        {"openai": {"key": KEY, "base_url": "http://nowhere/v1"}},
        retry=RetryPolicy(attempts=1),
        save_refused=folder,
        **settings,
    )
    return HttpModel(config, transport=transport or Refusing())


def question(text="My password: hunter2", **fields):
    conversation = Conversation()
    conversation.user(text)
    return Request(conversation, **fields)


async def refuse(folder, request=None, transport=None):
    """Ask somebody who refuses; what is in the folder then."""
    async with model(folder, transport) as client:
        with pytest.raises(ModelError):
            await asked(client, request or question(), get_target(OPENAI))
    return sorted(folder.iterdir()) if folder.exists() else []


async def test_a_refused_request_is_written_with_the_answer_the_target_and_diagnostics(tmp_path):
    (file,) = await refuse(tmp_path / "refused")
    held = json.loads(file.read_text())
    assert refused_request(held) is not None
    assert (held["target"], held["format"], held["status"]) == (
        *("openai/openai-chat:gpt-5.2", "openai-chat", 400),
    )
    assert held["answer"]["error"]["message"].startswith("Invalid parameter: messages with role")
    assert held["body"]["model"] == "gpt-5.2"
    assert held["diagnostics"]["provider"] == "openai"


async def test_no_key_and_no_password_is_in_it(tmp_path):
    tool = Tool("f", parameters={"type": "object", "properties": {}})
    request = question(f"My password: hunter2\nMy key is {KEY}.", tools=(tool,))
    (file,) = await refuse(tmp_path, request)
    assert KEY not in file.read_text()
    assert "hunter2" not in file.read_text()


async def test_only_its_owner_can_read_it(tmp_path):
    (file,) = await refuse(tmp_path / "refused")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_the_same_refusal_is_written_once_and_nothing_is_overwritten(tmp_path):
    (first,) = await refuse(tmp_path)
    before = first.stat()
    assert await refuse(tmp_path) == [first]
    assert first.stat() == before
    assert len(await refuse(tmp_path, question("Another one."))) == 2
    assert len(await refuse(tmp_path, transport=Refusing(status=422))) == 3
    assert first.stat() == before


async def test_nothing_is_written_unless_it_is_wanted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with model(None) as client:
        with pytest.raises(ModelError):
            await asked(client, question(), get_target(OPENAI))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [401, 404, 429])
async def test_other_failures_say_nothing_of_the_request(tmp_path, status):
    assert await refuse(tmp_path, transport=Refusing(status=status)) == []


async def test_a_failure_of_the_server_says_nothing_of_the_request(tmp_path):
    failed = {"error": {"message": "The server had an error.", "type": "server_error"}}
    assert await refuse(tmp_path, transport=Refusing(500, error=failed)) == []


SERVER_ERRORS = {
    "image input is not supported - hint: if this is unexpected, you may need to provide the"
    " mmproj": False,
    "Cannot use both json_schema and grammar": False,
    "Failed to parse tools: Unsupported tool type: {}": False,
    "Failed to parse messages: Missing tool call type: {}": False,
    "The server had an error while processing your request.": True,
    "Compute error.": True,
}


@each("words", SERVER_ERRORS)
def test_a_request_that_a_server_refuses_as_its_own_error_is_not_sent_again(words):
    """llama.cpp answers 500 to some requests that it does not take."""
    error = {"error": {"code": 500, "message": words, "type": "server_error"}}
    data = json.dumps(error).encode()
    failure = of_response(get_target("llamacpp:m"), 500, {}, data, secrets=(), now=0.0)
    assert failure.passing is SERVER_ERRORS[words]
    assert (failure.kind == "provider_error") is SERVER_ERRORS[words]


async def test_a_folder_that_cannot_be_written_ends_no_run(tmp_path):
    (tmp_path / "taken").write_text("a file")
    async with model(tmp_path / "taken") as client:
        with pytest.raises(ModelError, match="Invalid parameter"):
            await asked(client, question(), get_target(OPENAI))


async def test_a_full_folder_gets_no_more(tmp_path):
    for number in range(_MOST_FILES):
        (tmp_path / f"{number}.json").touch()
    assert len(await refuse(tmp_path)) == _MOST_FILES


async def test_an_agent_says_where_it_is(tmp_path):
    async with model(tmp_path) as client:
        session = Session(client, OPENAI)
        events = [event async for event in session.send("Hi.")]
        await session.close()
    (file,) = tmp_path.iterdir()
    (told,) = [one for one in events if isinstance(one, StatusEvent) and one.kind == "saved"]
    assert str(file) in told.detail
    assert f"canonicall explain {file}" in told.detail


async def test_what_was_refused_and_then_taken_in_another_form_is_written_too(tmp_path):
    class Taking(Direct):
        async def post(self, *given, **options):
            body = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}
            return DirectResponse(SimResponse.json(200, body))

    transport = Refusing(word=b'"temperature"', then=Taking())
    request = question(params=Params(temperature=0.5, stream=False))
    async with model(tmp_path, transport) as client:
        await asked(client, request, get_target(OPENAI))
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_text())["body"]["temperature"] == 0.5


def test_an_agent_that_is_named_takes_the_folder_and_a_model_does_not(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    agent = Agent(OPENAI, save_refused=tmp_path)
    assert agent._model._means.config.save_refused == tmp_path
    with pytest.raises(InvalidValue, match="ClientConfig\\(save_refused"):
        Agent(agent._model, OPENAI, save_refused=tmp_path)


# What reads it.

ORPHAN = {
    "model": "gpt-5.2",
    "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "tool", "tool_call_id": "call_9", "content": "42"},
    ],
}


@pytest.fixture
def file(tmp_path):
    """A refused request with an orphan."""
    answer = (400, json.dumps(ERROR).encode())
    refused = RefusedRequest.of(get_target(OPENAI), json.dumps(ORPHAN).encode(), answer)
    place = tmp_path / refused.file_name
    place.write_bytes(refused.data)
    return place


def run(*arguments, **options):
    return CliRunner().invoke(cli, list(map(str, arguments)), **options)


def test_explain_reads_it_as_it_is(file):
    done = run("explain", file)
    assert done.exit_code == 0
    shown = " ".join(done.stdout.split())
    assert "orphan_result_sent" in shown
    assert "In the request, this fits the error:" in shown
    assert f"canonicall fix {file} --as openai/openai-chat:gpt-5.2" in shown.replace("- ", "-")
    assert run("explain", input=file.read_text()).exit_code == 0
    record = json.loads(run("explain", file, "--json").stdout)
    assert record["known"]
    assert [one["code"] for one in record["violations"]] == ["orphan_result_sent"]


def test_check_reads_it_as_it_is_and_knows_whose_rules_count(file):
    done = run("check", file)
    assert done.exit_code == 3
    assert "orphan_result_sent" in done.stdout
    record = json.loads(run("check", file, "--json").stdout)
    assert record["verdicts"][0]["target"] == "openai/openai-chat:gpt-5.2"
    assert run("check", file, "--as", "anthropic").exit_code == 0


def test_fix_repairs_the_request_in_it(file):
    done = run("fix", file, "--as", OPENAI)
    assert done.exit_code == 0
    assert "tool_call_id" not in done.stdout
    assert not verify(json.loads(done.stdout), OPENAI)


def test_any_other_file_still_has_to_name_a_provider(tmp_path):
    place = tmp_path / "request.json"
    place.write_text(json.dumps(ORPHAN))
    done = run("check", place)
    assert (done.exit_code, "Missing option '--as'" in done.stderr) == (2, True)
    assert run("explain", place).exit_code == 2


def test_one_that_is_damaged_is_refused_by_name():
    damaged = json.dumps({"canonicall": "refused-request", "body": []}).encode()
    with pytest.raises(MalformedBody, match="this refused request cannot be read"):
        read_document(damaged)


def test_one_from_a_provider_that_is_not_known_here_is_explained_by_its_format(file):
    held = {**json.loads(file.read_text()), "target": "my-own-host/openai-chat:m"}
    file.write_text(json.dumps(held))
    assert run("explain", file).exit_code == 0
    done = run("check", file)
    assert (done.exit_code, "my-own-host" in done.stderr) == (1, True)


def test_run_has_the_option(tmp_path):
    helped = " ".join(run("run", "--help").stdout.split())
    assert "--save-refused FOLDER" in helped
    assert "--save-refused FOLDER" in " ".join(run("chat", "--help").stdout.split())


# What is hidden does not change what would be refused.

LONG = "A" * 250
SCHEMA = {
    "type": "object",
    "properties": {"api_key": {"type": "string"}, "password": {"type": "string"}},
    "required": ["api_key"],
}
CALL = ToolCall(id="call_1", name="hf_search_models", args={"api_key": "hunter2"})
SHAPES = {
    "a schema that declares a key": question(tools=(Tool("f", parameters=SCHEMA),)),
    "a tool that is named like a key": Request(
        Conversation.of(
            [
                Message("user", (Text(text="Hi"),)),
                Message("assistant", (CALL,)),
                Message("tool", (ToolResult(call_id="call_1", content=(Text(text="1"),)),)),
            ]
        ),
        (Tool("hf_search_models"), Tool("hf_download_models")),
    ),
    "a picture": Request(
        Conversation.of(
            [
                Message(
                    "user", (Text(text="Look"), Media(media_type="image/png", data=LONG + "AA=="))
                )
            ]
        )
    ),
}


@each("target", [OPENAI, "anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-pro"])
@each("shape", SHAPES)
def test_a_request_is_judged_alike_without_its_keys(shape, target):
    body = json.loads(encode_request(SHAPES[shape], target).data)
    hidden = redacted_request(body)
    assert [one.code for one in verify(hidden, target)] == [
        one.code for one in verify(body, target)
    ]
    assert "hunter2" not in json.dumps(hidden)


@needs_corpus
def test_recorded_requests_are_judged_alike_without_their_keys():
    judged = 0
    for record in every_record()[::5]:
        format, profile = FORMATS.get(record["protocol"]), find_profile(record["provider"])
        body = record["request"]
        if body is not None and profile and format in profile.formats:
            judged += 1
            target = f"{profile.name}/{format}:{record['model'] or ''}"
            found = [one.code for one in verify(redacted_request(body), target)]
            assert found == [one.code for one in verify(body, target)]
    assert judged > 500


def test_what_is_equal_stays_equal_and_what_differs_stays_different():
    one, other = "a" * 250, "b" * 250
    hidden = redacted_request({"messages": [one, other, one], "x": ["hf_abcdefgh", "hf_abcdefgi"]})
    first, second, third = hidden["messages"]
    assert first == third != second
    assert {len(first), len(second)} == {250}
    assert len(set(hidden["x"])) == 2
    assert "hf_" not in str(hidden)


def test_secrets_of_tools_that_are_text_are_hidden():
    server = {"type": "mcp", "authorization": "abc", "headers": {"Authorization": "xyz"}}
    assert redacted_request({"tools": [server]})["tools"][0] == {
        "type": "mcp",
        "authorization": "***",
        "headers": {"Authorization": "***"},
    }


def test_what_was_said_is_not_taken_for_a_schema():
    said = {"properties": {"password": {"value": "hunter2"}}}
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": said}
    hidden = redacted_request({"messages": [{"role": "assistant", "content": [call]}]})
    assert "hunter2" not in json.dumps(hidden)


# The gateway.


@pytest.mark.parametrize(
    ("path", "formats"),
    [
        ("/v1/chat/completions", ["openai-chat"]),  # forwarded as it came
        ("/v1/messages", ["openai-chat"]),  # translated
    ],
)
async def test_the_gateway_writes_them_where_its_settings_say_so(tmp_path, path, formats):
    folder = tmp_path / "refused"
    models = {"fast": ModelSettings(choices=(Choice(target=OPENAI),))}
    log = LogSettings(file="", refused=str(folder))
    gateway = World().gateway(models, transport=Refusing(), log=log)
    body = {"model": "fast", "max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]}
    answer = await ask(gateway, path, body)
    assert answer.status == 400
    files = list(folder.iterdir())
    assert [json.loads(one.read_text())["format"] for one in files][:1] == formats
    report = await ask(gateway, f"/canonicall/reports/{answer.headers['x-canonicall-request-id']}")
    assert report.json["failures"][-1]["diagnostics"]["provider"] == "openai"
    assert str(folder) not in report.body.decode()
    assert str(folder) not in answer.body.decode()
    await gateway.close()
