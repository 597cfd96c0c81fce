"""A digest as everything that gets posted: the lead, its thread and the report as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

from bot.dates import Span
from bot.features.digest.lead import render_catch_up, render_lead
from bot.features.digest.markdown import render_report
from bot.features.digest.rules import Digest, MultiDayDigest, collect_ratings
from bot.features.digest.thread import render_thread
from bot.features.merges.entry import Entry
from bot.features.merges.requests import MAX_DIGEST_DAYS, DigestRequest
from bot.features.risks.ratings import PostedRatings
from bot.platform.slack.blocks import escape_mrkdwn, make_context, make_header
from bot.platform.slack.buttons import add_buttons, make_ask_button, make_details_menu
from bot.platform.slack.messages import Attachment, Post
from impact.repository import Repository

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class RenderedDigest:
    """The messages of a digest. A day without merges has no thread and no report.

    ``merged`` counts all merges, shown or not; ``gaps`` are the parts that are missing and may become available.
    ``ratings`` are the ratings of what is shown, ``outcome_states`` the states of the outcomes that it shows.
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
    return _render_all(digest, digest, [digest], str(digest.day.date), notes)


def render_days(days: MultiDayDigest, notes: Sequence[str] = ()) -> RenderedDigest:
    """Render several days for Slack: one lead message, and every pull request in its thread."""
    return _render_all(days, days.combined, days.digests, str(days.span), notes)


def _render_all(
    posted: Digest | MultiDayDigest, whole: Digest, digests: Sequence[Digest], date: str, notes: Sequence[str]
) -> RenderedDigest:
    lead, *thread = _render_messages(posted)
    lead = Post(lead.text, (*lead.blocks, *(make_context(note) for note in notes)))
    rendered = RenderedDigest(
        lead, tuple(thread), None, whole.merged_count, posted.gaps, compute_fingerprint(posted, notes)
    )
    if not whole.entries:
        return rendered
    menu = make_details_menu(entry.pull for entry in _order_menu_entries(whole))
    stem, part = _UNSAFE.sub("-", digests[0].name).strip("-.") or "report", digests[0].view.fingerprint
    return replace(
        rendered,
        lead=add_buttons(lead, menu, make_ask_button()),
        attachment=Attachment(
            name=f"{stem}-{date}{f'-{part}' if part else ''}.md",
            title=f"{'Report' if whole.view else 'Full report'} of {date}",
            text="".join(map(render_report, digests)),
        ),
        ratings=collect_ratings(whole),
        outcome_states=tuple(outcome.state_key for outcome in whole.outcomes),
    )


def _render_messages(posted: Digest | MultiDayDigest) -> Iterator[Post]:
    """Yield the lead and the messages of its thread; those of several days say of which one they are."""
    if isinstance(posted, Digest):
        yield render_lead(posted)
        yield from render_thread(posted) if posted.entries else ()
        return
    yield render_catch_up(posted)
    for digest in posted.digests if posted.combined.entries else ():
        date = f"{digest.day.date:%A} {digest.day.date.day} {digest.day.date:%B}"
        for post in render_thread(digest):
            yield Post(f"{escape_mrkdwn(date)},{post.text}", (make_header(date), *post.blocks))


def compute_fingerprint(posted: Digest | MultiDayDigest, notes: Sequence[str] = ()) -> str:
    """Return a short text that is equal only for digests whose messages say the same, whatever they cost.

    The report is not part of it: it is compared with the report.
    """
    free = (
        replace(posted, digests=tuple(map(_remove_costs, posted.digests)))
        if isinstance(posted, MultiDayDigest)
        else _remove_costs(posted)
    )
    payloads = [post.build_payload() for post in _render_messages(free)]
    return sha256(json.dumps([payloads, list(notes)], sort_keys=True).encode()).hexdigest()[:16]


def _remove_costs(digest: Digest) -> Digest:
    return replace(
        digest,
        entries=tuple(replace(entry, cost=0.0, from_cache=False) for entry in digest.entries),
        overview=replace(digest.overview, cost=0.0),
        review_coverage=replace(digest.review_coverage, cost=0.0),
    )


def _order_menu_entries(digest: Digest) -> Iterator[Entry]:
    """Yield what the lead lists, then the other entries that readers may look for."""
    named = digest.reverted_numbers | {action.number for action in digest.actions}
    yield from digest.riskiest_entries
    yield from (entry for entry in digest.entries if entry.number in named)
    yield from (entry for entry in digest.entries if not entry.summary.is_trivial)


def describe_skipped_days(repository: Repository, span: Span) -> str:
    """Return which days were never posted, and how to see as many of them as a digest may have."""
    last = replace(span, first=max(span.first, span.last - timedelta(days=MAX_DIGEST_DAYS - 1)))
    request = DigestRequest(repository, last, zone=span.zone)
    return f"Skipped because I was offline for too long: {span.title}. To see it: /prdigest {request}"
