"""The ids and addresses that the local Slack gives to its team, the app in it and the app's bot."""

from __future__ import annotations

APP_ID = "A0LOCAL"
BOT_ID = "B0LOCAL"
BOT_USER = "U0BOT"
TEAM_URL = "https://emulated.slack.com/"
TEAM_NAME = "Emulated"
