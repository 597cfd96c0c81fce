"""Cards below links to pull requests and comparisons, in conversations that turned them on.

One card for each link, and none where another app shows one. That app is looked for before a card is shown, and
once more some seconds later, as both apps hear of a link at the same time. A conversation in which one was seen
gets no cards for four weeks.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import unescape
from typing import Any, TypeAlias

from bot.app import App
from bot.dates import Span, get_today
from bot.errors import PrdigestError, SlackCallRefused, StoreUnavailable, UsageError
from bot.features.digest.since import SincePage, build_page_of
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.risk import Risk
from bot.features.merges.summary import MAX_CLAIM_LENGTH
from bot.features.merges.timeline import LOOK_AHEAD, MergeTimeline
from bot.features.merges.view import format_band, format_outcome_fact
from bot.features.profiles.scanning import find_merge
from bot.features.subscriptions.tables import are_previews_on, get_channel_profile, require_previews, set_previews
from bot.features.summaries.service import get_cached_entry
from bot.features.touches.contracts import list_merges, read_contracts
from bot.features.touches.lines import name_level
from bot.platform.commands import AllowedRepositories
from bot.platform.jobs import SECOND, JobRetries, job
from bot.platform.pulls.models import PullRequest, Reference, remove_duplicates
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import (
    Block,
    Element,
    make_block,
    make_context,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.platform.slack.notices import render_notice
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.tables import Table
from bot.text import format_count
from impact.contract.models import cover_contracts
from impact.coverage import COMPLETE, Coverage, CoveredPart
from impact.errors import attempt
from impact.history.outcomes import find_outcomes
from impact.profile.models import Profile
from impact.repository import Repository
from impact.source.models import is_hash, is_tag
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.judgement import judge_merge
from impact.touches.models import MergeTouches, TouchLevel, TouchReport
from impact.touches.profile_index import ProfileIndex

# --- cards

# the address of a comparison has two names of up to a hundred characters; nobody pastes a longer one by hand
MAX_LINK_LENGTH = 1_000
_MAX_HEADLINE, _MAX_FACTS = MAX_CLAIM_LENGTH, 300
_MAX_REASON = 8  # words
_REPOSITORY = r"/([\w.-]{1,100}/[\w.-]{1,100})"
_REST = r"(?:[/?#].*)?"
_PULL = re.compile(rf"{_REPOSITORY}/pull/([1-9]\d{{0,8}}){_REST}", re.ASCII)
_END = r"[\w+-](?:[\w+-]|\.(?!\.)){0,99}"
_COMPARE = re.compile(rf"{_REPOSITORY}/compare/({_END})\.{{2,3}}({_END}){_REST}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CommitRange:
    """The commits of a repository after ``start`` up to ``end``: hashes, their beginnings, or tags."""

    repository: Repository
    start: str
    end: str

    def __str__(self) -> str:
        return f"{self.repository} {self.start}..{self.end}"


Target: TypeAlias = Reference | CommitRange


def parse_link(link: str, repositories: AllowedRepositories) -> Target | None:
    """Return what a link of a message is about, None if it gets no preview.

    Only addresses that begin with that of GitHub's pages count: no other scheme, host, port or user, and nothing
    encoded in what is read of them. The rest of the address is ignored. Branches get no preview.
    """
    # Slack writes some characters of its messages as entities
    address = unescape(link)
    if len(link) > MAX_LINK_LENGTH or not address.startswith(f"{repositories.web}/"):
        return None
    path = address.removeprefix(repositories.web)
    try:
        if match := _PULL.fullmatch(path):
            return Reference(repositories.require_known(Repository.parse(match[1])), int(match[2]))
        match = _COMPARE.fullmatch(path)
        if match and all(is_hash(name) or is_tag(name) for name in match.group(2, 3)):
            return CommitRange(repositories.require_known(Repository.parse(match[1])), match[2], match[3])
    except UsageError:
        pass
    return None


def compute_fingerprint(target: Target) -> str:
    """Return a short text that two links share only if they are about the same."""
    return hashlib.sha256(str(target).lower().encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class PullCard:
    """A pull request: its headline if it was summarized before, its risk, and what became of it.

    ``merged_on`` is the date of its merge in the bot's time zone, None if it is not merged. ``touches`` is what it
    means for ``profile``. ``coverage`` says what could not be read: without its files there is no ``risk``.
    """

    pull: PullRequest
    merged_on: dt.date | None = None
    headline: str = ""
    risk: Risk | None = None
    outcome: MergeOutcome | None = None
    profile: str = ""
    touches: MergeTouches | None = None
    coverage: Coverage = COMPLETE

    def render(self) -> tuple[Block, ...]:
        pull, risk = self.pull, self.risk
        facts = [
            self.coverage.leave_out_reasons(_MAX_REASON).explain_gaps(
                is_empty=risk is None and self.touches is None
            ),
            self._describe_state(),
            format_band(risk, tells_history=pull.is_merged) if risk and risk.may_be_listed else "",
            format_outcome_fact(self.outcome) if self.outcome else "",
            self._describe_touches(),
        ]
        headline = truncate_text(collapse_lines(self.headline or pull.title), _MAX_HEADLINE)
        number = make_link(pull.url, f"{pull.repository}#{pull.number}", bold=True)
        return _render_card([number, make_text(" "), *make_prose(headline, {}, _MAX_HEADLINE)], facts)

    def _describe_state(self) -> str:
        if self.merged_on:
            return f"merged {self.merged_on.day} {self.merged_on:%b %Y}"
        return "open" if self.pull.state == "OPEN" else "closed, not merged"

    def _describe_touches(self) -> str:
        if self.touches is None:
            return ""
        level, name = name_level(self.touches.level), _shorten_name(self.profile)
        return f"{level} {name}" if self.touches.level <= TouchLevel.TOUCHES else f"{level} ({name})"


@dataclass(frozen=True, slots=True)
class RangeCard:
    """The merges of a range, by the names of its two ends. ``url`` is the address of its page."""

    start: str
    end: str
    url: str
    page: SincePage

    def render(self) -> tuple[Block, ...]:
        page, taken_back = self.page, len(self.page.stories.taken_back)
        facts = [
            page.listed.explain_gaps(),
            f"{taken_back} reverted" if taken_back else "",
            f"{format_count(len(page.riskiest), 'change')} among the riskiest" if page.riskiest else "",
            *(_describe_touches(page.touches) if page.touches else ()),
        ]
        name = truncate_text(collapse_lines(page.name), 60)
        ends = make_link(self.url, f"{name} {self.start}…{self.end}", bold=True)
        count = page.listed.label(lambda _: f" {format_count(page.merged, 'merge')}")
        return _render_card([ends, *([make_text(count)] if count else [])], facts)


def _describe_touches(report: TouchReport) -> list[str]:
    name = _shorten_name(report.profile)

    def show(merges: Sequence[MergeTouches]) -> Iterator[str]:
        count = len(merges)
        yield f"{count} {'touches' if count == 1 else 'touch'} {name} ({name_level(merges[0].level)})"

    if not report.touching.coverage.is_complete:
        return report.touching.render_below(show)
    return report.touching.render(str, show, f"nothing touches {name}")


def _render_card(title: list[Element], facts: Iterable[str]) -> tuple[Block, ...]:
    """Text from outside is only text, and the only address is that of the link's own page."""
    line = " · ".join(filter(None, facts)) or "Nothing stands out"
    return make_block(make_section(title)), make_context(truncate_text(line, _MAX_FACTS))


def _shorten_name(name: str) -> str:
    return truncate_text(collapse_lines(name), 40)


# --- previews

log = logging.getLogger(__name__)

MAX_CARDS = 5  # of one message: more would hide it
MAX_RANGE_DAYS = 31  # each day takes a call to GitHub at most, and nobody waits for a preview
_OWN_BLOCK = "prdigest_preview"  # so that our cards are known even where Slack does not say whose they are
_ACKNOWLEDGEMENT_PAUSE = 0.5  # seconds
_NOT_IN_CHANNEL = "I'm not in this channel: invite me with /invite, then turn previews on again."


@dataclass(frozen=True, slots=True)
class ShownCard:
    """The message with a link's card: planned before Slack is called, ended (aware) after; it may be repeated."""

    message: str
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OtherApp:
    """Another app that shows previews, by its id; empty if Slack does not say which."""

    id: str


# a week on, the message with the card is out of sight; Slack repeats an event for an hour at most
SHOWN = Table("preview:{channel}:{link}", ShownCard, "the message in which a link has its preview", days=7)
# an app is rarely removed from a conversation; then previews come back by themselves
OTHERS = Table("unfurled:{channel}", OtherApp, "another app that shows previews of links there", days=28)


# --- on and off


@job("link_preview_switch")
def switch_previews(app: App, asker: SlackRequest, word: str) -> None:
    """Turn previews ``on`` or ``off``; without a word, say whether they are on."""
    # what changes for everybody in the conversation is said to everybody there
    audience = Audience.CHANNEL if word else Audience.HERE
    app.replies.give_answer(
        asker, "previews", audience, lambda: Answer.for_asker(render_notice(_switch(app, asker, word)))
    )


def _switch(app: App, asker: SlackRequest, word: str) -> str:
    if not word:
        if are_previews_on(app, asker.channel):
            return "Links get previews here. /prdigest previews off ends that."
        return "Links get no previews here. /prdigest previews on turns them on."
    if not asker.is_direct:
        _require_member(app, asker, is_on=word == "on")
    set_previews(app, asker.channel, asker.user, is_on=word == "on")
    if word == "off":
        return "Links get no previews here any more."
    return (
        "Links to pull requests and comparisons get a preview here. I stay silent where another app shows one, "
        "such as GitHub's. If no preview comes, ask the bot's admin to run prdigest doctor: the app may lack a "
        "permission."
    )


def _require_member(app: App, asker: SlackRequest, *, is_on: bool) -> None:
    """Only members of a conversation decide for it. Raises UsageError, and SlackUnavailable."""
    try:
        channel = app.directory.fetch_channel(asker.channel)
        is_member = app.directory.is_channel_member(asker.channel, asker.user)
    except SlackCallRefused as error:
        raise UsageError(_NOT_IN_CHANNEL) from error
    if not channel.is_member:
        raise UsageError(_NOT_IN_CHANNEL)
    if not is_member:
        raise UsageError("Only members of this channel can turn previews on or off: join it first.")
    if is_on:
        require_previews(app, channel)


# --- the cards of a message. These jobs have no asker: people posted links, and asked for nothing


@job("link_previews", retries=JobRetries(3))  # minutes later, nobody looks for a card any more
def show_previews(app: App, poster: SlackRequest, urls: tuple[str, ...]) -> None:
    if not are_previews_on(app, poster.channel) or app.tables.get(OTHERS, poster.channel) is not None:
        return
    try:
        # a number that somebody guesses must tell no other workspace what is behind it
        require_previews(app, app.directory.fetch_channel(poster.channel))
        app.identify(poster)
    except (UsageError, SlackCallRefused) as error:
        log.info("no preview in %s: %s", poster.channel, error)
        return
    targets: dict[Target, str] = {}
    for url in urls:
        if (target := parse_link(url, app.repositories)) and len(targets) < MAX_CARDS:
            targets.setdefault(target, url)
    shown = app.tables.get_each(SHOWN, [(poster.channel, compute_fingerprint(target)) for target in targets])
    new = [
        target
        for target, card in zip(targets, shown, strict=True)
        if card is None or (card.message == poster.message and card.ended_at is None)
    ]
    if not new or not _is_alone(app, poster):
        return
    cards = build_cards(app, new, poster.channel)
    planned = [target for target in cards if _plan(app, poster, target)]
    if not planned:
        return
    # first: a process that dies afterwards must not leave the second look out
    look_again.send_to(app.jobs, poster)
    _show(app, poster, {targets[target]: cards[target].render() for target in planned})
    for target in planned:
        ended = ShownCard(poster.message, app.now())
        app.tables.put(SHOWN, ended, poster.channel, compute_fingerprint(target))


@job("link_preview_check", retries=JobRetries(3), delay=5 * SECOND)  # other apps show their cards within seconds
def look_again(app: App, poster: SlackRequest) -> None:
    _is_alone(app, poster)


def _plan(app: App, poster: SlackRequest, target: Target) -> bool:
    """Record that the link of this message gets the card; return False if another message was faster."""
    key = (poster.channel, compute_fingerprint(target))
    if app.tables.add(SHOWN, ShownCard(poster.message), *key):
        return True
    earlier = app.tables.get(SHOWN, *key)
    return earlier is not None and earlier.message == poster.message


def _is_alone(app: App, poster: SlackRequest) -> bool:
    """Return whether a message exists, no other app shows a card below it, and the bot may look for that."""
    try:
        message = app.messenger.fetch_message(poster.channel, poster.message, poster.thread)
    except SlackCallRefused as error:
        log.info("no preview in %s: %s", poster.channel, error)
        return False
    if message is None:
        return False
    attachments = [each for each in message.get("attachments") or () if isinstance(each, Mapping)]
    other = next((each for each in attachments if _is_others_card(app, each)), None)
    if other is None:
        return True
    name = str(other.get("app_id") or other.get("bot_id") or "")
    log.info("no previews in %s: the app %s shows them", poster.channel, name or "?")
    app.tables.put(OTHERS, OtherApp(name), poster.channel)
    return False


def _is_others_card(app: App, attachment: Mapping[str, Any]) -> bool:
    # Slack's own look at a page names no app
    is_of_app = attachment.get("is_app_unfurl") or attachment.get("app_id") or attachment.get("bot_id")
    blocks = [each for each in attachment.get("blocks") or () if isinstance(each, Mapping)]
    is_marked = any(str(each.get("block_id", "")).startswith(_OWN_BLOCK) for each in blocks)
    url = str(attachment.get("app_unfurl_url") or attachment.get("from_url") or "")
    is_own = is_marked or app.messenger.is_own(attachment)
    return bool(is_of_app) and not is_own and url.startswith(f"{app.repositories.web}/")


def _show(app: App, poster: SlackRequest, cards: Mapping[str, Sequence[Block]]) -> None:
    """Show cards; Slack replaces those that it has for the same addresses. A refusal is only logged."""
    marked = {
        url: [{**block, "block_id": f"{_OWN_BLOCK}_{position}"} for position, block in enumerate(blocks)]
        for url, blocks in cards.items()
    }
    for is_last in (False, True):
        try:
            app.messenger.unfurl_links(poster.channel, poster.message, marked)
        except SlackCallRefused as error:
            # Slack accepts no card before the acknowledgement of the event, which comes after the job is queued
            if is_last or error.code != "cannot_unfurl_url":
                log.info("no preview in %s: %s", poster.channel, error)
                return
            app.sleep(_ACKNOWLEDGEMENT_PAUSE)
        else:
            return


# --- what the cards are made from: what was read before. No model is called


def build_cards(app: App, targets: Sequence[Target], channel: str) -> dict[Target, PullCard | RangeCard]:
    """Return the cards of those links that get one. What was read takes no call, a range one for each day."""
    cards: dict[Target, PullCard | RangeCard] = {}
    for target in targets:
        try:
            name = get_channel_profile(app, channel, target.repository)
            profile = app.profiles.get_profile(name) if name else None
            if isinstance(target, CommitRange):
                card: PullCard | RangeCard | None = attempt(str(target), _build_range, app, target, profile)
            else:
                card = attempt(str(target), _build_pull, app, target, profile)
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            # nobody asked for a preview, so the log alone says why there is none
            log.info("no preview of %s: %s", target, error)
            continue
        if card:
            cards[target] = card
    # for all of them together
    pulls = (card.pull for card in cards.values() if isinstance(card, PullCard))
    outcomes = find_recorded_outcomes(app.timeline, pulls)
    return {
        target: replace(card, outcome=outcomes.get(Reference(card.pull.repository, card.pull.number)))
        if isinstance(card, PullCard)
        else card
        for target, card in cards.items()
    }


def _build_pull(app: App, reference: Reference, profile: Profile | None) -> PullCard:
    entry = get_cached_entry(app, reference)
    pull, risk = (entry.pull, entry.risk) if entry else _read_pull(app, reference)
    files = CoveredPart("its changed files", int(pull.files is None))
    touches, changes = _judge(app, pull, profile) if profile and pull.is_merged else (None, COMPLETE)
    return PullCard(
        pull,
        get_today(pull.merged_at, app.settings.prdigest_timezone).date if pull.merged_at else None,
        entry.summary.headline if entry else "",
        None if pull.files is None else risk,
        None,
        profile.name if profile else "",
        touches,
        Coverage.of(files) + changes,
    )


def _read_pull(app: App, reference: Reference) -> tuple[PullRequest, Risk | None]:
    pull = app.pulls.fetch_pull_request(reference.repository, reference.number)
    try:
        pull = app.pulls.load_files(pull)
        return pull, app.timeline.assess_risk(pull)
    except StoreUnavailable:
        raise
    except PrdigestError as error:
        log.info("a preview without risk: %s", error)
        return pull, None


def _judge(app: App, pull: PullRequest, profile: Profile) -> tuple[MergeTouches | None, Coverage]:
    """Return what a merge means for a profile, and how much was read for that; None where nobody can tell."""
    contracts = read_contracts(app, [pull])
    judged = attempt(f"#{pull.number}", judge_merge, contracts[0], ProfileIndex(profile))
    coverage = cover_contracts(contracts, () if judged else contracts) + profile.coverage
    # a hit is one, whatever else could not be read
    return judged if judged and (judged.level > TouchLevel.NO or coverage.is_complete) else None, coverage


def _build_range(app: App, target: CommitRange, profile: Profile | None) -> RangeCard | None:
    first, last = (find_merge(app, target.repository, name) for name in (target.start, target.end))
    if first is None or last is None or last.merge_time <= first.merge_time:
        return None
    zone = app.settings.prdigest_timezone
    span = Span(get_today(first.merge_time, zone).date, get_today(last.merge_time, zone).date, zone)
    if len(span) > MAX_RANGE_DAYS:
        log.info("no preview of %s: %s days", target, len(span))
        return None
    merged = list_merges(app, target.repository, span)
    inside = tuple(
        pull
        for pull in merged.pulls
        if first.merge_time < pull.merge_time <= last.merge_time and pull.base == last.base
    )
    kept = replace(merged, pulls=inside)
    page = build_page_of(app, target.repository, span, kept, profile)
    url = f"{last.web}/{target.repository}/compare/{target.start}...{target.end}"
    return RangeCard(target.start, target.end, url, page)


# --- what became of single merges, as far as later ones are recorded


def find_recorded_outcomes(
    timeline: MergeTimeline, pulls: Iterable[PullRequest]
) -> Mapping[Reference, MergeOutcome]:
    """Return the outcomes that stand, of the merged ones among pull requests, within two weeks of each merge.

    The record is read once for merges of a repository that lie close together. Without the store there are none.
    """
    by_repository: dict[Repository, list[PullRequest]] = defaultdict(list)
    for pull in pulls:
        if pull.is_merged:
            by_repository[pull.repository].append(pull)
    outcomes = (
        outcome
        for merges in by_repository.values()
        for group in _group_merges(merges)
        for outcome in _find_in_group(timeline, group)
    )
    return {Reference(outcome.pull.repository, outcome.pull.number): outcome for outcome in outcomes}


def _group_merges(pulls: Iterable[PullRequest]) -> Iterator[Sequence[PullRequest]]:
    """Yield merges, oldest first, in groups whose two weeks overlap."""
    group: list[PullRequest] = []
    for pull in sorted(pulls, key=lambda pull: pull.merge_time):
        if group and pull.merge_time >= group[-1].merge_time + LOOK_AHEAD:
            yield group
            group = []
        group.append(pull)
    if group:
        yield group


def _find_in_group(timeline: MergeTimeline, group: Sequence[PullRequest]) -> Iterator[MergeOutcome]:
    since, until = group[0].merge_time, group[-1].merge_time + LOOK_AHEAD
    recorded = timeline.read_merges_or_none(group[0].repository, since, until)
    index = timeline.index_pulls(remove_duplicates([*group, *recorded]))
    for pull in group:
        # the first that stands, by the merges of its own two weeks
        start, end = pull.merge_time, pull.merge_time + LOOK_AHEAD
        later = (each.number for each in index.by_number.values() if start <= each.merge_time < end)
        outcomes = find_outcomes(index.select(dict.fromkeys([pull.number, *later])))
        yield from [each for each in outcomes if each.pull.number == pull.number and each.stands][:1]
