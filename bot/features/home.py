"""App Home, as one user sees it: the last digests in short, their subscriptions, and the bot's health."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.app import App
from bot.errors import PrdigestError, SlackCallRefused, SlackUnavailable, StoreUnavailable, UsageError
from bot.features.digest.posts import TrackedDigest
from bot.features.merges.view import LeadRule
from bot.features.noise.rules import Mute
from bot.features.noise.service import list_mutes, load_mutes, select_muted
from bot.features.risks.ratings import RatedPullRequest
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription, SubscriptionCommand
from bot.features.subscriptions.service import answer_command, get_next_due
from bot.features.subscriptions.tables import RUN_LOG, filter_visible, list_subscriptions
from bot.features.subscriptions.view import DueSubscription, make_new_row, render_rows
from bot.platform.finding import CheckStatus
from bot.platform.jobs import job
from bot.platform.markdown import sanitize_text
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
from bot.platform.slack.messenger import Prompt, SlackViews
from bot.platform.slack.notices import describe_error
from bot.platform.slack.requests import SlackRequest, restore_bot_text
from bot.platform.store.keys import LAST_TICK
from bot.platform.store.server import check_memory, read_status
from bot.redaction import redact_text
from impact.text.strings import collapse_lines, truncate_text

log = logging.getLogger(__name__)

_MAX_DIGESTS, _MAX_RUNS = 3, 50
# characters
_MAX_LENGTH, _MAX_DETAIL = 600, 200
_NUMBER_PATTERN = re.compile(r"#(\d{1,9})\b", re.A)
# of which Slack shows four, and characters on a button
_MAX_PROMPTS, _MAX_LABEL = 4, 75
_USUAL_PROMPTS = (
    Prompt("What was merged yesterday?", "What was merged yesterday, and what matters of it?"),
    Prompt("What is risky this week?", "What of the last 7 days is risky, and why?"),
    Prompt("What was reverted?", "What of the last 7 days was reverted or repaired, and why?"),
)
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
    try:
        _ = app.repositories
    except UsageError as error:
        note = note or str(error)
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
    for due, digest in _iterate_posted(app, subscription):
        page = f"{app.settings.github_web_url}/{subscription.repository}"
        return LatestDigest(digest.record.text, digest.record.permalink, due, page)
    return None


def _iterate_posted(app: App, subscription: Subscription) -> Iterator[tuple[datetime, TrackedDigest]]:
    """Yield the digests of the last two times, from their first message on, with when they were due."""
    due = app.now()
    for _ in range(2):
        due = subscription.timing.find_last_before(due)
        digest = app.digest_records.find_digest(subscription.build_digest_spec(due))
        if digest.record.text:
            yield due, digest


# --- prompts above direct messages, which fit the last digest


@job("prompts")
def suggest_prompts(app: App, asker: SlackRequest) -> None:
    visible = filter_visible(app, asker.user, list_subscriptions(app))
    posted = [each for subscription in visible for each in _iterate_posted(app, subscription)]
    last = max(posted, key=lambda each: each[0], default=None)
    prompts = _list_prompts(app, last[1], load_mutes(app, asker.user)) if last else _USUAL_PROMPTS
    try:
        app.messenger.suggest_prompts(asker.channel, "Ask about what was merged", prompts[:_MAX_PROMPTS])
    except SlackCallRefused as error:
        log.warning("no prompts are shown [%s]: %s", asker.reference, error)


def _list_prompts(app: App, digest: TrackedDigest, mutes: Sequence[Mute]) -> Sequence[Prompt]:
    """Return prompts about a digest. A title is on its button alone: what people send are nobody else's words.

    What a person mutes is not the riskiest for them.
    """
    spec, record = digest.spec, digest.record
    days = f"{spec.repository} on {spec.span.title}"
    rated = sorted(record.ratings.rated, key=lambda each: -each.points) if record.ratings else []
    # those whose state ends in a sign do not hold any more
    states = (*record.outcome_states, *record.amended_states.split())
    settled = {int(state.partition("-")[0]) for state in states if not state.endswith("-")}
    span = spec.span.days
    merges = app.timeline.read_merges_or_none(spec.repository, span[0].start, span[-1].end)
    titles = {pull.number: pull.title for pull in merges}
    past = settled | {pull.number for pull in select_muted(app, mutes, merges)}

    def ask(words: str, question: str, fits: Callable[[RatedPullRequest], bool]) -> Iterator[Prompt]:
        for number in [each.number for each in rated if fits(each)][:1]:
            title = sanitize_text(collapse_lines(redact_text(titles.get(number, ""))), in_code=True)
            label = truncate_text(f"{words}: #{number} {title}".strip(), _MAX_LABEL)
            yield Prompt(label, question.format(f"#{number}, merged into {days}"))

    us, gone = LeadRule.TOUCHES_US, LeadRule.GONE_FOR_CALLERS
    return [
        *ask("Our code", "What do we have to do about {}?", lambda each: us in each.lead),
        *ask("Riskiest", "How risky is {}, and why?", lambda each: each.is_listed and each.number not in past),
        *ask("Breaks callers", "Whom does {}, break?", lambda each: gone in each.lead),
        *ask("Reverted", "What was wrong with {}?", lambda each: each.number in settled),
        Prompt("What matters most?", f"What matters most of what was merged into {days}?"),
    ]


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
    elif app.sources.model is None:
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
