"""Checks Claude: the key, the models, whether it is known what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bot.doctor.checks.failures import failure
from bot.domain.errors import ModelRejected, PrdigestError
from bot.domain.operations.finding import Finding
from bot.domain.operations.usage import PRICES
from bot.ports.probes import ModelProbe

KEY = "Claude key"
_REFUSED = "Set ANTHROPIC_API_KEY to a key that is valid, or leave it empty for summaries made of facts alone."
_UNTOLD = "can't be checked here: what is at ANTHROPIC_BASE_URL does not tell of models"
_TRY = "Try `prdigest summary` with the number of a pull request: it shows whether a model answers."
_AWAY = "Check ANTHROPIC_BASE_URL and the network, or try again in a few minutes: summaries are facts until then."


def claude_checks(opened: Callable[[], ModelProbe] | str, models: Mapping[str, str]) -> Iterator[Finding]:
    """``models`` has each model with the settings that name it."""
    if isinstance(opened, str):
        yield Finding.note("Claude", opened)
        return
    try:
        probe = opened()
        known = {model: probe.knows(model) for model in models}
    except PrdigestError as error:
        yield failure(KEY, error, _REFUSED if isinstance(error, ModelRejected) else _AWAY)
        yield from (Finding.unchecked(f"Model {model}", f"see {KEY} above") for model in models)
        return
    if None in known.values():
        yield Finding.note(KEY, _UNTOLD, _TRY)
    else:
        yield Finding.ok(KEY, "accepted")
    for model, settings in models.items():
        yield _model(model, settings, is_known=known[model])


def _model(model: str, settings: str, *, is_known: bool | None) -> Finding:
    name = f"Model {model}"
    if is_known is None:
        return Finding.unchecked(name, f"see {KEY} above")
    if not is_known:
        return Finding.failed(name, "Claude has none of that name", f"Set {settings} to the name of a model.")
    price = PRICES.get(model)
    if price is None:
        return Finding.note(name, "known, cost unknown: budgets count it as the dearest model there is")
    return Finding.ok(name, f"known, ${price.input:.2f} in and ${price.output:.2f} out for a million tokens")
