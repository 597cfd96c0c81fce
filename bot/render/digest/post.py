"""A digest as everything that gets posted: lead, thread and the report as a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from bot.domain.conversations.commands import LONGEST_OVERVIEW, DigestRequest
from bot.domain.digest.models import Digest, Entry
from bot.domain.digest.multi_day import CatchUp
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.domain.track_record.posted_ratings import Ratings, ratings_of
from bot.ports import Attachment, Post
from bot.render.blocks.buttons import ask, below, details_of
from bot.render.blocks.rich_text import context
from bot.render.digest.lead import lead
from bot.render.digest.multi_day import catch_up_post
from bot.render.digest.report import report
from bot.render.digest.thread import thread, threads

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Rendered:
    """What goes to Slack. A day without merges has no thread and no report.

    ``merged`` counts what was merged, shown or not; ``gaps`` is what is missing and may be had later. ``unpriced``
    is the lead less what building it cost this time, by which two digests are told apart; else the lead itself.
    ``ratings`` is what the rules said of what is shown, ``told`` are the states of the outcomes that it tells of.
    """

    lead: Post
    thread: tuple[Post, ...]
    attachment: Attachment | None
    merged: int = 0
    gaps: tuple[str, ...] = ()
    unpriced: Post | None = None
    ratings: Ratings | None = None
    told: tuple[str, ...] = ()

    def payload(self) -> dict[str, Any]:
        """The messages as Slack takes them."""
        return {"lead": self.lead.payload(), "thread": [post.payload() for post in self.thread]}


def render(digest: Digest, notes: Sequence[str] = ()) -> Rendered:
    """Render the digest of a day for Slack, with ``notes`` in small print."""
    top, unpriced = (_noted(lead(each), notes) for each in (digest, digest.unpriced))
    if not digest.entries:
        return Rendered(top, (), None, digest.merged, digest.gaps)
    menu = details_of(entry.pull for entry in _worth_opening(digest))
    file = _attachment([digest], str(digest.day.date))
    return Rendered(
        below(top, menu, ask()), thread(digest), file, digest.merged, digest.gaps, unpriced, *_kept(digest)
    )


def render_days(found: CatchUp, notes: Sequence[str] = ()) -> Rendered:
    """Render several days for Slack: one lead message, and every pull request in its thread."""
    top, unpriced = (_noted(catch_up_post(each), notes) for each in (found, found.unpriced))
    if not found.whole.entries:
        return Rendered(top, (), None, found.merged, found.gaps)
    menu = details_of(entry.pull for entry in _worth_opening(found.whole))
    file = _attachment(found.digests, str(found.span))
    return Rendered(
        below(top, menu, ask()),
        threads(found.digests),
        file,
        found.merged,
        found.gaps,
        unpriced,
        *_kept(found.whole),
    )


def _kept(digest: Digest) -> tuple[Ratings, tuple[str, ...]]:
    return ratings_of(digest), tuple(found.state for found in digest.outcomes)


def skipped_note(repository: Repository, span: Span) -> str:
    """What was never posted, and how to see it all the same."""
    last = replace(span, first=max(span.first, span.last - timedelta(days=LONGEST_OVERVIEW - 1)))
    request = DigestRequest(repository, last, zone=span.zone)
    return f"Not posted, as I was away for too long: {span.title}. To see it: /prdigest {request}"


def _noted(post: Post, notes: Sequence[str]) -> Post:
    return Post(post.text, (*post.blocks, *(context(note) for note in notes)))


def _worth_opening(digest: Digest) -> Iterator[Entry]:
    """What the lead names first, then whatever else a reader may look for."""
    gone = digest.taken_back
    to_act_on = {action.number for action in digest.actions}
    yield from digest.riskiest
    yield from (entry for entry in digest.entries if entry.number in gone | to_act_on)
    yield from (entry for entry in digest.entries if not entry.summary.is_trivial)


def _attachment(digests: Sequence[Digest], date: str) -> Attachment:
    first = digests[0]
    stem = _UNSAFE.sub("-", first.name).strip("-.") or "report"
    parts = (stem, date, first.view.mark)
    return Attachment(
        name=f"{'-'.join(part for part in parts if part)}.md",
        title=f"{'Report' if first.view else 'Full report'} of {date}",
        text="".join(report(digest) for digest in digests),
    )
