"""Settings for the content, place and time of digests."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from bot.domain.pull_requests.models import Repository, derive_web_address
from bot.domain.time.day import parse_zone
from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import ChannelId, SlackId, TimeOfDay, parse_or_advise, split_list

_ALL_PROCESSES = tuple(Process)
_DIGEST_PROCESSES = (Process.WORKER, Process.COMMANDS)
_POSTING_PROCESSES = (Process.WORKER, Process.CLOCK, Process.COMMANDS)

SET_REPOSITORY = "Set PRDIGEST_REPO to your repository, as owner/name."
_PATHS_EXAMPLE = """\
["vllm-project/vllm"]
product = ["examples/online_serving/**/*.py"]
docs = ["design/"]
critical = ["vllm/v1/engine/", "!*moe*"]
without_defaults = ["support"]"""


def _parse_zone(value: object) -> object:
    """Parse the name of a time zone. Raises ValueError with advice."""
    return parse_or_advise(parse_zone, value, "use an IANA name, such as America/Los_Angeles")


class DigestSettings(SettingsGroup):
    """What the bot posts, where and when."""

    heading: ClassVar = "What to post, where and when"

    prdigest_repo: Annotated[Repository | None, SettingUse(_ALL_PROCESSES)] = Field(
        default=None, description="The repository that the digests are about.", examples=["owner/name"]
    )
    prdigest_repos: Annotated[tuple[Repository, ...], SettingUse(_ALL_PROCESSES)] = Field(
        default=(),
        description=(
            "More repositories that people may ask about, separated by commas. The bot answers about no others. "
            "So nobody learns about a private repository that only the token may read."
        ),
    )
    prdigest_name: Annotated[str | None, SettingUse(_DIGEST_PROCESSES)] = Field(
        default=None, description="The name of the repository in headings. Default: its own name."
    )
    prdigest_paths: Annotated[Path | None, SettingUse(_DIGEST_PROCESSES)] = Field(
        default=None,
        description=(
            "A TOML file that says which paths are product code, tests, documentation and so on, and "
            "which are critical. You need it only if the defaults don't fit; `prdigest doctor --paths` shows "
            "them. Patterns are those of .gitignore, and come before all defaults. Read when a process starts. "
            'The file has one table for each repository; `["*"]` is for all others. The classes are '
            "lock, generated, ci, tests, docs, build, support, product and other: the first match "
            "wins. `critical` adds to its defaults, and `!` removes from them."
        ),
        examples=[_PATHS_EXAMPLE],
    )
    prdigest_channel: Annotated[ChannelId, SettingUse(_ALL_PROCESSES)] = Field(
        default=None, description="The id (C…, not the name) of the channel for the daily digest."
    )
    prdigest_timezone: Annotated[ZoneInfo, BeforeValidator(_parse_zone), SettingUse(_ALL_PROCESSES)] = Field(
        default_factory=lambda: ZoneInfo("UTC"),
        description="The time zone in which a day begins and ends, as an IANA name.",
        examples=["America/Los_Angeles"],
    )
    prdigest_post_at: Annotated[TimeOfDay, SettingUse(_ALL_PROCESSES)] = Field(
        default=time(9, 0),
        description="When to post yesterday's digest: a local time in that zone, such as 09:00 or 9am.",
    )
    prdigest_catch_up_hours: Annotated[int, Field(ge=1, le=168), SettingUse((Process.CLOCK,))] = Field(
        default=24,
        description=(
            "How many hours late a digest may still be posted, 1 to 168. Older ones are skipped, and the next "
            "digest says so."
        ),
    )
    prdigest_admin_channel: Annotated[SlackId, SettingUse(_POSTING_PROCESSES)] = Field(
        default=None,
        description=(
            "Id of a channel for reports about late, failed, skipped or incomplete digests, and about jobs that "
            "failed for good. If empty, subscribers get the reports about their digests, PRDIGEST_CHANNEL "
            "those about its own. Jobs are then only in the log."
        ),
    )

    @field_validator("prdigest_repo", mode="before")
    @classmethod
    def _parse_repository(cls, value: object, others: ValidationInfo) -> object:
        """Parse a repository. Raises ValueError with advice."""

        def parse(text: str) -> Repository:
            return Repository.parse(text, derive_web_address(others.data.get("github_api_url", "")))

        return parse_or_advise(parse, value, "write it as owner/name, such as vllm-project/vllm")

    @field_validator("prdigest_repos", mode="before")
    @classmethod
    def _parse_repositories(cls, value: object, others: ValidationInfo) -> object:
        """Parse a list of repositories. Raises ValueError with advice."""
        if not isinstance(value, str):
            return value
        return tuple(cls._parse_repository(name, others) for name in split_list(value))
