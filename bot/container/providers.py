"""The registered providers of models: the one place that names them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import SecretStr

from bot.adapters.claude import BEDROCK, CLAUDE, VERTEX
from bot.domain.errors import ConfigurationError
from bot.ports import ModelAccess, ModelProvider
from bot.settings import Settings

PROVIDERS: tuple[ModelProvider, ...] = (CLAUDE, BEDROCK, VERTEX)


def choose_provider(settings: Settings, providers: Sequence[ModelProvider] = PROVIDERS) -> ModelProvider:
    """Return the cloud that the settings name, otherwise the first provider with a key.

    Without any key it is the first of all. A key does not count if the settings name a cloud: what is meant for a
    cloud goes nowhere else.
    """
    cloud = settings.prdigest_model_provider
    named = next((each for each in providers if each.cloud and each.cloud == cloud), None)
    with_key = (each for each in providers if not each.cloud and get_model_access(settings, each))
    return named or next(with_key, providers[0])


def get_model_access(settings: Settings, provider: ModelProvider) -> ModelAccess | None:
    """Return the key and the address of the provider, None without a key; of a cloud its region and project.

    Raises:
        ConfigurationError: a setting that the cloud needs is missing.
    """
    if provider.cloud:
        return _get_cloud_access(settings, provider)
    key: SecretStr | None = getattr(settings, provider.key_variable.lower())
    address: str = getattr(settings, provider.address_variable.lower())
    return ModelAccess(key.get_secret_value(), address) if key else None


def _get_cloud_access(settings: Settings, provider: ModelProvider) -> ModelAccess:
    """Return the region and the project of a cloud. Raises ConfigurationError if one that it needs is missing."""
    for variable, example in provider.place_variables.items():
        if not getattr(settings, variable.lower()):
            raise ConfigurationError(f"Set {variable}, such as {example}: {provider.name} needs it.")
    return ModelAccess("", "", settings.prdigest_model_region or "", settings.prdigest_model_project or "")
