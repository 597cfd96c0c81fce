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
            "A token that may read the repository's pull requests and contents (fine-grained: "
            '"Pull requests" and "Contents", read only; in private repositories also "Issues", for the titles of '
            "linked issues). Needed for everything but the demo, unless a GitHub App is set below."
        ),
    )
    github_app_id: Annotated[str | None, SettingUse(_GITHUB_PROCESSES)] = Field(
        default=None, description="Instead of a token: the id of a GitHub App that is installed on the repository."
    )
    github_app_private_key: Annotated[
        SecretStr | None, SettingUse(_GITHUB_PROCESSES, address_field="github_api_url")
    ] = Field(
        default=None, description="The private key of that app: the PEM text, or the path of a file with it."
    )
    github_app_installation_id: Annotated[int | None, SettingUse(_GITHUB_PROCESSES)] = Field(
        default=None,
        description="The id of the app's installation: the number at the end of the address of its settings page.",
    )
    github_api_url: Annotated[Address, SettingUse(tuple(Process))] = Field(
        default="https://api.github.com",
        description="Another address for GitHub Enterprise; links go to that host.",
        examples=["https://github.example.com/api/v3"],
    )

    @property
    def github_web_url(self) -> str:
        """The address of the pages of the GitHub in use."""
        return derive_web_address(self.github_api_url)
