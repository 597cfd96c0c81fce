"""What teams say about hits: recorded, and shown in every digest that has the hit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bot.domain.keyspace.digest_keys import parse_digest_key
from bot.domain.touches.decisions import HitKey, TouchDecision
from bot.ports import PostedDigestIndex
from bot.render.blocks.button_values import HitVote
from bot.render.digest.touches import name_verdict_row
from bot.services.digest.records import DigestRecords
from bot.services.history.outcome_watcher import WATCH_PERIOD, OutcomeWatcher

if TYPE_CHECKING:
    # it is a feature, and so is this soon
    from bot.features.profiles.service import Profiles

# what the outcomes of merges were an hour ago is still shown; the next check edits what is new
_OUTCOMES_AGE = timedelta(hours=1)


class HitVotes:
    """Service that records decisions and shows them."""

    def __init__(
        self,
        record: Callable[[str, TouchDecision], None],
        profiles: Profiles,
        index: PostedDigestIndex,
        records: DigestRecords,
        watcher: OutcomeWatcher,
        now: Callable[[], datetime],
    ) -> None:
        self._record = record
        self._profiles = profiles
        self._index = index
        self._records = records
        self._watcher = watcher
        self._now = now

    def record_vote(self, vote: HitVote, user: str, at: datetime) -> None:
        """Record what a user said at an instant (aware). A vote that is recorded again changes nothing.

        Raises:
            UsageError: the profile is gone.
            StoreUnavailable: nothing was recorded.
        """
        self._profiles.require_known(vote.profile, vote.reference.repository)
        decision = TouchDecision(HitKey(vote.reference), vote.verdict, user, at.astimezone(UTC))
        self._record(vote.profile, decision)

    def show_vote(self, vote: HitVote) -> None:
        """Edit the digests that have the hit.

        Raises:
            PostingInProgress, SlackUnavailable, StoreUnavailable: an unknown part is done; another call does the
                rest.
        """
        for key in self._find_digests(vote):
            self._watcher.amend_digest(key, self._now() - _OUTCOMES_AGE)

    def _find_digests(self, vote: HitVote) -> Iterator[str]:
        """Yield the keys of the recent digests with the buttons of the hit."""
        now, row = self._now(), name_verdict_row(vote.reference.number)
        keys = self._index.list_between(vote.reference.repository, now - WATCH_PERIOD, now)
        partial = [key for key in keys if (parts := parse_digest_key(key)) and parts.view]
        for key, record in self._records.iterate_records(partial):
            spec = record.spec
            messages = record.posted_messages if spec and spec.view.profile == vote.profile else None
            if messages and messages.has_block(row):
                yield key
