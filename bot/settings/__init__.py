"""Settings of a process: each variable once, with its type, default and description. Nothing is read at import.

A new setting is a field of one of the groups (``github``, ``claude``, ``model_server``, ``slack``, ``digests``,
``access``, ``agents``, ``runtime``). ``python -m docs.settings`` then writes it into ``.env.example`` and
``docs/settings.md``.
"""

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
from bot.settings.loading import UsableSettings, load_settings, load_usable_settings
from bot.settings.model import GROUPS, Settings
from bot.settings.runtime import LogFormat
from bot.settings.secret_values import list_secret_values, require_secret
from bot.settings.values import ListenAddress

__all__ = [
    "DOTENV",
    "GROUPS",
    "ListenAddress",
    "LogFormat",
    "Process",
    "SettingUse",
    "Settings",
    "SettingsGroup",
    "UsableSettings",
    "format_default",
    "get_setting_use",
    "is_secret",
    "list_secret_values",
    "list_tokens",
    "load_settings",
    "load_usable_settings",
    "require_secret",
]
