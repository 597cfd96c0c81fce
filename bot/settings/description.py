"""Metadata of settings besides type, default and description: their processes, and where a secret may be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, get_args
from zoneinfo import ZoneInfo

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

DOTENV = ".env"


class Process(StrEnum):
    """A reader of settings: a process of the Procfile (``prdigest run`` is all three), or single commands."""

    WEB = "web"
    WORKER = "worker"
    CLOCK = "clock"
    COMMANDS = "commands"


@dataclass(frozen=True, slots=True)
class SettingUse:
    """The use of a setting, as metadata of its annotation.

    ``address_field`` is the field with the address that a secret is sent to. ``is_token`` means that the value is
    one word of visible ASCII; ``prefixes`` are its possible beginnings if they are known. ``may_be_secret`` is for
    addresses that may hold a password; a ``SecretStr`` needs no such mark.
    """

    processes: tuple[Process, ...]
    address_field: str = ""
    is_token: bool = False
    prefixes: tuple[str, ...] = ()
    may_be_secret: bool = False


class EnvironmentSource(EnvSettingsSource):
    """The settings in the environment: each is the text of its own variable.

    The library would look into the type of each field for other ways to write it, and that takes far longer.
    """

    def __call__(self) -> dict[str, Any]:
        """Return the texts by field."""
        return _pick_texts(self)


class FileSource(DotEnvSettingsSource):
    """The settings in ``.env``, likewise."""

    def __call__(self) -> dict[str, Any]:
        """Return the texts by field."""
        return _pick_texts(self)


def _pick_texts(source: EnvSettingsSource) -> dict[str, Any]:
    fields, texts = source.settings_cls.model_fields, source.env_vars
    return {name: text for name in fields if (text := texts.get(name)) is not None}


class SettingsGroup(BaseSettings):
    """Settings that belong together, with the heading that they have in documents."""

    heading: ClassVar[str]
    # false where the arguments of the constructor are all that counts
    reads_environment: ClassVar[bool] = True

    model_config = SettingsConfigDict(
        env_file=DOTENV, env_ignore_empty=True, extra="ignore", frozen=True, arbitrary_types_allowed=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the arguments of the constructor, then the environment, then the file."""
        if not cls.reads_environment:
            return (init_settings,)
        return init_settings, EnvironmentSource(settings_cls), FileSource(settings_cls)


def get_setting_use(field: FieldInfo) -> SettingUse:
    """Return the use of a setting. Raises LookupError if its annotation has none or several."""
    uses = [each for each in field.metadata if isinstance(each, SettingUse)]
    if len(uses) != 1:
        raise LookupError(f"annotate {field} with one SettingUse")
    return uses[0]


def is_secret(field: FieldInfo) -> bool:
    """Return whether a setting must not be shown to anybody."""
    return SecretStr in get_args(field.annotation) or get_setting_use(field).may_be_secret


def list_tokens(group: type[SettingsGroup]) -> Mapping[str, tuple[str, ...]]:
    """Return the variables that hold a token with their possible beginnings; an empty tuple allows any."""
    uses = {name: get_setting_use(field) for name, field in group.model_fields.items()}
    return {name.upper(): use.prefixes for name, use in uses.items() if use.is_token}


def format_default(field: FieldInfo) -> str:
    """Format a setting's default as in ``.env``; empty if the default is to leave it unset.

    A folder of this user is not a default that a document could name.
    """
    default = field.get_default(call_default_factory=True)
    if isinstance(default, bool):
        return str(default).lower()
    if default != 0 and (not default or isinstance(default, Path)):
        return ""
    if isinstance(default, time):
        return f"{default:%H:%M}"
    if isinstance(default, ZoneInfo):
        return default.key
    return f"{default:g}" if isinstance(default, float) else str(default)
