"""Settings of a process: each variable once, with its type, default and description. Nothing is read at import.

A new setting is a field of one of the groups (``github``, ``claude``, ``slack``, ``digests``, ``access``,
``runtime``); ``python -m docs.settings`` then writes it into ``.env.example`` and ``docs/settings.md``.
"""

from bot.settings.description import (
    DOTENV,
    Process,
    SettingsGroup,
    SettingUse,
    format_default,
    is_secret,
    list_tokens,
    use_of,
)
from bot.settings.loading import Usable, load_settings, usable_settings
from bot.settings.model import GROUPS, Settings

__all__ = [
    "DOTENV",
    "GROUPS",
    "Process",
    "SettingUse",
    "Settings",
    "SettingsGroup",
    "Usable",
    "format_default",
    "is_secret",
    "list_tokens",
    "load_settings",
    "usable_settings",
    "use_of",
]
