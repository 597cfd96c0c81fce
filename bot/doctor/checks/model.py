"""Checks of the provider of models: the key, the models, and their prices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bot.doctor.checks.failures import describe_failure
from bot.domain.errors import ConfigurationError, ModelRequestRejected, PrdigestError
from bot.domain.operations.finding import Finding
from bot.ports import ModelProvider
from bot.ports.probes import CapabilityProbe, ModelProbe

_REFUSED_ADVICE = "Set {key} to a valid key, or leave it empty for facts-only summaries."
_OPTIONAL_KEY_ADVICE = "Set {key} to a key that the server at {address} accepts."
_UNKNOWN_PRICE = "available, price unknown: budgets assume the price of the most expensive model"
_NO_PRICE = "available, price unknown: no budget in dollars limits it"
_NO_PRICE_ADVICE = "Set {prices}; 0/0 is for a server that costs nothing per token."
_CLOUD_REFUSED_ADVICE = (
    "Give this machine credentials of the cloud with the right to use the models, and check {address}."
)
_NO_MODEL_LIST = "not checked: the server at {address} does not list its models"
_NO_MODEL_LIST_ADVICE = "Try `prdigest summary` with the number of a pull request to see whether a model answers."
_UNAVAILABLE_ADVICE = (
    "Check {address} and the network, or try again in a few minutes: until then, summaries contain facts only."
)


def check_models(
    open_probe: Callable[[], ModelProbe] | str, models: Mapping[str, str], provider: ModelProvider
) -> Iterator[Finding]:
    """Check the provider. ``models`` maps each model to the settings that name it.

    ``open_probe`` returns the probe, or is the reason why there is none.
    """
    if isinstance(open_probe, str):
        yield Finding.build_note(provider.name, open_probe)
        return
    key = _name_access(provider)
    try:
        probe = open_probe()
        is_known = {model: probe.has_model(model) for model in models}
    except PrdigestError as error:
        yield describe_failure(
            key,
            error,
            _format_advice(_choose_advice(error, provider), provider),
        )
        yield from (Finding.build_unchecked(f"Model {model}", f"see {key} above") for model in models)
        return
    if None in is_known.values():
        yield Finding.build_note(key, _format_advice(_NO_MODEL_LIST, provider), _NO_MODEL_LIST_ADVICE)
    else:
        yield Finding.build_success(key, "accepted")
    for model, settings in models.items():
        yield _report_model(model, settings, provider, is_known=is_known[model])
        if isinstance(probe, CapabilityProbe) and is_known[model] is not False:
            yield from _report_capabilities(probe, model, provider)


def _name_access(provider: ModelProvider) -> str:
    """Return what is checked: a key, the credentials of a cloud, or a server that may need neither."""
    if provider.is_cloud:
        return f"{provider.name} credentials"
    return provider.name if provider.is_key_optional else f"{provider.name} key"


def _choose_advice(error: PrdigestError, provider: ModelProvider) -> str:
    """Return what to do about an error."""
    if isinstance(error, ConfigurationError):
        # its sentence says what to do
        return ""
    if not isinstance(error, ModelRequestRejected):
        return _UNAVAILABLE_ADVICE
    if provider.is_cloud:
        return _CLOUD_REFUSED_ADVICE
    return _OPTIONAL_KEY_ADVICE if provider.is_key_optional else _REFUSED_ADVICE


def _format_advice(sentence: str, provider: ModelProvider) -> str:
    """Return advice that names the settings of the provider."""
    return sentence.format(
        key=provider.key_variable, address=provider.address_variable, prices=provider.prices_variable
    )


def _report_capabilities(probe: CapabilityProbe, model: str, provider: ModelProvider) -> Iterator[Finding]:
    """Yield the findings about what a server can do with a model."""
    name = f"Model {model}"
    try:
        capabilities = probe.check_capabilities(model)
    except PrdigestError as error:
        yield describe_failure(name, error, _format_advice(_UNAVAILABLE_ADVICE, provider))
        return
    for each in capabilities:
        if each.problem:
            yield Finding.build_failure(f"{name}, {each.name}", each.problem, each.advice)
        else:
            yield Finding.build_note(f"{name}, {each.name}", each.detail)


def _report_model(model: str, settings: str, provider: ModelProvider, *, is_known: bool | None) -> Finding:
    """Return the finding about a model.

    ``is_known`` tells whether the provider has it, None if it lists no models.
    """
    name = f"Model {model}"
    if is_known is None:
        return Finding.build_unchecked(name, f"see {_name_access(provider)} above")
    if not is_known:
        missing = f"{provider.name} has no model with that name"
        return Finding.build_failure(name, missing, f"Set {settings} to the name of a model.")
    price = provider.prices[model]
    if price is None and not provider.prices.prices:
        return Finding.build_note(name, _NO_PRICE, _format_advice(_NO_PRICE_ADVICE, provider))
    if price is None:
        return Finding.build_note(name, _UNKNOWN_PRICE)
    return Finding.build_success(
        name, f"available, ${price.input:.2f} in and ${price.output:.2f} out per million tokens"
    )
