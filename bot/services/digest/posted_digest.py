"""The record of a digest that is being posted, or was: the basis of later attempts, repairs and amendments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.time.date_range import Span, parse_exact_span
from bot.domain.track_record.posted_ratings import PostedRatings, merge_ratings
from bot.platform.costs import Expense
from bot.platform.store.spending import to_microdollars
from bot.ports.codecs.cached_json import load_or_none
from bot.ports.codecs.record_codec import RecordCodec
from bot.services.digest.posting_plan import RATINGS_ADAPTER, PostingPlan
from bot.services.history.merge_timeline import LOOK_AHEAD

_SPEC_ADAPTER = TypeAdapter(DigestSpec)


class DigestState(StrEnum):
    """The progress of posting a digest; the states follow one another in this order."""

    NEW = "new"
    """Not begun; a digest for which attempts failed, or that was skipped, is new too."""
    PLANNED = "planned"
    """The messages are recorded, and perhaps none is posted."""
    LEAD_POSTED = "lead posted"
    """Parts of the thread or the report may be missing."""
    POSTED = "posted"
    AMENDED = "amended"
    """The later outcomes of its pull requests are added to their lines."""


@dataclass(frozen=True, slots=True)
class PostedDigest:
    """The record of a digest in one channel. Fields that end in ``_json`` are parsed on access: most never are.

    Times are aware. ``lead`` is the timestamp of the lead message, ``text`` its short form. ``gaps`` are parts
    that are missing and may be available later. ``plan_json`` are the messages to post, ``posted_json`` those that
    were posted, kept as long as they may be amended. ``outcome_states`` are the states of the outcomes that the
    digest mentioned when it was posted, ``amended_states`` of those that were added since. ``payer`` pays for
    repairs, the bot if it is empty. ``skipped_days`` are the days before it that were never posted. ``tokens``
    and ``microdollars`` (millionths of a US dollar) are what all attempts and repairs took.
    """

    begun_at: datetime | None = None
    plan_json: str = ""
    lead: str = ""
    posted_at: datetime | None = None
    permalink: str = ""
    text: str = ""
    merged_count: int | None = None
    gaps: tuple[str, ...] = ()
    fingerprint: str = ""
    file_fingerprint: str = ""
    corrections: int = 0
    posted_json: str = ""
    ratings_json: str = ""
    outcome_states: tuple[str, ...] = ()
    amended_states: str = ""
    spec_json: str = ""
    payer: str = ""
    repair_attempts: int = 0
    attempts: int = 0
    retry_at: datetime | None = None
    error: str = ""
    must_be_fixed_by_person: bool = False
    is_abandoned: bool = False
    skipped_days: str = ""
    tokens: int = 0
    microdollars: int = 0

    @property
    def state(self) -> DigestState:
        """The state of posting. It is derived from the other fields, so that no crash makes them differ."""
        if self.posted_at:
            return DigestState.AMENDED if self.amended_states else DigestState.POSTED
        if self.lead:
            return DigestState.LEAD_POSTED
        return DigestState.PLANNED if self.begun_at or self.plan_json else DigestState.NEW

    @property
    def is_posted(self) -> bool:
        """Whether all of it is posted."""
        return self.posted_at is not None

    @property
    def plan(self) -> PostingPlan | None:
        """The plan of an attempt that is not finished."""
        return PostingPlan.load(self.plan_json) if self.plan_json else None

    @property
    def posted_messages(self) -> PostingPlan | None:
        """The messages as they were posted, while they may be amended."""
        return PostingPlan.load(self.posted_json) if self.posted_json else None

    @property
    def ratings(self) -> PostedRatings | None:
        """The ratings of its pull requests; None if they can't be parsed."""
        return load_or_none(RATINGS_ADAPTER, self.ratings_json or None)

    @property
    def spec(self) -> DigestSpec | None:
        """The digest that it is of; None until it is posted."""
        return load_or_none(_SPEC_ADAPTER, self.spec_json or None)

    def parse_skipped_days(self, zone: ZoneInfo) -> Span | None:
        """Return the days before it that were never posted, if there are any."""
        return parse_exact_span(self.skipped_days, zone) if self.skipped_days else None

    def select_new_outcomes(self, outcomes: Iterable[MergeOutcome]) -> list[MergeOutcome]:
        """Return the outcomes within two weeks that the posted digest does not have, or has in another state."""
        ratings = self.ratings
        if ratings is None:
            return []
        shown = {rated.number for rated in ratings.rated}
        return [
            outcome
            for outcome in outcomes
            if (outcome.pull.number in shown or outcome.pair_key in self.outcome_states)
            and outcome.state_key not in self.outcome_states
            and outcome.lifetime <= LOOK_AHEAD
        ]

    # posting

    def begin_posting(self, at: datetime) -> PostedDigest:
        """Return the record of an attempt that is about to post."""
        return replace(self, begun_at=at)

    def record_plan(self, plan: PostingPlan) -> PostedDigest:
        """Return the record with a plan: once the lead is posted, later attempts post this plan."""
        return replace(self, plan_json=plan.dump())

    def record_lead(self, lead: str) -> PostedDigest:
        """Return the record with the lead message posted."""
        return replace(self, lead=lead)

    def complete(self, plan: PostingPlan, address: str, at: datetime) -> PostedDigest:
        """Return the record of the posted digest."""
        return replace(
            self._record_messages(plan), posted_at=at, plan_json="", permalink=address, ratings_json=plan.ratings
        )

    def begin_revision(self) -> PostedDigest:
        """Return the record without a fingerprint: an interrupted revision leaves a mixture of two plans."""
        return replace(self, fingerprint="")

    def complete_revision(self, plan: PostingPlan, corrections: int) -> PostedDigest:
        """Return the record of the revised digest. Its ratings stay as posted; only missing ones are added."""
        ratings = _merge_ratings_json(self.ratings_json, plan.ratings)
        return replace(self._record_messages(plan), corrections=corrections, ratings_json=ratings)

    def _record_messages(self, plan: PostingPlan) -> PostedDigest:
        return replace(
            self,
            text=plan.lead["text"],
            merged_count=plan.merged,
            gaps=plan.gaps,
            fingerprint=plan.fingerprint,
            file_fingerprint=plan.file_fingerprint,
            posted_json=plan.messages.dump(),
            outcome_states=plan.outcome_states,
            amended_states="",
        )

    def record_amendment(self, news: Iterable[MergeOutcome]) -> PostedDigest:
        """Return the record with the outcomes that were added to the digest; none if there are none any more."""
        return replace(self, amended_states=build_state_key(news))

    def forget_messages(self) -> PostedDigest:
        """Return the record without the messages, by far its largest part: the digest is too old to be amended."""
        return replace(self, posted_json="")

    # scheduling

    def record_posting(self, spec: DigestSpec, payer: str, expense: Expense) -> PostedDigest:
        """Return the record after all consequences of a post, which took ``expense``.

        ``payer`` requested it; empty if nobody did.
        """
        return replace(
            self,
            spec_json=_SPEC_ADAPTER.dump_json(spec).decode(),
            payer=payer,
        ).add_expense(expense)

    def add_expense(self, expense: Expense) -> PostedDigest:
        """Return the record with what an attempt or a repair took."""
        return replace(
            self,
            tokens=self.tokens + expense.tokens,
            microdollars=self.microdollars + to_microdollars(expense.dollars),
        )

    def bill_to_bot(self) -> PostedDigest:
        """Return the record of a digest whose repairs the bot pays for."""
        return replace(self, payer="")

    def reset_repairs(self) -> PostedDigest:
        """Return the record without attempts at a repair."""
        return replace(self, repair_attempts=0)

    def count_repair(self) -> PostedDigest:
        """Return the record with one more attempt at a repair."""
        return replace(self, repair_attempts=self.repair_attempts + 1)

    def record_failure(self, error: str, retry_at: datetime, *, needs_person: bool) -> PostedDigest:
        """Return the record with one more attempt that failed."""
        return replace(
            self, error=error, retry_at=retry_at, must_be_fixed_by_person=needs_person, attempts=self.attempts + 1
        )

    def record_abandonment(self, error: str) -> PostedDigest:
        """Return the record of a digest that no attempt can post."""
        return replace(self, error=error, is_abandoned=True)

    def record_skipped_days(self, days: Span) -> PostedDigest:
        """Return the record of the first digest after days that were never posted."""
        return replace(self, skipped_days=str(days))


POSTED_DIGEST_CODEC = RecordCodec(PostedDigest, version=1)


def build_state_key(outcomes: Iterable[MergeOutcome]) -> str:
    """Return a key that is equal for equal outcomes; empty for none."""
    return " ".join(sorted(outcome.state_key for outcome in outcomes))


def _merge_ratings_json(earlier: str, later: str) -> str:
    """Return the earlier ratings, with those that the digest lacked then."""
    first, second = load_or_none(RATINGS_ADAPTER, earlier), load_or_none(RATINGS_ADAPTER, later)
    if first is None or second is None:
        return earlier or later
    return RATINGS_ADAPTER.dump_json(merge_ratings(first, second)).decode()
