"""Everything that the tools of agents take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.pull_requests.models import Repository
from bot.domain.time.day import LocalDay, TodayProvider
from bot.ports import RateLimiter

if TYPE_CHECKING:
    # it is built on this
    from bot.app import App

# returns the keys of a repository's posted digests whose last day ended between two instants
DigestKeyLister = Callable[[Repository, datetime, datetime], Sequence[str]]


@dataclass(frozen=True, slots=True)
class AgentSources:
    """What tools read, and what bounds how often they are called.

    The ``app`` has the profiles that agents may see alone. ``render_report`` returns the report of a day whose
    digest was made, under the name that is passed. ``name_of`` returns the name of a repository in headings.
    ``limiter`` counts the calls of a minute.
    """

    app: App
    repositories: AllowedRepositories
    get_today: TodayProvider
    render_report: Callable[[Repository, LocalDay, str], str]
    list_digest_keys: DigestKeyLister
    name_of: Callable[[Repository], str]
    limiter: RateLimiter
    has_profiles: bool = False
