"""Settings for the place of the data, and for the load of the processes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from platformdirs import user_state_path
from pydantic import Field

from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import Address, MetricsAddress, StorePrefix

_ALL_PROCESSES = tuple(Process)
_LONG_PROCESSES = (Process.WEB, Process.WORKER, Process.CLOCK)

LogFormat = Literal["text", "json"]


class RuntimeSettings(SettingsGroup):
    """Where the bot keeps its data, and how much it does at a time."""

    heading: ClassVar = "Running"

    redis_url: Annotated[str | None, SettingUse(_ALL_PROCESSES, may_be_secret=True)] = Field(
        default=None,
        description=(
            "The Redis or Valkey server for the bot's data. If empty, the bot starts its own Valkey with the data "
            "in PRDIGEST_STATE_DIR. The server must not evict keys by itself: set its maxmemory-policy to "
            "`noeviction` or `volatile-*`. The address may contain a password."
        ),
        examples=["redis://host:6379/0"],
    )
    prdigest_store_prefix: Annotated[StorePrefix, SettingUse(_ALL_PROCESSES)] = Field(
        default="",
        description=(
            "A prefix for every key, so that several bots can share a server: letters, digits, `.`, `-` "
            "and `_`. After a change, the bot doesn't find its old data."
        ),
        examples=["team-a"],
    )
    prdigest_state_dir: Annotated[Path, SettingUse(_ALL_PROCESSES)] = Field(
        default_factory=lambda: user_state_path("prdigest"),
        description=(
            "The folder of the embedded store, readable by you only. If empty, it is the usual folder for this "
            "user's state."
        ),
    )
    prdigest_mirror: Annotated[Path | None, SettingUse((Process.WORKER, Process.COMMANDS))] = Field(
        default=None,
        description=(
            "A folder for a bare git mirror of each repository, updated before a digest. The bot then reads whole "
            "files from it instead of from GitHub, and can search all files. It needs git 2.33 or later, disk "
            "space for each repository's history, and a token that may read contents. The first digest of a "
            "repository waits for its mirror, ten minutes at most. If empty, there is no mirror."
        ),
    )
    port: Annotated[int, Field(ge=0, le=65_535), SettingUse((Process.WEB,))] = Field(
        default=3000,
        description=(
            "Port of `prdigest web` and `run`, for /healthz, /readyz and, without SLACK_APP_TOKEN, /slack/events."
        ),
    )
    prdigest_concurrency: Annotated[int, Field(ge=1, le=32), SettingUse((Process.WORKER, Process.COMMANDS))] = (
        Field(
            default=8,
            description=(
                "How many pull requests are read and summarized at the same time, 1 to 32. In a digest, the bot "
                "also loads the files of up to 8 more in advance."
            ),
        )
    )
    prdigest_worker_threads: Annotated[int, Field(ge=1, le=64), SettingUse((Process.WORKER,))] = Field(
        default=8,
        description=(
            "How many jobs a worker runs at the same time, 1 to 64. Two long jobs (digests, overviews) run in "
            "addition."
        ),
    )
    prdigest_log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None, SettingUse(_ALL_PROCESSES)
    ] = Field(
        default=None,
        description=(
            "DEBUG, INFO, WARNING or ERROR. The log goes to stderr. If empty, processes log from INFO on, single "
            "commands from WARNING on."
        ),
    )
    prdigest_log_format: Annotated[LogFormat, SettingUse(_ALL_PROCESSES)] = Field(
        default="text",
        description=(
            "text or json: lines for people, or one JSON object a line for a program that collects them. "
            "docs/monitoring.md names the fields."
        ),
    )
    prdigest_metrics_address: Annotated[MetricsAddress, SettingUse(_LONG_PROCESSES)] = Field(
        default=None,
        description=(
            "Where Prometheus reads /metrics: a port on this machine alone, or HOST:PORT. `run` and `web` use "
            "that port, `worker` the next one and `clock` the one after it. If empty, there are no metrics. "
            "Anybody who reaches the port reads them, so never make it public."
        ),
        examples=["9464", "10.0.0.5:9464"],
    )
    otel_exporter_otlp_endpoint: Annotated[Address | None, SettingUse(_LONG_PROCESSES)] = Field(
        default=None,
        description=(
            "The address of an OpenTelemetry collector (OTLP over HTTP). The bot then sends it traces of "
            "requests, jobs and calls. It needs the extra `otel`: `uv sync --no-dev --extra otel`. The other "
            "OTEL_ variables count too, but only those of the environment."
        ),
        examples=["http://127.0.0.1:4318"],
    )
