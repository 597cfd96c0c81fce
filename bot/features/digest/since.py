"""One page on all that was merged since a day: its merges as stories, and what stands out of them.

A series is one story, superseded bumps are one, what was reverted is none. No model is called and no file is read.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from typing import TypeVar

from bot.app import App
from bot.dates import Span
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.review import select_riskiest
from bot.features.merges.timeline import LOOK_AHEAD, LOOK_BACK, DayContext, MergeList
from bot.features.merges.view import (
    MAX_SENTENCE,
    Entry,
    keep_short,
    make_list,
    render_numbers,
    render_reference,
    render_risk,
)
from bot.features.noise.rules import Mute, is_muted, make_muted_button
from bot.features.noise.service import load_mutes
from bot.features.reviews.service import get_review
from bot.features.summaries.service import get_summary
from bot.features.touches.checking import check_merges
from bot.features.touches.contracts import get_kept_contract, list_merges
from bot.features.touches.lines import HitContext, TouchLimits, list_judges, make_sentence, render_touches
from bot.features.touches.requests import SinceRequest
from bot.features.touches.service import find_profile
from bot.platform.jobs import LONG_RETRIES, QueueName, job
from bot.platform.pulls.models import PullRequest, Reference, remove_duplicates
from bot.platform.slack.answers import Answer, Share, build_answer
from bot.platform.slack.blocks import (
    SHARE_DIGEST,
    Block,
    Element,
    Post,
    add_buttons,
    choose_fitting_blocks,
    escape_mrkdwn,
    make_block,
    make_context,
    make_details_menu,
    make_header,
    make_prose,
    make_section,
    make_text,
)
from bot.platform.slack.requests import Audience, SlackRequest
from bot.text import format_count
from impact.coverage import COMPLETE, Coverage, CoveredList, CoveredPart
from impact.history.outcomes import OutcomeKind, find_outcomes
from impact.history.reverts import build_title_key, is_revert
from impact.profile.models import Profile
from impact.repository import Repository
from impact.text.description import extract_prose
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.judgement import judge_merges
from impact.touches.models import TouchReport

T = TypeVar("T")

_MAX_RISKS = 5
# lines of hits, risks, actions, stories and titles, and the words of a line, until the page fits into a message
_VERSIONS = ((10, 5, 10, 10, 12, 40), (8, 4, 6, 7, 8, 25), (5, 3, 4, 4, 0, 12))
_MAX_AREAS = 12
# characters of a title that are read
_MAX_TITLE = 300
_TAG = re.compile(r"\[(?P<tag>[^\[\]]{1,60})\]|\((?P<round>[^()]{1,60})\)")
_STEP = re.compile(
    r"(?P<at>\d{1,3})\s?/\s?(?P<of>\d{1,3}|[a-z])|(?:part|pt\.?|phase|step|stage)\s(?P<part>\d{1,3}|i{1,3}|iv|v)",
    re.I,
)
_BARE_STEP = re.compile(r"[-:,\u2013\u2014]?\s\b(?:part|pt\.?|phase|step)\s(?P<part>\d{1,3}|i{1,3}|iv|v)\b", re.I)
_FOLLOW_UP = re.compile(
    r"\bfollow(?:s|ing)?[\s-]?up\b(?:[^.#\n]|\.(?!\s)){0,60}?(?:#|/pull/)(?P<number>[1-9]\d{0,8})(?!\d)", re.I
)
_BUMP = re.compile(
    r"(?:bump|upgrade|update|pin)\s(?P<name>[\w./@-]{2,60})(?:\sversion)?(?:\sfrom\s\S{1,40})?\sto\sv?\d", re.I
)
_WORD = re.compile(r"[a-z][a-z0-9_]{2,}")
_COMMON_WORDS = frozenset(
    "add fix the and for from with into use support remove refactor update feature core".split()
)


class StoryKind(StrEnum):
    SINGLE = "single"
    SERIES = "series"
    BUMPS = "bumps"


@dataclass(frozen=True, slots=True)
class Story:
    """Merges that belong together, oldest first, at least one."""

    kind: StoryKind
    pulls: tuple[PullRequest, ...]

    @property
    def latest(self) -> PullRequest:
        return self.pulls[-1]

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(pull.number for pull in self.pulls)


@dataclass(frozen=True, slots=True)
class StoryList:
    """The stories of some merges, newest first, and the pairs of which one reverted the other, left out."""

    stories: tuple[Story, ...]
    taken_back: tuple[MergeOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class SincePage:
    """All that was merged in some weeks. ``entries`` has what was summarized before, by number; nothing else is.

    ``touches`` is what the merges mean for a profile, None without one. ``coverage`` is that of the lists of days.
    """

    name: str
    span: Span
    merged: int
    stories: StoryList
    entries: Mapping[int, Entry] = field(default_factory=dict)
    touches: TouchReport | None = None
    coverage: Coverage = COMPLETE
    notes: tuple[str, ...] = ()
    muted: tuple[PullRequest, ...] = ()

    def fold_muted(self, mutes: Collection[Mute]) -> SincePage:
        """Return the page as somebody reads it alone: without what they mute, but with what touches or reverts."""
        stays = {hit.number for hit in self.touches.touching.ignore_coverage()} if self.touches else set()

        def is_folded(pull: PullRequest) -> bool:
            entry = self.entries.get(pull.number)
            area, summary = (entry.area, entry.summary) if entry else ("", None)
            return pull.number not in stays and not is_revert(pull) and is_muted(mutes, pull, area, summary)

        muted = tuple(pull for pull in self.pulls if is_folded(pull))
        kept: list[Story] = []
        for story in self.stories.stories if muted else ():
            if pulls := tuple(pull for pull in story.pulls if pull not in muted):
                kept.append(Story(story.kind if pulls[1:] else StoryKind.SINGLE, pulls))
        return replace(self, stories=replace(self.stories, stories=tuple(kept)), muted=muted) if muted else self

    @property
    def listed(self) -> CoveredList[PullRequest]:
        """What was merged and not reverted, with how much of it was listed, summarized and compared."""
        unread = sum(pull.number not in self.entries for pull in self.pulls)
        summaries = CoveredPart("summaries", unread, len(self.pulls), "nobody has asked for them yet")
        compared = self.touches.touching.coverage if self.touches else COMPLETE
        return CoveredList(self.pulls, self.coverage + Coverage.of(summaries) + compared)

    @property
    def pulls(self) -> tuple[PullRequest, ...]:
        """What was merged and not reverted."""
        return tuple(pull for story in self.stories.stories for pull in story.pulls)

    @property
    def riskiest(self) -> tuple[Entry, ...]:
        """What is riskiest of what was summarized before and not reverted."""
        kept = {pull.number for pull in self.pulls}
        entries = [each for number, each in self.entries.items() if number in kept and not each.pull.other_branch]
        return select_riskiest(entries, _MAX_RISKS, is_reduced=False)

    @property
    def actions(self) -> tuple[Entry, ...]:
        """What readers have to act on, of what was summarized before and not reverted."""
        entries = (self.entries.get(pull.number) for pull in self.pulls)
        return tuple(each for each in entries if each and each.summary.action and not each.pull.other_branch)

    def list_stories(self, kind: StoryKind) -> tuple[Story, ...]:
        stories = (story for story in self.stories.stories if story.kind is kind)
        return tuple(sorted(stories, key=lambda story: -len(story.pulls)))


def build_stories(index: RevertIndex) -> StoryList:
    """Sort the merges of an index into stories.

    Reverts of earlier merges stay; both merges of a pair within these do not.
    """
    outcomes = find_outcomes(index)
    taken_back = tuple(each for each in outcomes if each.stands and each.kind is OutcomeKind.REVERTED)
    gone = {number for each in taken_back for number in (each.pull.number, each.by.number)}
    pulls = [pull for pull in index.by_number.values() if pull.number not in gone]
    pulls.sort(key=lambda pull: (pull.merge_time, pull.number))
    bumps: dict[str, list[PullRequest]] = defaultdict(list)
    others: list[PullRequest] = []
    for pull in pulls:
        match = _BUMP.search(_TAG.sub(" ", pull.title[:_MAX_TITLE]))
        (bumps[match["name"].casefold()] if match else others).append(pull)
    groups = [(StoryKind.BUMPS, group) for group in bumps.values()]
    groups += [(StoryKind.SERIES, group) for group in _group_series(others)]
    stories = [Story(kind if len(group) > 1 else StoryKind.SINGLE, tuple(group)) for kind, group in groups]
    stories.sort(key=lambda story: (story.latest.merge_time, story.latest.number), reverse=True)
    return StoryList(tuple(stories), taken_back)


def _group_series(pulls: Sequence[PullRequest]) -> Iterator[list[PullRequest]]:
    """Yield the pull requests in groups: steps of one series, and what follows up on another."""
    parents = {pull.number: pull.number for pull in pulls}

    def find_root(number: int) -> int:
        while parents[number] != number:
            # each look shortens the way of the next one
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    series: dict[tuple[str, str], list[PullRequest]] = defaultdict(list)
    for pull in pulls:
        if (total := _find_total(pull.title)) is not None:
            series[_list_tags(pull.title), total].append(pull)
        for number in _list_followed(pull):
            if number in parents:
                parents[find_root(pull.number)] = find_root(number)
    for steps in series.values():
        for number, other in _pair_steps(steps):
            parents[find_root(number)] = find_root(other)
    groups: dict[int, list[PullRequest]] = defaultdict(list)
    for pull in pulls:
        groups[find_root(pull.number)].append(pull)
    yield from groups.values()


def _pair_steps(steps: Sequence[PullRequest]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of steps with the same marks that have a word of their subject in common."""
    latest: dict[str, int] = {}
    for pull in steps:
        subject = _BARE_STEP.sub(" ", _TAG.sub(" ", pull.title[:_MAX_TITLE]))
        # those without a subject belong together
        words = frozenset(_WORD.findall(build_title_key(subject))) - _COMMON_WORDS or {""}
        yield from ((pull.number, latest[word]) for word in words if word in latest)
        latest.update(dict.fromkeys(words, pull.number))


def _find_total(title: str) -> str | None:
    """Return of how many a title says that it is a step: a number, a letter, or nothing; None for no step."""
    for match in _TAG.finditer(title[:_MAX_TITLE]):
        if step := _STEP.fullmatch((match["tag"] or match["round"]).strip()):
            return (step["of"] or "").casefold()
    return "" if _BARE_STEP.search(title[:_MAX_TITLE]) else None


def _list_tags(title: str) -> str:
    """Return the tags in brackets of a title, without those that count steps."""
    tags = (match["tag"] for match in _TAG.finditer(title[:_MAX_TITLE]) if match["tag"])
    return " ".join(sorted({tag.casefold().strip() for tag in tags if not _STEP.fullmatch(tag.strip())}))


def _list_followed(pull: PullRequest) -> list[int]:
    """Return the numbers that a pull request says that it follows up on."""
    texts = (pull.title[:_MAX_TITLE], extract_prose(pull.body) if "ollow" in pull.body else "")
    return [int(match["number"]) for text in texts for match in _FOLLOW_UP.finditer(text)]


# --- how the page looks


def render_since(page: SincePage) -> Post:
    name = truncate_text(collapse_lines(page.name), 60)
    count = page.listed.label(lambda _: f" · {format_count(page.merged, 'merge')}")
    title = f"{name} · since {page.span.first.day} {page.span.first:%B %Y}{count}"
    notes = make_context(truncate_text(" · ".join(_list_notes(page)), 1_200))

    def render(limits: tuple[int, int, int, int, int, int]) -> list[Block]:
        shown = page.listed.render(make_sentence, lambda _: _render_parts(page, *limits), "Nothing is left of it.")
        return [make_header(title), *shown, notes]

    return Post(escape_mrkdwn(title), tuple(choose_fitting_blocks(map(render, _VERSIONS))))


def _render_parts(
    page: SincePage, hits: int, risks: int, actions: int, stories: int, titles: int, words: int
) -> Iterator[Block]:
    singles, series, bumps = (page.list_stories(kind) for kind in StoryKind)
    if page.touches:
        context = HitContext.build(page.pulls, page.stories.taken_back)
        yield from render_touches(page.touches, context, TouchLimits(hits=hits))

    def shorten(text: str) -> str:
        """Return a text whole, or nothing: half a sentence misleads."""
        return keep_short(text, words, MAX_SENTENCE)

    def render_action(entry: Entry) -> list[Element]:
        number = render_numbers((entry.number,), {entry.number: entry.pull.url})
        action = make_prose(shorten(entry.summary.action), {}, MAX_SENTENCE)
        return [*action, make_text(" ("), *number, make_text(")")] if action else []

    def render_story(story: Story) -> list[Element]:
        """Return the newest part with what it does, and the numbers of the earlier ones."""
        urls = {pull.number: pull.url for pull in story.pulls[:-1]}
        entry = page.entries.get(story.latest.number)
        headline = shorten(entry.summary.headline) if entry else ""
        return [
            *render_reference(story.latest),
            *([make_text(": "), *make_prose(headline, {}, MAX_SENTENCE)] if headline else []),
            make_text(", after "),
            *render_numbers([*urls], urls),
        ]

    def render_bumps(story: Story) -> list[Element]:
        replaced = format_count(len(story.pulls) - 1, "earlier one")
        return [*render_reference(story.latest), make_text(f" (replaces {replaced})")]

    def render_title(pull: PullRequest) -> list[Element]:
        return render_reference(pull)

    looks = page.riskiest
    yield from _render_list("Riskiest", looks, risks, lambda entry: render_risk(entry, {}, 120))
    yield from _render_list("May need action", page.actions, actions, render_action, "action", "actions")
    yield from _render_list("In several steps", series, stories, render_story, "series", "series")
    yield from _render_list("Bumped more than once", bumps, stories, render_bumps)
    unknown = [story.latest for story in singles if story.latest.number not in page.entries]
    yield from _render_list("Not summarized yet", unknown, titles, render_title, "title", "titles")
    areas = Counter(entry.area for story in singles if (entry := page.entries.get(story.latest.number)))
    if areas:
        counts = ", ".join(f"{collapse_lines(area)} {count}" for area, count in areas.most_common(_MAX_AREAS))
        yield make_block(make_section([make_text("The rest by area: ", bold=True), make_text(counts)]))


def _render_list(
    title: str,
    things: Sequence[T],
    most: int,
    render: Callable[[T], list[Element]],
    singular: str = "",
    many: str = "",
) -> Iterator[Block]:
    """Yield the list of the first things that have a line; the others are counted where they have a name."""
    lines = list(islice(filter(None, map(render, things)), most))
    if (left := len(things) - len(lines)) and most and singular:
        more = "more " if lines else ""
        rest = format_count(left, f"{more}{singular}", f"{more}{many}")
        lines.append([make_text(f"and {rest}" if lines else f"{rest}, too long for a line")])
    if lines:
        yield make_list(title, lines)


def _list_notes(page: SincePage) -> Iterator[str]:
    yield "from stored summaries"
    if taken_back := len(page.stories.taken_back):
        them = "it" if taken_back == 1 else "them"
        yield f"{format_count(taken_back, 'merge')} and what reverted {them} left out"
    yield from (*page.notes, *list_judges(page.touches))


@job("since", QueueName.LONG, LONG_RETRIES)
def answer_since(app: App, asker: SlackRequest, request: SinceRequest, audience: Audience) -> None:
    def make() -> Answer:
        known = request.require_known(app.repositories)
        profile = find_profile(app, known.profile, known.repository)
        page = build_since_page(app, known.repository, known.span, profile)
        page = page.fold_muted(load_mutes(app, asker.find_lone_reader(audience)))
        menu = make_details_menu(entry.pull for entry in page.riskiest)
        post = add_buttons(render_since(page), make_muted_button(page.muted))
        return build_answer(asker.name, post, Share(SHARE_DIGEST, known), menu, "")

    started = f"Collecting what I know of {request.repository} since {request.span.first}…"
    app.replies.give_answer(asker, "since", audience, make, started)


def build_since_page(app: App, repository: Repository, span: Span, profile: Profile | None = None) -> SincePage:
    """Build the page of some days. ``profile`` is one of this repository."""
    return build_page_of(app, repository, span, list_merges(app, repository, span), profile)


def build_page_of(
    app: App, repository: Repository, span: Span, merged: MergeList, profile: Profile | None
) -> SincePage:
    """Build the page of some merges, such as those of a range of commits. Raises StoreUnavailable."""
    references = (Reference(repository, pull.number) for pull in merged.pulls)
    read = [each for reference in references if (each := get_summary(app, reference))]
    # for the rules that look back; without a summary nothing is rated
    since, until = span.days[0].start - LOOK_BACK, span.days[-1].end + LOOK_AHEAD
    around = app.timeline.read_merges_or_none(repository, since, until) if read else ()
    index = app.timeline.index_pulls(remove_duplicates([*merged.pulls, *around]))
    stories = build_stories(index.select(pull.number for pull in merged.pulls))
    entries: dict[int, Entry] = {}
    if read:
        loaded = [each.pull for each in read]
        context = DayContext.from_index(index, (pull.number for pull in loaded))
        risks = context.assess_pulls(loaded, loaded, app.paths.get_path_classes(repository))
        for each, risk in zip(read, risks, strict=True):
            entries[each.number] = Entry.from_summarised(each, risk, get_review(app, each.pull))
    report = None
    if profile:
        shown = [pull for story in stories.stories for pull in story.pulls]
        shown = [pull for pull in shown if not pull.other_branch]
        contracts = [contract for pull in shown if (contract := get_kept_contract(app, pull))]
        unread = len(shown) - len(contracts)
        kept = CoveredPart("merges' code", unread, len(shown), "nobody has asked about it yet")
        checked = check_merges(app, profile, contracts)
        report = judge_merges(profile.name, profile, contracts, Coverage.of(kept), checked)
    name = app.name_repository(repository)
    return SincePage(name, span, len(merged.pulls), stories, entries, report, merged.coverage, merged.notes)
