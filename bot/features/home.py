"""App Home, as one user sees it: the last digests in short, their subscriptions, and the bot's health."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.app import App
from bot.errors import PrdigestError, SlackCallRefused, SlackUnavailable, StoreUnavailable, UsageError
from bot.features.noise.service import list_mutes
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription, SubscriptionCommand
from bot.features.subscriptions.service import answer_command, get_next_due
from bot.features.subscriptions.tables import RUN_LOG, filter_visible, list_subscriptions
from bot.features.subscriptions.view import DueSubscription, make_new_row, render_rows
from bot.platform.finding import CheckStatus
from bot.platform.jobs import job
from bot.platform.slack.blocks import (
    Block,
    Element,
    make_block,
    make_context,
    make_header,
    make_instant,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.platform.slack.messenger import SlackViews
from bot.platform.slack.notices import describe_error
from bot.platform.slack.requests import SlackRequest, restore_bot_text
from bot.platform.store.keys import LAST_TICK
from bot.platform.store.server import check_memory, read_status
from impact.text.strings import collapse_lines, truncate_text

log = logging.getLogger(__name__)

_MAX_DIGESTS, _MAX_RUNS = 3, 50
# characters
_MAX_LENGTH, _MAX_DETAIL = 600, 200
_NUMBER_PATTERN = re.compile(r"#(\d{1,9})\b", re.A)
_MAX_TICK_AGE = timedelta(minutes=3)
_HOW_TO_ASK = (
    "Write to me under Messages, or reply to one of my messages. I answer questions about the changes, with "
    "links to the code. /prsummary 35617 explains a pull request, /prrisks 7d lists risky changes."
)


@dataclass(frozen=True, slots=True)
class LatestDigest:
    text: str
    address: str
    due_at: datetime
    repository_url: str


@job("home")
def open_home(app: App, asker: SlackRequest, note: str = "") -> None:
    show_home(app, asker.user, note)


@job("home_change")
def change_from_home(app: App, asker: SlackRequest, command: SubscriptionCommand) -> None:
    try:
        note = answer_command(app, asker, command).private.text
    except (SlackUnavailable, StoreUnavailable):
        raise
    except UsageError as error:
        note = str(error)
    except PrdigestError as error:
        log.warning("not done [%s]: %s", asker.reference, error)
        note = describe_error(error, asker.reference)
    show_home(app, asker.user, note)


def show_home(app: App, user: str, note: str = "") -> None:
    """Publish the current App Home of a user; ``note`` is the result of the user's last click.

    An app whose Home is switched off shows none. Raises SlackUnavailable, StoreUnavailable: it stays as it was.
    """
    # the user's own first: the last ones are left out if there are very many
    visible = sorted(filter_visible(app, user, list_subscriptions(app)), key=lambda each: each.by != user)
    # each text once: many channels may get the same
    by_text: dict[str, LatestDigest] = {}
    for digest in (_find_last_digest(app, each) for each in visible):
        if digest:
            by_text.setdefault(digest.text, digest)
    latest = sorted(by_text.values(), key=lambda each: each.due_at, reverse=True)
    planned = [(each, get_next_due(app, each)) for each in visible]
    try:
        mutes = list_mutes(app, user)
        SlackViews(app.slack).publish_home(user, render_home(latest, planned, _iterate_health(app), note, mutes))
    except SlackCallRefused as error:
        log.warning("App Home is not shown: %s", error)


def render_home(
    latest: Sequence[LatestDigest],
    subscriptions: Sequence[DueSubscription],
    health: Iterable[Element],
    note: str = "",
    mutes: Sequence[Block] = (),
) -> tuple[Block, ...]:
    no_digests = "None of the last two times. The next one comes at the time below."
    no_subscriptions = "None yet: create one here, or with /prdigest subscribe in one of my channels."
    return (
        *([_make_paragraph(make_text(_shorten_line(note), bold=True))] if note else []),
        make_header("Recent digests"),
        *map(_render_digest, latest[:_MAX_DIGESTS]),
        *([] if latest else [_make_paragraph(make_text(no_digests))]),
        make_header("Subscriptions"),
        *render_rows(subscriptions, with_place=True),
        *([] if subscriptions else [_make_paragraph(make_text(no_subscriptions))]),
        make_new_row(),
        *mutes,
        make_header("Status"),
        _make_paragraph(*health),
        make_context(_HOW_TO_ASK),
    )


def _make_paragraph(*elements: Element) -> Block:
    return make_block(make_section(elements))


def _shorten_line(content: str) -> str:
    return truncate_text(collapse_lines(restore_bot_text(content)), _MAX_LENGTH) or "…"


# --- the last digests


def _find_last_digest(app: App, subscription: Subscription) -> LatestDigest | None:
    """Return the last digest, from its first message on, or the one before while there is none."""
    due = app.now()
    for _ in range(2):
        due = subscription.timing.find_last_before(due)
        record = app.digest_records.find_digest(subscription.build_digest_spec(due)).record
        if record.text:
            page = f"{app.settings.github_web_url}/{subscription.repository}"
            return LatestDigest(record.text, record.permalink, due, page)
    return None


def _render_digest(digest: LatestDigest) -> Block:
    line = _shorten_line(digest.text)
    addresses = {int(number): f"{digest.repository_url}/pull/{number}" for number in _NUMBER_PATTERN.findall(line)}
    link = [make_text(" "), make_link(digest.address, "Open it")] if digest.address else []
    return _make_paragraph(*make_prose(line, addresses, _MAX_LENGTH), *link)


# --- the health of the bot, a line for each part


def _iterate_health(app: App) -> Iterator[Element]:
    ticked = app.cache.get(LAST_TICK.build_key())
    if ticked is None:
        yield make_text("Schedule: not running, so digests are not posted", bold=True)
    elif app.now() - datetime.fromisoformat(ticked) > _MAX_TICK_AGE:
        yield make_text("Schedule: stopped, ", bold=True)
        yield make_instant(datetime.fromisoformat(ticked), "last seen ")
    else:
        yield make_text("Schedule: running")
    yield from describe_last_runs(app.tables.list_recent(RUN_LOG, _MAX_RUNS))
    # how much the store uses is for operators; here it says only that somebody is needed
    memory = check_memory(read_status(app.store))
    if memory.status is CheckStatus.FAILED:
        yield make_text(f"\nStore: nearly full, {memory.result}", bold=True)
    if app.sources.stands_in:
        yield make_text(f"\n{app.sources.stands_in}")
    elif not app.sources.has_model:
        yield make_text("\nModel: not configured, so digests contain facts only")
    else:
        budget = app.budget
        yield make_text(f"\nModel budget today: ${budget.read_spending_today():.2f} of ${budget.daily:.2f} used")
        if budget.monthly is not None:
            yield make_text(f"; this month: ${budget.read_spending_of_month():.2f} of ${budget.monthly:.2f}")


def describe_last_runs(runs: Sequence[Run]) -> Iterator[Element]:
    good = (RunOutcome.POSTED, RunOutcome.MENDED)
    success = next((run for run in runs if run.outcome in good), None)
    failure = next((run for run in runs if run.outcome not in good), None)
    yield make_text("\nLast digest: ")
    yield make_instant(success.at) if success else make_text("none yet")
    if success and success.detail:
        yield make_text(f", incomplete: {truncate_text(collapse_lines(success.detail), _MAX_DETAIL)}")
    yield make_text("\nLast failure: ")
    yield make_instant(failure.at) if failure else make_text("none")
    if failure:
        yield make_text(f", {failure.outcome}: {truncate_text(collapse_lines(failure.detail), _MAX_DETAIL)}")
