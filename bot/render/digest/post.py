"""A digest as everything that gets posted: lead, thread and the report as a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from bot.domain.conversations.commands import MAX_DIGEST_DAYS, DigestRequest
from bot.domain.digest.fingerprint import compute_fingerprint
from bot.domain.digest.models import Digest, Entry
from bot.domain.digest.multi_day import MultiDayDigest
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.domain.track_record.posted_ratings import PostedRatings, collect_ratings
from bot.ports import Attachment, Post
from bot.render.blocks.buttons import add_buttons, make_ask_button, make_details_menu
from bot.render.blocks.rich_text import make_context
from bot.render.digest import sentences
from bot.render.digest.lead import render_lead
from bot.render.digest.multi_day import render_catch_up
from bot.render.digest.report import render_report
from bot.render.digest.thread import render_thread, render_threads

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class RenderedDigest:
    """The messages of a digest. A day without merges has no thread and no report.

    ``merged`` counts all merges, shown or not; ``gaps`` are the parts that are missing and may become available.
    ``fingerprint`` is that of the digest's data: equal for digests that show the same. ``ratings`` are the ratings
    of what is shown, ``outcome_states`` the states of the outcomes that the digest shows.
    """

    lead: Post
    thread: tuple[Post, ...]
    attachment: Attachment | None
    merged: int = 0
    gaps: tuple[str, ...] = ()
    fingerprint: str = ""
    ratings: PostedRatings | None = None
    outcome_states: tuple[str, ...] = ()

    def to_payload(self) -> dict[str, Any]:
        """Return the messages as Slack receives them."""
        return {"lead": self.lead.build_payload(), "thread": [post.build_payload() for post in self.thread]}


def render_digest(digest: Digest, notes: Sequence[str] = ()) -> RenderedDigest:
    """Render the digest of a day for Slack, with ``notes`` in small print."""
    top_post, fingerprint = _add_notes(render_lead(digest), notes), compute_fingerprint(digest, notes)
    if not digest.entries:
        return RenderedDigest(top_post, (), None, digest.merged_count, digest.gaps, fingerprint)
    menu = make_details_menu(entry.pull for entry in _order_menu_entries(digest))
    file = _build_attachment([digest], str(digest.day.date))
    return RenderedDigest(
        add_buttons(top_post, menu, make_ask_button()),
        render_thread(digest),
        file,
        digest.merged_count,
        digest.gaps,
        fingerprint,
        *_collect_records(digest),
    )


def render_days(catch_up: MultiDayDigest, notes: Sequence[str] = ()) -> RenderedDigest:
    """Render several days for Slack: one lead message, and every pull request in its thread."""
    top_post, fingerprint = _add_notes(render_catch_up(catch_up), notes), compute_fingerprint(catch_up, notes)
    if not catch_up.combined.entries:
        return RenderedDigest(top_post, (), None, catch_up.merged_count, catch_up.gaps, fingerprint)
    menu = make_details_menu(entry.pull for entry in _order_menu_entries(catch_up.combined))
    file = _build_attachment(catch_up.digests, str(catch_up.span))
    return RenderedDigest(
        add_buttons(top_post, menu, make_ask_button()),
        render_threads(catch_up.digests),
        file,
        catch_up.merged_count,
        catch_up.gaps,
        fingerprint,
        *_collect_records(catch_up.combined),
    )


def _collect_records(digest: Digest) -> tuple[PostedRatings, tuple[str, ...]]:
    """Return what is kept about a digest: the ratings and the states of its outcomes."""
    return collect_ratings(digest), tuple(outcome.state_key for outcome in digest.outcomes)


def describe_skipped_days(repository: Repository, span: Span) -> str:
    """Return which days were never posted, and how to see them all the same."""
    last = replace(span, first=max(span.first, span.last - timedelta(days=MAX_DIGEST_DAYS - 1)))
    request = DigestRequest(repository, last, zone=span.zone)
    return sentences.format_skipped_days(span, request)


def _add_notes(post: Post, notes: Sequence[str]) -> Post:
    """Return the message with notes in small print."""
    return Post(post.text, (*post.blocks, *(make_context(note) for note in notes)))


def _order_menu_entries(digest: Digest) -> Iterator[Entry]:
    """Yield what the lead lists, then the other entries that readers may look for."""
    reverted_numbers = digest.reverted_numbers
    to_act_on = {action.number for action in digest.actions}
    yield from digest.riskiest_entries
    yield from (entry for entry in digest.entries if entry.number in reverted_numbers | to_act_on)
    yield from (entry for entry in digest.entries if not entry.summary.is_trivial)


def _build_attachment(digests: Sequence[Digest], date: str) -> Attachment:
    """Build the file of the report."""
    first = digests[0]
    stem = _UNSAFE.sub("-", first.name).strip("-.") or "report"
    parts = (stem, date, first.view.fingerprint)
    return Attachment(
        name=f"{'-'.join(part for part in parts if part)}.md",
        title=sentences.format_report_title(date, is_full=not first.view),
        text="".join(render_report(digest) for digest in digests),
    )
