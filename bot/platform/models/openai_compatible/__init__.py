"""Servers that speak the OpenAI-compatible protocol, such as vLLM, without an SDK (decision 18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.platform.finding import Finding
from bot.platform.models import ModelAccess, ModelConnection, ModelProvider
from bot.usage import NO_PRICES

CONTEXT_TOKENS = "PRDIGEST_CONTEXT_TOKENS"  # the setting with the length of the models' context window


def _connect(access: ModelAccess) -> ModelConnection:
    from bot.platform.models.openai_compatible.connection import OpenAIConnection  # noqa: PLC0415

    return OpenAIConnection(access)


def _find_models(access: ModelAccess, models: Sequence[str], seconds: float) -> Mapping[str, bool | None]:
    from bot.platform.models.openai_compatible.connection import find_models  # noqa: PLC0415

    return find_models(access, models, seconds)


def _try_model(access: ModelAccess, model: str, seconds: float) -> Sequence[Finding]:
    from bot.platform.models.openai_compatible.connection import try_model  # noqa: PLC0415

    return try_model(access, model, seconds)


OPENAI_COMPATIBLE = ModelProvider(
    choice="openai-compatible",
    name="OpenAI-compatible server",
    place="a server at PRDIGEST_MODEL_URL, such as vLLM",
    key_variable="PRDIGEST_MODEL_KEY",
    address_variable="PRDIGEST_MODEL_URL",
    prices=NO_PRICES,
    connect=_connect,
    find_models=_find_models,
    try_model=_try_model,
    is_key_optional=True,
    required_variables={
        "PRDIGEST_MODEL_URL": "http://127.0.0.1:8000/v1",
        "PRDIGEST_SUMMARY_MODEL": "Qwen/Qwen3-8B",
        "PRDIGEST_ANSWER_MODEL": "Qwen/Qwen3-32B",
    },
    option_variables=(CONTEXT_TOKENS,),
    prices_variable="PRDIGEST_MODEL_PRICES",
)
