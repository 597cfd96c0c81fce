"""The doctor's check of GitHub: the token, the repositories, the calls that are left. Each call is tried once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from datetime import datetime, timedelta

from github.Requester import Requester

from bot.errors import ConfigurationError, GitHubUnavailable, PrdigestError
from bot.platform.cleaning import clean_line
from bot.platform.finding import Finding
from bot.platform.github.client import create_github_auth, fetch_allowances, make_github, run_graphql_query
from bot.platform.github.errors import GraphQLError, translate_github_errors
from bot.platform.http.bounded_calls import bound_requests
from bot.platform.pulls.sources import RateAllowance
from bot.settings import Settings
from impact.repository import Repository

TOKEN, LIMIT = "GitHub token", "GitHub rate limit"
# a day of 67 merges, the busiest seen, takes about 70 calls
_FEW_CALLS = 200
_ACCESS_QUERY = """
query Read($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    nameWithOwner isArchived
    pullRequests(states: MERGED, first: 1) { nodes { number } }
    defaultBranchRef { name }
  }
}
"""


def check_github(
    settings: Settings, repositories: Sequence[Repository], now: Callable[[], datetime], seconds: int
) -> Generator[Finding, None, timedelta | None]:
    """Check GitHub; return how far its clock is ahead of ours, None if unknown. A call may take ``seconds``."""
    try:
        auth = create_github_auth(settings)
        github = make_github(auth=auth, base_url=settings.github_api_url, timeout=seconds, retry=None)
        requester = github.requester
        limits, time = fetch_allowances(requester, seconds)
        ahead = time - now() if time else None
    except PrdigestError as error:
        yield Finding.build_error(TOKEN, error)
        yield from (Finding.build_unchecked(f"GitHub {each}", f"see {TOKEN} above") for each in repositories)
        return None
    yield Finding.build_success(TOKEN, "accepted")
    yield _check_limits(limits, now())
    # why none can be read
    cause = f"see {LIMIT} above" if limits and not min(each.remaining for each in limits) else ""
    for repository in repositories:
        name = f"GitHub {repository}"
        if cause:
            yield Finding.build_unchecked(name, cause)
            continue
        try:
            yield _check_repository(requester, name, repository, seconds)
        except PrdigestError as error:
            yield Finding.build_error(name, error)
            if isinstance(error, ConfigurationError):
                cause = f"see {name} above"
            elif isinstance(error, GitHubUnavailable):
                cause = "GitHub does not answer"
    return ahead


def _check_limits(limits: Sequence[RateAllowance], now: datetime) -> Finding:
    if not limits:
        return Finding.build_success(LIMIT, "no limit")
    least = min(limits, key=lambda each: each.remaining)
    minutes = max(0, round((least.resets_at - now).total_seconds() / 60))
    calls = f"{least.remaining:,} calls left, resets in {minutes} min"
    if least.remaining == 0:
        return Finding.build_failure(LIMIT, calls, "Wait until then, or give the bot its own token.")
    if least.remaining < _FEW_CALLS:
        advice = "If other programs use this token, give the bot its own: each pull request takes a call."
        return Finding.build_note(LIMIT, calls, advice)
    return Finding.build_success(LIMIT, calls)


def _check_repository(requester: Requester, name: str, repository: Repository, seconds: int) -> Finding:
    with translate_github_errors(repository), bound_requests(seconds):
        data, _ = run_graphql_query(requester, _ACCESS_QUERY, repository, {})
        node = data["repository"]
        if node.get("pullRequests") is None:
            raise GraphQLError([{"type": "FORBIDDEN", "message": "no pull requests"}])
    present = clean_line(node.get("nameWithOwner"))
    if present and present.lower() != str(repository).lower():
        advice = f"Set {present} in the settings, before somebody takes the earlier name; what is kept follows."
        return Finding.build_note(name, f"renamed to {present}", advice)
    if node.get("isArchived") is True:
        advice = "Nothing is merged there any more: unsubscribe its channels, or take it out of the settings."
        return Finding.build_note(name, "archived", advice)
    if node.get("defaultBranchRef") is not None:
        return Finding.build_success(name, "the token can read pull requests and contents")
    problem = "the token can read pull requests, but not contents: digests will say that the count is not checked"
    return Finding.build_note(name, problem, "Give the token read access to contents.")
