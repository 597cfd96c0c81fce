"""Settings for the access to GitHub."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, SecretStr

from bot.domain.pull_requests.models import derive_web_address
from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import Address

_GITHUB_PROCESSES = (Process.WORKER, Process.COMMANDS)


class GitHubSettings(SettingsGroup):
    """How the bot reads from GitHub."""

    heading: ClassVar = "GitHub"

    github_token: Annotated[
        SecretStr | None, SettingUse(_GITHUB_PROCESSES, address_field="github_api_url", is_token=True)
    ] = Field(
        default=None,
        description=(
            'A token for GitHub. A fine-grained one needs read-only access to "Pull requests" and "Contents", '
            'and for private repositories also to "Issues". Everything except the demo needs it, or the '
            "GitHub App below."
        ),
    )
    github_app_id: Annotated[str | None, SettingUse(_GITHUB_PROCESSES)] = Field(
        default=None, description="Instead of a token: the id of a GitHub App installed on the repository."
    )
    github_app_private_key: Annotated[
        SecretStr | None, SettingUse(_GITHUB_PROCESSES, address_field="github_api_url")
    ] = Field(default=None, description="The private key of that app: its PEM text, or the path of a PEM file.")
    github_app_installation_id: Annotated[int | None, SettingUse(_GITHUB_PROCESSES)] = Field(
        default=None,
        description="The id of the app's installation: the number at the end of its settings page's address.",
    )
    github_api_url: Annotated[Address, SettingUse(tuple(Process))] = Field(
        default="https://api.github.com",
        description="The address of GitHub's API. For GitHub Enterprise, set your server's; links go there too.",
        examples=["https://github.example.com/api/v3"],
    )

    @property
    def github_web_url(self) -> str:
        """The address of the pages of the GitHub in use."""
        return derive_web_address(self.github_api_url)
