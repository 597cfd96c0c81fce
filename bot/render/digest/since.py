"""The page for somebody who was away: what touches them, what may break, and the stories of the merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from bot.domain.digest.models import Entry
from bot.domain.digest.since_page import SincePage
from bot.domain.digest.stories import Story, StoryKind
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.domain.text.words import truncate_words
from bot.ports import Post
from bot.render.blocks.message_limits import choose_fitting_blocks
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_prose,
    make_section,
    make_text,
)
from bot.render.digest import since_sentences as sentences
from bot.render.digest.shared_parts import render_numbers, render_reference, render_second_look
from bot.render.digest.touches import HitContext, TouchLimits, render_touches

_MAX_NOTES_LENGTH = 1_200
_MAX_ACTION_LENGTH, _MAX_HEADLINE_LENGTH = 200, 160


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many lines each part has, and the words of a line."""

    hits: int
    risks: int
    actions: int
    stories: int
    titles: int
    words: int


# what is tried until the page fits into a message
_VERSIONS = (_Limits(10, 5, 10, 10, 12, 16), _Limits(8, 4, 6, 7, 8, 12), _Limits(5, 3, 4, 4, 0, 8))


def render_since(page: SincePage) -> Post:
    """Render the page as one message."""
    name = truncate_text(collapse_lines(page.name), 60)
    title = f"{name} · since {page.span.first.day} {page.span.first:%B %Y} · {format_count(page.merged, 'merge')}"
    blocks = choose_fitting_blocks(_render_blocks(title, page, limits) for limits in _VERSIONS)
    return Post(escape_mrkdwn(title), tuple(blocks))


def _render_blocks(title: str, page: SincePage, limits: _Limits) -> list[Block]:
    return [
        make_header(title),
        *_render_touches(page, limits),
        *_render_risks(page, limits),
        *_render_actions(page, limits),
        *_render_stories(page, limits),
        *_render_bumps(page, limits),
        *_render_titles(page, limits),
        make_context(truncate_text(" · ".join(_list_notes(page)), _MAX_NOTES_LENGTH)),
    ]


def _render_touches(page: SincePage, limits: _Limits) -> Iterator[Block]:
    if page.touches:
        pulls = (pull for story in page.stories.stories for pull in story.pulls)
        context = HitContext.build(pulls, page.stories.taken_back)
        yield from render_touches(page.touches, context, TouchLimits(hits=limits.hits))


def _render_risks(page: SincePage, limits: _Limits) -> Iterator[Block]:
    items = [render_second_look(entry, {}, 120) for entry in page.riskiest[: limits.risks]]
    if items:
        yield _make_list(sentences.RISKS_TITLE, items)


def _render_actions(page: SincePage, limits: _Limits) -> Iterator[Block]:
    entries = page.actions
    items = [_render_action(entry, limits) for entry in entries[: limits.actions]]
    if len(entries) > limits.actions:
        items.append([make_text(sentences.format_more(len(entries) - limits.actions, "action"))])
    if items:
        yield _make_list(sentences.ACTIONS_TITLE, items)


def _render_action(entry: Entry, limits: _Limits) -> list[Element]:
    action = truncate_words(collapse_lines(entry.summary.action), limits.words)
    return [
        *make_prose(action, {}, _MAX_ACTION_LENGTH),
        make_text(" ("),
        *render_numbers((entry.number,), {entry.number: entry.pull.url}),
        make_text(")"),
    ]


def _render_stories(page: SincePage, limits: _Limits) -> Iterator[Block]:
    """Yield the series, each as one line."""
    series = page.list_stories(StoryKind.SERIES)
    items = [_render_story(page, story, limits) for story in series[: limits.stories]]
    if len(series) > limits.stories:
        items.append([make_text(sentences.format_more(len(series) - limits.stories, "series", "series"))])
    if items:
        yield _make_list(sentences.SERIES_TITLE, items)


def _render_story(page: SincePage, story: Story, limits: _Limits) -> list[Element]:
    """Return the newest part with what it does, and the numbers of the earlier ones."""
    latest, earlier = story.latest, story.pulls[:-1]
    urls = {pull.number: pull.url for pull in earlier}
    entry = page.entries.get(latest.number)
    headline = truncate_words(collapse_lines(entry.summary.headline), limits.words) if entry else ""
    headline_elements = [make_text(": "), *make_prose(headline, {}, _MAX_HEADLINE_LENGTH)] if headline else []
    after = make_text(sentences.AFTER)
    return [*render_reference(latest, limits.words), *headline_elements, after, *render_numbers([*urls], urls)]


def _render_bumps(page: SincePage, limits: _Limits) -> Iterator[Block]:
    """Yield the last of each row of bumps."""
    bumps = page.list_stories(StoryKind.BUMPS)
    items = [
        [
            *render_reference(story.latest, limits.words),
            make_text(sentences.format_superseded(len(story.pulls) - 1)),
        ]
        for story in bumps[: limits.stories]
    ]
    if items:
        yield _make_list(sentences.BUMPS_TITLE, items)


def _render_titles(page: SincePage, limits: _Limits) -> Iterator[Block]:
    """Yield titles of what was not summarised before, newest first, and the areas of all that was."""
    singles = page.list_stories(StoryKind.SINGLE)
    unknown = [story.latest for story in singles if story.latest.number not in page.entries]
    items = [render_reference(pull, limits.words) for pull in unknown[: limits.titles]]
    if items and len(unknown) > limits.titles:
        items.append([make_text(sentences.format_more(len(unknown) - limits.titles, "title"))])
    if items:
        yield _make_list(sentences.TITLES_TITLE, items)
    areas = Counter(entry.area for story in singles if (entry := page.entries.get(story.latest.number)))
    if areas:
        counts = ", ".join(f"{collapse_lines(area)} {count}" for area, count in areas.most_common(limits.words))
        yield make_block(make_section([make_text(sentences.AREAS_TITLE, bold=True), make_text(counts)]))


def _list_notes(page: SincePage) -> Iterator[str]:
    """Yield what the page rests on."""
    yield sentences.NO_NEW_WORK
    if page.stories.taken_back:
        yield sentences.format_taken_back(len(page.stories.taken_back))
    if page.not_summarised:
        yield sentences.format_not_summarised(page.not_summarised)
    if page.unread:
        yield sentences.format_unread(page.unread)
    yield from dict.fromkeys(page.caveats)


def _make_list(title: str, items: list[list[Element]]) -> Block:
    return make_block(make_section([make_text(title, bold=True)]), make_bullets(items))
