"""Settings for the place of the data, and for the load of the processes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from platformdirs import user_state_path
from pydantic import Field

from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import StorePrefix

_ALL_PROCESSES = tuple(Process)


class RuntimeSettings(SettingsGroup):
    """Where the bot keeps its data, and how much it does at a time."""

    heading: ClassVar = "Running"

    redis_url: Annotated[str | None, SettingUse(_ALL_PROCESSES, may_be_secret=True)] = Field(
        default=None,
        description=(
            "The server that keeps the bot's data. Without it an embedded Valkey keeps it in "
            "PRDIGEST_STATE_DIR. The server must not drop keys by itself: maxmemory-policy `noeviction` or "
            "`volatile-*`. The address may hold a password."
        ),
        examples=["redis://host:6379/0"],
    )
    prdigest_store_prefix: Annotated[StorePrefix, SettingUse(_ALL_PROCESSES)] = Field(
        default="",
        description=(
            "Stands before every key, so that several bots can share a server; letters, digits, `.`, `-` "
            "and `_`. What was kept without it is not found with it: `prdigest export` "
            "before, `prdigest import` after."
        ),
        examples=["team-a"],
    )
    prdigest_state_dir: Annotated[Path, SettingUse(_ALL_PROCESSES)] = Field(
        default_factory=lambda: user_state_path("prdigest"),
        description=(
            "Where the embedded store lives, readable by you alone; empty means the usual place for this "
            "user's state."
        ),
    )
    prdigest_mirror: Annotated[Path | None, SettingUse((Process.WORKER, Process.COMMANDS))] = Field(
        default=None,
        description=(
            "A folder for a bare git mirror of each repository, brought up to date before a digest. Whole "
            "files are then read from it instead of from GitHub, and all files can be searched. Needs git "
            "2.33 or later, room for each repository's history, and a token that may read contents. The first "
            "digest of a repository waits for its mirror, ten minutes at most. If empty, there is no mirror."
        ),
    )
    port: Annotated[int, Field(ge=0, le=65_535), SettingUse((Process.WEB,))] = Field(
        default=3000,
        description=(
            "Port of `prdigest web` and `run`: /healthz, /readyz and, without SLACK_APP_TOKEN, /slack/events."
        ),
    )
    prdigest_concurrency: Annotated[int, Field(ge=1, le=32), SettingUse((Process.WORKER, Process.COMMANDS))] = (
        Field(
            default=8,
            description=(
                "Pull requests read and summarised at a time, 1 to 32. In a digest, the files of as many more, at "
                "most 8, are loaded ahead of the model."
            ),
        )
    )
    prdigest_worker_threads: Annotated[int, Field(ge=1, le=64), SettingUse((Process.WORKER,))] = Field(
        default=8,
        description=(
            "Jobs that a worker runs at a time, 1 to 64; two long ones (digests, overviews) run beside them."
        ),
    )
    prdigest_log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None, SettingUse(_ALL_PROCESSES)
    ] = Field(
        default=None,
        description=(
            "DEBUG, INFO, WARNING or ERROR, to stderr. If empty, the processes tell INFO and single "
            "commands WARNING."
        ),
    )
