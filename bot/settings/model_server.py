"""Settings for a model server of one's own that speaks the OpenAI-compatible protocol."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, SecretStr

from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import ModelPrices, PrivateAddress

_MODEL_PROCESSES = (Process.WORKER, Process.COMMANDS)


class ModelServerSettings(SettingsGroup):
    """Where an OpenAI-compatible server is, and what is known of its models."""

    heading: ClassVar = "OpenAI-compatible server"

    prdigest_model_url: Annotated[PrivateAddress, SettingUse(_MODEL_PROCESSES)] = Field(
        default=None,
        description=(
            "The base address of an OpenAI-compatible server, such as vLLM, with `/v1` at its end. "
            "`PRDIGEST_MODEL_PROVIDER=openai-compatible` needs it, and both names of models. Plain `http` is for "
            "this machine and private networks alone."
        ),
        examples=["http://127.0.0.1:8000/v1"],
    )
    prdigest_model_key: Annotated[
        SecretStr | None, SettingUse(_MODEL_PROCESSES, address_field="prdigest_model_url", is_token=True)
    ] = Field(default=None, description="The key of that server, if it asks for one.")
    prdigest_model_prices: Annotated[ModelPrices, SettingUse(_MODEL_PROCESSES)] = Field(
        default_factory=dict,
        description=(
            "What the models of that server cost, in US dollars for a million tokens of input and of output: "
            "`0/0` for all of them, or `NAME=IN/OUT` for each. Without it costs are unknown, and budgets in "
            "dollars limit nothing."
        ),
        examples=["small=0.10/0.40 large=0.60/2.40"],
    )
    prdigest_context_tokens: Annotated[int | None, Field(ge=4_096), SettingUse(_MODEL_PROCESSES)] = Field(
        default=None,
        description=(
            "The context window of that server's models in tokens, 4096 or more. Without it, the server is asked "
            "(vLLM says it). Longer requests are shortened before they are sent."
        ),
    )
