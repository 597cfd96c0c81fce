"""The registered providers of models: the one place that names them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import SecretStr

from bot.adapters.claude import CLAUDE
from bot.ports import ModelAccess, ModelProvider
from bot.settings import Settings

PROVIDERS: tuple[ModelProvider, ...] = (CLAUDE,)


def choose_provider(settings: Settings, providers: Sequence[ModelProvider] = PROVIDERS) -> ModelProvider:
    """Return the first provider with a key; without any key, the first of all."""
    return next((each for each in providers if get_model_access(settings, each)), providers[0])


def get_model_access(settings: Settings, provider: ModelProvider) -> ModelAccess | None:
    """Return the key and the address of the provider; None without a key."""
    key: SecretStr | None = getattr(settings, provider.key_variable.lower())
    address: str = getattr(settings, provider.address_variable.lower())
    return ModelAccess(key.get_secret_value(), address) if key else None
