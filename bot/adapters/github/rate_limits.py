"""The remaining allowance of GitHub's rate limits. Reading it counts against none of them."""

from __future__ import annotations

import logging

import requests
from github import Auth, GithubException

from bot.adapters.github.transport import REQUEST_SECONDS, make_github
from bot.domain.operations.rate_allowance import RateAllowance
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests

log = logging.getLogger(__name__)


class GitHubRateLimits:
    """Reader of a token's limits, with a client of its own that never waits. Not safe for several threads."""

    def __init__(self, base_url: str, auth: Auth.Auth | None) -> None:
        self._github = make_github(auth=auth, base_url=base_url, timeout=20, retry=None)

    def list_allowances(self) -> tuple[RateAllowance, ...]:
        """Return the allowances for REST and GraphQL; empty if GitHub reports none, as some Enterprise Servers."""
        try:
            with bound_requests(REQUEST_SECONDS):
                resources = self._github.get_rate_limit().resources
        except (GithubException, requests.exceptions.RequestException, DeadlineExceeded) as error:
            log.info("GitHub does not tell its limits: %s", error)
            return ()
        return tuple(
            RateAllowance(rate.remaining, rate.limit, rate.reset) for rate in (resources.core, resources.graphql)
        )
