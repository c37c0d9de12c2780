"""Which model answers: only here is it decided, and only here are keys looked for.

Where no provider can be asked, a small simulated model answers in its place, and `told` says so:
everything else, tools and stored sessions among it, works the same without a key.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from canonicall.client.config import ClientConfig, base_url_env
from canonicall.client.endpoints import MissingSetting
from canonicall.client.model import HttpModel
from canonicall.events import Event, TextAdded
from canonicall.providers.profile import Profile
from canonicall.providers.registry import get_profile, get_target
from canonicall.request import Request
from canonicall.runtime.model import LocalModel, Model
from canonicall.target import Target
from canonicall.testing.script import ScriptedModel
from canonicall.testing.script_files import read_script
from canonicall.testing.small_model import SmallModel

_LOCAL = ("localhost", "127.0.0.1")
OFFLINE = "generic:simulated"
"""Who is asked where nobody was named: the provider whose rules all others can live with."""


class ModelChoice:
    """A model that asks whoever can answer for a target; the target may change between turns."""

    def __init__(
        self,
        *,
        script: Path | None = None,
        pause: float = 0.0,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`script`: replies written down beforehand answer, whoever is asked. `pause`: seconds
        between the words of a simulated reply."""
        answers = (
            SmallModel() if script is None else ScriptedModel(read_script(script.read_bytes()))
        )
        self._simulated = InWords(LocalModel(answers), pause)
        self._script = script
        self._environ = environ
        self._client: HttpModel | None = None

    def ask(self, request: Request, target: Target, **options: Any) -> AsyncIterator[Event]:
        """The events of the reply, from the model for this target."""
        return self._model_for(target).ask(request, target, **options)

    def told(self, name: str) -> str:
        """What a person should know before a target is asked. No key is ever told.

        Raises where a provider would be asked and no model of it is named: before anything is said.
        """
        if self._script is not None:
            return f"The script {self._script} answers."
        if name == OFFLINE:
            return "No provider is named: a small simulated model answers, offline."
        target = get_target(name)
        profile = get_profile(target.provider)
        if self._can_ask(profile):
            if not target.model:
                help = f"Name one: {profile.name}:MODEL."
                raise MissingSetting("no model is named.", where=profile.name, help=help)
            return f"{profile.title} answers."
        wanted = " or ".join(profile.key_env) or base_url_env(profile)
        return f"No key for {profile.title} ({wanted}): a simulated model answers, offline."

    async def close(self) -> None:
        """Close the connections to providers."""
        if self._client is not None:
            await self._client.close()

    def _model_for(self, target: Target) -> Model:
        if self._script is not None or not self._can_ask(get_profile(target.provider)):
            return self._simulated
        if self._client is None:
            self._client = HttpModel(ClientConfig(environ=self._environ))
        return self._client

    def _can_ask(self, profile: Profile) -> bool:
        """Whether there is a key, an address of the user's own, or a server on this machine."""
        known = (*profile.key_env, base_url_env(profile))
        is_local = urlsplit(profile.base_url).hostname in _LOCAL
        return is_local or any(self._environ.get(one) for one in known)


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
