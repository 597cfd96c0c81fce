"""A digest as everything that gets posted: lead, thread and the report as a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from bot.domain.conversations.commands import LONGEST_OVERVIEW, DigestRequest
from bot.domain.digest.fingerprint import fingerprint_of
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
    """The messages of a digest. A day without merges has no thread and no report.

    ``merged`` counts all merges, shown or not; ``gaps`` are the parts that are missing and may become available.
    ``fingerprint`` is that of the digest's data: equal for digests that show the same. ``ratings`` are the ratings
    of what is shown, ``Rendered.told`` the states of the outcomes that the digest shows.
    """

    lead: Post
    thread: tuple[Post, ...]
    attachment: Attachment | None
    merged: int = 0
    gaps: tuple[str, ...] = ()
    fingerprint: str = ""
    ratings: Ratings | None = None
    told: tuple[str, ...] = ()

    def payload(self) -> dict[str, Any]:
        """Return the messages as Slack receives them."""
        return {"lead": self.lead.payload(), "thread": [post.payload() for post in self.thread]}


def render(digest: Digest, notes: Sequence[str] = ()) -> Rendered:
    """Render the digest of a day for Slack, with ``notes`` in small print."""
    top_post, fingerprint = _noted(lead(digest), notes), fingerprint_of(digest, notes)
    if not digest.entries:
        return Rendered(top_post, (), None, digest.merged, digest.gaps, fingerprint)
    menu = details_of(entry.pull for entry in _worth_opening(digest))
    file = _attachment([digest], str(digest.day.date))
    return Rendered(
        below(top_post, menu, ask()),
        thread(digest),
        file,
        digest.merged,
        digest.gaps,
        fingerprint,
        *_kept(digest),
    )


def render_days(catch_up: CatchUp, notes: Sequence[str] = ()) -> Rendered:
    """Render several days for Slack: one lead message, and every pull request in its thread."""
    top_post, fingerprint = _noted(catch_up_post(catch_up), notes), fingerprint_of(catch_up, notes)
    if not catch_up.whole.entries:
        return Rendered(top_post, (), None, catch_up.merged, catch_up.gaps, fingerprint)
    menu = details_of(entry.pull for entry in _worth_opening(catch_up.whole))
    file = _attachment(catch_up.digests, str(catch_up.span))
    return Rendered(
        below(top_post, menu, ask()),
        threads(catch_up.digests),
        file,
        catch_up.merged,
        catch_up.gaps,
        fingerprint,
        *_kept(catch_up.whole),
    )


def _kept(digest: Digest) -> tuple[Ratings, tuple[str, ...]]:
    """Return what is kept about a digest: the ratings and the states of its outcomes."""
    return ratings_of(digest), tuple(outcome.state for outcome in digest.outcomes)


def skipped_note(repository: Repository, span: Span) -> str:
    """Return which days were never posted, and how to see them all the same."""
    last = replace(span, first=max(span.first, span.last - timedelta(days=LONGEST_OVERVIEW - 1)))
    request = DigestRequest(repository, last, zone=span.zone)
    return f"Not posted, as I was away for too long: {span.title}. To see it: /prdigest {request}"


def _noted(post: Post, notes: Sequence[str]) -> Post:
    """Return the message with notes in small print."""
    return Post(post.text, (*post.blocks, *(context(note) for note in notes)))


def _worth_opening(digest: Digest) -> Iterator[Entry]:
    """Yield what the lead lists, then the other entries that readers may look for."""
    reverted_numbers = digest.taken_back
    to_act_on = {action.number for action in digest.actions}
    yield from digest.riskiest
    yield from (entry for entry in digest.entries if entry.number in reverted_numbers | to_act_on)
    yield from (entry for entry in digest.entries if not entry.summary.is_trivial)


def _attachment(digests: Sequence[Digest], date: str) -> Attachment:
    """Build the file of the report."""
    first = digests[0]
    stem = _UNSAFE.sub("-", first.name).strip("-.") or "report"
    parts = (stem, date, first.view.mark)
    return Attachment(
        name=f"{'-'.join(part for part in parts if part)}.md",
        title=f"{'Report' if first.view else 'Full report'} of {date}",
        text="".join(report(digest) for digest in digests),
    )
