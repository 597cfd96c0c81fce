"""Loading of the settings of this process, with the reasons why some can't be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from bot.domain.errors import ConfigurationError
from bot.settings.description import DOTENV, EnvironmentSource, FileSource, get_setting_use
from bot.settings.model import Settings

# by pydantic's type of error, with the names of its context
_ADVICE = {
    "int_parsing": "write a whole number",
    "float_parsing": "write a number",
    "bool_parsing": "write true or false",
    "greater_than": "write a number above {gt}",
    "greater_than_equal": "write {ge} or more",
    "less_than_equal": "write {le} or less",
    "literal_error": "write {expected}",
    "enum": "write {expected}",
}


@dataclass(frozen=True, slots=True)
class UsableSettings:
    """The usable settings. ``problems`` says by variable why the others have their defaults."""

    settings: Settings
    problems: Mapping[str, str]


def load_usable_settings() -> UsableSettings:
    """Load the settings of this process. If the file can't be read at all, all of them have their defaults."""
    try:
        mixed, loaded = _find_mixed_origins(), _load_values()
    except UnicodeDecodeError:
        return UsableSettings(Settings.model_construct(), {DOTENV: "save it as UTF-8 text"})
    except OSError as error:
        return UsableSettings(Settings.model_construct(), {DOTENV: f"it can't be read ({error.strerror})"})
    if isinstance(loaded, Settings) and not mixed:
        return UsableSettings(loaded, {})
    problems = mixed if isinstance(loaded, Settings) else {**mixed, **loaded}
    defaults: dict[str, Any] = {
        name: Settings.model_fields[name].get_default(call_default_factory=True) for name in problems
    }
    return UsableSettings(Settings(**defaults), {name.upper(): reason for name, reason in problems.items()})


def _find_mixed_origins() -> dict[str, str]:
    """Return the addresses to which a secret from another place would be sent, with advice.

    A file that came with a folder must not send tokens of the environment to its own host. A gateway that the
    environment names for another program must not get those of the file.
    """
    environment, file = EnvironmentSource(Settings)(), FileSource(Settings)()
    origins = dict.fromkeys(file, DOTENV) | dict.fromkeys(environment, "the environment")
    values = file | environment
    problems: dict[str, str] = {}
    for address, secrets in _group_secrets_by_address().items():
        strays = [name for name in secrets if name in origins and origins[name] != origins.get(address)]
        default = Settings.model_fields[address].default
        if strays and values.get(address, default) != default:
            problems[address] = (
                f"it is set in {origins[address]}, but {strays[0].upper()} is set in "
                f"{origins[strays[0]]}; set both in the same place"
            )
    return problems


def _group_secrets_by_address() -> dict[str, list[str]]:
    """Return the secrets that are sent to an address, by the field with the address."""
    secrets: dict[str, list[str]] = {}
    for name, field in Settings.model_fields.items():
        if address := get_setting_use(field).address_field:
            secrets.setdefault(address, []).append(name)
    return secrets


def _load_values() -> Settings | dict[str, str]:
    """Return the settings, or if any can't be used, the fields of those, with advice."""
    problems: dict[str, str] = {}
    try:
        return Settings()
    except ValidationError as error:
        for each in error.errors():
            # the first of several problems of one value says what to write
            problems.setdefault(str(each["loc"][0]), _format_problem(each))
    return problems


def _format_problem(error: ErrorDetails) -> str:
    """Return what to write instead of a value; never the value itself."""
    advice = _ADVICE.get(error["type"])
    return (
        advice.format_map(error.get("ctx", {}))
        if advice
        else error["msg"].removeprefix("Value error, ").rstrip(".")
    )


def load_settings() -> Settings:
    """Load the settings of this process.

    Raises:
        ConfigurationError: a value can't be used; the sentence names the variable, never the value.
    """
    usable = load_usable_settings()
    for name, reason in usable.problems.items():
        raise ConfigurationError(f"{name} can't be used: {reason}.")
    return usable.settings
