"""What touches a team's code, for a reader with a minute: one line for each of the strongest hits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.domain.digest.touches import sort_hits
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.domain.text.words import truncate_words
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.render.contract.deprecations import describe_step
from bot.render.digest import touch_sentences as sentences
from bot.render.summaries.evidence_url import build_evidence_url
from impact.contract.deprecations import DeprecationState
from impact.contract.models import ChangeKind, ContractChange
from impact.history.outcomes import OutcomeKind
from impact.profile.models import Use
from impact.touches.deprecations import DeprecationStep
from impact.touches.models import MergeTouches, Touch, TouchReport

# the block in the lead, whose lines show what people decide about them
SECTION_ID = "touches"
_MAX_NAME_LENGTH = 90
_MAX_PLACE_LENGTH = 90
_MAX_CODE_LENGTH = 120
_MAX_REASON_LENGTH = 160
_MAX_ACTION_LENGTH = 240
# of names that hold blanks, in words
_MAX_NAME_WORDS = 3
_STATES = tuple(DeprecationState)


@dataclass(frozen=True, slots=True)
class TouchLimits:
    """How many hits are shown, and how many words their parts have; 0 leaves a part out."""

    hits: int = 3
    code: int = 9
    reason: int = 14
    action: int = 18


WIDE_TOUCHES = TouchLimits()


@dataclass(frozen=True, slots=True)
class HitContext:
    """What the lines of hits need besides them: the pull requests, and what was reverted or repaired by what."""

    pulls: Mapping[int, PullRequest]
    outcomes: Mapping[int, MergeOutcome]

    @classmethod
    def build(cls, pulls: Iterable[PullRequest], outcomes: Iterable[MergeOutcome]) -> HitContext:
        """Build the context of some pull requests; outcomes that no longer stand are left out."""
        standing = {each.pull.number: each for each in outcomes if each.stands}
        return cls({pull.number: pull for pull in pulls}, standing)

    @property
    def taken_back(self) -> frozenset[int]:
        """The numbers of what was reverted completely."""
        return frozenset(number for number, each in self.outcomes.items() if each.kind is OutcomeKind.REVERTED)


def render_touches(
    report: TouchReport, context: HitContext, limits: TouchLimits = WIDE_TOUCHES, elsewhere: str = ""
) -> Iterator[Block]:
    """Yield the section: the strongest hits, or that nothing touches; nothing if there were no merges.

    ``elsewhere`` says where the other hits are.
    """
    hits = sort_hits(report, context.taken_back)
    if not hits:
        if report.merges:
            yield make_block(make_section([make_text(sentences.format_nothing(report))]))
        return
    items = [render_hit_line(hit, context, limits) for hit in hits[: limits.hits]]
    if len(hits) > limits.hits:
        items.append([make_text(sentences.format_more_hits(len(hits) - limits.hits, elsewhere))])
    yield {**make_block(make_title(report), make_bullets(items)), "block_id": SECTION_ID}


def make_title(report: TouchReport) -> Element:
    """Return the title of the section, with how many merges touch."""
    return make_section(
        [
            make_text(sentences.format_title(report.profile), bold=True),
            make_text(sentences.format_count_note(report), italic=True),
        ]
    )


def render_news_line(steps: Sequence[DeprecationStep], elsewhere: str) -> Block | None:
    """Return what became of a deprecation that we use, what was removed first, as one line; None without any.

    ``elsewhere`` says where the others are.
    """
    if not steps:
        return None
    first = max(steps, key=lambda step: _STATES.index(step.news.state))
    rest = f"; {sentences.format_more_hits(len(steps) - 1, elsewhere)}" if len(steps) > 1 else ""
    line = [
        make_text(sentences.NEWS_LABEL, bold=True),
        *make_code(shorten_name(first.news.entry.name)),
        make_text(truncate_text(f" {describe_step(first.news)}{rest}.", _MAX_REASON_LENGTH)),
    ]
    return make_block(make_section(line))


def render_hit_line(hit: MergeTouches, context: HitContext, limits: TouchLimits) -> list[Element]:
    """Return the line of a hit: how strong, what changed, where it is used, and what to do."""
    touch, pull = hit.touches[0] if hit.touches else None, context.pulls.get(hit.number)
    elements = [
        *render_number(hit.number, pull),
        make_text(f" {sentences.name_level(hit.level)}", bold=True),
        *render_outcome_note(context.outcomes.get(hit.number)),
    ]
    if touch is None:
        return elements
    return [
        *elements,
        make_text(": "),
        *render_change(touch, pull, replace(limits, code=0) if _names_parameter(touch) else limits),
        make_text(sentences.OURS),
        *render_place(touch.use),
        *_render_rest(hit),
        *render_action(touch, limits.action),
    ]


def _names_parameter(touch: Touch) -> bool:
    """Return whether the reason names what differs between the signatures, which then say nothing more."""
    return touch.change.kind is ChangeKind.SIGNATURE and "`" in touch.reason


def render_number(number: int, pull: PullRequest | None) -> list[Element]:
    """Return the number of a pull request, as a link if it is known."""
    return [make_link(pull.url, f"#{number}") if pull else make_text(f"#{number}")]


def render_outcome_note(outcome: MergeOutcome | None) -> list[Element]:
    """Return that a merge was reverted or repaired, in brackets; nothing if it was not."""
    if outcome is None:
        return []
    by = outcome.by
    return [
        make_text(sentences.format_outcome_start(outcome), italic=True),
        make_link(by.url, f"#{by.number}"),
        make_text(")", italic=True),
    ]


def render_change(touch: Touch, pull: PullRequest | None, limits: TouchLimits = WIDE_TOUCHES) -> list[Element]:
    """Return the name, why it matters, the line before and after, and a link to it."""
    change = touch.change
    reason = truncate_words(truncate_text(collapse_lines(touch.reason), _MAX_REASON_LENGTH), limits.reason or 1)
    return [
        *make_code(shorten_name(change.name)),
        *([make_text(" — "), *make_prose(reason, {}, _MAX_REASON_LENGTH)] if limits.reason and reason else []),
        *_render_versions(change, limits.code),
        *render_line_link(change, pull),
    ]


def _render_versions(change: ContractChange, words: int) -> list[Element]:
    """Return the line before and after, if there are both.

    The reason says what was added or removed, and the action what has another name.
    """
    before, after = (shorten_code(text, words) for text in (change.before, change.after))
    if not words or change.new_name or not before or not after or before == after:
        return []
    return [make_text(" ("), *make_code(before), make_text(" → "), *make_code(after), make_text(")")]


def shorten_code(text: str, words: int) -> str:
    """Return a line of code with up to ``words`` words."""
    return truncate_words(truncate_text(collapse_lines(text), _MAX_CODE_LENGTH), max(1, words))


def shorten_name(name: str) -> str:
    """Return a name as a reader recognises it: of a dotted one the last two parts."""
    line = collapse_lines(name)
    short = ".".join(line.split(".")[-2:]) if " " not in line and "/" not in line else line
    return truncate_words(truncate_text(short, _MAX_NAME_LENGTH), _MAX_NAME_WORDS)


def render_line_link(change: ContractChange, pull: PullRequest | None) -> list[Element]:
    """Return a link to the line that changed, with its file and number as the label."""
    if pull is None or change.line < 1:
        return []
    file = truncate_text(collapse_lines(change.path).rpartition("/")[2], _MAX_PLACE_LENGTH)
    url = build_evidence_url(pull, Evidence(change.path, "", change.side, change.line))
    label = truncate_words(file, _MAX_NAME_WORDS) or sentences.LINE_LABEL
    return [make_text(" ("), make_link(url, f"{label}:{change.line}"), make_text(")")]


def render_place(use: Use) -> list[Element]:
    """Return file and line of a use, and what it does."""
    path = collapse_lines(use.path)
    # the end of a path says more than its beginning
    shown = path if len(path) <= _MAX_PLACE_LENGTH else f"…{path[-_MAX_PLACE_LENGTH:]}"
    place = truncate_words(shown, _MAX_NAME_WORDS)
    # what was added by hand has no line
    where = f"{place}:{use.line}" if use.line else place
    return [*make_code(where), make_text(f" {sentences.describe_use(use.kind)}")]


def _render_rest(hit: MergeTouches) -> list[Element]:
    """Return at how many other places a merge touches."""
    others = len({(use.path, use.line) for touch in hit.touches for use in touch.uses}) - 1
    return [make_text(sentences.format_other_places(others))] if others > 0 else []


def render_action(touch: Touch, words: int) -> list[Element]:
    """Return what to do, as a sentence; nothing where nothing is known."""
    action = truncate_text(collapse_lines(touch.action), _MAX_ACTION_LENGTH)
    if not words or not action:
        return [make_text(".")]
    shown = truncate_words(action[0].upper() + action[1:], words)
    return [make_text(". "), *make_prose(shown, {}, _MAX_ACTION_LENGTH), make_text(".")]


def make_code(content: str) -> list[Element]:
    """Return a text as code; nothing if it is empty, which Slack refuses."""
    line = collapse_lines(content)
    return [make_text(line, code=True)] if line else []
