"""Credentials for GitHub, from the settings, and the token with which git reads a repository from it."""

from __future__ import annotations

from pathlib import Path

import requests
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from github import Auth, GithubException

from bot.adapters.github.transport import REQUEST_SECONDS, make_github
from bot.domain.errors import ConfigurationError, GitHubUnavailable
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests
from bot.settings import Settings, require_secret


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


def read_git_token(base_url: str, auth: Auth.Auth) -> str:
    """Return the token. That of an app's installation takes a call, and is valid for an hour.

    Raises:
        GitHubUnavailable: GitHub gives the app no token.
    """
    # the credentials of an app need a client
    make_github(auth=auth, base_url=base_url, timeout=20, retry=None)
    try:
        with bound_requests(REQUEST_SECONDS):
            return auth.token
    except (GithubException, requests.exceptions.RequestException, DeadlineExceeded) as error:
        raise GitHubUnavailable("GitHub gave the app no token: check the GITHUB_APP_… settings.") from error
