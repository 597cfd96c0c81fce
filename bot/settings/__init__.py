"""Settings of a process: each variable once (:mod:`bot.settings.groups`). Nothing is read at import."""

from bot.settings.description import (
    DOTENV,
    Process,
    SettingsGroup,
    SettingUse,
    format_default,
    get_setting_use,
    is_secret,
    list_tokens,
)
from bot.settings.groups import CHOOSE_REPOSITORY, GROUPS, LogFormat, Settings
from bot.settings.loading import (
    UsableSettings,
    list_secret_values,
    load_settings,
    load_usable_settings,
    require_secret,
)
from bot.settings.values import ListenAddress, check_channel_id

__all__ = [
    "CHOOSE_REPOSITORY",
    "DOTENV",
    "GROUPS",
    "ListenAddress",
    "LogFormat",
    "Process",
    "SettingUse",
    "Settings",
    "SettingsGroup",
    "UsableSettings",
    "check_channel_id",
    "format_default",
    "get_setting_use",
    "is_secret",
    "list_secret_values",
    "list_tokens",
    "load_settings",
    "load_usable_settings",
    "require_secret",
]
