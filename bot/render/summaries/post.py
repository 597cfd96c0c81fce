"""One pull request as a Slack message."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.digest.models import Entry
from bot.domain.history.reverts import is_revert
from bot.domain.pull_requests.diff import Side
from bot.domain.pull_requests.models import PullRequest
from bot.domain.risk.assessment import BASE_RATE
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.models import Evidence
from bot.domain.text.strings import one_line, plural, shorten
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Block, Element, block, bullets, context, header, link, prose, section, text
from bot.render.digest.parts import band
from bot.render.summaries.facts import address_of, merge_state, size

# of one section; four of them and the rest stay below the 9,000 characters a message may have
_SECTION = 1_000
_MOST_FILES = 3


def summary_post(entry: Entry) -> Post:
    """Render headline, risk, action, the four sections, evidence, files and facts."""
    pull = entry.pull
    blocks = [header(f"#{pull.number} {pull.title}"), *standing(entry), *_sections(entry)]
    blocks += [*_evidence(entry), *_files(pull), context(facts(entry))]
    return Post(escape(f"#{pull.number} {shorten(pull.title, 200)}"), tuple(blocks))


def standing(entry: Entry) -> Iterator[Block]:
    """Yield what it is, how risky it is, and what to do."""
    lines = [[link(entry.pull.url, f"#{entry.number}"), text(" "), *prose(entry.summary.headline, {}, 200)]]
    lines.append([text("Risk: ", bold=True), text(_risk(entry))])
    if entry.summary.action:
        lines.append([text("May need action: ", bold=True), *prose(entry.summary.action, {}, 240)])
    yield block(bullets(lines))


def _risk(entry: Entry) -> str:
    """Return the band, the rate of repairs in it, and the reasons; no probability of this one."""
    if entry.pull.files is None:
        return "not assessed, its files could not be read"
    if is_revert(entry.pull):
        return "not assessed, it takes another change back"
    share = (
        f"in this band about {entry.risk.band.repaired} % needed a repair within two weeks, of all {BASE_RATE} %"
    )
    label = ": ".join([band(entry.risk), *(["; ".join(entry.risk.reasons[:3])] if entry.risk.reasons else [])])
    return f"{label} ({share}; measured on vLLM, 2025)"


def _sections(entry: Entry) -> Iterator[Block]:
    """Yield the sections of the summary."""
    for name, content in entry.summary.sections:
        yield block(section([text(f"{name}\n", bold=True), *prose(content, {}, _SECTION)]))


def _evidence(entry: Entry) -> Iterator[Block]:
    """Yield the first quotes, if there are any."""
    items = [quoted(entry.pull, evidence) for evidence in entry.summary.evidence[:4]]
    if items:
        yield block(section([text("Found in the diff", bold=True)]), bullets(items))


def quoted(pull: PullRequest, evidence: Evidence) -> list[Element]:
    """Return a quote with a link to its position."""
    quote = text(shorten(one_line(evidence.quote), 160), code=True)
    label = shorten(one_line(evidence.path), 120)
    place = " (removed)" if evidence.side is Side.OLD else f":{evidence.line}"
    return [link(address_of(pull, evidence), label + place), text(" "), quote]


def _files(pull: PullRequest) -> Iterator[Block]:
    """Yield the largest files."""
    lines = [
        f"{shorten(one_line(file.path), 120)} +{file.additions:,} −{file.deletions:,}"  # noqa: RUF001 (a minus)
        for file in pull.largest_files[:_MOST_FILES]
    ]
    rest = pull.changed_files - len(lines)
    if lines:
        more = [f"and {plural(rest, 'more file', 'more files')}"] if rest > 0 else []
        yield context(" · ".join([*lines, *more]))


def facts(entry: Entry) -> str:
    """Format type, size, author and merge, and what was not read."""
    pull = entry.pull
    clipped = entry.summary.coverage is not Coverage.FULL
    parts = [
        entry.summary.type.lower(),
        size(pull),
        f"{pull.author.login}, {merge_state(pull)}",
        *([f"diff {entry.summary.coverage}"] if clipped else []),
        *([entry.summary.lack] if entry.summary.is_fallback else []),
    ]
    return " · ".join(parts)
