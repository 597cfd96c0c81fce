"""The reports of days as resources: listed as far as digests were posted, and read by day."""

from __future__ import annotations

import re
from datetime import timedelta

from bot.app import App
from bot.dates import LocalDay
from bot.errors import UsageError
from bot.features.digest.service import render_kept_report
from bot.mcp.calls import NOTICE, AgentTools, CallResult
from bot.platform.commands import AllowedRepositories
from bot.platform.deadlines import ShutdownSignal
from bot.platform.models.prompts import fence_text
from bot.platform.store.keys import parse_digest_key
from impact.repository import Repository
from impact.text.dates import parse_date
from impact.text.strings import quote_input

SCHEME = "prdigest://reports/"
TEMPLATE = f"{SCHEME}{{owner}}/{{repo}}/{{day}}"
# of digests that are looked for
_LISTED_DAYS = 30
_MAX_LISTED = 100
_ADDRESS = re.compile(
    rf"{re.escape(SCHEME)}(?P<name>[\w.-]{{1,100}}/[\w.-]{{1,100}})/(?P<day>\d{{4}}-\d\d-\d\d)", re.A
)


def list_reports(app: App) -> list[tuple[Repository, str]]:
    """List the days of which a digest with all merges was posted lately, latest first. Raises StoreUnavailable."""
    today = app.get_today()
    since = today.start - timedelta(days=_LISTED_DAYS)
    posted: dict[tuple[Repository, str], None] = {}
    for repository in app.repositories.list_all():
        for key in app.list_digest_keys(repository, since, today.end):
            parts = parse_digest_key(key)
            if parts and not parts.view and re.fullmatch(r"\d{4}-\d\d-\d\d", parts.days, re.A):
                posted[repository, parts.days] = None
    return sorted(posted, key=lambda each: each[1], reverse=True)[:_MAX_LISTED]


def read_report(tools: AgentTools, uri: str, ending: ShutdownSignal) -> CallResult:
    """Read a report, which counts as a call of a tool; each failure is a result with one sentence."""

    def read() -> CallResult:
        app = tools.app
        repository, day = parse_address(uri, app.repositories)
        today, date = app.get_today(), parse_date(day)
        if date > today.date:
            raise UsageError(f"{date} has not begun: ask for a day until {today.date}.")
        local_day, name = LocalDay(date, today.zone), app.name_repository(repository)
        text = render_kept_report(app, repository, local_day, name)
        return CallResult(f"{NOTICE}\n{fence_text('data', text)}")

    return tools.run_call("a report", read, ending)


def parse_address(uri: str, repositories: AllowedRepositories) -> tuple[Repository, str]:
    """Return the repository and the day of an address. Raises UsageError."""
    match = _ADDRESS.fullmatch(uri)
    if match is None:
        raise UsageError(f"{quote_input(uri)} is no address of a report: write it as {TEMPLATE}.")
    return repositories.parse_repository(match["name"]), match["day"]
