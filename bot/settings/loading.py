from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr, ValidationError

from bot.errors import ConfigurationError
from bot.settings.description import DOTENV, EnvironmentSource, FileSource, get_setting_use, is_secret
from bot.settings.groups import Settings

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


# a shorter secret would take whole words out of the log, and is none that a service issues
_MIN_SECRET_LENGTH = 8


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
    """Return the addresses to which a secret from another place would be sent, with advice."""
    # a file that came with a folder must not send tokens of the environment to its own host. A gateway that the
    # environment names for another program must not get those of the file.
    environment, file = EnvironmentSource(Settings)(), FileSource(Settings)()
    origins = dict.fromkeys(file, DOTENV) | dict.fromkeys(environment, "the environment")
    values = file | environment
    by_address: dict[str, list[str]] = {}
    for name, field in Settings.model_fields.items():
        if address := get_setting_use(field).address_field:
            by_address.setdefault(address, []).append(name)
    problems: dict[str, str] = {}
    for address, secrets in by_address.items():
        strays = [name for name in secrets if name in origins and origins[name] != origins.get(address)]
        default = Settings.model_fields[address].default
        if strays and values.get(address, default) != default:
            problems[address] = (
                f"it is set in {origins[address]}, but {strays[0].upper()} is set in "
                f"{origins[strays[0]]}; set both in the same place"
            )
    return problems


def _load_values() -> Settings | dict[str, str]:
    """Return the settings, or if any can't be used, the fields of those with what to write, never the value."""
    problems: dict[str, str] = {}
    try:
        return Settings()
    except ValidationError as error:
        for each in error.errors():
            advice = _ADVICE.get(each["type"])
            text = each["msg"].removeprefix("Value error, ").rstrip(".")
            # the first of several problems of one value says what to write
            problems.setdefault(str(each["loc"][0]), advice.format_map(each.get("ctx", {})) if advice else text)
    return problems


def load_settings() -> Settings:
    """Load the settings of this process. Raises ConfigurationError, which names the variable, never the value."""
    usable = load_usable_settings()
    for name, reason in usable.problems.items():
        raise ConfigurationError(f"{name} can't be used: {reason}.")
    return usable.settings


def require_secret(value: SecretStr | None, name: str, meaning: str) -> str:
    """Return the text of a secret. Raises ConfigurationError, which says what to set ``name`` to, without one."""
    if value is None:
        raise ConfigurationError(f"Set {name} to {meaning}.")
    return value.get_secret_value()


def list_secret_values(settings: Settings) -> tuple[str, ...]:
    """Return the secrets, longest first, of an address its password: logs leave them out in any case."""
    values = set()
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if value is None or not is_secret(field):
            continue
        if isinstance(value, SecretStr):
            values.add(value.get_secret_value())
        else:
            password = urlsplit(str(value)).password or ""
            values |= {password, unquote(password)}
    return tuple(
        sorted((each for each in values if len(each) >= _MIN_SECRET_LENGTH), key=lambda each: (-len(each), each))
    )
