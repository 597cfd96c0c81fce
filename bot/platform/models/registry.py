"""The registered providers of models, the one place that names them, and the connection to the chosen one."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import SecretStr

from bot.errors import ConfigurationError
from bot.platform.models import Chat, ChatEvent, Completion, ModelAccess, ModelConnection, ModelProvider, Prompt
from bot.platform.models.claude import BEDROCK, CLAUDE, VERTEX
from bot.platform.models.openai_compatible import OPENAI_COMPATIBLE
from bot.settings import Settings, UsableSettings
from bot.usage import ModelPrice, PriceList

PROVIDERS: tuple[ModelProvider, ...] = (CLAUDE, BEDROCK, VERTEX, OPENAI_COMPATIBLE)
PROVIDER_VARIABLE = "PRDIGEST_MODEL_PROVIDER"


def choose_provider(settings: Settings, providers: Sequence[ModelProvider] = PROVIDERS) -> ModelProvider:
    """Return the provider that the settings name: a key of another goes nowhere. Raises ConfigurationError."""
    provider = _find_named(settings, providers)
    if provider is None:
        raise ConfigurationError(f"{PROVIDER_VARIABLE} can't be used: {_advise_names(providers)}.")
    if not provider.prices_variable:
        return provider
    # of both models, as far as the operator has set them
    named: Mapping[str, ModelPrice] = _get_value(settings, provider.prices_variable)
    models = (settings.prdigest_summary_model, settings.prdigest_answer_model)
    prices = {model: price for model in models if (price := named.get(model) or named.get(""))}
    return replace(provider, prices=PriceList(prices))


def report_unknown_name(usable: UsableSettings, providers: Sequence[ModelProvider] = PROVIDERS) -> UsableSettings:
    """Return the settings with the first provider in place of one that nobody knows, which is then a problem."""
    if _find_named(usable.settings, providers):
        return usable
    settings = usable.settings.model_copy(update={PROVIDER_VARIABLE.lower(): providers[0].choice})
    return UsableSettings(settings, {**usable.problems, PROVIDER_VARIABLE: _advise_names(providers)})


def _advise_names(providers: Sequence[ModelProvider]) -> str:
    *others, last = (f"'{each.choice}'" for each in providers)
    return f"write {', '.join(others)} or {last}" if others else f"write {last}"


def _find_named(settings: Settings, providers: Sequence[ModelProvider]) -> ModelProvider | None:
    return next((each for each in providers if each.choice == settings.prdigest_model_provider), None)


def get_model_access(settings: Settings, provider: ModelProvider) -> ModelAccess | None:
    """Return how a provider is called; None without a key that it needs. Raises ConfigurationError, too."""
    for variable, example in provider.required_variables.items():
        # a default does not count
        if variable.lower() not in settings.model_fields_set or not _get_value(settings, variable):
            raise ConfigurationError(f"Set {variable}, such as {example}: {provider.name} needs it.")
    options = {variable: _get_value(settings, variable) for variable in provider.option_variables}
    if provider.is_cloud:
        return ModelAccess("", "", options)
    key: SecretStr | None = _get_value(settings, provider.key_variable)
    if key is None and not provider.is_key_optional:
        return None
    address: str = _get_value(settings, provider.address_variable)
    return ModelAccess(key.get_secret_value() if key else "", address, options)


def _get_value(settings: Settings, variable: str) -> Any:
    return getattr(settings, variable.lower())


class LazyModelConnection:
    """``ModelConnection`` that the first prompt opens. Threads may share it."""

    def __init__(self, provider: ModelProvider, access: ModelAccess) -> None:
        self._provider = provider
        self._access = access
        self._lock = threading.Lock()
        self._opened: ModelConnection | None = None

    def complete(self, prompt: Prompt) -> Completion:
        return self.open_connection().complete(prompt)

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        return self.open_connection().stream_turn(chat)

    def open_connection(self) -> ModelConnection:
        """Open it, unless it is open, so that the next prompt does not wait for that."""
        with self._lock:
            if self._opened is None:
                self._opened = self._provider.connect(self._access)
            return self._opened

    def close(self) -> None:
        with self._lock:
            if self._opened:
                self._opened.close()
