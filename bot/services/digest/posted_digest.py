"""The record of a digest that is being posted, or was: what a later try, a mend or an amendment goes on from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from bot.domain.history.outcomes import MergeOutcome
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.time.date_range import Span, parse_exact_span
from bot.domain.track_record.posted_ratings import PostedRatings, merge_ratings
from bot.ports.cached_json import load_or_none
from bot.ports.record_codec import COUNT, FLAG, INSTANT, NUMBER, TEXT, TEXTS, Record, RecordCodec, declare_field
from bot.services.digest.posting_plan import RATINGS_ADAPTER, PostingPlan
from bot.services.history.merge_timeline import LOOK_AHEAD

_SPEC_ADAPTER = TypeAdapter(DigestSpec)


class DigestState(StrEnum):
    """How far the posting of a digest came; it only ever goes on in this order."""

    NEW = "new"
    """Nobody has begun; a digest that was only tried or skipped is new too."""
    PLANNED = "planned"
    """The messages are recorded, and none may stand."""
    LEAD_POSTED = "lead posted"
    """Parts of the thread or the report may be missing."""
    POSTED = "posted"
    AMENDED = "amended"
    """What became of its pull requests since is written behind their lines."""


@dataclass(frozen=True, slots=True)
class PostedDigest(Record):
    """A digest of one channel. Texts that end in ``_parse_object`` are read when they are asked for: most are not.

    Times are aware. ``lead`` is the timestamp of the lead message, ``text`` what it says in short. ``gaps`` is
    what is missing and may be had later. ``plan_json`` are the messages to post, ``posted_json`` those that were,
    kept as long as they may be amended. ``told`` are the states of the outcomes that the digest told of,
    ``amended`` those that were written into it since. ``payer`` pays for mending it; empty: the bot. ``mark`` is
    the fingerprint of the version before: of a rendering. ``skipped`` are days before it that were never posted.
    """

    begun_at: datetime | None = declare_field("begun", INSTANT)
    plan_json: str = declare_field("plan", TEXT)
    lead: str = declare_field("lead", TEXT)
    posted_at: datetime | None = declare_field("done", INSTANT)
    permalink: str = declare_field("address", TEXT)
    text: str = declare_field("text", TEXT)
    merged_count: int | None = declare_field("merged", NUMBER)
    gaps: tuple[str, ...] = declare_field("gaps", TEXTS)
    fingerprint: str = declare_field("fingerprint", TEXT)
    rendering_fingerprint: str = declare_field("shown", TEXT)
    file_fingerprint: str = declare_field("filed", TEXT)
    corrections: int = declare_field("corrected", COUNT)
    posted_json: str = declare_field("posted", TEXT)
    ratings_json: str = declare_field("ratings", TEXT)
    outcome_states: tuple[str, ...] = declare_field("told", TEXTS)
    amended_states: str = declare_field("amended", TEXT)
    spec_json: str = declare_field("edition", TEXT)
    payer: str = declare_field("payer", TEXT)
    repair_attempts: int = declare_field("mends", COUNT)
    attempts: int = declare_field("tries", COUNT)
    retry_at: datetime | None = declare_field("retry", INSTANT)
    error: str = declare_field("error", TEXT)
    must_be_fixed_by_person: bool = declare_field("person", FLAG)
    is_abandoned: bool = declare_field("hopeless", FLAG)
    skipped_days: str = declare_field("skipped", TEXT)

    @property
    def state(self) -> DigestState:
        """How far it came. It follows from what is recorded, so that no crash leaves the two apart."""
        if self.posted_at:
            return DigestState.AMENDED if self.amended_states else DigestState.POSTED
        if self.lead:
            return DigestState.LEAD_POSTED
        return DigestState.PLANNED if self.begun_at or self.plan_json else DigestState.NEW

    @property
    def is_posted(self) -> bool:
        """Whether all of it stands."""
        return self.posted_at is not None

    @property
    def plan(self) -> PostingPlan | None:
        """What an earlier try was about to post."""
        return PostingPlan.load(self.plan_json) if self.plan_json else None

    @property
    def posted_messages(self) -> PostingPlan | None:
        """The messages as they were posted, while they may be amended."""
        return PostingPlan.load(self.posted_json) if self.posted_json else None

    @property
    def ratings(self) -> PostedRatings | None:
        """What the rules said; None where it can't be read."""
        return load_or_none(RATINGS_ADAPTER, self.ratings_json or None)

    @property
    def spec(self) -> DigestSpec | None:
        """Which digest it is; None until the posting was noted."""
        return load_or_none(_SPEC_ADAPTER, self.spec_json or None)

    def parse_skipped_days(self, zone: ZoneInfo) -> Span | None:
        """Return the days before it that were never posted, if there are any."""
        return parse_exact_span(self.skipped_days, zone) if self.skipped_days else None

    def has_same_content(self, plan: PostingPlan) -> bool:
        """Whether what stands tells the same as a plan.

        The version before knew digests by their rendering, which a new version makes otherwise: such a digest
        tells the same where nothing else is missing and its thread reads the same.
        """
        if self.fingerprint:
            return self.fingerprint == plan.fingerprint
        posted = self.posted_messages if self.rendering_fingerprint else None
        # as it would come out of a record
        again = PostingPlan.load(plan.dump())
        return posted is not None and (posted.gaps, posted.thread) == (again.gaps, again.thread)

    def select_new_outcomes(self, outcomes: Iterable[MergeOutcome]) -> list[MergeOutcome]:
        """Return what it did not tell of when it was posted, or told otherwise, and came within two weeks."""
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
        """Return the record of a try that is about to post."""
        return replace(self, begun_at=at)

    def record_plan(self, plan: PostingPlan) -> PostedDigest:
        """Return it planned: from now on a try finishes this text once its lead stands."""
        return replace(self, plan_json=plan.dump())

    def record_lead(self, lead: str) -> PostedDigest:
        """Return it with the lead message posted."""
        return replace(self, lead=lead)

    def complete(self, plan: PostingPlan, address: str, at: datetime) -> PostedDigest:
        """Return it posted."""
        return replace(
            self._record_messages(plan), posted_at=at, plan_json="", permalink=address, ratings_json=plan.ratings
        )

    def begin_revision(self) -> PostedDigest:
        """Return it while it is edited: a try that breaks off leaves a mixture, which tells what no plan does."""
        return replace(self, fingerprint="", rendering_fingerprint="")

    def complete_revision(self, plan: PostingPlan, corrections: int) -> PostedDigest:
        """Return it edited. A list is held to what was known when it was posted; what it lacked is added."""
        ratings = _merge_ratings_json(self.ratings_json, plan.ratings)
        return replace(self._record_messages(plan), corrections=corrections, ratings_json=ratings)

    def _record_messages(self, plan: PostingPlan) -> PostedDigest:
        return replace(
            self,
            text=plan.lead["text"],
            merged_count=plan.merged,
            gaps=plan.gaps,
            fingerprint=plan.fingerprint,
            rendering_fingerprint=plan.mark,
            file_fingerprint=plan.file_fingerprint,
            posted_json=plan.messages.dump(),
            outcome_states=plan.told,
            amended_states="",
        )

    def record_amendment(self, news: Iterable[MergeOutcome]) -> PostedDigest:
        """Return it with what was written into it since; with none, as it was posted."""
        return replace(self, amended_states=build_state_key(news))

    def forget_messages(self) -> PostedDigest:
        """Return it without the messages, by far the largest part: it is too old to be amended."""
        return replace(self, posted_json="")

    # scheduling

    def record_posting(self, spec: DigestSpec, payer: str) -> PostedDigest:
        """Return it after all was noted that follows from a post; ``payer`` asked for it, empty: nobody did."""
        return replace(self, spec_json=_SPEC_ADAPTER.dump_json(spec).decode(), payer=payer)

    def bill_to_bot(self) -> PostedDigest:
        """Return it mended at the cost of the bot, whoever asked for it."""
        return replace(self, payer="")

    def reset_repairs(self) -> PostedDigest:
        """Return it as one that nobody has tried to mend yet."""
        return replace(self, repair_attempts=0)

    def count_repair(self) -> PostedDigest:
        """Return it with one more try to mend it."""
        return replace(self, repair_attempts=self.repair_attempts + 1)

    def record_failure(self, error: str, retry_at: datetime, *, needs_person: bool) -> PostedDigest:
        """Return it with one more try that ended with an error."""
        return replace(
            self, error=error, retry_at=retry_at, must_be_fixed_by_person=needs_person, attempts=self.attempts + 1
        )

    def record_abandonment(self, error: str) -> PostedDigest:
        """Return it as one that no try can post."""
        return replace(self, error=error, is_abandoned=True)

    def record_skipped_days(self, days: Span) -> PostedDigest:
        """Return it as the first digest after days that were never posted."""
        return replace(self, skipped_days=str(days))


# version 1 is the first that is written; its fields are those of before, and ``fingerprint``
POSTED_DIGEST_CODEC = RecordCodec(PostedDigest, version=1)


def build_state_key(news: Iterable[MergeOutcome]) -> str:
    """Return what is equal for equal news; empty for none."""
    return " ".join(sorted(outcome.state_key for outcome in news))


def _merge_ratings_json(earlier: str, later: str) -> str:
    """Return what was recorded earlier, with what the digest lacked then."""
    first, second = load_or_none(RATINGS_ADAPTER, earlier), load_or_none(RATINGS_ADAPTER, later)
    if first is None or second is None:
        return earlier or later
    return RATINGS_ADAPTER.dump_json(merge_ratings(first, second)).decode()
