from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, cast, get_args
from zoneinfo import ZoneInfo

from pydantic import Field, SecretStr
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
    """The use of a setting.

    ``address_field`` is the field with the address that a secret is sent to. ``is_token`` means that the value is
    one word of visible ASCII; ``prefixes`` are its possible beginnings if they are known. ``may_be_secret`` is for
    addresses that may hold a password; a ``SecretStr`` needs no such mark.
    """

    processes: tuple[Process, ...]
    address_field: str = ""
    is_token: bool = False
    prefixes: tuple[str, ...] = ()
    may_be_secret: bool = False


def setting(
    description: str,
    processes: tuple[Process, ...] = tuple(Process),
    *,
    address_field: str = "",
    is_token: bool = False,
    prefixes: tuple[str, ...] = (),
    may_be_secret: bool = False,
    **field: Any,
) -> Any:
    """Declare a field of a group: None by default, and with what :func:`pydantic.Field` takes."""
    use = SettingUse(processes, address_field, is_token, prefixes, may_be_secret)
    default = {} if "default_factory" in field else {"default": None}
    return Field(description=description, json_schema_extra=cast("Any", {"use": use}), **{**default, **field})


class EnvironmentSource(EnvSettingsSource):
    """The settings in the environment: each is the text of its own variable.

    The library would look into the type of each field for other ways to write it, and that takes far longer.
    """

    def __call__(self) -> dict[str, Any]:
        fields, texts = self.settings_cls.model_fields, self.env_vars
        return {name: text for name in fields if (text := texts.get(name)) is not None}


class FileSource(EnvironmentSource, DotEnvSettingsSource):
    """The settings in ``.env``, likewise."""


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
    """Return the use of a setting. Raises LookupError if it was not declared by :func:`setting`."""
    use = cast("dict[str, Any]", field.json_schema_extra or {}).get("use")
    if use is None:
        raise LookupError(f"declare {field} by setting(…)")
    return cast("SettingUse", use)


def is_secret(field: FieldInfo) -> bool:
    return SecretStr in get_args(field.annotation) or get_setting_use(field).may_be_secret


def list_tokens(group: type[SettingsGroup]) -> Mapping[str, tuple[str, ...]]:
    """Return the variables that hold a token with their possible beginnings; an empty tuple allows any."""
    uses = {name: get_setting_use(field) for name, field in group.model_fields.items()}
    return {name.upper(): use.prefixes for name, use in uses.items() if use.is_token}


def format_default(field: FieldInfo) -> str:
    """Format a default as in ``.env``; empty if it is to leave it unset, or a folder of this user."""
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
