"""What teams say about hits: recorded, and shown in every digest that has the hit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.errors import PostingInProgress
from bot.domain.keyspace.keys import parse_digest_key
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.models import DigestSpec
from bot.ports import PostedDigestIndex
from bot.render.blocks.button_values import HitVote
from bot.render.digest.decisions import HitDecision
from bot.render.digest.hits import name_choice_row
from bot.services.digest.records import DigestRecords
from bot.services.history.outcome_watcher import WATCH_PERIOD, OutcomeWatcher
from bot.services.profile.known_profiles import KnownProfiles

log = logging.getLogger(__name__)

# what the outcomes of merges were an hour ago is still shown; the next check edits what is new
_OUTCOMES_AGE = timedelta(hours=1)


class HitDecisions(Protocol):
    """The last decision on each hit. Every method may raise StoreUnavailable."""

    def record_decision(self, vote: HitVote, decision: HitDecision) -> None:
        """Record a decision in place of an earlier one; one that is older than the recorded one changes nothing."""

    def list_decisions(self, profile: str, repository: Repository) -> Mapping[int, HitDecision]:
        """Return the decisions for a profile by the numbers of pull requests."""


class HitVotes:
    """Service that records decisions and shows them."""

    def __init__(
        self,
        decisions: HitDecisions,
        profiles: KnownProfiles,
        index: PostedDigestIndex,
        records: DigestRecords,
        watcher: OutcomeWatcher,
        now: Callable[[], datetime],
    ) -> None:
        self._decisions = decisions
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
        self._profiles.require_known(vote.profile)
        self._decisions.record_decision(vote, HitDecision(vote.choice, user, at))

    def show_vote(self, vote: HitVote) -> None:
        """Edit the digests that have the hit.

        Raises:
            SlackUnavailable, StoreUnavailable: an unknown part is done; another call does the rest.
        """
        for key in self._find_digests(vote):
            try:
                self._watcher.amend_digest(key, self._now() - _OUTCOMES_AGE)
            except PostingInProgress as error:
                # who posts or edits it reads the decisions too
                log.info("%s: %s", key, error)

    def _find_digests(self, vote: HitVote) -> Iterator[str]:
        """Yield the keys of the recent digests with the buttons of the hit."""
        now, row = self._now(), f'"{name_choice_row(vote.reference.number)}"'
        keys = self._index.list_between(vote.reference.repository, now - WATCH_PERIOD, now)
        partial = [key for key in keys if (parts := parse_digest_key(key)) and parts.view]
        for key, record in self._records.iterate_records(partial):
            spec = record.spec
            if spec and spec.view.profile == vote.profile and row in record.posted_json:
                yield key


def list_decisions_of(decisions: HitDecisions, spec: DigestSpec) -> Mapping[int, HitDecision]:
    """Return the decisions on the hits of a digest. Raises StoreUnavailable."""
    return decisions.list_decisions(spec.view.profile, spec.repository) if spec.view.profile else {}
