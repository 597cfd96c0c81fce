"""Checks of the provider of models: the key, the models, and their prices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.errors import ConfigurationError, ModelRequestRejected, PrdigestError
from bot.platform.finding import Finding
from bot.platform.models import ModelAccess, ModelProvider


def check_models(
    provider: ModelProvider, access: ModelAccess, models: Mapping[str, str], seconds: int
) -> Iterator[Finding]:
    """Check the provider. ``models`` maps each model to the settings that name it. A call may take ``seconds``."""
    if provider.is_cloud:
        key = f"{provider.name} credentials"
    else:
        key = provider.name if provider.is_key_optional else f"{provider.name} key"
    try:
        known = provider.find_models(access, tuple(models), seconds)
    except PrdigestError as error:
        yield Finding.build_error(key, error, _advise(error, provider))
        yield from (Finding.build_unchecked(f"Model {model}", f"see {key} above") for model in models)
        return
    if None in known.values():
        yield Finding.build_note(
            key,
            f"not checked: the server at {provider.address_variable} does not list its models",
            "Try `prdigest summary` with the number of a pull request to see whether a model answers.",
        )
    else:
        yield Finding.build_success(key, "accepted")
    for model, settings in models.items():
        name, is_known = f"Model {model}", known[model]
        if is_known is None:
            yield Finding.build_unchecked(name, f"see {key} above")
        elif is_known:
            yield _report_price(name, model, provider)
        else:
            missing = f"{provider.name} has no model with that name"
            yield Finding.build_failure(name, missing, f"Set {settings} to the name of a model.")
        if provider.try_model and is_known is not False:
            try:
                yield from provider.try_model(access, model, seconds)
            except PrdigestError as error:
                yield Finding.build_error(name, error, _advise_on_outage(provider))


def _advise(error: PrdigestError, provider: ModelProvider) -> str:
    """Return what to do about an error; empty if its own sentence says it."""
    if isinstance(error, ConfigurationError):
        return ""
    if not isinstance(error, ModelRequestRejected):
        return _advise_on_outage(provider)
    key, address = provider.key_variable, provider.address_variable
    if provider.is_cloud:
        return f"Give this machine credentials of the cloud with the right to use the models, and check {address}."
    if provider.is_key_optional:
        return f"Set {key} to a key that the server at {address} accepts."
    return f"Set {key} to a valid key, or leave it empty for facts-only summaries."


def _advise_on_outage(provider: ModelProvider) -> str:
    return (
        f"Check {provider.address_variable} and the network, or try again in a few minutes: until then, summaries "
        "contain facts only."
    )


def _report_price(name: str, model: str, provider: ModelProvider) -> Finding:
    price = provider.prices[model]
    if price is not None:
        cost = f"${price.input:.2f} in and ${price.output:.2f} out per million tokens"
        return Finding.build_success(name, f"available, {cost}")
    if provider.prices.prices:
        unknown = "available, price unknown: budgets assume the price of the most expensive model"
        return Finding.build_note(name, unknown)
    unknown = "available, price unknown: no budget in dollars limits it"
    advice = f"Set {provider.prices_variable}; 0/0 is for a server that costs nothing per token."
    return Finding.build_note(name, unknown, advice)
