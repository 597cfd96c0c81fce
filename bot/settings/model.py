"""All groups of settings as one model."""

from __future__ import annotations

from bot.settings.access import AccessSettings
from bot.settings.agents import AgentSettings
from bot.settings.claude import ClaudeSettings
from bot.settings.description import SettingsGroup
from bot.settings.digests import DigestSettings
from bot.settings.github import GitHubSettings
from bot.settings.model_server import ModelServerSettings
from bot.settings.runtime import RuntimeSettings
from bot.settings.slack import SlackSettings

# in the order of the documents
GROUPS: tuple[type[SettingsGroup], ...] = (
    GitHubSettings,
    ClaudeSettings,
    ModelServerSettings,
    SlackSettings,
    DigestSettings,
    AccessSettings,
    AgentSettings,
    RuntimeSettings,
)


# pydantic collects fields from the last base to the first; repositories are parsed once GitHub's address is known
class Settings(
    RuntimeSettings,
    AgentSettings,
    AccessSettings,
    DigestSettings,
    SlackSettings,
    ModelServerSettings,
    ClaudeSettings,
    GitHubSettings,
):
    """The environment and ``.env``; an empty value counts as unset. ``docs/settings.md`` explains each."""
