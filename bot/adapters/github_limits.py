"""What GitHub still grants of its limits. Asking costs nothing of them."""

from __future__ import annotations

import logging

import requests
from github import Auth, Github, GithubException

from bot.adapters.github_calls import VERSION
from bot.domain.allowance import Allowance

log = logging.getLogger(__name__)


class GitHubLimits:
    """Asks for the limits of a token, with a client of its own that never waits. Not for several threads."""

    def __init__(self, base_url: str, auth: Auth.Auth | None) -> None:
        self._github = Github(
            auth=auth,
            base_url=base_url,
            timeout=20,
            user_agent="prdigest",
            api_version=VERSION,
            retry=None,
            seconds_between_requests=None,
        )

    def left(self) -> tuple[Allowance, ...]:
        """For REST and for GraphQL; empty where GitHub does not say, as an Enterprise Server without limits."""
        try:
            found = self._github.get_rate_limit().resources
        except (GithubException, requests.exceptions.RequestException) as error:
            log.info("GitHub does not tell its limits: %s", error)
            return ()
        return tuple(Allowance(rate.remaining, rate.limit, rate.reset) for rate in (found.core, found.graphql))
