"""The Markdown report of a day. Its format is fixed to the byte, since other tools read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.domain.digest.models import Digest, Entry
from bot.domain.pull_requests.models import Account
from bot.domain.summaries.models import Summary
from bot.domain.text.strings import one_line
from bot.render.blocks.file_markdown import escape_line, escape_text, write_address, write_code

# the report's own labels, which no external text may imitate
_OWN_NAMES = (
    "Report Date|Total Merged PRs|Shown|PR Number|Author|Merged By|Merged time|Type|\\[Changed Files"
    "|What changed and why|Technical impact|Potential risks|Key insights"
)
_OWN_PART = re.compile(rf"^([ \d.)+*-]*?)\*\*(?={_OWN_NAMES})", re.M)


def report(digest: Digest) -> str:
    """Render the report of a digest, newest merge first, times in the digest's zone."""
    head = (
        f"# {escape_line(digest.name)} Merged PR Report\n\n"
        f"**Report Date:** {digest.day.date} {digest.day.abbreviation}\n\n"
        f"**Total Merged PRs:** {digest.merged}\n\n{_view(digest)}---\n\n"
    )
    return head + "".join(_entry(place, entry, digest) for place, entry in enumerate(digest.entries, 1))


def _view(digest: Digest) -> str:
    """Format the line on the view, empty if it shows all: the format of a whole day has no such line."""
    shown = f"**Shown:** {len(digest.entries)}, by `{one_line(str(digest.view)).replace('`', '')}`\n\n"
    return shown if digest.view else ""


def _entry(place: int, entry: Entry, digest: Digest) -> str:
    """Format the section of one pull request."""
    title = escape_line(entry.pull.title)
    facts = "\n".join(_facts(entry, digest))
    return (
        f"## {place}. [{title}]({entry.pull.url})\n\n\n### Base Information\n\n{facts}\n\n"
        f"### Summary\n\n{sections(entry.summary)}\n\n---\n\n"
    )


def _facts(entry: Entry, digest: Digest) -> Iterator[str]:
    """Yield the lines of its facts."""
    pull = entry.pull
    yield f"- **PR Number:** #{pull.number}"
    yield f"- **Author:** {_account(pull.author, pull.web)}"
    yield f"- **Merged By:** {_account(pull.merged_by, pull.web)}"
    yield f"- **Merged time:** {digest.day.local(pull.merge_time):%Y-%m-%d %H:%M:%S}"
    yield f"- **Type:** `{entry.summary.type}`"
    if pull.changed_files:
        yield f"- **[Changed Files]({pull.url}/files) ({pull.changed_files}):**"
    for file in pull.files or ():
        yield f"  - {write_code(file.path)}"


def sections(summary: Summary) -> str:
    """Format the four sections of a summary."""
    return "\n\n".join(f"**{name}**  \n{_escape_section(text)}" for name, text in summary.sections)


def _escape_section(text: str) -> str:
    """Escape a section so that it imitates no label of the report."""
    return _OWN_PART.sub(r"\1\\**", escape_text(text))


def _account(account: Account, web: str) -> str:
    """Format an account as a link to its page."""
    return f"[{escape_line(account.login)}]({write_address(account.page(web))})"
