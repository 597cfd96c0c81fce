"""The thread under the lead message: every pull request once, grouped, split where a message would be too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bot.domain.digest.models import Digest, Entry
from bot.domain.pull_requests.areas import OTHER_AREA
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import Post
from bot.render.blocks.message_limits import MAX_BLOCKS, MAX_CHARACTERS, split_groups
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_header,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.render.digest import sentences
from bot.render.digest.contract_table import render_contract_table
from bot.render.digest.hits import render_hits
from bot.render.digest.shared_parts import collect_urls, render_attempts
from bot.render.review.sentences import format_review_fact
from bot.render.summaries.sentences import format_coverage, format_size

# of one block: a third of a message, so that a large group is cut at a pull request and not pushed to the next
_BLOCK_CHARACTERS = 3_000


def render_thread(digest: Digest) -> tuple[Post, ...]:
    """Render the messages of the thread, in order: what touches the profile, all merges, what they change."""
    blocks = [part for label, entries in digest.group_entries() for part in _render_group(label, entries, digest)]
    groups = ([block] for block in (*blocks, *render_contract_table(digest)))
    parts = enumerate(split_groups(groups, MAX_CHARACTERS, MAX_BLOCKS), 1)
    return (*render_hits(digest), *(_build_post(part, sentences.format_part(place)) for place, part in parts))


def render_threads(digests: Iterable[Digest]) -> tuple[Post, ...]:
    """Render the threads of several days: each message says which day it belongs to."""
    return tuple(_add_date(post, digest) for digest in digests for post in render_thread(digest))


def _add_date(post: Post, digest: Digest) -> Post:
    """Return a message with its day as the headline."""
    day = sentences.format_thread_date(digest.day.date)
    return Post(escape_mrkdwn(f"{day}, ") + post.text, (make_header(day), *post.blocks))


def _build_post(blocks: list[Block], name: str) -> Post:
    """Build a message from its blocks; its fallback text has the labels of the groups."""
    labels = [str(part["elements"][0]["elements"][0]["text"]) for part in blocks]
    return Post(escape_mrkdwn(f"{name}: {', '.join(dict.fromkeys(labels))}"), tuple(blocks))


def _render_group(label: str, entries: Iterable[Entry], digest: Digest) -> Iterator[Block]:
    """Yield the blocks of a group, each short enough to fit a message beside others."""
    urls = collect_urls(digest)
    items = ([_render_entry(entry, digest, urls)] for entry in entries)
    for part in split_groups(items, _BLOCK_CHARACTERS):
        yield _render_titled_list(label, part)


def _render_titled_list(label: str, items: list[list[Element]]) -> Block:
    """Return a list with its title as one block."""
    return make_block(
        make_section([make_text(truncate_text(collapse_lines(label), 100) or OTHER_AREA, bold=True)]),
        make_bullets(items),
    )


def _render_entry(entry: Entry, digest: Digest, urls: Mapping[int, str]) -> list[Element]:
    """Return the line of a pull request."""
    title = truncate_text(collapse_lines(entry.pull.title), 160)
    elements = [
        make_link(entry.pull.url, f"#{entry.number}"),
        make_text(f" {title}", bold=not entry.summary.is_trivial),
    ]
    if not entry.summary.is_fallback:
        elements += [make_text(": "), *make_prose(entry.summary.headline, urls, 160)]
    return [*elements, *render_attempts(entry), make_text(f" ({_format_facts(entry, digest)})", italic=True)]


def _format_facts(entry: Entry, digest: Digest) -> str:
    """Format size, author, merge, outcome and the verdict of a review on one line."""
    pull = entry.pull
    parts = [
        format_size(pull),
        sentences.format_merge_fact(pull, digest.day),
        *_describe_outcomes(entry, digest),
        *([fact] if (fact := format_review_fact(entry.review)) else []),
        *([entry.summary.fallback_note] if entry.summary.is_fallback else []),
        *([format_coverage(entry.summary.coverage)] if entry.summary.coverage is not Coverage.FULL else []),
    ]
    return "; ".join(parts)


def _describe_outcomes(entry: Entry, digest: Digest) -> Iterator[str]:
    """Yield the outcomes of an entry, such as ``reverted after 1.4 h by #9``."""
    for outcome in digest.outcomes:
        if outcome.pull.number == entry.number:
            yield sentences.format_outcome_fact(outcome)
