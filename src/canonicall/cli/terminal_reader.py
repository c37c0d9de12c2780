"""Lines from a terminal with history, editing, several lines and completion of commands.

While it reads, Ctrl-C is a key like any other; signals stay with who listens for them.
"""

from collections.abc import Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from canonicall.cli.reading import Interrupted

_GO_ON = "\\"


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        """Send; behind a backslash, or with Alt, begin another line."""
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith(_GO_ON):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    return keys


class TerminalReader:
    """Reads with prompt_toolkit."""

    def __init__(self, commands: Iterable[str]) -> None:
        self._messages: PromptSession[str] = PromptSession(
            multiline=True,
            key_bindings=_keys(),
            prompt_continuation="... ",
            completer=WordCompleter(list(commands), sentence=True),
            complete_while_typing=False,
            interrupt_exception=Interrupted,
        )
        self._lines: PromptSession[str] = PromptSession(interrupt_exception=Interrupted)

    async def line(self, prompt: str, *, default: str = "") -> str:
        """One line, with `default` to be changed."""
        return await self._lines.prompt_async(prompt, default=default, handle_sigint=False)

    async def message(self, prompt: str) -> str:
        """Something to say. What is shown meanwhile comes above the line, not into it."""
        with patch_stdout(raw=True):
            return await self._messages.prompt_async(prompt, handle_sigint=False)
