"""Who says whether a call may run: an option of the command line, or the person at the terminal."""

import click
import msgspec
from msgspec.structs import replace

from canonicall.agent.inputs import Decided
from canonicall.blocks import ToolCall
from canonicall.cli.listeners import arguments_of
from canonicall.cli.reading import Reader
from canonicall.cli.session_options import Answer
from canonicall.cli.visible import in_one_line

_QUESTION = "Allow it? [y]es, [n]o, [a]lways, [e]dit: "
_NOBODY = "nobody is there to approve it"


class Approvals:
    """Decides about the calls of a session."""

    def __init__(self, answer: Answer, reader: Reader | None = None) -> None:
        """Without a reader nobody can be asked."""
        self._answer = answer
        self._reader = reader
        self._always: set[str] = set()
        """Tools that may run for the rest of the talk."""

    def at_once(self, call: ToolCall) -> Decided | None:
        """What can be said without asking; None where somebody has to be asked."""
        if self._answer == "allow" or call.name in self._always:
            return Decided(call.id, "allow")
        if self._answer == "deny" or self._reader is None:
            return Decided(call.id, "deny", _NOBODY)
        return None

    async def decide(self, call: ToolCall) -> Decided:
        """What the person says. Raises `Interrupted` for Ctrl-C; the end of input is a no."""
        said = self.at_once(call)
        if said is not None or self._reader is None:
            return said or Decided(call.id, "deny", _NOBODY)
        shown = in_one_line(f"{call.name} {arguments_of(call)}")
        click.secho(f"  {shown} needs your approval.", err=True, fg="yellow")
        while True:
            try:
                answer = (await self._reader.line(_QUESTION)).strip().lower()
                if answer in ("e", "edit"):
                    return await self._edited(call, self._reader)
            except EOFError:
                return Decided(call.id, "deny", _NOBODY)
            if answer in ("y", "yes"):
                return Decided(call.id, "allow")
            if answer in ("n", "no"):
                return Decided(call.id, "deny", "the user said no")
            if answer in ("a", "always"):
                self._always.add(call.name)
                return Decided(call.id, "allow")

    async def _edited(self, call: ToolCall, reader: Reader) -> Decided:
        """The call with other arguments."""
        before = arguments_of(call)
        while True:
            given = await reader.line("Arguments as JSON: ", default=before)
            try:
                arguments = msgspec.json.decode(given, type=dict)
            except (msgspec.DecodeError, RecursionError) as error:
                click.echo(f"  That is no JSON object: {error}.", err=True)
                continue
            return Decided(call.id, "allow", edited=replace(call, args=arguments, raw=None))
