"""The Markdown report of a day. Its format is fixed to the byte, since other tools read it."""

from __future__ import annotations

import re

from bot.features.digest.rules import Digest
from bot.features.merges.entry import Entry
from bot.features.merges.summary import INSIGHTS_HEADING, Summary
from bot.features.touches.lines import name_level
from bot.platform.markdown import escape_line, escape_text, write_address, write_code
from bot.platform.pulls.models import Account
from impact.text.strings import collapse_lines

# in place of what a reviewer would miss, where there is nothing of the kind
NO_INSIGHTS = "None beyond the above."
# the report's own labels, which no external text may imitate
_OWN_LABELS = (
    "Report Date|Total Merged PRs|Shown|PR Number|Author|Merged By|Merged time|Type|\\[Changed Files"
    "|What changed and why|Technical impact|Potential risks|Key insights"
)
_OWN_LABEL_PATTERN = re.compile(rf"^([ \d.)+*-]*?)\*\*(?={_OWN_LABELS})", re.M)


def render_report(digest: Digest) -> str:
    """Render the report of a digest, newest merge first, times in the digest's zone.

    Only a view and a profile have a line of their own.
    """
    lines = [
        f"# {escape_line(digest.name)} Merged PR Report",
        f"**Report Date:** {digest.day.date} {digest.day.abbreviation}",
        f"**Total Merged PRs:** {digest.merged_count}",
    ]
    if digest.view:
        view = collapse_lines(str(digest.view)).replace("`", "")
        lines.append(f"**Shown:** {len(digest.entries)}, by `{view}`")
    if report := digest.touches:
        hits = ", ".join(f"#{hit.number} {name_level(hit.level)}" for hit in report.touching)
        lines.append(f"**Touches {escape_line(report.profile)}:** {hits or 'nothing'}")
    entries = (_format_entry(place, entry, digest) for place, entry in enumerate(digest.entries, 1))
    return "\n\n".join((*lines, "---", "")) + "".join(entries)


def _format_entry(place: int, entry: Entry, digest: Digest) -> str:
    pull = entry.pull
    facts = [
        f"- **PR Number:** #{pull.number}",
        f"- **Author:** {_format_account(pull.author, pull.web)}",
        f"- **Merged By:** {_format_account(pull.merged_by, pull.web)}",
        f"- **Merged time:** {digest.day.to_local_time(pull.merge_time):%Y-%m-%d %H:%M:%S}",
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
