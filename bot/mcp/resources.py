"""The reports of days as resources: listed as far as digests were posted, and read by day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.errors import UsageError
from bot.domain.keyspace.digest_keys import parse_digest_key
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import quote_input
from bot.domain.time.day import LocalDay, parse_date
from bot.mcp.calls import AgentTools, CallResult
from bot.mcp.paging import NOTICE
from bot.platform.deadlines import ShutdownSignal
from bot.platform.models.prompts import fence_text
from bot.services.agents.sources import AgentSources

SCHEME = "prdigest://reports/"
TEMPLATE = f"{SCHEME}{{owner}}/{{repo}}/{{day}}"
MIME_TYPE = "text/markdown"
# of digests that are looked for
_LISTED_DAYS = 30
_MAX_LISTED = 100
_ADDRESS = re.compile(
    rf"{re.escape(SCHEME)}(?P<name>[\w.-]{{1,100}}/[\w.-]{{1,100}})/(?P<day>\d{{4}}-\d\d-\d\d)", re.A
)


@dataclass(frozen=True, slots=True)
class ReportAddress:
    """A report that exists, most likely."""

    repository: Repository
    day: str

    @property
    def uri(self) -> str:
        """Its address."""
        return f"{SCHEME}{self.repository}/{self.day}"

    @property
    def title(self) -> str:
        """Its name for people."""
        return f"Merged into {self.repository} on {self.day}"


class ReportResources:
    """The reports. Reading one counts as a call of a tool."""

    def __init__(self, sources: AgentSources, tools: AgentTools) -> None:
        self._sources = sources
        self._tools = tools

    def list_addresses(self) -> tuple[ReportAddress, ...]:
        """List the days whose digest was posted, the latest first. Raises StoreUnavailable."""
        addresses = [each for one in self._sources.repositories.list_all() for each in self._list_posted(one)]
        newest = sorted(dict.fromkeys(addresses), key=lambda each: each.day, reverse=True)
        return tuple(newest[:_MAX_LISTED])

    def read_report(self, uri: str, ending: ShutdownSignal) -> CallResult:
        """Read a report; each failure is a result with one sentence."""
        return self._tools.run_call("a report", lambda: self._read(uri), ending)

    def _read(self, uri: str) -> CallResult:
        """Return a report. Raises PrdigestError."""
        repository, day = parse_address(uri, self._sources.repositories)
        today, date = self._sources.get_today(), parse_date(day)
        if date > today.date:
            raise UsageError(f"{date} has not begun: ask for a day until {today.date}.")
        name = self._sources.name_of(repository)
        text = self._sources.render_report(repository, LocalDay(date, today.zone), name)
        return CallResult(f"{NOTICE}\n{fence_text('data', text)}")

    def _list_posted(self, repository: Repository) -> Iterator[ReportAddress]:
        """Yield the days of a repository of which there is a digest of one day with all merges."""
        today = self._sources.get_today()
        since = today.start - timedelta(days=_LISTED_DAYS)
        for key in self._sources.list_digest_keys(repository, since, today.end):
            parts = parse_digest_key(key)
            if parts and not parts.view and re.fullmatch(r"\d{4}-\d\d-\d\d", parts.days, re.A):
                yield ReportAddress(repository, parts.days)


def parse_address(uri: str, repositories: AllowedRepositories) -> tuple[Repository, str]:
    """Return the repository and the day of an address. Raises UsageError."""
    match = _ADDRESS.fullmatch(uri)
    if match is None:
        raise UsageError(f"{quote_input(uri)} is no address of a report: write it as {TEMPLATE}.")
    return repositories.parse_repository(match["name"]), match["day"]
