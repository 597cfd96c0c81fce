"""The token with which git reads a repository from GitHub."""

from __future__ import annotations

import requests
from github import Auth, GithubException

from bot.adapters.github.transport import REQUEST_SECONDS, make_github
from bot.domain.errors import GitHubUnavailable
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests


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
