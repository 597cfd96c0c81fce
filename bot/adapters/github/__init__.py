"""Adapter for GitHub: reads pull requests and files."""

from __future__ import annotations

from bot.adapters.github.background import GitHubBackground
from bot.adapters.github.client import GitHubClient
from bot.adapters.github.credentials import create_github_auth, read_git_token
from bot.adapters.github.pull_requests import GitHubPullRequests
from bot.adapters.github.rate_limits import GitHubRateLimits
from bot.adapters.github.releases import GitHubReleases
from bot.adapters.github.source_files import GitHubSourceFiles
from bot.adapters.github.trees import GitHubTrees

__all__ = [
    "GitHubBackground",
    "GitHubClient",
    "GitHubPullRequests",
    "GitHubRateLimits",
    "GitHubReleases",
    "GitHubSourceFiles",
    "GitHubTrees",
    "create_github_auth",
    "read_git_token",
]
