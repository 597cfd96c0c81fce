"""The lead message: what a reader with a minute and a phone needs. Everything else is in its thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.domain.digest import Digest, Entry
from bot.domain.pulls import PullRequest
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
MEASURED = "of such changes about 1 in 5 needed a repair within two weeks, of all 1 in 14; measured on vLLM, 2025"


def lead(digest: Digest) -> Post:
    """The message in the channel: at most 10 blocks, whatever the day was like."""
    blocks = [header(headline(digest)), *_overview(digest), *reverted(digest), *risky(digest)]
    blocks += [*actions(digest), *_themes(digest), *coverage_line(digest)]
    # what a phone's notification and a screen reader give instead of the blocks
    spoken = [headline(digest), *([digest.overview.text] if digest.entries and digest.overview.text else [])]
    return Post(escape(shorten(one_line(". ".join(spoken)), 800)), tuple(blocks))


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


def reverted(digest: Digest) -> Iterator[Block]:
    """What was taken back."""
    pairs = [(digest.entry(revert.number), digest.entry(revert.by)) for revert in digest.reverts]
    items = [
        [*named(first.pull), text(" by "), *named(second.pull)] for first, second in pairs if first and second
    ]
    items += [[*named(entry.pull), text(", of an earlier day")] for entry in digest.older_reverts]
    if len(items) > _MOST_REVERTS:
        items[_MOST_REVERTS:] = [[text(f"and {len(items) - _MOST_REVERTS} more, in the thread")]]
    if items:
        yield block(section([text("Already taken back", bold=True)]), bullets(items))


def risky(digest: Digest) -> Iterator[Block]:
    """What deserves a second look, or that nothing does."""
    if digest.riskiest:
        title = [text("Worth a second look", bold=True), text(f" ({MEASURED})", italic=True)]
        yield block(section(title), bullets(second_look(entry, addresses(digest)) for entry in digest.riskiest))
    elif digest.entries:
        yield block(section([text("Nothing stands out for a second look.")]))


def second_look(entry: Entry, known: Mapping[int, str], limit: int = 240) -> list[Element]:
    """An entry with the reasons of the rules and, if a quote proved it, of the model; each up to ``limit``."""
    reasons = shorten("; ".join(entry.risk.reasons[:3]), limit)
    claim = entry.summary.risk_reason
    said = [text(". "), *prose(claim, known, limit)] if claim else []
    return [*named(entry.pull), text(f": {reasons}"), *said]


def actions(digest: Digest) -> Iterator[Block]:
    """What readers may have to do."""
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


def coverage_line(digest: Digest) -> Iterator[Block]:
    """How complete it is."""
    line = coverage(digest)
    if line:
        yield context(line)


def named(pull: PullRequest) -> list[Element]:
    """A pull request as a link and its title."""
    return [link(pull.url, f"#{pull.number}"), text(f" {shorten(one_line(pull.title), _TITLE)}")]


def _numbers(numbers: tuple[int, ...], known: dict[int, str]) -> list[Element]:
    found: list[Element] = []
    for number in numbers[:12]:
        found += [text(", ")] if found else []
        found.append(link(known[number], f"#{number}"))
    rest = len(numbers) - 12
    return [*found, text(f" and {rest} more")] if rest > 0 else found
