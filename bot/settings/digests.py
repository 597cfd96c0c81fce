"""Settings for the content, place and time of digests."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from bot.domain.pull_requests.models import Repository, derive_web_address
from bot.domain.time.day import parse_zone
from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import ChannelId, SlackId, TimeOfDay, parse_or_advise, split_list

_ALL_PROCESSES = tuple(Process)
_DIGEST_PROCESSES = (Process.WORKER, Process.COMMANDS)
_POSTING_PROCESSES = (Process.WORKER, Process.CLOCK, Process.COMMANDS)

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

    prdigest_repo: Annotated[Repository | None, NoDecode, SettingUse(_ALL_PROCESSES)] = Field(
        default=None, description="The repository that the bot speaks of.", examples=["owner/name"]
    )
    prdigest_repos: Annotated[tuple[Repository, ...], NoDecode, SettingUse(_ALL_PROCESSES)] = Field(
        default=(),
        description=(
            "Further repositories that people may ask about, separated by commas. The bot speaks of no "
            "other, so that its token never tells of a private repository to someone who may not see it."
        ),
    )
    prdigest_name: Annotated[str | None, SettingUse(_DIGEST_PROCESSES)] = Field(
        default=None, description="What headings call the repository; its own name if empty."
    )
    prdigest_paths: Annotated[Path | None, SettingUse(_DIGEST_PROCESSES)] = Field(
        default=None,
        description=(
            "A TOML file that says which paths are product code, tests, documentation and so on, and "
            "which are critical, where the defaults don't fit a repository; `prdigest doctor --paths` shows "
            "the defaults. Patterns are those of .gitignore, and go before all defaults. Read when a process "
            "starts. "
            'The file has a table for each repository, or `["*"]` for all that have none. The classes are '
            "lock, generated, ci, tests, docs, build, support, product and other: the first that matches "
            "wins. `critical` adds to its defaults, and `!` takes from them."
        ),
        examples=[_PATHS_EXAMPLE],
    )
    prdigest_channel: Annotated[ChannelId, SettingUse(_ALL_PROCESSES)] = Field(
        default=None, description="The id of the channel for the daily digest (C…), not its name."
    )
    prdigest_timezone: Annotated[ZoneInfo, NoDecode, BeforeValidator(_parse_zone), SettingUse(_ALL_PROCESSES)] = (
        Field(
            default_factory=lambda: ZoneInfo("UTC"),
            description="IANA name of the zone in which a day begins and ends.",
            examples=["America/Los_Angeles"],
        )
    )
    prdigest_post_at: Annotated[TimeOfDay, SettingUse(_ALL_PROCESSES)] = Field(
        default=time(9, 0),
        description="Local time in that zone at which yesterday's digest is posted, such as 09:00 or 9am.",
    )
    prdigest_catch_up_hours: Annotated[int, Field(ge=1, le=168), SettingUse((Process.CLOCK,))] = Field(
        default=24,
        description=(
            "A digest that could not be posted at its time is posted up to so many hours later, 1 to 168; "
            "of what is older, the next digest says that it was skipped, and how to see it."
        ),
    )
    prdigest_admin_channel: Annotated[SlackId, SettingUse(_POSTING_PROCESSES)] = Field(
        default=None,
        description=(
            "Id of a channel that is told when a digest is late, failed, skipped or incomplete, and of "
            "jobs that were given up. If empty, whoever subscribed is told of digests, the channel itself "
            "of those that PRDIGEST_CHANNEL gets, and jobs are in the log alone."
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
