"""The lead message: what a reader with a minute and a phone needs; everything else is in its thread.

It has at most 220 words (docs/decisions/0053-what-is-in-the-lead.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.domain.digest.models import Digest, Entry
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.fallback import is_for_budget
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.domain.text.words import SentenceIndex, truncate_to_sentences, truncate_words
from bot.ports import Post
from bot.render.blocks.message_limits import MAX_LEAD_WORDS, choose_fitting_blocks, count_words
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    make_block,
    make_context,
    make_header,
    make_prose,
    make_section,
    make_text,
)
from bot.render.digest import sentences
from bot.render.digest.coverage import format_coverage
from bot.render.digest.shared_parts import (
    WIDE_LIMITS,
    ActionGroup,
    LineLimits,
    collect_urls,
    group_actions,
    render_actions,
    render_outcomes,
    render_risky_changes,
)
from bot.render.digest.touch_sentences import IN_THREAD
from bot.render.digest.touches import WIDE_TOUCHES, HitContext, TouchLimits, render_news_line, render_touches

_MAX_OVERVIEW_LENGTH = 700
_MAX_HEADLINE_WORDS = 24
# versions that say less of what is long, but leave each sentence readable
_WIDE_VERSIONS = 10
_LEAST_OVERVIEW_WITH_NEWS = 20


@dataclass(frozen=True, slots=True)
class _LeadLimits:
    """How many words the paragraphs of a lead have, and the limits of its lists."""

    lists: LineLimits = WIDE_LIMITS
    overview: int = 90
    note: int = 30
    coverage: int = 60
    touches: TouchLimits = WIDE_TOUCHES


def _build_versions() -> Iterator[_LeadLimits]:
    """Yield limits from the widest to the narrowest: what a reader misses least is shortened first."""
    lists = WIDE_LIMITS
    for overview in (90, 65, 45):
        yield _LeadLimits(lists, overview)
    for fields in ({"actions": 3}, {"titles": 6, "attempts": 2, "outcome_titles": 10}, {"reasons": 1}):
        lists = replace(lists, **fields)
        yield _LeadLimits(lists, 45)
    for fields in ({}, {"titles": 0}, {"outcomes": 4, "outcome_titles": 6, "action": 20}):
        lists = replace(lists, **fields)
        yield _LeadLimits(lists, 30)
    lists = replace(lists, actions=2, claim=25, trigger=20)
    yield _LeadLimits(lists, 30)
    lists = replace(lists, outcomes=3, outcome_titles=4, claim=16, trigger=12, action=14, reason=6, attempts=1)
    yield _LeadLimits(lists, 30, 20, 45)
    # a day of which each text has as many words as it can
    lists = replace(lists, outcomes=2, outcome_titles=3, claim=8, trigger=6, action=6, reason=4, numbers=5)
    yield _LeadLimits(lists, 12, 8, 30)
    # the same of a day that was reviewed, and that lands changes again
    lists = replace(lists, claim=6, trigger=4, attempts=0)
    yield _LeadLimits(lists, 12, 8, 30)
    # and of one that was checked for a team
    yield _LeadLimits(replace(lists, outcomes=1, actions=1, numbers=3), 6, 6, 20)


def _build_versions_with_hits(versions: Sequence[_LeadLimits]) -> Iterator[_LeadLimits]:
    """Yield the same for a day that touches the readers' own code: that is what they read it for."""
    yield from versions[:_WIDE_VERSIONS]
    lists = replace(versions[_WIDE_VERSIONS - 1].lists, actions=1, risks=2)
    yield _LeadLimits(lists, 20)
    lists = replace(lists, outcomes=3, outcome_titles=4, claim=16, trigger=12, action=14, reason=6, attempts=1)
    yield _LeadLimits(lists, 20, 20, 45)
    touches = replace(WIDE_TOUCHES, code=5, action=12)
    lists = replace(lists, risks=1)
    yield _LeadLimits(lists, 12, 20, 45, touches)
    touches = replace(touches, code=0, reason=8, action=8)
    lists = replace(lists, outcomes=2, outcome_titles=3, claim=8, trigger=6, action=6, reason=4, numbers=5)
    yield _LeadLimits(lists, 12, 8, 30, touches)
    lists = replace(lists, outcomes=1, claim=6, trigger=4, attempts=0, numbers=3)
    yield _LeadLimits(lists, 6, 6, 20, replace(touches, hits=2, action=6))
    yield _LeadLimits(lists, 6, 6, 20, replace(touches, hits=1, reason=0, action=0))


_VERSIONS = tuple(_build_versions())
_VERSIONS_WITH_HITS = tuple(_build_versions_with_hits(_VERSIONS))


@dataclass(frozen=True, slots=True)
class _LeadContent:
    """What all versions of a lead choose from; texts are on one line. A busy day has a dozen versions."""

    digest: Digest
    headline: str
    overview: str
    outcomes: tuple[MergeOutcome, ...]
    older_reverts: tuple[PullRequest, ...]
    riskiest: tuple[Entry, ...]
    actions: tuple[ActionGroup, ...]
    coverage: str
    urls: Mapping[int, str]

    @classmethod
    def build(cls, digest: Digest) -> _LeadContent:
        """Collect it from a digest."""
        return cls(
            digest=digest,
            headline=truncate_words(collapse_lines(sentences.format_headline(digest)), _MAX_HEADLINE_WORDS),
            overview=collapse_lines(digest.overview.text),
            outcomes=digest.standing_outcomes,
            older_reverts=digest.older_reverts,
            riskiest=digest.riskiest_entries,
            actions=group_actions(digest),
            coverage=collapse_lines(format_coverage(digest)),
            urls=collect_urls(digest),
        )


def render_lead(digest: Digest) -> Post:
    """Render the message in the channel: at most 220 words and 10 blocks, however busy the day was."""
    # links in prose are left out where they would not fit; every pull request that is listed keeps its own
    content = _LeadContent.build(digest)
    limits = _choose_limits(content)
    versions: tuple[Mapping[int, str], ...] = (content.urls, {})
    blocks = choose_fitting_blocks(_render_blocks(content, urls, limits) for urls in versions)
    # what a phone's notification shows and a screen reader reads instead of the blocks
    fallback = [
        sentences.format_headline(digest),
        *([digest.overview.text] if digest.entries and digest.overview.text else []),
    ]
    return Post(escape_mrkdwn(truncate_text(collapse_lines(". ".join(fallback)), 800)), tuple(blocks))


def _choose_limits(content: _LeadContent) -> _LeadLimits:
    """Return the widest limits with which the lead has few enough words."""
    touches = content.digest.touches
    versions = _VERSIONS_WITH_HITS if touches and touches.touching else _VERSIONS
    counts = ((count_words(_render_blocks(content, {}, limits)), limits) for limits in versions)
    return next((limits for count, limits in counts if count <= MAX_LEAD_WORDS), versions[-1])


def _render_blocks(content: _LeadContent, urls: Mapping[int, str], limits: _LeadLimits) -> list[Block]:
    """Return the blocks; ``urls`` are the addresses of the numbers that become links in prose."""
    digest = content.digest
    overview = truncate_to_sentences(content.overview, limits.overview)
    index = SentenceIndex.build(overview)
    return [
        make_header(content.headline),
        *_render_touches(digest, limits),
        *_render_news(digest, limits),
        *_render_overview(digest, overview, urls, limits),
        *render_outcomes(content.outcomes, content.older_reverts, sentences.OUTCOMES_ELSEWHERE, limits.lists),
        *render_risky_changes(digest, content.riskiest, urls, limits.lists, index),
        *render_actions(content.actions, content.urls, urls, limits.lists, index),
        *_render_coverage(content.coverage, limits),
    ]


def _render_touches(digest: Digest, limits: _LeadLimits) -> Iterator[Block]:
    """Yield what touches the profile, first of all: it is why its team reads on."""
    if digest.touches:
        context = HitContext.build((entry.pull for entry in digest.entries), digest.outcomes)
        yield from render_touches(digest.touches, context, limits.touches, IN_THREAD)


def _render_news(digest: Digest, limits: _LeadLimits) -> Iterator[Block]:
    """Yield what became of a deprecation that the profile uses; a day too full for that has it in the thread."""
    line = render_news_line(digest.deprecations, IN_THREAD)
    if line and limits.overview >= _LEAST_OVERVIEW_WITH_NEWS:
        yield line


def _render_overview(digest: Digest, text: str, urls: Mapping[int, str], limits: _LeadLimits) -> Iterator[Block]:
    """Yield the overview and, if no model wrote it, the reason."""
    if not digest.entries:
        return
    paragraphs = []
    if text:
        paragraphs.append(make_section(make_prose(text, urls, _MAX_OVERVIEW_LENGTH)))
    if digest.overview.fallback:
        # if the budget runs short, the overview is dropped before the summaries
        has_no_summary = len(digest.fallback_entries) == len(digest.entries)
        is_alone = has_no_summary or not is_for_budget(digest.overview.fallback)
        reason = truncate_words(collapse_lines(digest.overview.fallback.clause), limits.note)
        note = sentences.format_fallback_note(reason, is_alone=is_alone)
        below = "\n" if paragraphs else ""
        paragraphs.append(make_section([make_text(below + truncate_text(collapse_lines(note), 300), italic=True)]))
    if paragraphs:
        yield make_block(*paragraphs)


def _render_coverage(coverage: str, limits: _LeadLimits) -> Iterator[Block]:
    """Yield how complete the digest is."""
    line = truncate_words(coverage, limits.coverage)
    if line:
        yield make_context(line)
