"""The messages of a thread about what touches a team's code: every hit with its places and buttons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.domain.digest.models import Digest
from bot.domain.digest.touches import sort_hits
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.reference import Reference
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import Post
from bot.render.blocks.button_values import HitVote, write_hit_task, write_hit_vote
from bot.render.blocks.buttons import AGENT_TASK, HIT_VERDICTS, make_button
from bot.render.blocks.message_limits import MAX_BLOCKS, MAX_CHARACTERS, split_groups
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_link,
    make_section,
    make_text,
)
from bot.render.contract.deprecations import render_news
from bot.render.digest import touch_sentences as sentences
from bot.render.digest.touches import (
    HitContext,
    make_code,
    render_action,
    render_change,
    render_number,
    render_outcome_note,
    render_place,
    shorten_name,
)
from impact.profile.moves import MovedHit
from impact.touches.models import MergeTouches, Touch, TouchReport

# more are counted: nobody decides about more in a day
MAX_HITS = 12
_MAX_TOUCHES = 4
_MAX_PLACES = 3
_MAX_UNREAD = 5
_MAX_NEWS = 4
_MAX_MOVED = 4
_MAX_TITLE_LENGTH = 120
# a block for the hit, its buttons, and what was decided
_BLOCKS_OF_HIT = 3
# with so many a message takes no further hit
_MOST_BLOCKS = MAX_BLOCKS * 2 // _BLOCKS_OF_HIT - _BLOCKS_OF_HIT + 1
# for what is decided later, and for outcomes
_RESERVED_CHARACTERS = 1_500


def render_hits(digest: Digest) -> tuple[Post, ...]:
    """Render the hits of a day, strongest first, and what became of deprecations; no message without any.

    Files that could not be read are named too.
    """
    report = digest.touches
    if report is None:
        return ()
    context = HitContext.build((entry.pull for entry in digest.entries), digest.outcomes)
    hits = sort_hits(report, context.taken_back)
    groups = [_render_hit(hit, report.profile, context) for hit in hits[:MAX_HITS]]
    if news := list(_render_news(digest)):
        groups.append(news)
    if moved := list(_render_moves(digest)):
        groups.append(moved)
    if notes := list(_render_notes(report, len(hits) - MAX_HITS)):
        groups.append(notes)
    text = escape_mrkdwn(sentences.format_hits_part(report.profile))
    parts = split_groups(groups, MAX_CHARACTERS - _RESERVED_CHARACTERS, _MOST_BLOCKS)
    return tuple(Post(text, tuple(blocks)) for blocks in parts)


def _render_hit(hit: MergeTouches, profile: str, context: HitContext) -> list[Block]:
    """Return the blocks of a hit: the merge, each of its touches, and the buttons."""
    pull = context.pulls.get(hit.number)
    title = truncate_text(collapse_lines(hit.title or (pull.title if pull else "")), _MAX_TITLE_LENGTH)
    heading = [
        *render_number(hit.number, pull),
        make_text(f" {sentences.name_level(hit.level)}", bold=True),
        *([make_text(f": {title}")] if title else []),
        *render_outcome_note(context.outcomes.get(hit.number)),
    ]
    lines = [_render_touch(touch, pull) for touch in hit.touches[:_MAX_TOUCHES]]
    if len(hit.touches) > _MAX_TOUCHES:
        lines.append([make_text(sentences.format_more_hits(len(hit.touches) - _MAX_TOUCHES, ""))])
    below = [make_bullets(lines, indent=1)] if lines else []
    return [
        make_block(make_bullets([heading]), *below),
        *([make_verdict_row(pull, profile)] if pull else []),
    ]


def _render_touch(touch: Touch, pull: PullRequest | None) -> list[Element]:
    """Return the line of a touch, with the team's own line."""
    code = make_code(truncate_text(collapse_lines(touch.use.text), 120))
    return [
        *render_change(touch, pull),
        make_text(sentences.OURS),
        *render_place(touch.use),
        *([make_text(": "), *code] if code else []),
        *_render_places(touch),
        *render_action(touch, 40),
    ]


def _render_places(touch: Touch) -> list[Element]:
    """Return the other places with the same effect, and how many more there are."""
    others = list(dict.fromkeys((use.path, use.line) for use in touch.uses))[1:]
    elements: list[Element] = []
    for path, line in others[:_MAX_PLACES]:
        shown = truncate_text(collapse_lines(path), 90)
        elements += [
            make_text(", " if elements else sentences.ALSO_AT),
            *make_code(f"{shown}:{line}" if line else shown),
        ]
    if len(others) > _MAX_PLACES:
        elements.append(make_text(f" {sentences.format_more_hits(len(others) - _MAX_PLACES, '')}"))
    return elements


def make_verdict_row(pull: PullRequest, profile: str) -> Block:
    """Return the buttons with which a team says what becomes of a hit, and the one for an agent's task."""
    reference = Reference(pull.repository, pull.number)
    row = [
        make_button(sentences.label_verdict(verdict), action, write_hit_vote(HitVote(verdict, profile, reference)))
        for verdict, action in HIT_VERDICTS.items()
    ]
    row.append(make_button(sentences.TASK_LABEL, AGENT_TASK, write_hit_task(profile, reference)))
    return {"type": "actions", "block_id": name_verdict_row(pull.number), "elements": row}


def _render_news(digest: Digest) -> Iterator[Block]:
    """Yield what was announced, became due or was removed of what the profile uses."""
    steps = digest.deprecations
    pull = next((entry.pull for entry in digest.entries), None)
    url = f"{pull.web}/{digest.repository}" if pull else ""
    lines = list(render_news(((step.news, step.used) for step in steps[:_MAX_NEWS]), url))
    if len(steps) > _MAX_NEWS:
        lines.append([make_text(sentences.format_more_hits(len(steps) - _MAX_NEWS, ""))])
    if lines:
        yield make_block(make_section([make_text(sentences.NEWS_TITLE, bold=True)]), make_bullets(lines))


def _render_moves(digest: Digest) -> Iterator[Block]:
    """Yield one line with the earlier merges that touch since the profile moved, and those that no longer do."""
    pull = next((entry.pull for entry in digest.entries), None)
    url = f"{pull.web}/{digest.repository}" if pull else ""
    began = list({hit.number: hit for move in digest.moves for hit in move.began}.values())
    ended = list({hit.number: hit for move in digest.moves for hit in move.ended}.values())
    parts = [
        _render_moved(hits, url, sentences.describe_move(len(hits), has_begun=has_begun))
        for hits, has_begun in ((began, True), (ended, False))
        if hits
    ]
    if parts:
        joined = [element for part in parts for element in (make_text("; "), *part)][1:]
        yield make_block(make_section([make_text(sentences.MOVED_TITLE, bold=True), *joined, make_text(".")]))


def _render_moved(hits: Sequence[MovedHit], url: str, words: str) -> list[Element]:
    """Return merges with what they changed, and what became of them."""
    elements: list[Element] = []
    for hit in hits[:_MAX_MOVED]:
        number = f"#{hit.number}"
        elements += [
            *([make_text(", ")] if elements else []),
            make_link(f"{url}/pull/{hit.number}", number) if url else make_text(number),
            *([make_text(" "), *make_code(shorten_name(hit.name))] if hit.name else []),
        ]
    more = (
        [make_text(f" {sentences.format_more_hits(len(hits) - _MAX_MOVED, '')}")] if len(hits) > _MAX_MOVED else []
    )
    return [*elements, *more, make_text(f" {words}")]


def name_verdict_row(number: int) -> str:
    """Return the id of the row of buttons of a merge."""
    return f"hit-{number}"


def _render_notes(report: TouchReport, hidden: int) -> Iterator[Block]:
    """Yield how many hits are left out, and which files could not be read."""
    if hidden > 0:
        yield make_context(sentences.format_hidden_hits(hidden, report.profile))
    if report.unread:
        shown = [f"{file.path} ({file.reason})" for file in report.unread[:_MAX_UNREAD]]
        rest = len(report.unread) - _MAX_UNREAD
        more = f" {sentences.format_more_hits(rest, '')}" if rest > 0 else ""
        yield make_context(truncate_text(f"{sentences.UNREAD_TITLE}{', '.join(shown)}{more}", 900))
