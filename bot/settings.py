"""Settings: every variable once, with its meaning and default. Read when asked, never at import."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import time
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from platformdirs import user_state_path
from pydantic import AfterValidator, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    SettingsConfigDict,
)

from bot.domain.errors import NotSetUp, UsageError
from bot.domain.pull_requests.models import Repository, web_address
from bot.domain.time.day import zone_of


def _http_address(value: str) -> str:
    address = urlsplit(value)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ValueError("write it as http://host or https://host")
    return value


# workspaces and organisations, channels, users
_ID = re.compile(r"[TECGDUW][A-Z0-9]{2,}")

# what stands before keys; no colon and no slash, which separate
_PREFIX = re.compile(r"[A-Za-z0-9._-]{1,64}")

DOTENV = ".env"

# whoever answers at an address is shown these
_SHOWN_TO = {
    "github_api_url": ("github_token", "github_app_private_key"),
    "anthropic_base_url": ("anthropic_api_key",),
    "slack_api_url": ("slack_bot_token", "slack_app_token"),
}

Address = Annotated[str, AfterValidator(_http_address)]


class Settings(BaseSettings):
    """The environment and ``.env``; an empty value counts as unset. ``.env.example`` explains each."""

    model_config = SettingsConfigDict(
        env_file=DOTENV, env_ignore_empty=True, extra="ignore", frozen=True, arbitrary_types_allowed=True
    )

    github_token: SecretStr | None = None
    github_app_id: str | None = None
    github_app_private_key: SecretStr | None = None
    github_app_installation_id: int | None = None
    github_api_url: Address = "https://api.github.com"

    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: Address = "https://api.anthropic.com"

    slack_bot_token: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    slack_signing_secret: SecretStr | None = None
    slack_api_url: Address = "https://slack.com/api/"

    redis_url: str | None = None
    port: Annotated[int, Field(ge=0, le=65_535)] = 3000

    prdigest_repo: Annotated[Repository | None, NoDecode] = None
    prdigest_repos: Annotated[tuple[Repository, ...], NoDecode] = ()
    prdigest_name: str | None = None
    prdigest_paths: Path | None = None
    prdigest_channel: str | None = None
    prdigest_admin_channel: str | None = None
    prdigest_timezone: Annotated[ZoneInfo, NoDecode] = Field(default_factory=lambda: ZoneInfo("UTC"))
    prdigest_post_at: time = time(9, 0)
    prdigest_catch_up_hours: Annotated[int, Field(ge=1, le=168)] = 24
    prdigest_summary_model: str = "claude-haiku-5-5"
    prdigest_answer_model: str = "claude-sonnet-5-5"
    prdigest_diff_tokens: Annotated[int, Field(ge=1_000, le=90_000)] = 30_000
    prdigest_allowed_workspaces: Annotated[frozenset[str], NoDecode] = frozenset()
    prdigest_allowed_channels: Annotated[frozenset[str], NoDecode] = frozenset()
    prdigest_allowed_users: Annotated[frozenset[str], NoDecode] = frozenset()
    prdigest_user_limit: Annotated[int, Field(ge=1, le=1_000)] = 20
    prdigest_user_calls: Annotated[int, Field(ge=1, le=1_000)] = 100
    prdigest_daily_budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 10.0
    prdigest_user_budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 2.0
    prdigest_worker_threads: Annotated[int, Field(ge=1, le=64)] = 8
    prdigest_concurrency: Annotated[int, Field(ge=1, le=32)] = 8
    prdigest_store_prefix: str = ""
    prdigest_state_dir: Path = Field(default_factory=lambda: user_state_path("prdigest"))
    prdigest_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None = None

    @property
    def github_web(self) -> str:
        """Where the pages are of the GitHub that is asked."""
        return web_address(self.github_api_url)

    @field_validator("prdigest_repo", mode="before")
    @classmethod
    def _repository(cls, value: object, others: ValidationInfo) -> object:
        def parse(text: str) -> Repository:
            return Repository.parse(text, web_address(others.data.get("github_api_url", "")))

        return _parsed(parse, value, "write it as owner/name, such as vllm-project/vllm")

    @field_validator("prdigest_repos", mode="before")
    @classmethod
    def _repositories(cls, value: object, others: ValidationInfo) -> object:
        if not isinstance(value, str):
            return value
        return tuple(cls._repository(name, others) for name in _items(value))

    @field_validator(
        "prdigest_allowed_workspaces", "prdigest_allowed_channels", "prdigest_allowed_users", mode="before"
    )
    @classmethod
    def _ids(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        found = frozenset(_items(value))
        if not found:
            raise ValueError("name at least one, or leave it empty to allow all")
        if not all(_ID.fullmatch(item) for item in found):
            raise ValueError("use ids of Slack, as C0123ABCD, separated by commas; not names")
        return found

    @field_validator("prdigest_admin_channel")
    @classmethod
    def _one_id(cls, value: str | None) -> str | None:
        if value is not None and not _ID.fullmatch(value):
            raise ValueError("use an id of Slack, as C0123ABCD; not a name")
        return value

    @field_validator("prdigest_store_prefix")
    @classmethod
    def _prefix(cls, value: str) -> str:
        if value and not _PREFIX.fullmatch(value):
            raise ValueError("use up to 64 letters, digits, dots, dashes and underscores, as in team-a")
        return value

    @field_validator("prdigest_timezone", mode="before")
    @classmethod
    def _zone(cls, value: object) -> object:
        return _parsed(zone_of, value, "use an IANA name, such as America/Los_Angeles")


def _items(value: str) -> list[str]:
    """What stands between commas or blanks."""
    return value.replace(",", " ").split()


def _parsed(parse: Callable[[str], object], value: object, advice: str) -> object:
    """The parsed value. What can't be parsed may be a secret in the wrong place, so it is not repeated."""
    if not isinstance(value, str):
        return value
    try:
        return parse(value)
    except UsageError as error:
        raise ValueError(advice) from error


@dataclass(frozen=True, slots=True)
class Usable:
    """What can be used of the settings. ``problems`` says by variable why the others have their defaults."""

    settings: Settings
    problems: Mapping[str, str]


def usable_settings() -> Usable:
    """The settings of this process. A file that can't be read at all leaves nothing but defaults."""
    try:
        problems = {**_mixed_origins(), **_bad_values()}
    except UnicodeDecodeError:
        return Usable(Settings.model_construct(), {DOTENV: "save it as UTF-8 text"})
    except OSError as error:
        return Usable(Settings.model_construct(), {DOTENV: f"it can't be read ({error.strerror})"})
    defaults: dict[str, Any] = {
        name: Settings.model_fields[name].get_default(call_default_factory=True) for name in problems
    }
    return Usable(Settings(**defaults), {name.upper(): reason for name, reason in problems.items()})


def _mixed_origins() -> dict[str, str]:
    """Which addresses would be sent a secret that was set in another place, and what to do.

    A file that came with a folder shall not send tokens of the environment to its own host, nor shall a gateway
    that the environment names for another program get those of the file.
    """
    environment, file = EnvSettingsSource(Settings)(), DotEnvSettingsSource(Settings)()
    origins = dict.fromkeys(file, DOTENV) | dict.fromkeys(environment, "the environment")
    values = file | environment
    problems: dict[str, str] = {}
    for address, secrets in _SHOWN_TO.items():
        strays = [name for name in secrets if name in origins and origins[name] != origins.get(address)]
        usual = Settings.model_fields[address].default
        if strays and values.get(address, usual) != usual:
            problems[address] = (
                f"it is set in {origins[address]} and {strays[0].upper()} in {origins[strays[0]]}; "
                "set both in the same place"
            )
    return problems


def _bad_values() -> dict[str, str]:
    """Which values can't be used, and what to write."""
    problems: dict[str, str] = {}
    try:
        Settings()
    except ValidationError as error:
        for each in error.errors():
            # of several problems of one value the first says what to write
            problems.setdefault(str(each["loc"][0]), str(each["msg"]).removeprefix("Value error, ").rstrip("."))
    return problems


def load_settings() -> Settings:
    """The settings of this process.

    Raises:
        NotSetUp: a value can't be used; the sentence names the variable, never the value.
    """
    usable = usable_settings()
    for name, reason in usable.problems.items():
        raise NotSetUp(f"{name} can't be used: {reason}. See `prdigest env`.")
    return usable.settings
