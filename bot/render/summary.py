"""One pull request as a Slack message."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.digest import Entry
from bot.domain.packing import Coverage
from bot.domain.patches import Side
from bot.domain.pulls import PullRequest
from bot.domain.summaries import Evidence
from bot.domain.texts import one_line, shorten
from bot.ports import Post
from bot.render.facts import merge_state, size
from bot.render.mrkdwn import escape
from bot.render.rich import Block, Element, block, bullets, context, header, link, prose, section, text

# of one section; five of them and the facts stay below the 9,000 characters a message may have
_SECTION = 1_300


def summary_post(entry: Entry) -> Post:
    """Headline, risk, what to do, the four sections, evidence and facts."""
    pull = entry.pull
    blocks = [header(f"#{pull.number} {pull.title}"), *_standing(entry), *_sections(entry)]
    blocks += [*_evidence(entry), context(_facts(entry))]
    return Post(escape(f"#{pull.number} {shorten(pull.title, 200)}"), tuple(blocks))


def _standing(entry: Entry) -> Iterator[Block]:
    lines = [[link(entry.pull.url, f"#{entry.number}"), text(" "), *prose(entry.summary.headline, {}, 200)]]
    if entry.risk.is_listed:
        lines.append([text("Worth a second look: ", bold=True), text("; ".join(entry.risk.reasons))])
    if entry.summary.action:
        lines.append([text("May need action: ", bold=True), *prose(entry.summary.action, {}, 240)])
    yield block(bullets(lines))


def _sections(entry: Entry) -> Iterator[Block]:
    for name, content in entry.summary.sections:
        yield block(section([text(f"{name}\n", bold=True), *prose(content, {}, _SECTION)]))


def _evidence(entry: Entry) -> Iterator[Block]:
    items = [_quoted(entry.pull, found) for found in entry.summary.evidence[:4]]
    if items:
        yield block(section([text("Found in the diff", bold=True)]), bullets(items))


def _quoted(pull: PullRequest, found: Evidence) -> list[Element]:
    quote = text(shorten(one_line(found.quote), 160), code=True)
    label = shorten(one_line(found.path), 120)
    place = " (removed)" if found.side is Side.OLD else f":{found.line}"
    return [link(found.url(pull), label + place), text(" "), quote]


def _facts(entry: Entry) -> str:
    pull = entry.pull
    clipped = entry.summary.coverage is not Coverage.FULL
    parts = [
        entry.summary.type.lower(),
        size(pull),
        f"{pull.author.login}, {merge_state(pull)}",
        *([f"diff {entry.summary.coverage}"] if clipped else []),
        *(["facts only"] if entry.summary.is_fallback else []),
    ]
    return " · ".join(parts)
