"""The page for somebody who was away: what touches them, what may break, and the stories of the merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.domain.text.words import truncate_words
from bot.features.digest.stories import SincePage, Story, StoryKind
from bot.ports import Post
from bot.render.blocks.message_limits import choose_fitting_blocks
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_context,
    make_header,
    make_prose,
    make_section,
    make_text,
)
from bot.render.digest.shared_parts import make_list, render_numbers, render_reference, render_second_look
from bot.render.digest.touches import HitContext, TouchLimits, render_touches

# lines of hits, risks, actions, stories and titles, and the words of a line, until the page fits into a message
_VERSIONS = ((10, 5, 10, 10, 12, 16), (8, 4, 6, 7, 8, 12), (5, 3, 4, 4, 0, 8))
T = TypeVar("T")


def render_since(page: SincePage) -> Post:
    """Render the page as one message."""
    name = truncate_text(collapse_lines(page.name), 60)
    title = f"{name} · since {page.span.first.day} {page.span.first:%B %Y} · {format_count(page.merged, 'merge')}"
    blocks = choose_fitting_blocks([make_header(title), *_render_parts(page, *limits)] for limits in _VERSIONS)
    return Post(escape_mrkdwn(title), tuple(blocks))


def _render_parts(
    page: SincePage, hits: int, risks: int, actions: int, stories: int, titles: int, words: int
) -> Iterator[Block]:
    singles, series, bumps = (page.list_stories(kind) for kind in StoryKind)
    if page.touches:
        context = HitContext.build(page.pulls, page.stories.taken_back)
        yield from render_touches(page.touches, context, TouchLimits(hits=hits))

    def render_action(entry: Entry) -> list[Element]:
        action = truncate_words(collapse_lines(entry.summary.action), words)
        number = render_numbers((entry.number,), {entry.number: entry.pull.url})
        return [*make_prose(action, {}, 200), make_text(" ("), *number, make_text(")")]

    def render_story(story: Story) -> list[Element]:
        """Return the newest part with what it does, and the numbers of the earlier ones."""
        urls = {pull.number: pull.url for pull in story.pulls[:-1]}
        entry = page.entries.get(story.latest.number)
        headline = truncate_words(collapse_lines(entry.summary.headline), words) if entry else ""
        return [
            *render_reference(story.latest, words),
            *([make_text(": "), *make_prose(headline, {}, 160)] if headline else []),
            make_text(", after "),
            *render_numbers([*urls], urls),
        ]

    def render_bumps(story: Story) -> list[Element]:
        replaced = format_count(len(story.pulls) - 1, "earlier one")
        return [*render_reference(story.latest, words), make_text(f" (replaces {replaced})")]

    def render_title(pull: PullRequest) -> list[Element]:
        return render_reference(pull, words)

    looks = page.riskiest
    yield from _render_list(
        "Deserves a second look", looks, risks, lambda entry: render_second_look(entry, {}, 120)
    )
    yield from _render_list("To do for some", page.actions, actions, render_action, "action", "actions")
    yield from _render_list("In several steps", series, stories, render_story, "series", "series")
    yield from _render_list("Bumped more than once", bumps, stories, render_bumps)
    unknown = [story.latest for story in singles if story.latest.number not in page.entries]
    yield from _render_list("Not summarised yet", unknown, titles, render_title, "title", "titles")
    areas = Counter(entry.area for story in singles if (entry := page.entries.get(story.latest.number)))
    if areas:
        counts = ", ".join(f"{collapse_lines(area)} {count}" for area, count in areas.most_common(words))
        yield make_block(make_section([make_text("The rest by area: ", bold=True), make_text(counts)]))
    yield make_context(truncate_text(" · ".join(_list_notes(page)), 1_200))


def _render_list(
    title: str,
    things: Sequence[T],
    most: int,
    render: Callable[[T], list[Element]],
    singular: str = "",
    many: str = "",
) -> Iterator[Block]:
    """Yield the list of the first things, if there are any; the others are counted where they have a name."""
    lines = [render(each) for each in things[:most]]
    if lines and singular and len(things) > most:
        rest = format_count(len(things) - most, f"more {singular}", f"more {many}")
        lines.append([make_text(f"and {rest}")])
    if lines:
        yield make_list(title, lines)


def _list_notes(page: SincePage) -> Iterator[str]:
    """Yield what the page rests on."""
    yield "made of what was read before, without a call to a model"
    if taken_back := len(page.stories.taken_back):
        them = "it" if taken_back == 1 else "them"
        yield f"{format_count(taken_back, 'merge')} and what reverted {them} left out"
    if page.not_summarised:
        yield f"{format_count(page.not_summarised, 'merge')} shown by title alone"
    if page.unread:
        yield f"{format_count(page.unread, 'merge')} not compared with the profile yet"
    yield from dict.fromkeys(page.caveats)
