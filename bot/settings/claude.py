"""Settings for Claude's models, and how much they read."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, SecretStr

from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import Address, CloudName

_CLAUDE_PROCESSES = (Process.WORKER, Process.COMMANDS)


class ClaudeSettings(SettingsGroup):
    """Which models write, and how much they read."""

    heading: ClassVar = "Claude"

    anthropic_api_key: Annotated[
        SecretStr | None, SettingUse(_CLAUDE_PROCESSES, address_field="anthropic_base_url", is_token=True)
    ] = Field(
        default=None,
        description="The key of Claude's API. Without it, summaries contain facts only, and say so.",
    )
    anthropic_base_url: Annotated[Address, SettingUse(_CLAUDE_PROCESSES)] = Field(
        default="https://api.anthropic.com",
        description="The address of Claude's API, or of a gateway to it. The key is sent there.",
    )
    # the registry knows which there are (bot/platform/models/registry.py), and checks the name
    prdigest_model_provider: Annotated[str, SettingUse(_CLAUDE_PROCESSES)] = Field(
        default="anthropic",
        description=(
            "Where the models run: {providers}. A cloud needs an extra, as in `pip install 'prdigest[bedrock]'`. "
            "It finds its own credentials. ANTHROPIC_API_KEY is used with `anthropic` alone."
        ),
    )
    prdigest_model_region: Annotated[CloudName, SettingUse(_CLAUDE_PROCESSES)] = Field(
        default=None,
        description="The region of Bedrock or Vertex AI. On Vertex AI it may be `global`.",
        examples=["us-east-1"],
    )
    prdigest_model_project: Annotated[CloudName, SettingUse(_CLAUDE_PROCESSES)] = Field(
        default=None, description="The id of the Google Cloud project, for Vertex AI.", examples=["my-project-123"]
    )
    prdigest_summary_model: Annotated[str, SettingUse(_CLAUDE_PROCESSES)] = Field(
        default="claude-haiku-5-5", description="The model that reads each pull request."
    )
    prdigest_answer_model: Annotated[str, SettingUse(_CLAUDE_PROCESSES)] = Field(
        default="claude-sonnet-5-5", description="The larger model, for overviews and answers."
    )
    prdigest_diff_tokens: Annotated[int, Field(ge=1_000, le=90_000), SettingUse(_CLAUDE_PROCESSES)] = Field(
        default=30_000,
        description=(
            "Maximum tokens of diff in one prompt, 1000 to 90000 (4 characters each). The model and the reader "
            "are told what did not fit. Most pull requests need fewer than 5000."
        ),
    )
