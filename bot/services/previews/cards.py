"""What the preview of a link shows, from what was read before: no model is called for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.domain.conversations.preview_links import CommitRange, PreviewTarget
from bot.domain.digest.previews import PreviewCard, PullPreview, RangePreview
from bot.domain.errors import PrdigestError, StoreUnavailable
from bot.domain.history.outcomes import MergeOutcome
from bot.domain.profile.models import Profile
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.risk.assessment import Risk
from bot.domain.subscriptions.models import Subscription
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay, get_today
from bot.domain.touches.judgement import judge_merge
from bot.domain.touches.models import MergeTouches, TouchLevel
from bot.domain.touches.profile_index import ProfileIndex
from bot.ports import PullRequests
from bot.services.contract.reader import ContractReader
from bot.services.digest.since import SincePageBuilder
from bot.services.history.merge_lists import MergeList
from bot.services.history.merge_timeline import MergeTimeline
from bot.services.history.recorded_outcomes import find_recorded_outcomes
from bot.services.summaries.entry_cache import EntryCache
from bot.services.touches.pins import PinFinder

log = logging.getLogger(__name__)

# each day takes a call to GitHub at most, and nobody waits for a preview
MAX_RANGE_DAYS = 31


@dataclass(frozen=True, slots=True)
class PullSources:
    """What the card of a pull request is made from."""

    entries: EntryCache
    pulls: PullRequests
    timeline: MergeTimeline
    contracts: ContractReader


@dataclass(frozen=True, slots=True)
class RangeSources:
    """What the card of a range is made from. ``list_merges`` lists the merges of some days."""

    pins: PinFinder
    pages: SincePageBuilder
    list_merges: Callable[[Repository, Span], MergeList]
    today: Callable[[], LocalDay]


@dataclass(frozen=True, slots=True)
class ProfileSources:
    """The profiles of conversations: of their subscriptions, by name."""

    list_subscriptions: Callable[[str], Sequence[Subscription]]
    get_profile: Callable[[str], Profile | None]


class PreviewCardBuilder:
    """Builder of cards. A summarised pull request takes no call to GitHub, a range at most one for each day."""

    def __init__(self, pulls: PullSources, ranges: RangeSources, profiles: ProfileSources) -> None:
        self._pulls = pulls
        self._ranges = ranges
        self._profiles = profiles

    def build_cards(self, targets: Sequence[PreviewTarget], channel: str) -> list[PreviewCard | None]:
        """Build the cards of a message's links in a conversation, None for each without one.

        What became of the merges is looked up for all of them together.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        cards = [self._build_card(target, channel) for target in targets]
        pulls = (card.pull for card in cards if isinstance(card, PullPreview))
        outcomes = find_recorded_outcomes(self._pulls.timeline, pulls)
        return [_add_outcome(card, outcomes) if isinstance(card, PullPreview) else card for card in cards]

    def _build_card(self, target: PreviewTarget, channel: str) -> PreviewCard | None:
        """Build the card of a link, without what became of a merge."""
        try:
            profile = self._find_profile(target.repository, channel)
            if isinstance(target, CommitRange):
                return self._build_range(target, profile)
            return self._build_pull(target, profile)
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            # nobody asked for a preview, so the log alone says why there is none
            log.info("no preview of %s: %s", target, error)
            return None

    def _build_pull(self, reference: Reference, profile: Profile | None) -> PullPreview:
        entry = self._pulls.entries.get_cached(reference)
        pull, risk = (entry.pull, entry.risk) if entry else self._read_pull(reference)
        touches = self._judge(pull, profile) if profile else None
        headline = entry.summary.headline if entry else ""
        name = profile.name if profile else ""
        zone = self._ranges.today().zone
        merged_on = get_today(pull.merged_at, zone).date if pull.merged_at else None
        return PullPreview(pull, merged_on, headline, risk, None, name, touches)

    def _read_pull(self, reference: Reference) -> tuple[PullRequest, Risk | None]:
        """Fetch a pull request that was not summarised, and rate it by its files."""
        pull = self._pulls.pulls.fetch_pull_request(reference.repository, reference.number)
        try:
            return pull, self._pulls.entries.rate_pull_request(self._pulls.pulls.load_files(pull))
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log.info("a preview without risk: %s", error)
            return pull, None

    def _judge(self, pull: PullRequest, profile: Profile) -> MergeTouches | None:
        """Return what a merge means for a profile, None for an open pull request or one that could not be read."""
        if not pull.is_merged:
            return None
        contract = self._pulls.contracts.read_merge(pull)
        judged = judge_merge(contract, ProfileIndex(profile))
        # a hit is one, whatever else could not be read
        return judged if judged.level > TouchLevel.NO or not contract.unread else None

    def _build_range(self, target: CommitRange, profile: Profile | None) -> RangePreview | None:
        first = self._ranges.pins.find_merge(target.repository, target.start)
        last = self._ranges.pins.find_merge(target.repository, target.end)
        if first is None or last is None or last.merge_time <= first.merge_time:
            return None
        zone = self._ranges.today().zone
        span = Span(get_today(first.merge_time, zone).date, get_today(last.merge_time, zone).date, zone)
        if len(span) > MAX_RANGE_DAYS:
            log.info("no preview of %s: %s days", target, len(span))
            return None
        merged = self._ranges.list_merges(target.repository, span)
        inside = tuple(
            pull
            for pull in merged.pulls
            if first.merge_time < pull.merge_time <= last.merge_time and pull.base == last.base
        )
        page = self._ranges.pages.build_from(
            target.repository, span, MergeList(inside, merged.caveats, merged.unavailable), profile
        )
        url = f"{last.web}/{target.repository}/compare/{target.start}...{target.end}"
        return RangePreview(target.start, target.end, url, page)

    def _find_profile(self, repository: Repository, channel: str) -> Profile | None:
        """Return the profile of the conversation's subscription to a repository, None without one."""
        subscriptions = self._profiles.list_subscriptions(channel)
        names = (
            each.view.profile
            for each in subscriptions
            if each.view.profile and str(each.repository).lower() == str(repository).lower()
        )
        name = next(names, "")
        return self._profiles.get_profile(name) if name else None


def _add_outcome(card: PullPreview, outcomes: Mapping[Reference, MergeOutcome]) -> PullPreview:
    return replace(card, outcome=outcomes.get(Reference(card.pull.repository, card.pull.number)))
