"""The Markdown report of a day. Its format is fixed to the byte, since other tools read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.domain.digest.models import Digest, Entry
from bot.domain.pull_requests.models import Account
from bot.domain.summaries.models import INSIGHTS_HEADING, Summary
from bot.domain.text.strings import collapse_lines
from bot.render.blocks.file_markdown import escape_line, escape_text, write_address, write_code
from bot.render.digest.touch_sentences import name_level

# in place of what a reviewer would miss, where there is nothing of the kind
NO_INSIGHTS = "None beyond the above."
# the report's own labels, which no external text may imitate
_OWN_LABELS = (
    "Report Date|Total Merged PRs|Shown|PR Number|Author|Merged By|Merged time|Type|\\[Changed Files"
    "|What changed and why|Technical impact|Potential risks|Key insights"
)
_OWN_LABEL_PATTERN = re.compile(rf"^([ \d.)+*-]*?)\*\*(?={_OWN_LABELS})", re.M)


def render_report(digest: Digest) -> str:
    """Render the report of a digest, newest merge first, times in the digest's zone."""
    head = (
        f"# {escape_line(digest.name)} Merged PR Report\n\n"
        f"**Report Date:** {digest.day.date} {digest.day.abbreviation}\n\n"
        f"**Total Merged PRs:** {digest.merged_count}\n\n{_format_view(digest)}{_format_touches(digest)}---\n\n"
    )
    return head + "".join(_format_entry(place, entry, digest) for place, entry in enumerate(digest.entries, 1))


def _format_view(digest: Digest) -> str:
    """Format the line on the view, empty if it shows all: the format of a whole day has no such line."""
    shown = f"**Shown:** {len(digest.entries)}, by `{collapse_lines(str(digest.view)).replace('`', '')}`\n\n"
    return shown if digest.view else ""


def _format_touches(digest: Digest) -> str:
    """Format the line on what touches the profile; empty without one, whose format has no such line."""
    report = digest.touches
    if report is None:
        return ""
    hits = ", ".join(f"#{hit.number} {name_level(hit.level)}" for hit in report.touching)
    return f"**Touches {escape_line(report.profile)}:** {hits or 'nothing'}\n\n"


def _format_entry(place: int, entry: Entry, digest: Digest) -> str:
    """Format the section of one pull request."""
    title = escape_line(entry.pull.title)
    facts = "\n".join(_format_facts(entry, digest))
    return (
        f"## {place}. [{title}]({entry.pull.url})\n\n\n### Base Information\n\n{facts}\n\n"
        f"### Summary\n\n{format_sections(entry.summary)}\n\n---\n\n"
    )


def _format_facts(entry: Entry, digest: Digest) -> Iterator[str]:
    """Yield the lines of its facts."""
    pull = entry.pull
    yield f"- **PR Number:** #{pull.number}"
    yield f"- **Author:** {_format_account(pull.author, pull.web)}"
    yield f"- **Merged By:** {_format_account(pull.merged_by, pull.web)}"
    yield f"- **Merged time:** {digest.day.to_local_time(pull.merge_time):%Y-%m-%d %H:%M:%S}"
    yield f"- **Type:** `{entry.summary.type}`"
    if pull.changed_files:
        yield f"- **[Changed Files]({pull.url}/files) ({pull.changed_files}):**"
    for file in pull.files or ():
        yield f"  - {write_code(file.path)}"


def format_sections(summary: Summary) -> str:
    """Format the four sections of a summary, which a report always has."""
    insights = () if summary.key_insights else ((INSIGHTS_HEADING, NO_INSIGHTS),)
    sections = (*summary.sections, *insights)
    return "\n\n".join(f"**{name}**  \n{_escape_section(text)}" for name, text in sections)


def _escape_section(text: str) -> str:
    """Escape a section so that it imitates no label of the report."""
    return _OWN_LABEL_PATTERN.sub(r"\1\\**", escape_text(text))


def _format_account(account: Account, web: str) -> str:
    """Format an account as a link to its page."""
    return f"[{escape_line(account.login)}]({write_address(account.build_page_url(web))})"
