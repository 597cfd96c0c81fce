"""A digest as everything that gets posted: the lead, its thread, and the report, a Markdown file.

The format of the report is fixed to the byte, since other tools read it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

from bot.dates import Span
from bot.features.digest.lead import build_catch_up, build_lead
from bot.features.digest.rules import Digest, MultiDayDigest, collect_ratings
from bot.features.digest.thread import render_thread
from bot.features.merges.requests import MAX_DIGEST_DAYS, DigestRequest
from bot.features.merges.summary import INSIGHTS_HEADING, Summary
from bot.features.merges.view import Entry, LeadLine
from bot.features.noise.rules import make_less_menu, make_muted_button
from bot.features.risks.ratings import PostedRatings
from bot.features.touches.lines import name_level
from bot.platform.markdown import escape_line, escape_text, write_address, write_code
from bot.platform.pulls.models import Account
from bot.platform.slack.blocks import (
    Attachment,
    Post,
    add_buttons,
    escape_mrkdwn,
    make_ask_button,
    make_context,
    make_details_menu,
    make_header,
)
from impact.repository import Repository
from impact.text.strings import collapse_lines

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
        return {"lead": self.lead.build_payload(), "thread": [post.build_payload() for post in self.thread]}


def render_digest(posted: Digest | MultiDayDigest, notes: Sequence[str] = ()) -> RenderedDigest:
    """Render a digest with ``notes`` in small print: one lead message, and every pull request in its thread."""
    if isinstance(posted, Digest):
        digests: Sequence[Digest] = [posted]
        whole, date = posted, str(posted.day.date)
    else:
        whole, digests, date = posted.combined, posted.digests, str(posted.span)
    lead, lines = _build_lead(posted)
    thread = _render_thread(posted)
    lead = Post(lead.text, (*lead.blocks, *(make_context(note) for note in notes)))
    rendered = RenderedDigest(
        lead, tuple(thread), None, whole.merged_count, posted.gaps, compute_fingerprint(posted, notes)
    )
    if not whole.entries and not whole.muted:
        return rendered
    # what the lead lists, then the others that readers may look for
    named = whole.reverted_numbers | {action.number for action in whole.actions}
    ordered = [*(bug.entry for bug in whole.findings), *whole.riskiest_entries]
    ordered += [entry for entry in whole.entries if entry.number in named]
    ordered += (entry for entry in whole.entries if not entry.summary.is_trivial)
    menu = make_details_menu(entry.pull for entry in ordered)
    by_number = {entry.number: entry for entry in whole.entries}
    features = (
        (entry.pull, feature)
        for line in lines
        if (entry := by_number.get(line.number)) and (feature := whole.find_feature(entry, line.rule))
    )
    muted = make_muted_button([entry.pull for entry in whole.muted])
    stem, part = _UNSAFE.sub("-", digests[0].name).strip("-.") or "report", digests[0].view.fingerprint
    return replace(
        rendered,
        lead=add_buttons(lead, menu, make_less_menu(features), muted, make_ask_button()),
        attachment=Attachment(
            name=f"{stem}-{date}{f'-{part}' if part else ''}.md",
            title=f"{'Report' if whole.view else 'Full report'} of {date}",
            text="".join(render_report(digest.unfold()) for digest in digests),
        ),
        ratings=collect_ratings(whole, lines),
        outcome_states=tuple(outcome.state_key for outcome in whole.outcomes),
    )


def _build_lead(posted: Digest | MultiDayDigest) -> tuple[Post, tuple[LeadLine, ...]]:
    return build_lead(posted) if isinstance(posted, Digest) else build_catch_up(posted)


def _render_thread(posted: Digest | MultiDayDigest) -> Iterator[Post]:
    """Yield the messages of the thread; those of several days say of which one they are."""
    if isinstance(posted, Digest):
        yield from render_thread(posted) if posted.entries else ()
        return
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
    payloads = [post.build_payload() for post in (_build_lead(free)[0], *_render_thread(free))]
    return sha256(json.dumps([payloads, list(notes)], sort_keys=True).encode()).hexdigest()[:16]


def _remove_costs(digest: Digest) -> Digest:
    return replace(
        digest,
        entries=tuple(replace(entry, cost=0.0, from_cache=False) for entry in digest.entries),
        overview=replace(digest.overview, cost=0.0),
        review_coverage=replace(digest.review_coverage, cost=0.0),
    )


def describe_skipped_days(repository: Repository, span: Span) -> str:
    """Return which days were never posted, and how to see as many of them as a digest may have."""
    last = replace(span, first=max(span.first, span.last - timedelta(days=MAX_DIGEST_DAYS - 1)))
    request = DigestRequest(repository, last, zone=span.zone)
    return f"Skipped because I was offline for too long: {span.title}. To see it: /prdigest {request}"


# in place of what a reviewer would miss, where there is nothing of the kind
NO_INSIGHTS = "None beyond the above."
# the report's own labels, which no external text may imitate
_OWN_LABELS = (
    "Report Date|Total Merged PRs|Shown|PR Number|Author|Merged By|Merged Into|Merged time|Type|\\[Changed Files"
    "|What changed and why|Technical impact|Potential risks|Key insights"
)
_OWN_LABEL_PATTERN = re.compile(rf"^([ \d.)+*-]*?)\*\*(?={_OWN_LABELS})", re.M)


def render_report(digest: Digest) -> str:
    """Render the report of a digest, newest merge first, times in the digest's zone.

    Only a view, a profile and what the list of the day lacks have a line of their own.
    """
    listed = digest.count.cover(digest.merged_count).explain_gaps(is_empty=not digest.merged_count)
    lines = [
        f"# {escape_line(digest.name)} Merged PR Report",
        f"**Report Date:** {digest.day.date} {digest.day.abbreviation}",
        *([f"**Not Read:** {escape_line(listed)}"] if listed else []),
        f"**Total Merged PRs:** {digest.merged_count}",
    ]
    if digest.view:
        view = collapse_lines(str(digest.view)).replace("`", "")
        lines.append(f"**Shown:** {len(digest.entries)}, by `{view}`")
    if report := digest.touches:
        touching = report.touching.render(
            escape_line,
            lambda hits: [", ".join(f"#{hit.number} {name_level(hit.level)}" for hit in hits)],
            "nothing" if digest.says_of_touches else "nothing that waits",
        )
        lines.append(f"**Touches {escape_line(report.profile)}:** {' '.join(touching)}")
    entries = (_format_entry(place, entry, digest) for place, entry in enumerate(digest.entries, 1))
    return "\n\n".join((*lines, "---", "")) + "".join(entries)


def _format_entry(place: int, entry: Entry, digest: Digest) -> str:
    pull = entry.pull
    facts = [
        f"- **PR Number:** #{pull.number}",
        f"- **Author:** {_format_account(pull.author, pull.web)}",
        f"- **Merged By:** {_format_account(pull.merged_by, pull.web)}",
        f"- **Merged time:** {digest.day.to_local_time(pull.merge_time):%Y-%m-%d %H:%M:%S}",
        *([f"- **Merged Into:** {escape_line(pull.other_branch)}"] if pull.other_branch else []),
        f"- **Type:** `{entry.summary.type}`",
        *([f"- **[Changed Files]({pull.url}/files) ({pull.changed_files}):**"] if pull.changed_files else []),
        *(f"  - {write_code(file.path)}" for file in pull.files or ()),
    ]
    title = f"## {place}. [{escape_line(pull.title)}]({pull.url})\n"
    parts = (title, "### Base Information", "\n".join(facts), "### Summary", format_sections(entry.summary), "---")
    return "\n\n".join(parts) + "\n\n"


def format_sections(summary: Summary) -> str:
    """Format the four sections of a summary, which a report always has; they imitate none of its labels."""
    insights = () if summary.key_insights else ((INSIGHTS_HEADING, NO_INSIGHTS),)
    texts = (
        (name, _OWN_LABEL_PATTERN.sub(r"\1\\**", escape_text(text)))
        for name, text in (*summary.sections, *insights)
    )
    return "\n\n".join(f"**{name}**  \n{text}" for name, text in texts)


def _format_account(account: Account, web: str) -> str:
    return f"[{escape_line(account.login)}]({write_address(account.build_page_url(web))})"
