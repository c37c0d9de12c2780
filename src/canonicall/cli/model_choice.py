"""Which model answers: only here is it decided, and only here are keys looked for.

A small simulated model answers where no model is named, or `sim` is: everything else, tools and
stored sessions among it, works the same without a key. A provider that is named is asked, and
where that is not possible, `told` raises an error that says what is missing.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from canonicall.client.config import ClientConfig, ProviderConfig, base_url_env
from canonicall.client.endpoints import MissingSetting, check_settings
from canonicall.client.model import HttpModel
from canonicall.events import Event, TextAdded
from canonicall.facts.profile import Profile
from canonicall.facts.registry import get_profile, get_target
from canonicall.facts.target import Target
from canonicall.request import Request
from canonicall.runtime.model import LocalModel, Model
from canonicall.testing.script import ScriptedModel
from canonicall.testing.script_files import read_script
from canonicall.testing.small_model import ALL_TOOLS, SmallModel

SIMULATED = "sim"
"""What the simulated model is called on the command line."""
OFFLINE = "generic:simulated"
"""Its target, as sessions store it: the provider whose rules all others can live with."""


def target_name(model: str) -> str:
    """The target that `--model` names."""
    return OFFLINE if model == SIMULATED else model


class Address(Struct, frozen=True):
    """Where a target is asked, other than at the address of its provider."""

    target: str
    base_url: str = ""
    key_env: str = ""
    """The variable that holds the key."""

    @property
    def config(self) -> dict[str, ProviderConfig]:
        """The settings of the target's provider."""
        target = get_target(self.target)
        urls = {target.format: self.base_url} if self.base_url else {}
        names = (self.key_env,) if self.key_env else ()
        return {target.provider: ProviderConfig(base_urls=urls, key_env=names)}


class ModelChoice:
    """A model that asks whoever can answer for a target; the target may change between turns."""

    def __init__(
        self,
        *,
        script: Path | None = None,
        pause: float = 0.0,
        address: Address | None = None,
        save_refused: Path | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`script`: replies written down beforehand answer, whoever is asked. `pause`: seconds
        between the words of a simulated reply. `save_refused`: the folder for refused requests."""
        # The tools here are those of the command line: what could do harm asks before it runs.
        answers = (
            SmallModel(call_tools=ALL_TOOLS)
            if script is None
            else ScriptedModel(read_script(script.read_bytes()))
        )
        self._simulated = InWords(LocalModel(answers), pause)
        self._script = script
        self._address = address
        own = address.config if address else {}
        self._config = ClientConfig(own, save_refused=save_refused, environ=environ)
        self._client: HttpModel | None = None

    def ask(self, request: Request, target: Target, **options: Any) -> AsyncIterator[Event]:
        """The events of the reply, from the model for this target."""
        return self._model_for(target).ask(request, target, **options)

    def told(self, name: str) -> str:
        """What a person should know before a target is asked. No key is ever shown.

        Raises `MissingSetting` where the target cannot be asked.
        """
        if self._script is not None:
            return f"The script {self._script} answers."
        if name == OFFLINE:
            return "No provider is named: a small simulated model answers, offline."
        target = get_target(name)
        profile = get_profile(target.provider)
        if not target.model:
            help = f"Name one: {profile.name}:MODEL."
            raise MissingSetting("no model is named.", where=profile.name, help=help)
        try:
            check_settings(target, self._config)
        except MissingSetting as error:
            help = f"{_remedy(error, profile)} Or take the simulated model: --model {SIMULATED}."
            raise MissingSetting(error.what, where=error.where, help=help) from None
        is_elsewhere = self._address is not None and self._address.target == name
        place = self._address.base_url if self._address and is_elsewhere else ""
        return f"{profile.title} answers" + (f", at {place}." if place else ".")

    async def close(self) -> None:
        """Close the connections to providers."""
        if self._client is not None:
            await self._client.close()

    def _model_for(self, target: Target) -> Model:
        if self._script is not None or target.name == OFFLINE:
            return self._simulated
        if self._client is None:
            self._client = HttpModel(self._config)
        return self._client


def _remedy(error: MissingSetting, profile: Profile) -> str:
    """What to do on the command line about a setting that is missing."""
    variables = " or ".join(error.variables)
    if not variables:
        return error.help
    if base_url_env(profile) in error.variables:
        return f"Give it with --base-url, or set the variable {variables}."
    about_key = profile.key_help if error.variables == profile.key_env else ""
    return f"Set the variable {variables}. {about_key}".rstrip()


class InWords:
    """A model whose text comes word by word, as that of a provider does."""

    def __init__(self, model: Model, pause: float = 0.0) -> None:
        self._model = model
        self._pause = pause

    async def ask(self, request: Request, target: Target, **options: Any) -> AsyncIterator[Event]:
        """The events of the model, with its words one at a time."""
        async for event in self._model.ask(request, target, **options):
            if not isinstance(event, TextAdded):
                yield event
                continue
            for at, word in enumerate(event.text.split(" ")):
                await asyncio.sleep(self._pause)
                yield TextAdded(event.index, f" {word}" if at else word)
