"""Credentials from the settings, in the form that clients take."""

from __future__ import annotations

from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from github import Auth
from pydantic import SecretStr

from bot.domain.errors import ConfigurationError
from bot.settings import Settings


def create_github_auth(settings: Settings) -> Auth.Auth:
    """Return the credentials for GitHub: a token, or those of an app. Raises ConfigurationError."""
    if settings.github_token:
        return Auth.Token(settings.github_token.get_secret_value())
    if settings.github_app_id and settings.github_app_installation_id:
        key = require_secret(
            settings.github_app_private_key, "GITHUB_APP_PRIVATE_KEY", "the app's key or its file"
        )
        app = Auth.AppAuth(settings.github_app_id, _load_private_key(key))
        return app.get_installation_auth(settings.github_app_installation_id)
    raise ConfigurationError(
        "Set GITHUB_TOKEN to a token that may read pull requests, or set up a GitHub App (GITHUB_APP_…)."
    )


def _load_private_key(text: str) -> str:
    """Return a private key: the text itself, or what is in the file of that path. Raises ConfigurationError."""
    try:
        key = text.replace("\\n", "\n") if "PRIVATE KEY" in text else Path(text).read_text(encoding="ascii")
        load_pem_private_key(key.encode(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ConfigurationError("GITHUB_APP_PRIVATE_KEY is neither a private key nor a readable file.") from error
    return key


def require_secret(value: SecretStr | None, name: str, meaning: str) -> str:
    """Return the text of a secret. Raises ConfigurationError, which says what to set ``name`` to, without one."""
    if value is None:
        raise ConfigurationError(f"Set {name} to {meaning}.")
    return value.get_secret_value()
