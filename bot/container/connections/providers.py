"""The registered providers of models: the one place that names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import SecretStr

from bot.adapters.claude import BEDROCK, CLAUDE, VERTEX
from bot.adapters.openai_compatible import OPENAI_COMPATIBLE
from bot.domain.errors import ConfigurationError
from bot.domain.operations.usage import PriceList
from bot.ports import ModelAccess, ModelProvider
from bot.settings import Settings

PROVIDERS: tuple[ModelProvider, ...] = (CLAUDE, BEDROCK, VERTEX, OPENAI_COMPATIBLE)


def choose_provider(settings: Settings, providers: Sequence[ModelProvider] = PROVIDERS) -> ModelProvider:
    """Return the provider that the settings name, otherwise the first one with a key.

    Without any key it is the first of all. A key does not count if the settings name another provider: what is
    meant for that one goes nowhere else.
    """
    choice = settings.prdigest_model_provider
    named = next((each for each in providers if each.choice and each.choice == choice), None)
    with_key = (each for each in providers if not each.choice and get_model_access(settings, each))
    provider = named or next(with_key, providers[0])
    return replace(provider, prices=_read_prices(settings)) if provider.prices_variable else provider


def get_model_access(settings: Settings, provider: ModelProvider) -> ModelAccess | None:
    """Return the key and the address of the provider, None without a key; of a cloud its region and project.

    Raises:
        ConfigurationError: a setting that the named provider needs is missing.
    """
    if provider.choice:
        _require_variables(settings, provider)
    if provider.is_cloud:
        return ModelAccess("", "", settings.prdigest_model_region or "", settings.prdigest_model_project or "")
    key: SecretStr | None = getattr(settings, provider.key_variable.lower())
    if key is None and not provider.choice:
        return None
    address: str = getattr(settings, provider.address_variable.lower())
    secret = key.get_secret_value() if key else ""
    return ModelAccess(secret, address, context_tokens=settings.prdigest_context_tokens)


def _require_variables(settings: Settings, provider: ModelProvider) -> None:
    """Raise ConfigurationError if a setting that the named provider needs is missing; a default does not count."""
    for variable, example in provider.required_variables.items():
        name = variable.lower()
        if name not in settings.model_fields_set or not getattr(settings, name):
            raise ConfigurationError(f"Set {variable}, such as {example}: {provider.name} needs it.")


def _read_prices(settings: Settings) -> PriceList:
    """Return the prices of both models as far as the operator has set them."""
    named = settings.prdigest_model_prices
    models = (settings.prdigest_summary_model, settings.prdigest_answer_model)
    prices = {model: named.get(model) or named.get("") for model in models}
    return PriceList({model: price for model, price in prices.items() if price})
