"""`canonicall sim`: simulated providers on a port of this machine, until Ctrl-C.

Prints the address for each client, then one line for each request: what was asked, how it was
answered, and why not. One provider is at the root; several are under their names.
"""

import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from canonicall.cli.arguments import call_tools_option, profile_option
from canonicall.cli.files import UnusableFile, shown
from canonicall.errors import CanonicallError, UnknownName
from canonicall.facts.registry import get_profile, provider_names
from canonicall.gateway.server.sockets import CannotListen, why_not
from canonicall.reply import Reply
from canonicall.testing.exchange import SimRequest, SimResponse
from canonicall.testing.faults import Fault, faults_in
from canonicall.testing.script import Model, ScriptedModel
from canonicall.testing.script_files import read_script
from canonicall.testing.server import serve
from canonicall.testing.simulator import Simulator
from canonicall.wire.openai_chat.errors import decode_error

# What an address needs at its end to work as a `base_url`: of the official SDKs, of a gateway's
# settings and of `--base-url`. Cohere's own SDK adds `/v2` itself and takes both.
_ENDINGS = {"openai-chat": "/v1", "openai-responses": "/v1", "cohere": "/v2"}
_CLIENTS = {
    "anthropic": "ANTHROPIC_BASE_URL, Anthropic(base_url=...)",
    "bedrock": "AWS_ENDPOINT_URL_BEDROCK_RUNTIME, boto3 client(endpoint_url=...)",
    "cohere": "CO_API_URL, ClientV2(base_url=...)",
    "gemini": "genai.Client(http_options={'base_url': ...})",
    "ollama": "OLLAMA_HOST, Client(host=...)",
    "openai-chat": "OPENAI_BASE_URL, OpenAI(base_url=...)",
    "openai-responses": "OPENAI_BASE_URL, OpenAI(base_url=...)",
}
_SOUND = "none"


def _faults(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[Any]:
    del ctx, option
    try:
        return [None if one == _SOUND else faults_in(one) for one in given]
    except UnknownName as error:
        raise click.BadParameter(str(error)) from None


def _providers(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[str]:
    del ctx, option
    try:
        return [get_profile(name).name for name in given]
    except UnknownName as error:
        raise click.BadParameter(str(error)) from None


def _stored_prompts(ctx: click.Context, option: click.Parameter, path: Path | None) -> Any:
    """The stored prompts in a file: for each id and version, the fields of a request."""
    if path is None:
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, dict[str, Any]]])
    except (msgspec.DecodeError, UnicodeError) as error:
        what = f'{path}: {error}. Write {{"pmpt_ID": {{"1": {{"instructions": "..."}}}}}}.'
        raise click.BadParameter(what, ctx, option) from None


@click.command()
@click.option(
    "--provider",
    "providers",
    multiple=True,
    callback=_providers,
    help="Whom to play; several may be named. Without it: all, each under its name.",
)
@profile_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="0: any free one.")
@click.option("--model", "models", multiple=True, help="The only models there are; else any.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    callback=_faults,
    metavar="NAME",
    help="What goes wrong: the first one with the first reply, and so on. Several at once are"
    f" joined by commas; '{_SOUND}' is a sound reply. There are: {', '.join(Fault)}.",
)
@click.option(
    "--script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What is answered: JSON or JSON lines of replies.",
)
@call_tools_option
@click.option(
    "--prompts",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_stored_prompts,
    help="Stored prompts of the Responses API: JSON of ids, versions and fields of a request.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def sim(
    providers: list[str],
    host: str,
    port: int,
    script: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Serve simulated providers on this machine.

    They have the rules and the error texts of the real ones. Without a name all are served, each
    under its own. Replies are cut at the token limit of the request. No tool is called unless a
    script or --call-tools says so: the reply lists the tools that were offered.

    \b
    Examples:
      canonicall sim --provider anthropic
      canonicall sim --provider openai --fault rate_limited --script replies.jsonl
      canonicall sim --provider openai --call-tools get_weather,local_time
    """
    if script is not None and options["call_tools"]:
        raise click.UsageError("--call-tools cannot be combined with --script: a script has calls.")
    replies = None if script is None else _replies(script)

    def simulator(name: str) -> Simulator:
        model: Model | None = None if replies is None else ScriptedModel(replies)
        return Simulator(name, model=model, **options)

    names = list(dict.fromkeys(providers)) or list(provider_names())
    served = {name: simulator(name) for name in names}
    only = served[names[0]] if len(names) == 1 else None
    log = _Log(as_json)
    server = _started(serve(only or served, host=host, port=port, watch=log.answered), host, port)
    try:
        log.started(server.url, addresses(server.url, names))
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
    log.ended()


def _replies(script: Path) -> list[Reply]:
    try:
        return read_script(script.read_bytes())
    except CanonicallError as error:
        raise UnusableFile(shown(str(script)), error) from None


def _started(server: serve, host: str, port: int) -> serve:
    try:
        return server.start()
    except (OSError, UnicodeError) as error:
        raise CannotListen(f"{host}:{port}: {why_not(error)}") from None


def addresses(url: str, names: list[str]) -> dict[str, dict[str, str]]:
    """Where each provider is, for each of its formats."""
    return {
        name: {
            format: (url if len(names) == 1 else f"{url}/{name}") + _ENDINGS.get(format, "")
            for format in get_profile(name).formats
        }
        for name in names
    }


class _Log:
    """What the verb prints, for people or for programs."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._statuses: Counter[int] = Counter()

    def started(self, url: str, providers: dict[str, dict[str, str]]) -> None:
        if self._as_json:
            self._print({"event": "started", "url": url, "providers": providers})
            return
        widest = max(map(len, providers))
        lines = [f"Simulated providers at {url}. Any key will do. Ctrl-C ends it."]
        for name, formats in providers.items():
            for format, address in formats.items():
                client = f"   {_CLIENTS[format]}" if len(providers) == 1 else ""
                lines.append(f"  {name:{widest}}  {format:16}  {address}{client}")
        # At once: the first client may be quicker than the last line.
        click.echo("\n".join(lines))

    def answered(self, request: SimRequest, response: SimResponse) -> None:
        """One line for one request."""
        self._statuses[response.status] += 1
        # Where nobody reads any more, the client gets its answer all the same.
        with suppress(OSError):
            self._tell(request, response)

    def _tell(self, request: SimRequest, response: SimResponse) -> None:
        why = _why(response)
        if self._as_json:
            made = {"method": request.method, "path": request.path, "status": response.status}
            self._print({"event": "answered", **made, "why": why})
        else:
            line = f"{request.method} {request.path} {response.status}"
            click.echo(f"{line} {why}".rstrip())

    def ended(self) -> None:
        counts = dict(sorted(self._statuses.items()))
        if self._as_json:
            self._print({"event": "ended", "requests": self._statuses.total(), "statuses": counts})
            return
        told = ", ".join(f"{count} x {status}" for status, count in counts.items())
        click.echo(f"{self._statuses.total()} requests" + (f": {told}." if told else "."))

    def _print(self, value: dict[str, Any]) -> None:
        click.echo(msgspec.json.encode(value).decode())


def _why(response: SimResponse) -> str:
    """Why a request was turned down, in the words of the answer; empty where it was not."""
    if response.status < 400:
        return ""
    said = decode_error(msgspec.json.decode(response.data)).message
    return " ".join(said.split())
