"""Checks of GitHub: the token, the repositories, the calls that are left."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import datetime, timedelta

from bot.doctor.checks.failures import describe_failure
from bot.domain.errors import ConfigurationError, GitHubUnavailable, PrdigestError
from bot.domain.operations.finding import Finding
from bot.domain.pull_requests.models import Repository
from bot.ports.probes import GitHubProbe, RemainingCalls

# a day of 67 merges, the busiest seen, takes about 70 calls
_FEW_CALLS = 200

TOKEN, LIMIT = "GitHub token", "GitHub rate limit"


def check_github(
    open_probe: Callable[[], GitHubProbe] | str, repositories: Sequence[Repository], now: Callable[[], datetime]
) -> Generator[Finding, None, timedelta | None]:
    """Check GitHub; return how far its clock is ahead of ours, None if unknown.

    ``open_probe`` returns the probe, or is the reason why there is none.
    """
    if isinstance(open_probe, str):
        yield Finding.build_note("GitHub", open_probe)
        return None
    try:
        probe = open_probe()
        access = probe.check_access()
        ahead = access.time - now() if access.time else None
    except PrdigestError as error:
        yield describe_failure(TOKEN, error)
        yield from (Finding.build_unchecked(f"GitHub {each}", f"see {TOKEN} above") for each in repositories)
        return None
    yield Finding.build_success(TOKEN, "accepted")
    yield _check_rate_limit(access.allowance, now())
    is_used_up = access.allowance is not None and not access.allowance.left
    yield from _check_repositories(probe, repositories, f"see {LIMIT} above" if is_used_up else "")
    return ahead


def _check_repositories(probe: GitHubProbe, repositories: Sequence[Repository], cause: str) -> Iterator[Finding]:
    """Check each repository. ``cause`` is the reason why none can be read, empty if there is no known one."""
    for repository in repositories:
        name = f"GitHub {repository}"
        if cause:
            yield Finding.build_unchecked(name, cause)
            continue
        try:
            yield _report_access(name, has_commits=probe.can_read_commits(repository))
        except PrdigestError as error:
            yield describe_failure(name, error)
            cause = _find_common_cause(name, error)


def _find_common_cause(name: str, error: PrdigestError) -> str:
    """Return why no other repository can be read either, empty if the error is about this one alone."""
    if isinstance(error, ConfigurationError):
        return f"see {name} above"
    return "GitHub does not answer" if isinstance(error, GitHubUnavailable) else ""


def _report_access(name: str, *, has_commits: bool) -> Finding:
    """Return the finding about a repository that can be read."""
    if has_commits:
        return Finding.build_success(name, "the token can read pull requests and contents")
    problem = "the token can read pull requests, but not contents: digests will say that the count is not checked"
    return Finding.build_note(name, problem, "Give the token read access to contents.")


def _check_rate_limit(allowance: RemainingCalls | None, now: datetime) -> Finding:
    """Return the finding about the calls that are left in this hour."""
    if allowance is None:
        return Finding.build_success(LIMIT, "no limit")
    minutes = max(0, round((allowance.resets - now).total_seconds() / 60))
    calls = f"{allowance.left:,} calls left, resets in {minutes} min"
    if allowance.left == 0:
        return Finding.build_failure(LIMIT, calls, "Wait until then, or give the bot its own token.")
    if allowance.left < _FEW_CALLS:
        advice = "If other programs use this token, give the bot its own: each pull request takes a call."
        return Finding.build_note(LIMIT, calls, advice)
    return Finding.build_success(LIMIT, calls)
