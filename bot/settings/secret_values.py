"""The values of secret settings: for who needs one, and for logs, to leave them out whatever they look like."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from bot.domain.errors import ConfigurationError
from bot.settings.description import is_secret
from bot.settings.model import Settings

# a shorter one would take whole words out of the log, and is none that a service issues
_MIN_LENGTH = 8


def require_secret(value: SecretStr | None, name: str, meaning: str) -> str:
    """Return the text of a secret. Raises ConfigurationError, which says what to set ``name`` to, without one."""
    if value is None:
        raise ConfigurationError(f"Set {name} to {meaning}.")
    return value.get_secret_value()


def list_secret_values(settings: Settings) -> tuple[str, ...]:
    """Return the values of the secret settings, the longest first; of an address its password."""
    values = {value for value in _iterate_values(settings) if len(value) >= _MIN_LENGTH}
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def _iterate_values(settings: Settings) -> Iterator[str]:
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if not is_secret(field) or value is None:
            continue
        if isinstance(value, SecretStr):
            yield value.get_secret_value()
            continue
        password = urlsplit(str(value)).password or ""
        yield from (password, unquote(password))
