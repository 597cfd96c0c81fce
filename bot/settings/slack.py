"""Settings for the connection between the bot and Slack."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, SecretStr

from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import Address

_REQUEST_PROCESSES = (Process.WEB,)


class SlackSettings(SettingsGroup):
    """How the bot reaches Slack, and Slack the bot."""

    heading: ClassVar = "Slack"

    slack_bot_token: Annotated[
        SecretStr | None,
        SettingUse(
            tuple(Process),
            address_field="slack_api_url",
            is_token=True,
            # the second begins a token that Slack renews (docs.slack.dev, "Token rotation")
            prefixes=("xoxb-", "xoxe.xoxb-"),
        ),
    ] = Field(default=None, description="The bot token (xoxb-…). Needed to post, but not for --dry-run.")
    slack_app_token: Annotated[
        SecretStr | None,
        SettingUse(_REQUEST_PROCESSES, address_field="slack_api_url", is_token=True, prefixes=("xapp-",)),
    ] = Field(
        default=None,
        description=(
            "The app-level token (xapp-…) with the scope connections:write, for Socket Mode. Socket Mode needs no "
            "public address."
        ),
    )
    slack_signing_secret: Annotated[SecretStr | None, SettingUse(_REQUEST_PROCESSES, is_token=True)] = Field(
        default=None,
        description=(
            "The app's signing secret. Needed only without an app-level token: Slack then sends requests over "
            "HTTP to /slack/events on PORT, and the secret proves that they are from Slack."
        ),
    )
    slack_api_url: Annotated[Address, SettingUse(tuple(Process))] = Field(
        default="https://slack.com/api/",
        description="The address of Slack's API. Change it only for tests.",
    )
