"""What is kept of digests: the record of each, from which later attempts, repairs and amendments go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from bot.dates import Span, parse_exact_span
from bot.features.digest.rules import DigestSpec
from bot.features.digest.view import RenderedDigest
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.timeline import LOOK_AHEAD
from bot.features.risks.ratings import PostedRatings
from bot.platform.store.codecs import RecordCodec, VersionedJson, load_or_none
from bot.platform.store.records import RecordStore
from bot.platform.store.tables import Index

_RATINGS = TypeAdapter(PostedRatings)
PLANS = VersionedJson(RenderedDigest, 1)
_SPEC = TypeAdapter(DigestSpec)
# a record holds the texts of its digest too, some tens of kilobytes
_BATCH_SIZE = 50

# of a repository in lower case, since GitHub ignores the case of names
POSTED_DIGESTS = Index("issued:{repository}", "keys of digests, by the end of their last day")


@dataclass(frozen=True, slots=True)
class PostedDigest:
    """The record of a digest in one channel. Fields that end in ``_json`` are parsed on access: most never are.

    A field is written by itself, so those who write different ones do not disturb each other. Times are aware.

    Of posting: the messages are planned (``plan_json``, ``begun_at``), then the first one stands (``lead``, its
    timestamp, and ``text``, its short form), then all of it (``posted_at``). ``gaps`` are parts that are missing
    and may be available later. ``posted_json`` are the messages that were posted, kept as long as they may be
    amended. ``outcome_states`` are the states of the outcomes that the digest mentioned when it was posted,
    ``amended_states`` of those that were added since.

    Of the schedule: ``payer`` pays for repairs, the bot if it is empty. ``skipped_days`` are the days before it
    that were never posted. ``tokens`` and ``microdollars`` (millionths of a US dollar) are what all attempts and
    repairs took. ``spec_json`` is written when all consequences of the post are recorded.
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
    def is_posted(self) -> bool:
        return self.posted_at is not None

    @property
    def plan(self) -> RenderedDigest | None:
        """The plan of an attempt that is not finished. Raises StoreUnavailable for one of a later version."""
        return PLANS.load_text(self.plan_json) if self.plan_json else None

    @property
    def posted_messages(self) -> RenderedDigest | None:
        """The messages as they were posted. Raises StoreUnavailable for those of a later version."""
        return PLANS.load_text(self.posted_json) if self.posted_json else None

    @property
    def ratings(self) -> PostedRatings | None:
        """The ratings of its pull requests; None if they can't be parsed."""
        return load_or_none(_RATINGS, self.ratings_json or None)

    @property
    def spec(self) -> DigestSpec | None:
        """The digest that it is of; None until it is posted."""
        return load_or_none(_SPEC, self.spec_json or None)

    def parse_skipped_days(self, zone: ZoneInfo) -> Span | None:
        return parse_exact_span(self.skipped_days, zone) if self.skipped_days else None

    def keep_spec(self, spec: DigestSpec) -> PostedDigest:
        return replace(self, spec_json=_SPEC.dump_json(spec).decode())

    def keep_messages(self, plan: RenderedDigest) -> PostedDigest:
        """Return the record with what was posted: without the report and the ratings, which are not amended."""
        return replace(
            self,
            text=plan.lead.text,
            merged_count=plan.merged,
            gaps=plan.gaps,
            fingerprint=plan.fingerprint,
            file_fingerprint=compute_file_fingerprint(plan),
            posted_json=PLANS.dump_text(replace(plan, attachment=None, ratings=None)),
            outcome_states=plan.outcome_states,
            amended_states="",
        )

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


RECORDS = RecordCodec(PostedDigest, version=1)


def compute_file_fingerprint(plan: RenderedDigest) -> str:
    """Return a hash that is equal for reports of equal text; empty without a report."""
    return sha256(plan.attachment.text.encode()).hexdigest()[:16] if plan.attachment else ""


def dump_ratings(ratings: PostedRatings | None) -> str:
    return _RATINGS.dump_json(ratings).decode() if ratings else ""


def build_state_key(outcomes: Iterable[MergeOutcome]) -> str:
    """Return a key that is equal for equal outcomes; empty for none."""
    return " ".join(sorted(outcome.state_key for outcome in outcomes))


@dataclass(frozen=True, slots=True)
class TrackedDigest:
    """A digest, the key of its record, and the record as it was when it was loaded."""

    spec: DigestSpec
    key: str
    record: PostedDigest


class DigestRecords:
    """The records of digests in a ``store``. ``team`` returns the id of the bot's workspace.

    Every method may raise StoreUnavailable, the first two what ``team`` raises.
    """

    def __init__(self, store: RecordStore[PostedDigest], team: Callable[[], str]) -> None:
        self.store = store
        self._team = team

    def find_digest(self, spec: DigestSpec) -> TrackedDigest:
        return self.find_digests([spec])[0]

    def find_digests(self, specs: Sequence[DigestSpec]) -> Sequence[TrackedDigest]:
        team = self._team()
        keys = [spec.build_key(team) for spec in specs]
        return list(map(TrackedDigest, specs, keys, self.store.load_each(keys)))

    def load_digest(self, key: str) -> TrackedDigest | None:
        """Return the digest of a key; None if its record does not say that it was posted."""
        record = self.store.load(key)
        spec = record.spec
        return TrackedDigest(spec, key, record) if spec else None

    def iterate_records(self, keys: Sequence[str]) -> Iterator[tuple[str, PostedDigest]]:
        """Load the records in batches: those of a month of a hundred channels take hundreds of megabytes."""
        for at in range(0, len(keys), _BATCH_SIZE):
            some = keys[at : at + _BATCH_SIZE]
            yield from zip(some, self.store.load_each(some), strict=True)
