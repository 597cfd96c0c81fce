"""Hits: merges that change what a profile uses, and the lines about them that several posts have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from bot.errors import UsageError
from bot.features.merges.others import (
    MAX_LINES,
    NO_OTHERS_KNOWN,
    OtherCommit,
    OthersOfMerge,
    render_other,
    render_others,
)
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.summary import Evidence, build_evidence_url
from bot.features.merges.view import (
    format_more,
    format_outcome,
    join_some,
    keep_short,
    keep_title,
    make_list,
    render_lines,
    render_numbers,
    shorten_branch,
)
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.slack.blocks import (
    UNKNOWN_BUTTON,
    UNNAMED,
    VERSION_MARK,
    Block,
    Element,
    make_block,
    make_bullets,
    make_button,
    make_link,
    make_preformatted,
    make_prose,
    make_section,
    make_text,
    make_watch_button,
    remove_mark,
)
from bot.text import format_count, truncate_words
from impact.contract.breaking import Breakage, list_breakages
from impact.contract.deprecations import Deprecation, DeprecationNews, DeprecationState
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.contract.table import ContractTableRow, select_told
from impact.coverage import CoveredList
from impact.history.outcomes import OutcomeKind
from impact.profile.models import Use, UseKind, parse_profile_name
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.models import MergeTouches, Touch, TouchLevel, TouchReport
from impact.touches.profile_index import DeprecationStep, UsedDeprecation
from impact.touches.spent import SpentUse

if TYPE_CHECKING:
    from impact.clones.lessons import Lesson


class TouchVerdict(StrEnum):
    """What somebody says about a hit. Stored: never changed. ``name_verdict`` has the words that people read."""

    OURS = "ours to do"
    NOT_US = "not us"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class HitKey:
    """A hit: a change of one merge. ``change`` are twelve hexadecimal digits that name it within the merge.

    Without a ``change`` it stands for all hits of the merge.
    """

    reference: Reference
    change: str = ""

    def __str__(self) -> str:
        return f"{self.reference} {self.change}"


@dataclass(frozen=True, slots=True)
class TouchDecision:
    """What somebody said about a hit last. ``by`` is the id of a Slack user, ``at`` is in UTC.

    It is empty for one that closed itself: its file was adapted in ``commit``, or the pin is past it.
    """

    key: HitKey
    verdict: TouchVerdict
    by: str
    at: datetime
    commit: str = ""

    @property
    def words(self) -> str:
        if self.by:
            return name_verdict(self.verdict)
        return f"adapted in {self.commit[:10]}" if self.commit else "behind your pin"


NO_SPENT: CoveredList[SpentUse] = CoveredList()


@dataclass(frozen=True, slots=True)
class OtherNews:
    """A merge that waits for a profile, and what another downstream did about it first."""

    pull: PullRequest
    commit: OtherCommit
    level: TouchLevel


@dataclass(frozen=True, slots=True)
class PendingHits:
    """The merges since a pin that touch and are not closed, oldest first.

    ``spent`` are the team's own functions that may go by now.

    Of ``unread`` of the ``merges`` nobody knows all that they change; those before ``known_since`` are not listed.
    """

    pin: str
    days: int
    pulls: tuple[PullRequest, ...]
    merges: int
    unread: int
    known_since: date | None = None
    spent: CoveredList[SpentUse] = NO_SPENT


# removed first: what is gone cannot be used any more; behaviour is no contract change that a list shows
_KINDS = (
    ChangeKind.REMOVED,
    ChangeKind.RENAMED,
    ChangeKind.MOVED,
    ChangeKind.SIGNATURE,
    ChangeKind.ABSTRACT_MEMBER,
    ChangeKind.RETURN,
    ChangeKind.DEFAULT,
    ChangeKind.DEPRECATED,
    ChangeKind.ADDED_MEMBER,
    ChangeKind.ADDED,
)
_CLASSES = tuple(ContractClass)


def sort_hits(report: TouchReport, taken_back: Collection[int]) -> CoveredList[MergeTouches]:
    """Return the merges that touch, strongest first, and those that were reverted last."""
    return report.touching.derive(
        lambda merges: sorted(merges, key=lambda merge: (merge.number in taken_back, *merge.sort_key))
    )


def list_contract_rows(contracts: Iterable[MergeContract]) -> Sequence[ContractTableRow]:
    """Return the contract changes of some merges by class, what was removed first, without behavior."""

    def get_order(row: ContractTableRow) -> tuple[int, int, str, int]:
        change = row.change
        return _CLASSES.index(change.subject), _KINDS.index(change.kind), change.name, row.number

    changes = ((contract.number, change) for contract in contracts for change in contract.changes)
    rows = select_told(ContractTableRow(*each) for each in changes if each[1].kind in _KINDS)
    return sorted(rows, key=get_order)


_NEWS_WORDS = {
    DeprecationState.ANNOUNCED: "is deprecated",
    DeprecationState.DUE: "may go with the next release",
    DeprecationState.OVERDUE: "is overdue",
    DeprecationState.REMOVED: "was removed",
}


def render_news(news: Iterable[tuple[DeprecationNews, UsedDeprecation]], url: str) -> Iterator[list[Element]]:
    """Yield a line of a digest for each step of a deprecation. Without an address, nothing is linked."""
    for step, used in news:
        yield [make_text(f"{describe_step(step)}: "), *render_deprecation(used, url)]


def describe_step(news: DeprecationNews) -> str:
    return f"{_NEWS_WORDS[news.state]}{f' since {news.release.name}' if news.release else ''}"


def render_deprecation(used: UsedDeprecation, url: str) -> list[Element]:
    entry = used.entry
    details = describe_deadline(entry)
    number = entry.removed_by or entry.number
    name = f"#{number}" if number > 0 else entry.commit[:10]
    place = describe_first_use(used)
    return [
        make_text(truncate_text(collapse_lines(entry.name), 120) or UNNAMED, code=True),
        make_text(f" {details} (" if details else " ("),
        make_link(f"{url}/pull/{number}", name) if number > 0 and url else make_text(name),
        make_text(f"){f' · used at {place}' if place else ''}"),
    ]


def describe_deadline(entry: Deprecation) -> str:
    when = f"to go in {truncate_text(collapse_lines(entry.when), 40)}" if entry.when else ""
    instead = truncate_text(collapse_lines(entry.replacement), 80)
    return ", ".join(part for part in (when, f"use {instead}" if instead else "") if part)


def describe_first_use(used: UsedDeprecation) -> str:
    """Return the first place where it is used, with how many others there are; empty if there is none."""
    if not used.uses:
        return ""
    first, others = used.uses[0], len(used.uses) - 1
    more = f" and {format_count(others, 'other line')}" if others else ""
    return truncate_text(collapse_lines(f"{first.path}:{first.line}"), 100) + more


# of which all merges should have been read before a list of deprecations says that there are none
LEDGER_DAYS = 31
# the block in the lead, whose lines show what people decide about them
SECTION_ID = "touches"
# lines of a list in a message that sums up
MAX_LISTED = 5
NEWS_TITLE = "Deprecated, and used by us"
TASK_LABEL = "Task for an agent"
_MAX_PLACE_LENGTH = 90
# of a cell: Slack wraps none, and a window shall show all columns
MAX_CELL, _MAX_PATH = 42, 30
_MAX_REASON_LENGTH, _MAX_EFFECT_LENGTH, _MAX_ACTION_LENGTH = 160, 240, 240
_MAX_OTHER_NEWS, _MAX_EXCERPT_LINE = 2, 120
# functions that may go, in a line
_MAX_SPENT_NAMES = 2
# of names that hold blanks, in words
_MAX_NAME_WORDS = 3
_STATES = tuple(DeprecationState)
_LEVELS = {
    TouchLevel.NO: "does not touch",
    TouchLevel.TOUCHES: "touches",
    TouchLevel.MAY_BREAK: "may break us",
    TouchLevel.STOPS_SILENTLY: "silently stops something",
    TouchLevel.BREAKS: "breaks us",
}
# what callers see of a name besides it; of all other classes that is a type
_SHAPES = {
    ContractClass.FUNCTION: "other signature",
    ContractClass.CLASS: "other signature",
    ContractClass.METHOD: "other signature",
    ContractClass.OP: "other signature",
    ContractClass.FLAG: "other values",
}
_USES = {UseKind.NAMED: "names it in a string", UseKind.INHERITED: "inherits it"}
_VERDICTS = {TouchVerdict.OURS: "ours to do", TouchVerdict.NOT_US: "not us", TouchVerdict.DONE: "done"}


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
    """What the lines of hits need besides them: the pull requests, and what was reverted or repaired by what.

    ``others`` are what other downstreams did about them, where that is known.
    ``lessons`` end a line with how the team adapted before.
    """

    pulls: Mapping[int, PullRequest]
    outcomes: Mapping[int, MergeOutcome]
    others: Mapping[int, OthersOfMerge] = field(default_factory=dict)
    lessons: Mapping[int, list[Element]] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        pulls: Iterable[PullRequest],
        outcomes: Iterable[MergeOutcome],
        others: Mapping[int, OthersOfMerge] = NO_OTHERS_KNOWN,
    ) -> HitContext:
        """Build the context of some pull requests; outcomes that no longer stand are left out."""
        standing = {each.pull.number: each for each in outcomes if each.stands}
        return cls({pull.number: pull for pull in pulls}, standing, others)

    @property
    def taken_back(self) -> frozenset[int]:
        return frozenset(number for number, each in self.outcomes.items() if each.kind is OutcomeKind.REVERTED)


# --- the section of a message


def render_touches(
    report: TouchReport, context: HitContext, limits: TouchLimits = WIDE_TOUCHES, elsewhere: str = ""
) -> Iterator[Block]:
    """Yield the section: the strongest hits, or that nothing touches; nothing if there were no merges.

    What was not read stands above it in the message. ``elsewhere`` says where the other hits are.
    """
    hits = sort_hits(report, context.taken_back)

    def show(merges: Sequence[MergeTouches]) -> Iterator[Block]:
        lines = render_lines(merges, limits.hits, lambda hit: render_hit_line(hit, context, limits), elsewhere)
        yield {**make_block(make_title(report, len(merges)), make_bullets(lines)), "block_id": SECTION_ID}

    if not hits.coverage.is_complete:
        yield from hits.render_below(show)
    elif report.merges:
        yield from hits.render(make_sentence, show, describe_nothing(report))


def render_pending(pending: PendingHits | None, since: datetime | None = None) -> list[Block]:
    """Return one line with what waits since the pin, and before it what nobody has read; nothing without a pin.

    With an instant (aware), it says how many of them are new ``since`` then, and lists what may go.
    """
    if pending is None:
        return []
    gaps = [f"Merges before {pending.known_since} are not listed. "] if pending.known_since else []
    if pending.unread:
        gaps.append(
            f"Not read in full since your pin: {pending.unread:,} of {format_count(pending.merges, 'merge')}. "
        )
    count = f"{len(pending.pulls):,}" if pending.pulls else "None of the others is" if gaps else "Nothing"
    elements = [
        make_text(f"{''.join(gaps)}{count} pending since your pin ("),
        *make_code(pending.pin),
        make_text(f", {format_count(pending.days, 'day')})"),
    ]
    if pending.pulls:
        elements += [make_text(", the oldest "), *render_number(pending.pulls[0].number, pending.pulls[0])]
    if pending.pulls and since:
        new = sum(pull.merge_time >= since for pull in pending.pulls)
        elements.append(make_text(f", {new or 'none'} of them new"))
    elements.append(make_text("."))
    if since and not pending.spent.is_empty:
        return [make_block(make_section(elements)), *render_spent(pending.spent, MAX_LISTED)]
    elements += [make_text(text) for text in pending.spent.render_below(_count_spent)]
    return [make_block(make_section(elements))]


def _count_spent(spent: Sequence[SpentUse]) -> Iterator[str]:
    places = join_some([_name_place(each.use) for each in spent], _MAX_SPENT_NAMES)
    yield f" May go: {places}; /prdigest pending says why."


def render_spent(spent: CoveredList[SpentUse], most: int) -> list[Block]:
    """Return what may go, the first ones, each with why; and before that what was not looked for."""

    def show(uses: Sequence[SpentUse]) -> Iterator[Block]:
        yield make_list("May go", render_lines(uses, most, _render_spent_use))

    return spent.render(make_sentence, show, "")


def _render_spent_use(spent: SpentUse) -> list[Element]:
    use, merge = spent.use, spent.merge
    name = shorten_start(collapse_lines(use.name), ".")
    by = f" (#{merge.number})" if merge else ""
    return [make_text(f"{_name_place(use)} {use.kind} "), *make_code(name), make_text(f": {spent.why}{by}")]


def render_other_news(news: Sequence[OtherNews]) -> list[Block]:
    """Return what others first followed of what waits since the pin; nothing without any."""
    lines = []
    for each in news[:_MAX_OTHER_NEWS]:
        start = render_number(each.pull.number, each.pull)
        lines.append([*start, make_text(f" {name_level(each.level)}: "), *render_other(each.commit)])
    if rest := news[_MAX_OTHER_NEWS:]:
        urls = {each.pull.number: each.pull.url for each in rest}
        lines.append([make_text("Also "), *render_numbers([*urls], urls, len(urls))])
    return [make_list("Others changed for what waits for you", lines)] if lines else []


def render_example(others: OthersOfMerge) -> list[Element]:
    """Return the lines of what others did, and of the first commit that shows lines these."""
    elements = [make_bullets(render_others(others), indent=1)]
    excerpt = next((each.followed.excerpt for each in others.commits if each.followed.excerpt), ())
    lines = [truncate_text(line, _MAX_EXCERPT_LINE) for line in excerpt[:MAX_LINES]]
    return [*elements, *([make_preformatted("\n".join(lines))] if lines else [])]


def describe_nothing(report: TouchReport) -> str:
    """Return the sentence for a report without hits where all was read."""
    checked = f"{format_count(report.merges, 'merge')}, {format_count(report.uses, 'use')} checked"
    return f"Nothing touches {shorten_profile(report.profile)} ({checked})."


def list_judges(report: TouchReport | None) -> list[str]:
    """Return who judged, as a clause; nothing where nothing was judged."""
    judges = report.judges if report and report.merges else ""
    return [f"{judges[0].lower()}{judges[1:-1]}"] if judges else []


def make_sentence(text: str) -> Block:
    return make_block(make_section([make_text(text)]))


def make_title(report: TouchReport, hits: int) -> Element:
    title = make_text(f"Touches {shorten_profile(report.profile)}", bold=True)
    return make_section([title, make_text(f" ({hits:,} of {format_count(report.merges, 'merge')})", italic=True)])


def shorten_profile(profile: str) -> str:
    return truncate_words(truncate_text(collapse_lines(profile), 40), 1)


def render_news_line(steps: Sequence[DeprecationStep], elsewhere: str) -> Block | None:
    """Return what became of a deprecation that we use, what was removed first, as one line; None without any.

    ``elsewhere`` says where the others are.
    """
    if not steps:
        return None
    first = max(steps, key=lambda step: _STATES.index(step.news.state))
    rest = f"; {format_more(len(steps) - 1, elsewhere)}" if len(steps) > 1 else ""
    line = [
        make_text("Deprecated: ", bold=True),
        *make_code(shorten_name(first.news.entry.name)),
        make_text(truncate_text(f" {describe_step(first.news)}{rest}.", _MAX_REASON_LENGTH)),
    ]
    return make_block(make_section(line))


# --- a hit


def render_hit_line(hit: MergeTouches, context: HitContext, limits: TouchLimits) -> list[Element]:
    if not hit.touches:
        return render_hit_start(hit, context, name_level(hit.level))
    touch = hit.touches[0]
    return [
        *render_hit_start(hit, context),
        make_text(" "),
        *render_touch(touch, context.pulls.get(hit.number), limits),
        *render_other_places(count_other_places(hit)),
        *render_action(touch, limits.action),
        *([make_text(" "), *context.lessons[hit.number]] if hit.number in context.lessons else []),
    ]


def render_hit_start(hit: MergeTouches, context: HitContext, level: str = "", title: str = "") -> list[Element]:
    elements = [
        *render_number(hit.number, context.pulls.get(hit.number)),
        *([make_text(f" {level}", bold=True)] if level else []),
        *([make_text(f": {title}")] if title else []),
    ]
    if outcome := context.outcomes.get(hit.number):
        elements.append(make_text(f" ({format_outcome(outcome)} ", italic=True))
        elements += [make_link(outcome.by.url, f"#{outcome.by.number}"), make_text(")", italic=True)]
    return elements


def render_number(number: int, pull: PullRequest | None) -> list[Element]:
    return [make_link(pull.url, f"#{number}") if pull else make_text(f"#{number}")]


def render_touch(touch: Touch, pull: PullRequest | None, limits: TouchLimits = WIDE_TOUCHES) -> list[Element]:
    """Return the place in the team's code, what happens there, and the upstream line with a link to it."""
    change = touch.change
    elements = [*make_code(_name_place(touch.use)), make_text(" "), *render_effect(touch, limits.reason)]
    before, after = (keep_short(text, limits.code, 120) for text in (change.before, change.after))
    if limits.code and not _says_all(touch) and before and after and before != after:
        elements += [make_text(" ("), *make_code(before), make_text(" → "), *make_code(after), make_text(")")]
    return [*elements, *render_line_link(change, pull)]


def render_effect(touch: Touch, words: int) -> list[Element]:
    """Return what happens at a place; the name alone if the sentence has more ``words``: it is never cut."""
    if not keep_short(touch.reason, words, _MAX_REASON_LENGTH):
        name = shorten_name(touch.change.name.replace("`", "")) or UNNAMED
        touch = replace(touch, reason=f"`{name}`")
    return make_prose(touch.effect, {}, _MAX_EFFECT_LENGTH)


def _says_all(touch: Touch) -> bool:
    """Return whether the sentence names what differs, so that the line before and after say nothing more."""
    change, reason = touch.change, touch.reason
    names_it = change.subject is ContractClass.FLAG or reason.startswith("must ") or reason.count("`") > 2
    return bool(change.new_name) or (change.kind is ChangeKind.SIGNATURE and names_it)


def render_line_link(change: ContractChange, pull: PullRequest | None) -> list[Element]:
    if pull is None or change.line < 1:
        return []
    file = truncate_text(collapse_lines(change.path).rpartition("/")[2], _MAX_PLACE_LENGTH)
    url = build_evidence_url(pull, Evidence(change.path, "", change.side, change.line))
    label = truncate_words(file, _MAX_NAME_WORDS) or "line"
    return [make_text(" ("), make_link(url, f"{label}:{change.line}"), make_text(")")]


def _name_place(use: Use) -> str:
    place = truncate_words(shorten_start(collapse_lines(use.path), "/"), _MAX_NAME_WORDS)
    # what was added by hand has no line
    return f"{place}:{use.line}" if use.line else place


def render_action(touch: Touch, words: int) -> list[Element]:
    action = truncate_text(collapse_lines(touch.action), _MAX_ACTION_LENGTH)
    if not action:
        return [make_text(".")]
    # whole or not at all
    hint = [make_text(" Hint: "), *make_prose(action, {}, _MAX_ACTION_LENGTH), make_text(".")]
    return [make_text("."), *(hint if len(action.split()) <= words else [])]


def make_place_cell(path: str, line: int, others: int) -> list[Element]:
    """Return a cell with a place in the team's code, and how many others there are."""
    place = shorten_start(collapse_lines(path) or UNNAMED, "/", _MAX_PATH)
    return [make_text(f"{place}:{line}" if line else place, code=True), *render_other_places(others)]


def count_other_places(hit: MergeTouches) -> int:
    return len({(use.path, use.line) for each in hit.touches for use in each.uses}) - 1


def render_other_places(others: int) -> list[Element]:
    return [make_text(f" (+{format_count(others, 'place')})")] if others > 0 else []


def make_verdict_row(pull: PullRequest, profile: str) -> Block:
    reference = Reference(pull.repository, pull.number)
    row = [
        make_button(
            name_verdict(verdict).capitalize(), action, write_hit_vote(HitVote(verdict, profile, reference))
        )
        for verdict, action in HIT_VERDICTS.items()
    ]
    row += [make_button(TASK_LABEL, AGENT_TASK, write_hit_task(profile, reference)), make_watch_button(reference)]
    return {"type": "actions", "block_id": name_verdict_row(pull.number), "elements": row}


def name_verdict_row(number: int) -> str:
    return f"hit-{number}"


# --- words


def make_code(content: str) -> list[Element]:
    """Return a text as code; nothing if it is empty, which Slack refuses."""
    line = collapse_lines(content)
    return [make_text(line, code=True)] if line else []


def shorten_code(text: str, words: int) -> str:
    return truncate_words(truncate_text(collapse_lines(text), 120), max(1, words))


def shorten_start(text: str, sign: str, length: int = _MAX_PLACE_LENGTH) -> str:
    """Return the end of a path or dotted name, which says more than its beginning: whole parts, if it has any."""
    if len(text) <= length:
        return text
    end = text[-length:]
    at = end.find(sign)
    return f"…{end[max(at, 0) :]}"


def shorten_name(name: str) -> str:
    """Return a name as a reader recognizes it: of a dotted one the last two parts."""
    line = collapse_lines(name)
    short = ".".join(line.split(".")[-2:]) if " " not in line and "/" not in line else line
    return truncate_words(truncate_text(short, 90), _MAX_NAME_WORDS)


def name_level(level: TouchLevel) -> str:
    return _LEVELS[level]


def name_verdict(verdict: TouchVerdict) -> str:
    return _VERDICTS[verdict]


def describe_use(kind: UseKind) -> str:
    """Return what a line does with the name before it, such as ``overrides it`` or ``passes the flag``."""
    return _USES.get(kind, str(kind) if " the " in kind else f"{kind} it")


def format_kind(change: ContractChange) -> str:
    if change.kind is ChangeKind.SIGNATURE:
        return _SHAPES.get(change.subject, "other type")
    return "other default" if change.kind is ChangeKind.DEFAULT else str(change.kind)


def format_class_title(subject: ContractClass, count: int) -> str:
    return f"{str(subject).capitalize()} · {format_count(count, 'contract change')}"


# in values: never changed
_VERDICT_WORDS = {TouchVerdict.OURS: "ours", TouchVerdict.NOT_US: "not-us", TouchVerdict.DONE: "done"}


@dataclass(frozen=True, slots=True)
class HitVote:
    verdict: TouchVerdict
    profile: str
    reference: Reference


def write_hit_vote(vote: HitVote) -> str:
    """Return the value for what is said about a merge: ``2|ours ascend octo/engine#123``."""
    return f"{VERSION_MARK}{_VERDICT_WORDS[vote.verdict]} {vote.profile} {vote.reference}"


def read_hit_vote(value: str, repositories: AllowedRepositories) -> HitVote:
    """Return what is said by a value. Raises UsageError as ``read_hit_task``."""
    word, _, rest = remove_mark(value).partition(" ")
    verdict = next((each for each, own in _VERDICT_WORDS.items() if own == word), None)
    if verdict is None:
        raise UsageError(UNKNOWN_BUTTON)
    return HitVote(verdict, *_read_hit(rest, repositories))


def write_hit_task(profile: str, reference: Reference) -> str:
    """Return the value for the task of a merge: ``2|ascend octo/engine#123``."""
    return f"{VERSION_MARK}{profile} {reference}"


def read_hit_task(value: str, repositories: AllowedRepositories) -> tuple[str, Reference]:
    """Return the profile and the pull request of a value. Raises UsageError, also if that is not allowed."""
    return _read_hit(remove_mark(value), repositories)


def _read_hit(text: str, repositories: AllowedRepositories) -> tuple[str, Reference]:
    profile, _, reference = text.partition(" ")
    if not profile:
        raise UsageError(UNKNOWN_BUTTON)
    return parse_profile_name(profile), repositories.parse_pull_request(reference)


# one for each verdict: within a row of buttons, actions differ
HIT_VERDICTS = {verdict: f"hit_{verdict.name.lower()}" for verdict in TouchVerdict}
AGENT_TASK = "hit_task"


# --- what breaks callers

# the verb that an effect has after its one name
_PLURAL = {"is": "are", "has": "have", "takes": "take", "accepts": "accept", "requires": "require"}
_SINGULAR = re.compile(rf"(?:(?<=^no longer )|^)(?:{'|'.join(_PLURAL)})\b")
_MAX_EFFECT = 160
_MAX_ELSEWHERE = 4


@dataclass(frozen=True, slots=True)
class BreakingMerge:
    """A merge that breaks callers: what it breaks, the most telling first, at least one."""

    pull: PullRequest
    breakages: tuple[Breakage, ...]

    @property
    def number(self) -> int:
        return self.pull.number


def select_breaking(
    contracts: Iterable[MergeContract], pulls: Iterable[PullRequest], settled: Collection[int] = ()
) -> tuple[BreakingMerge, ...]:
    """Return the merges among ``pulls`` that break callers: those that take something away first, then the widest.

    Those that are ``settled`` are left out: what was reverted breaks nobody any more. Nor does what went into
    another branch than the default one.
    """
    by_number = {pull.number: pull for pull in pulls if pull.number not in settled and not pull.other_branch}
    listed = (
        BreakingMerge(by_number[contract.number], breakages)
        for contract in contracts
        if contract.number in by_number and (breakages := list_breakages(contract))
    )

    def get_order(merge: BreakingMerge) -> tuple[bool, int, int]:
        takes_away = merge.breakages[0].change.kind is ChangeKind.REMOVED
        return not takes_away, -len(merge.breakages), -merge.number

    return tuple(sorted(listed, key=get_order))


def render_breaking(merges: Sequence[BreakingMerge], *, most: int = 5, names: int = 3) -> Iterator[Block]:
    """Yield the section: a line for each of ``most`` merges, then the numbers of the others.

    Each merge is named, however many there are. ``names`` are those of a line. What was not read stands above.
    """
    if not merges:
        return
    lines = []
    for merge in merges[:most]:
        title = keep_title(merge.pull)
        link = make_link(merge.pull.url, f"#{merge.number}{f' {title}' if title else ''}", bold=True)
        lines.append([link, make_text(" — "), *_render_breakages(merge.breakages, names)])
    if rest := merges[most:]:
        urls = {merge.number: merge.pull.url for merge in rest}
        lines.append([make_text("Also "), *render_numbers([*urls], urls, len(urls))])
    yield make_list("Breaking", lines)


def _render_breakages(breakages: Sequence[Breakage], most: int) -> list[Element]:
    """Return what is broken as a sentence: names of the same effect together, the others counted."""
    elements: list[Element] = []
    for effect, group in groupby(breakages[:most], lambda each: each.effect):
        same = list(group)
        elements += [make_text("; ")] if elements else []
        for place, each in enumerate(same):
            elements += [make_text(" and " if place == len(same) - 1 else ", ")] if place else []
            elements += make_code(shorten_name(each.change.name))
        text = _SINGULAR.sub(lambda verb: _PLURAL[verb[0]], effect) if len(same) > 1 else effect
        elements += [make_text(" "), *make_prose(text, {}, _MAX_EFFECT)]
    rest = len(breakages) - most
    return [*elements, *([make_text(f" ({format_more(rest)})")] if rest > 0 else [])]


def describe_elsewhere(pulls: Sequence[PullRequest]) -> str:
    """Return which merges are not judged since they went into other branches, as a clause; empty for none."""
    names = [f"#{pull.number} (into {shorten_branch(pull)})" for pull in pulls]
    return f"not judged: {join_some(names, _MAX_ELSEWHERE)}" if names else ""


# --- how a team adapted before


@dataclass(frozen=True, slots=True)
class TeamLessons:
    """What is known of names. ``gap`` says as a clause why nothing is, ``url`` is the page of the team's code."""

    by_name: Mapping[str, Sequence[Lesson]]
    gap: str = ""
    url: str = ""

    def link(self, lesson: Lesson) -> str:
        return f"{self.url}/commit/{lesson.commit}"

    def explain_gap(self) -> str:
        return f"How you adapted before was not read: {self.gap}" if self.gap else ""


NO_LESSONS = TeamLessons({})
_MAX_LESSONS = 3  # of a hit in a message


def render_hit_lessons(hits: Iterable[MergeTouches], about: TeamLessons) -> dict[int, list[Element]]:
    """Return the sentences of hits, by their numbers; none for a hit without lessons."""
    known = ((hit.number, about.by_name.get(hit.touches[0].change.name, ())) for hit in hits if hit.touches)
    return {number: render_lessons(each, about) for number, each in known if each}


def render_lessons(lessons: Sequence[Lesson], about: TeamLessons) -> list[Element]:
    """Return the sentence of a hit: ``You adapted to this twice: a1b2c3d Follow the new cache, d4e5f6a``."""
    count = {1: "once", 2: "twice"}.get(len(lessons), format_count(len(lessons), "time"))
    elements = [make_text(f"You adapted to this {count}: ")]
    for place, lesson in enumerate(lessons[:_MAX_LESSONS]):
        # the newest is the one to look at
        label = f"{lesson.commit[:7]}{'' if place else f' {lesson.subject}'}".strip()
        elements += [*([make_text(", ")] if place else []), make_link(about.link(lesson), label)]
    return [*elements, make_text(".")]
