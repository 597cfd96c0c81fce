"""The lines about a merge that several posts have: findings, outcomes, bands and risks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple, TypeVar

from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import BugFinding, BugReview, Certainty, FindingAdvice, FindingStatus
from bot.features.merges.risk import Risk, RiskBand
from bot.features.merges.summary import Evidence, SummarisedPullRequest, Summary, build_evidence_url
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.blocks import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.text import EMPTY_INDEX, SentenceIndex, format_count, normalize_sentence
from impact.history.outcomes import OutcomeKind
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, truncate_text

# --- an entry


class LeadRule(StrEnum):
    """Why a line stands in a lead: each has exactly one rule, in the order of the lead's sections.

    The last two keep a merge out: nothing reaches it, by its summary; readers wanted less of its kind.
    """

    TOUCHES_US = "touches_us"
    REVERTED = "reverted"
    REPAIRED = "repaired"
    GONE_FOR_CALLERS = "gone_for_callers"
    CONFIRMED_FINDING = "confirmed_finding"
    LIKELY_FINDING = "likely_finding"
    RISKY = "risky"
    MUST_ACT = "must_act"
    SHOULD_ACT = "should_act"
    MAY_ACT = "may_act"
    NOT_REACHABLE = "not_reachable"
    LESS_WANTED = "less_wanted"

    @property
    def meaning(self) -> str:
        """The reason as a clause for readers."""
        return _LEAD_REASONS[self]


_LEAD_REASONS = {
    LeadRule.TOUCHES_US: "it touches the code of that channel's profile",
    LeadRule.REVERTED: "a later merge reverted it, in full or in part",
    LeadRule.REPAIRED: "a later merge repaired it",
    LeadRule.GONE_FOR_CALLERS: "code proved that it breaks callers",
    LeadRule.CONFIRMED_FINDING: "the AI bug review confirmed a bug in the code",
    LeadRule.LIKELY_FINDING: "the AI bug review calls a bug very likely",
    LeadRule.RISKY: "rules and review put it among the riskiest",
    LeadRule.MUST_ACT: "something stops working for those who do not act",
    LeadRule.SHOULD_ACT: "readers should act on it",
    LeadRule.MAY_ACT: "readers may act on it",
    LeadRule.NOT_REACHABLE: "nothing reaches it yet, so that its action and its possible bugs wait",
    LeadRule.LESS_WANTED: "people of that channel chose less like it, so that it stands in the thread",
}


class LeadLine(NamedTuple):
    """A line of a lead: the pull request that it is about, and the rule that admitted it."""

    number: int
    rule: LeadRule


@dataclass(frozen=True, slots=True)
class Entry:
    """A pull request with its summary and its risk; ``review`` is None if it was not read for bugs.

    ``cost`` is in US dollars for this run, None if a price is unknown.
    """

    pull: PullRequest
    summary: Summary
    risk: Risk
    area: str
    from_cache: bool = False
    cost: float | None = 0.0
    review: BugReview | None = None

    @classmethod
    def from_summarised(cls, read: SummarisedPullRequest, risk: Risk, review: BugReview | None = None) -> Entry:
        return cls(read.pull, read.summary, risk, read.area, read.from_cache, read.cost, review)

    @property
    def number(self) -> int:
        return self.pull.number

    @property
    def findings(self) -> tuple[BugFinding, ...]:
        """What the review found, in rank; nothing without a review."""
        return self.review.ranked_findings if self.review else ()

    def close_findings(self, outcomes: Iterable[MergeOutcome]) -> Entry:
        """Return the entry with each finding closed that one of the outcomes repairs: see the function."""
        return replace(self, review=close_findings(self.number, self.review, outcomes))

    @property
    def strongest_finding(self) -> BugFinding | None:
        return self.review.strongest_finding if self.review else None

    @property
    def is_reachable(self) -> bool:
        """Whether somebody can meet the change: by its summary, or since the review confirmed a bug of it."""
        finding = self.strongest_finding
        is_confirmed = finding is not None and finding.status is FindingStatus.CONFIRMED
        return is_confirmed or self.summary.is_reachable

    @property
    def is_revert(self) -> bool:
        """Whether the pull request says that it reverts another, by its assessment."""
        return not self.risk.may_be_listed


def close_findings(number: int, review: BugReview | None, outcomes: Iterable[MergeOutcome]) -> BugReview | None:
    """Return the review of a merge with each finding closed that one of the outcomes repairs, if they stand.

    A revert of all closes all. A repair closes what rests on a file that it changes, or whose files are not
    known.
    """
    ends = [each for each in outcomes if each.stands and each.pull.number == number]
    ends = [each for each in ends if each.kind is not OutcomeKind.PARTLY]
    if review is None or not ends:
        return review
    return replace(review, findings=tuple(_close_finding(finding, ends) for finding in review.findings))


def _close_finding(finding: BugFinding, ends: Iterable[MergeOutcome]) -> BugFinding:
    for end in ends:
        is_reverted, files = end.kind is OutcomeKind.REVERTED, end.by.files
        paths = None if files is None else {file.path for file in files}
        if is_reverted or paths is None or finding.evidence is None or finding.evidence.path in paths:
            return replace(finding, repaired_by=end.by.number, is_reverted=is_reverted)
    return finding


# --- lines about it

# the word that a trigger begins with decides what stands before it
_OWN_BEGINNING = re.compile(r"(?:when|if|with|without|for|on|while|after|before|as soon as)\b", re.I)
_STATUSES = {FindingStatus.CONFIRMED: "Confirmed in the code", FindingStatus.POSSIBLE: "Unconfirmed"}
_CERTAINTIES = {Certainty.HIGH: "Very likely", Certainty.MEDIUM: "Likely", Certainty.LOW: "Unsure"}
_ADVICE = {
    FindingAdvice.ADAPT: "Adapt your code or settings.",
    FindingAdvice.AVOID: "Avoid this commit.",
    FindingAdvice.WAIT: "Wait for #{}.",
    FindingAdvice.WATCH: "",
}
NO_PROOF = "An AI read the code: this is no proof."
# after these, no full stop is added
_SENTENCE_ENDS = (".", "!", "?", "…")


def get_claim(entry: Entry) -> str:
    """Return what may break by the strongest finding, else by the summary; empty if neither says so."""
    finding = entry.strongest_finding
    return collapse_lines(finding.consequence if finding else entry.summary.risk_reason)


def end_sentence(prose: list[Element]) -> list[Element]:
    """Return prose with a full stop, unless it ends a sentence, and a blank; nothing if it is empty."""
    if not prose:
        return []
    return [*prose, make_text(" " if prose[-1]["text"].endswith(_SENTENCE_ENDS) else ". ")]


def keep_short(text: str, words: int, characters: int = 1_000) -> str:
    """Return a text on one line if it is whole and no longer than that, else nothing: half a sentence misleads."""
    line = collapse_lines(text)
    is_whole = len(line) <= characters and len(line.split()) <= words and not line.endswith("…")
    return line if is_whole else ""


def render_finding_line(
    pull: PullRequest, finding: BugFinding, urls: Mapping[int, str], limits: LineLimits, limit: int = 320
) -> list[Element]:
    """Return how far it was checked, with a link to the line, what goes wrong, when, and who notices it.

    What goes wrong stands with its condition or not at all: nothing if one of them is too long. The texts have up
    to ``limit`` characters. Without ``urls`` there is no room for links.
    """
    claim, trigger, affected = (
        keep_short(text, words, limit)
        for text, words in (
            (finding.consequence, limits.sentence),
            (finding.trigger, limits.sentence),
            (finding.affected, limits.affected),
        )
    )
    sentences, condition = make_prose(claim, urls, limit), _render_condition(trigger, urls, limit + 20)
    if not sentences or not condition:
        return []
    status = _STATUSES[finding.status]
    if finding.status is FindingStatus.POSSIBLE and finding.certainty is Certainty.HIGH:
        status = f"{_CERTAINTIES[finding.certainty]}, unconfirmed"
    evidence = finding.evidence if urls and finding.status is FindingStatus.CONFIRMED else None
    link = make_link(build_evidence_url(pull, evidence), status) if evidence else make_text(status)
    who = [make_text("Affected: "), *make_prose(affected.rstrip(" .;,"), urls, limit)] if affected else []
    return [link, make_text(": "), *end_sentence(sentences), *end_sentence(condition), *end_sentence(who)]


def _render_condition(trigger: str, urls: Mapping[int, str], limit: int) -> list[Element]:
    trigger = collapse_lines(trigger).rstrip(" .;,")
    if not trigger:
        return []
    has_beginning = _OWN_BEGINNING.match(trigger)
    return make_prose(
        f"Fails {trigger[0].lower()}{trigger[1:]}" if has_beginning else f"Fails when {trigger}", urls, limit
    )


def render_review(entry: Entry, most: int, limit: int) -> Iterator[Block]:
    """Yield what the AI bug review found: at most ``most`` findings, each text of up to ``limit`` characters."""
    if entry.review is None:
        return
    findings = entry.review.ranked_findings
    shown = findings[:most]
    title = [make_text("AI bug review", bold=True), *([] if shown else [make_text(": no bug found.")])]
    items = [_render_finding(entry.pull, finding, limit) for finding in shown]
    yield make_block(make_section(title), *([make_bullets(items)] if items else []))
    hidden, count = len(findings) - len(shown), entry.review.refuted
    more = f"Not shown: {format_count(hidden, 'more finding')}." if hidden else ""
    refuted = f"{format_count(count, 'suspicion')} {'was' if count == 1 else 'were'} refuted." if count else ""
    yield make_context(" ".join(filter(None, [more, refuted, NO_PROOF])))


def _render_finding(pull: PullRequest, finding: BugFinding, limit: int) -> list[Element]:
    """Return a finding: consequence, trigger, who is affected, how sure the model is, what to do, the quote."""
    affected = make_prose(finding.affected, {}, limit)
    proof = "" if finding.status is FindingStatus.CONFIRMED else "; not proved"
    advice = _ADVICE[finding.advice].format(finding.wait_for)
    if finding.repaired_by:
        advice = format_end(finding)
    return [
        make_text(_STATUSES[finding.status], bold=True),
        make_text(": "),
        *end_sentence(make_prose(finding.consequence, {}, limit)),
        *end_sentence(_render_condition(finding.trigger, {}, limit)),
        *end_sentence([make_text("Affected: "), *affected] if affected else []),
        make_text(f"{_CERTAINTIES[finding.certainty]}{proof}. {advice}".rstrip()),
        *([make_text(" "), *render_quote(pull, finding.evidence)] if finding.evidence else []),
    ]


def format_end(finding: BugFinding) -> str:
    """Return what closed a finding as a sentence; empty for one that is open."""
    verb = "Reverted" if finding.is_reverted else "Repaired"
    return f"{verb} by #{finding.repaired_by}." if finding.repaired_by else ""


def render_quote(pull: PullRequest, evidence: Evidence) -> list[Element]:
    quote = make_text(truncate_text(collapse_lines(evidence.quote), 160), code=True)
    label = truncate_text(collapse_lines(evidence.path), 120)
    place = " (removed)" if evidence.side is DiffSide.OLD else f":{evidence.line}"
    return [make_link(build_evidence_url(pull, evidence), label + place), make_text(" "), quote]


# of a title that is shown; a longer one is left out, so that nothing is cut
_MAX_TITLE_LENGTH = 160
_MAX_TITLE_WORDS = 24
_MAX_BRANCH = 60
# of a cell: Slack wraps none, and a window shall show all columns
_MAX_CELL = 48
# characters of a sentence of the model, by the schemas of its answers
MAX_SENTENCE = 320
# a colour for those who see it; its word stands beside it for everybody
_MARKS = {
    RiskBand.NO_PRODUCT: "⚪",
    RiskBand.LOW: "⚪",
    RiskBand.MIDDLE: "🟡",
    RiskBand.HIGH: "🟠",
    RiskBand.HIGHEST: "🔴",
}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LineLimits:
    """How many items lists have, and which parts of an item are shown: whole or not at all. The rest is counted.

    ``sentence`` is the most words of a sentence that somebody else wrote. ``attempts`` are those of a line,
    ``numbers`` those in a row, ``affected`` the most words of who notices a bug.
    """

    sentence: int = 60
    affected: int = 20
    reasons: int = 2
    attempts: int = 5
    actions: int = 5
    numbers: int = 12
    outcomes: int = 8
    risks: int = 3


WIDE_LIMITS = LineLimits()


# --- lists


def make_list(title: str, lines: Iterable[list[Element]]) -> Block:
    return make_block(make_section([make_text(title, bold=True)]), make_bullets(lines))


def render_lines(
    things: Sequence[T], most: int, render: Callable[[T], list[Element]], elsewhere: str = ""
) -> list[list[Element]]:
    """Return a line for each of the first things, and one that counts the others and says where they are."""
    lines = [render(each) for each in things[:most]]
    rest = len(things) - most
    return [*lines, [make_text(format_more(rest, elsewhere))]] if rest > 0 else lines


def render_reference(pull: PullRequest) -> list[Element]:
    """Return a pull request as a link and its title, and the branch that it went into if that is another one."""
    title = f" {keep_title(pull)}".rstrip() or " "
    branch = make_text(f" (into {shorten_branch(pull)})")
    return [make_link(pull.url, f"#{pull.number}"), make_text(title), *([branch] if pull.other_branch else [])]


def shorten_branch(pull: PullRequest) -> str:
    """Return the other branch that a pull request goes into, short enough for a list; empty without one."""
    return truncate_text(collapse_lines(pull.other_branch), _MAX_BRANCH)


def keep_title(pull: PullRequest) -> str:
    """Return the whole title on one line, without marks of code; nothing for one that is too long for a list."""
    return keep_short(pull.title.replace("`", ""), _MAX_TITLE_WORDS, _MAX_TITLE_LENGTH)


def render_numbers(
    values: Sequence[int], urls: Mapping[int, str], most: int = WIDE_LIMITS.numbers
) -> list[Element]:
    """Return up to ``most`` numbers in a row, as links if they have an address, and how many more there are."""
    elements: list[Element] = []
    for number in values[:most]:
        elements += [make_text(", ")] if elements else []
        elements.append(make_link(urls[number], f"#{number}") if number in urls else make_text(f"#{number}"))
    rest = len(values) - most
    return [*elements, make_text(f" {format_more(rest)}")] if rest > 0 else elements


def format_more(count: int, elsewhere: str = "") -> str:
    return f"and {count} more{elsewhere}"


def join_some(texts: Sequence[str], most: int) -> str:
    """Return the first texts in a row, and how many more there are."""
    return f"{', '.join(texts[:most])}{f' {format_more(len(texts) - most)}' if len(texts) > most else ''}"


# --- what was reverted or repaired


def render_outcomes(
    outcomes: Iterable[MergeOutcome],
    older: Iterable[PullRequest],
    elsewhere: str = "",
    limits: LineLimits = WIDE_LIMITS,
) -> Iterator[Block]:
    """Yield what was reverted or repaired; ``older`` are reverts. ``elsewhere`` is where the rest of a list is."""

    def render_line(each: MergeOutcome | PullRequest) -> list[Element]:
        if not isinstance(each, PullRequest):
            return render_outcome(each)
        return [*render_reference(each), make_text(", which reverts an earlier change")]

    listed: list[MergeOutcome | PullRequest] = [*outcomes, *older]
    if listed:
        most = count_outcome_lines(len(listed), limits)
        yield make_list("Already reverted or repaired", render_lines(listed, most, render_line, elsewhere))


def count_outcome_lines(outcomes: int, limits: LineLimits) -> int:
    """Return how many have a line: the last line counts those that have none."""
    return outcomes if outcomes <= limits.outcomes else limits.outcomes - 1


def render_outcome(outcome: MergeOutcome) -> list[Element]:
    """Return what was reverted or repaired, when and by what; a revert's title would repeat that of the change."""
    by, is_reverted = outcome.by, outcome.kind is OutcomeKind.REVERTED
    return [
        *render_reference(outcome.pull),
        make_text(f", {format_outcome(outcome)} "),
        *([make_link(by.url, f"#{by.number}")] if is_reverted else render_reference(by)),
    ]


def format_outcome(outcome: MergeOutcome) -> str:
    """Return what became of a change and when, such as ``reverted after 1.4 h by``; what undid it follows."""
    minutes = max(1, round(outcome.lifetime / timedelta(minutes=1)))
    if minutes < 60:
        elapsed = format_count(minutes, "minute")
    else:
        is_short = minutes < 47.9 * 60
        elapsed = f"{minutes / 60:.1f} h" if is_short else format_count(round(minutes / 60 / 24), "day")
    return f"{outcome.kind} after {elapsed} by"


def format_outcome_fact(outcome: MergeOutcome) -> str:
    """Return an outcome among the facts of a change, such as ``reverted after 1.4 h by #9``."""
    return f"{format_outcome(outcome)} #{outcome.by.number}{format_undone(outcome)}"


def format_undone(outcome: MergeOutcome) -> str:
    """Return that what undid a change was itself reverted; empty if it stands."""
    return "" if outcome.stands else ", which was itself reverted"


# --- the riskiest

# where the rules that look back had nothing to look at, and what an operator does about it
NO_HISTORY = "fix history not loaded"
LOAD_HISTORY = "prdigest backfill --facts --since DATE"


def render_riskiest_title(*, is_reduced: bool, is_new: bool = False) -> list[Element]:
    """Return the title of the list: of a reduced one with the reason, without history with what loads it."""
    notes = ["at most one: lists here were no better than chance, see /prrisks score"] if is_reduced else []
    notes += [f"{NO_HISTORY}: {LOAD_HISTORY}"] if is_new else []
    title = [make_text("Riskiest", bold=True)]
    return [*title, make_text(f" ({'; '.join(notes)})", italic=True)] if notes else title


RISK_COLUMNS = ("Merge", "Risk", "Why", "Title")


def render_risk_row(entry: Entry) -> list[list[Element]]:
    """Return the cells of ``RISK_COLUMNS``. What may break is a sentence, which is too wide for a cell."""
    pull, risk = entry.pull, entry.risk
    linked = [make_link(pull.url, f"#{pull.number}", bold=True)]
    titled = truncate_text(collapse_lines(pull.title.replace("`", "")), _MAX_CELL)
    title = [make_text(titled)] if titled else []
    if pull.files is None and not get_claim(entry):
        return [linked, [make_text("not rated")], [make_text("its files could not be read")], title]
    reasons = _join_reasons(entry, WIDE_LIMITS.reasons, _MAX_CELL) or "no risk rule matched"
    why = [make_text(truncate_text(reasons, _MAX_CELL)), *render_attempts(entry)]
    return [linked, [make_text(f"{_MARKS[risk.band]} {risk.band.label}")], why, title]


def render_may_break(
    entry: Entry,
    urls: Mapping[int, str],
    limit: int = MAX_SENTENCE,
    limits: LineLimits = WIDE_LIMITS,
    index: SentenceIndex = EMPTY_INDEX,
) -> list[Element]:
    """Return what may break: the strongest finding of the AI bug review, else the claim of the summary, if any."""
    finding, claim = entry.strongest_finding, get_claim(entry)
    if finding:
        return render_finding_line(entry.pull, finding, urls, limits, limit)
    is_repeated = index.has_words(normalize_sentence(claim))
    sentence = "" if is_repeated else keep_short(claim, limits.sentence, limit)
    return end_sentence(make_prose(sentence, urls, limit))


def render_risk(
    entry: Entry,
    urls: Mapping[int, str],
    limit: int = MAX_SENTENCE,
    *,
    limits: LineLimits = WIDE_LIMITS,
    index: SentenceIndex = EMPTY_INDEX,
    tells_history: bool = True,
) -> list[Element]:
    """Return an entry with what may break, the mark of its band, and the reasons of the rules in a few words.

    A claim needs a quote that proved it, and must not be in ``index`` already. Without either the reasons come
    first. A text of more than ``limit`` characters is left out. With ``tells_history`` a missing history of the
    files is named.
    """
    pull, may_break = entry.pull, render_may_break(entry, urls, limit, limits, index)
    # each has at least one: a band alone explains nothing
    reasons = _join_reasons(entry, limits.reasons if may_break else max(1, limits.reasons), limit)
    band = make_text(format_band(entry.risk, tells_history=tells_history))
    linked = make_link(pull.url, f"#{pull.number} {keep_title(pull)}".rstrip(), bold=True)
    attempts = render_attempts(entry, limits.attempts)
    if not may_break:
        if entry.pull.files is None:
            return [linked, make_text(" — not rated, as its files could not be read.")]
        return [linked, make_text(f" — {reasons or 'no risk rule matched'}"), *attempts, make_text(". "), band]
    after = [make_text(": "), make_text(reasons, italic=True)] if reasons else []
    return [linked, make_text(" — "), *may_break, band, *after, *attempts]


def _join_reasons(entry: Entry, most: int, limit: int) -> str:
    short = list(accumulate(entry.risk.short_reasons[:most], "{}; {}".format))
    return next((joined for joined in reversed(short) if len(joined) <= limit), short[0] if short else "")


def render_attempts(entry: Entry, most: int = WIDE_LIMITS.attempts) -> list[Element]:
    def link(number: int) -> Element:
        return make_link(entry.pull.build_sibling_url(number), f"#{number}")

    elements: list[Element] = []
    for each in entry.risk.tries[-most:] if most else ():
        elements += [make_text(", " if elements else "; lands again "), link(each.number)]
        if each.reverted_by:
            elements += [make_text(" (reverted by "), link(each.reverted_by), make_text(")")]
    return elements


def format_band(risk: Risk, *, tells_history: bool = True) -> str:
    """Format the band with its mark, such as ``🔴 highest risk``, and whether the files have no history yet."""
    history = f", {NO_HISTORY}" if tells_history and risk.without_history else ""
    return f"{_MARKS[risk.band]} {risk.band.label} risk{history}"
