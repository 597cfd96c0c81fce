"""The lead message: what a reader with a minute and a phone needs. Everything else is in its thread."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.digest import Digest, Entry
from bot.domain.texts import one_line, shorten
from bot.ports import Post
from bot.render.coverage import coverage
from bot.render.mrkdwn import escape
from bot.render.rich import Block, Element, block, bullets, context, header, link, prose, section, text

_MOST_ACTIONS = 5
_MOST_REVERTS = 8
_MOST_THEMES = 4
_TITLE = 90
# of the listed pull requests and of all, on vLLM's merges of October to December 2025
_MEASURED = "of such changes about 1 in 5 needed a repair within two weeks, of all 1 in 14; measured on vLLM, 2025"


def lead(digest: Digest) -> Post:
    """The message in the channel: at most 10 blocks, whatever the day was like."""
    blocks = [header(headline(digest)), *_overview(digest), *_reverted(digest), *_risky(digest)]
    blocks += [*_actions(digest), *_themes(digest), *_coverage(digest)]
    # what a phone's notification and a screen reader give instead of the blocks
    spoken = [headline(digest), *([digest.overview.text] if digest.entries and digest.overview.text else [])]
    return Post(escape(shorten(one_line(". ".join(spoken)), 800)), tuple(blocks))


def risks(digest: Digest) -> Post:
    """What was taken back and what deserves a second look, alone."""
    title = f"Risky changes · {headline(digest)}"
    return Post(escape(title), (header(title), *_reverted(digest), *_risky(digest), *_coverage(digest)))


def headline(digest: Digest) -> str:
    """Name, date and count, such as ``vLLM · Saturday 28 February 2026 · 18 merged``."""
    date = f"{digest.day.date:%A} {digest.day.date.day} {digest.day.date:%B %Y}"
    merged = f"{len(digest.entries)} merged" if digest.entries else "nothing merged"
    return f"{digest.name} · {date} · {merged}"


def addresses(digest: Digest) -> dict[int, str]:
    """Addresses of the day's pull requests; only these numbers ever become links."""
    return {entry.number: entry.pull.url for entry in digest.entries}


def _overview(digest: Digest) -> Iterator[Block]:
    if not digest.entries:
        return
    paragraphs = []
    if digest.overview.text:
        paragraphs.append(section(prose(digest.overview.text, addresses(digest), 700)))
    if digest.overview.fallback:
        note = f"Without the model ({digest.overview.fallback}): what you see are facts alone."
        below = "\n" if paragraphs else ""
        paragraphs.append(section([text(below + shorten(one_line(note), 300), italic=True)]))
    if paragraphs:
        yield block(*paragraphs)


def _reverted(digest: Digest) -> Iterator[Block]:
    pairs = [(digest.entry(revert.number), digest.entry(revert.by)) for revert in digest.reverts]
    items = [[*_named(first), text(" by "), *_named(second)] for first, second in pairs if first and second]
    items += [[*_named(entry), text(", of an earlier day")] for entry in digest.older_reverts]
    if len(items) > _MOST_REVERTS:
        items[_MOST_REVERTS:] = [[text(f"and {len(items) - _MOST_REVERTS} more, in the thread")]]
    if items:
        yield block(section([text("Already taken back", bold=True)]), bullets(items))


def _risky(digest: Digest) -> Iterator[Block]:
    if digest.riskiest:
        title = [text("Worth a second look", bold=True), text(f" ({_MEASURED})", italic=True)]
        yield block(section(title), bullets(_risk(entry, digest) for entry in digest.riskiest))
    elif digest.entries:
        yield block(section([text("Nothing stands out for a second look.")]))


def _risk(entry: Entry, digest: Digest) -> list[Element]:
    reasons = "; ".join(entry.risk.reasons[:3])
    claim = entry.summary.risk_reason
    said = [text(". "), *prose(claim, addresses(digest), 240)] if claim else []
    return [*_named(entry), text(f": {reasons}"), *said]


def _actions(digest: Digest) -> Iterator[Block]:
    known = addresses(digest)
    shown, hidden = digest.actions[:_MOST_ACTIONS], digest.actions[_MOST_ACTIONS:]
    items = [
        [*prose(action.text, known, 240), text(" ("), link(known[action.number], f"#{action.number}"), text(")")]
        for action in shown
    ]
    if hidden:
        numbers = tuple(action.number for action in hidden)
        items.append([text(f"and {len(hidden)} more: "), *_numbers(numbers, known)])
    if items:
        yield block(section([text("May need action", bold=True)]), bullets(items))


def _themes(digest: Digest) -> Iterator[Block]:
    known = addresses(digest)
    themes = digest.overview.themes[:_MOST_THEMES]
    items = [[text(f"{one_line(theme.title)}: "), *_numbers(theme.numbers, known)] for theme in themes]
    if items:
        yield block(section([text("Themes", bold=True)]), bullets(items))


def _coverage(digest: Digest) -> Iterator[Block]:
    line = coverage(digest)
    if line:
        yield context(line)


def _named(entry: Entry) -> list[Element]:
    title = shorten(one_line(entry.pull.title), _TITLE)
    return [link(entry.pull.url, f"#{entry.number}"), text(f" {title}")]


def _numbers(numbers: tuple[int, ...], known: dict[int, str]) -> list[Element]:
    found: list[Element] = []
    for number in numbers[:12]:
        found += [text(", ")] if found else []
        found.append(link(known[number], f"#{number}"))
    rest = len(numbers) - 12
    return [*found, text(f" and {rest} more")] if rest > 0 else found
