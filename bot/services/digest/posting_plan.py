"""The messages of a digest as they are recorded before the first one is posted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from pydantic import TypeAdapter

from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.touches.decisions import TouchDecision
from bot.domain.track_record.posted_ratings import PostedRatings
from bot.features.digest.marks import add_outcomes
from bot.features.digest.view import RenderedDigest
from bot.features.touches.marks import add_decisions
from bot.ports import Attachment
from bot.ports.codecs.versioned_json import VersionedJson

RATINGS_ADAPTER = TypeAdapter(PostedRatings)


@dataclass(frozen=True, slots=True)
class PostingPlan:
    """The messages of a digest and its report. ``fingerprint`` is equal for digests of equal content.

    ``ratings`` is JSON. ``outcome_states`` are the states of the outcomes that the messages mention.
    """

    lead: Mapping[str, Any]
    thread: tuple[Mapping[str, Any], ...]
    attachment: Attachment | None
    merged: int = 0
    gaps: tuple[str, ...] = ()
    fingerprint: str = ""
    ratings: str = ""
    outcome_states: tuple[str, ...] = ()

    @classmethod
    def from_rendered(cls, rendered: RenderedDigest) -> PostingPlan:
        """Build the plan of a rendered digest."""
        return cls(
            rendered.lead.build_payload(),
            tuple(post.build_payload() for post in rendered.thread),
            rendered.attachment,
            rendered.merged,
            rendered.gaps,
            rendered.fingerprint,
            RATINGS_ADAPTER.dump_json(rendered.ratings).decode() if rendered.ratings else "",
            rendered.outcome_states,
        )

    def dump(self) -> str:
        """Return the plan as JSON, as it is recorded."""
        return _PLAN_JSON.dump_text(self)

    @staticmethod
    def load(text: str) -> PostingPlan:
        """Load a plan from a record. Raises StoreUnavailable for one of another version."""
        return _PLAN_JSON.load_text(text)

    @property
    def file_fingerprint(self) -> str:
        """A hash that is equal for reports of equal text; empty without a report."""
        return sha256(self.attachment.text.encode()).hexdigest()[:16] if self.attachment else ""

    @property
    def messages(self) -> PostingPlan:
        """The plan without the report and the ratings: the part that may be amended later."""
        return replace(self, attachment=None, ratings="")

    def build_corrected_report(self, times: int) -> Attachment | None:
        """Return the report under another name: files in Slack can't be edited, so the wrong one stays."""
        if self.attachment is None:
            return None
        stem, _, ending = self.attachment.name.rpartition(".")
        again = f"-{times}" if times > 1 else ""
        title = f"{self.attachment.title}, corrected"
        return replace(self.attachment, name=f"{stem}-corrected{again}.{ending}", title=title)

    def has_block(self, block_id: str) -> bool:
        """Return whether a message of the plan has a block with an id."""
        blocks = (block for post in (self.lead, *self.thread) for block in post.get("blocks", ()))
        return any(block.get("block_id") == block_id for block in blocks)

    def add_decisions(self, decisions: Mapping[int, TouchDecision]) -> PostingPlan:
        """Return the plan with what a team said about the hits of its messages."""
        if not decisions:
            return self
        lead, *posts = (add_decisions(post, decisions) for post in (self.lead, *self.thread))
        return replace(self, lead=lead, thread=tuple(posts))

    def add_outcomes(self, outcomes: Sequence[MergeOutcome]) -> PostingPlan:
        """Return the messages with the outcomes of pull requests added to their lines."""
        lead, *posts = (add_outcomes(post, outcomes, self.outcome_states) for post in (self.lead, *self.thread))
        return replace(self.messages, lead=lead, thread=tuple(posts))


_PLAN_JSON = VersionedJson(PostingPlan, 1)
