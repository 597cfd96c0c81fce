"""Texts for the model: pull requests in one line or more, what people wrote about them, and lines with words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.features.merges.view import Entry
from bot.features.questions.reading import REMARK_SIGN, DayEntries
from bot.platform.models.packing import Coverage, PackedDiff, pack_diff
from bot.platform.models.prompts import MAX_RESULT_LENGTH, BoundedText, join_items, limit_lines
from bot.platform.pulls.diff import split_hunks
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, Filters, PathClasses
from bot.platform.pulls.sources import Discussion, Remark, RemarkKind, shorten_remarks
from bot.text import format_count
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, remove_comments, truncate_text

_MAX_DESCRIPTION_LENGTH = 3_000
_MAX_SECTION_LENGTH = 300
_MAX_FILES_LENGTH = 5_000
# of a diff in the record of a day
_MAX_SMALL_DIFF_LENGTH = 16_000
_MAX_TITLE_LENGTH, _MAX_PATH_LENGTH = 200, 120
_MAX_NAMED_DAYS = 14
_SUMMARY_MARK = "Summary by a model, not checked against code"
# characters of one text: the reason for a decision stands in its first paragraphs, a report of a bug is longer
_MAX_REMARK_LENGTH, _MAX_ISSUE_LENGTH = 1_200, 2_000
# of a discussion, for its head and the notes at its end
_ROOM = 1_000
_MAX_POSITIONS_LENGTH = 3_000
_SIDES = {"+": "added", "-": "removed", " ": "unchanged"}

# --- pull requests


def format_head(days: DayEntries) -> str:
    """Return the days and what may be missing; headlines look like facts, so it says who wrote them."""
    counted = format_count(len(days.entries), "pull request")
    caveats = "".join(f" [{caveat}]" for caveat in days.caveats)
    has_summaries = any(not entry.summary.is_fallback for entry in days.entries)
    marked = "; headlines and summaries are by a model, not checked against code" if has_summaries else ""
    head = f"{days.repository}, {days.span} ({days.span.zone}): {counted} merged, newest first{caveats}{marked}"
    if not days.unloaded:
        return head
    named = ", ".join(map(str, days.unloaded[:_MAX_NAMED_DAYS]))
    more = ", …" if len(days.unloaded) > _MAX_NAMED_DAYS else ""
    count = format_count(len(days.unloaded), "day is", "days are")
    return f"{head}; {count} NOT LOADED ({named}{more}): what was merged then is not known"


def format_entries(
    head: list[str], entries: Iterable[Entry], most: int, forms: tuple[Callable[[Entry], str], ...]
) -> BoundedText:
    """Return the entries in the first form in which all fit; in the last, as many as fit."""
    listed = tuple(entries)
    for form in forms:
        lines, room = [*head], most + 1 - sum(len(line) + 1 for line in head)
        for entry in listed:
            line = form(entry)
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
        if room >= 0:
            return BoundedText("\n".join(lines))
    return limit_lines([*head, *map(forms[-1], listed)], most, "pull request", "narrow it with filters")


def collect_small_diffs(
    entries: Iterable[Entry], most: int, classes: PathClasses = DEFAULT_PATH_CLASSES
) -> tuple[tuple[PullRequest, str], ...]:
    """Return the diffs that fit completely into ``most`` characters, of the riskiest pull requests first."""
    diffs = []
    for entry in sorted(entries, key=lambda entry: -entry.risk.points):
        packed = fit_diff(entry.pull, _MAX_SMALL_DIFF_LENGTH, classes)
        text = f"Diff of #{entry.number}:\n{packed.text}"
        has_lines = any(file.patch for file in entry.pull.files or ())
        if has_lines and packed.coverage is Coverage.FULL and len(text) < most:
            most -= len(text) + 1
            diffs.append((entry.pull, text))
    return tuple(diffs)


def fit_diff(pull: PullRequest, most: int, classes: PathClasses = DEFAULT_PATH_CLASSES) -> PackedDiff:
    return pack_diff(pull.files or (), most // 4, pull.changed_files, classes)


def format_short_line(entry: Entry) -> str:
    return f"#{entry.number} {entry.area}: {truncate_text(collapse_lines(entry.pull.title), _MAX_TITLE_LENGTH)}"


def format_line(entry: Entry) -> str:
    pull, summary = entry.pull, entry.summary
    into = f" into {collapse_lines(pull.other_branch)}" if pull.other_branch else ""
    when = (
        f"merged {pull.merge_time:%Y-%m-%d %H:%M}Z{into} by {pull.merged_by.login}"
        if pull.is_merged
        else "not merged"
    )
    parts = (
        f"#{entry.number} {truncate_text(collapse_lines(pull.title), _MAX_TITLE_LENGTH)}",
        "" if summary.is_fallback else summary.headline,
        f"{summary.type}, {entry.area}",
        f"by {pull.author.login}, {when}",
        f"{format_count(pull.changed_files, 'file')} +{pull.additions} -{pull.deletions}",
        f"risk {describe_risk(entry)}",
        "takes another back" if entry.is_revert else "",
    )
    return " | ".join(filter(None, parts))


def format_details(entry: Entry) -> str:
    summary = entry.summary
    if summary.is_fallback:
        return format_line(entry)
    essence = truncate_text(collapse_lines(summary.what_changed_and_why), _MAX_SECTION_LENGTH)
    more = (
        f"{_SUMMARY_MARK}: {essence}",
        f"Risk: {summary.risk_reason}" if summary.risk_reason else "",
        f"Action: {summary.action}" if summary.action else "",
    )
    return "\n  ".join([format_line(entry), *filter(None, more)])


def describe_risk(entry: Entry) -> str:
    """Return the risk band with its reasons, and whether there was no history. No rule applies without files."""
    if entry.pull.files is None:
        return "not assessed (files not loaded)"
    reasons = "; ".join(entry.risk.reasons)
    band = f"{entry.risk.band.label}{' without history' if entry.risk.without_history else ''}"
    return f"{band} ({reasons})" if reasons else band


def format_pull_request(entry: Entry) -> str:
    pull, summary = entry.pull, entry.summary
    lines = [format_line(entry), "No summary yet." if summary.is_fallback else f"{_SUMMARY_MARK}:"]
    if not summary.is_fallback:
        lines += [f"{name}: {collapse_lines(text)}" for name, text in summary.sections]
    if summary.action:
        lines.append(f"Action: {summary.action}")
    for proof in summary.evidence:
        side = "unchanged" if not proof.is_change else "removed" if proof.side is DiffSide.OLD else "added"
        lines.append(f"Quoted for it: {proof.path}:{proof.line} ({side}): {proof.quote}")
    if pull.files is None:
        lines.append("Files: could not be loaded.")
    else:
        listed = [f"{f.path} ({f.status}, +{f.additions} -{f.deletions})" for f in pull.largest_files]
        unlisted = pull.changed_files - len(listed)
        more = f" [cut: {format_count(unlisted, 'file')} that GitHub does not list]" if unlisted > 0 else ""
        lines.append(f"Files: {join_items(listed, _MAX_FILES_LENGTH)}{more}")
    lines.append("What the author says (nobody has checked it):")
    if pull.labels:
        labels = join_items([collapse_lines(label) for label in pull.labels], _MAX_SECTION_LENGTH)
        lines.append(f"Labels: {labels}")
    lines.append("Issues that it closes:" if pull.linked_issues else "No linked issues.")
    lines += [f"- #{issue.number}: {collapse_lines(issue.title)}" for issue in pull.linked_issues]
    body = truncate_text(remove_comments(pull.body).strip(), _MAX_DESCRIPTION_LENGTH)
    # indented, so that no line of it looks like one of ours
    lines += ["Description:", *(f"  {each}" for each in body.splitlines())] if body else ["No description."]
    return "\n".join(lines)


# --- what people wrote about one

_HEADINGS = {
    RemarkKind.ISSUE: "Issues that it closes:",
    RemarkKind.COMMENT: "Comments, oldest first:",
    RemarkKind.REVIEW: "Reviews, oldest first:",
    RemarkKind.RESOLVED: "Threads on lines:",
}
_SECTIONS = {
    RemarkKind.APPROVAL: RemarkKind.REVIEW,
    RemarkKind.REFUSAL: RemarkKind.REVIEW,
    RemarkKind.OPEN: RemarkKind.RESOLVED,
}


def select_remarks(discussion: Discussion) -> tuple[Remark, ...]:
    cut = []
    for remark in discussion.told:
        # empty lines would take the room of others
        text = "\n".join(filter(None, (line.rstrip() for line in remark.text.split("\n"))))
        most = _MAX_ISSUE_LENGTH if remark.kind is RemarkKind.ISSUE else _MAX_REMARK_LENGTH
        cut.append(replace(remark, text=truncate_text(text, most)))
    return shorten_remarks(cut, MAX_RESULT_LENGTH - _ROOM)


def format_discussion(discussion: Discussion, remarks: Sequence[Remark]) -> str:
    """Return the remarks with who wrote them; a text is indented, so that no line of it looks like one of ours."""
    title = truncate_text(collapse_lines(discussion.title), _MAX_TITLE_LENGTH)
    lines = [f"What people wrote about #{discussion.number} {title} (what they say; nobody has checked it):"]
    if discussion.is_partial:
        lines.append("[GitHub sent only a part: this is no proof that nothing else was said]")
    section = None
    for remark in remarks:
        if section is not (section := _SECTIONS.get(remark.kind, remark.kind)):
            lines.append(_HEADINGS[section])
        when = f", {remark.written_at:%Y-%m-%d %H:%M}Z" if remark.written_at else ""
        path = f" on {truncate_text(collapse_lines(remark.path), _MAX_PATH_LENGTH)}" if remark.path else ""
        title = truncate_text(collapse_lines(remark.title), _MAX_TITLE_LENGTH)
        what = f"{remark.state}: {title}" if remark.kind is RemarkKind.ISSUE else f"{remark.kind}{path}"
        lines.append(f"[{REMARK_SIGN}{remark.anchor}] {remark.author.login} ({remark.role}){when}, {what}")
        lines += [f"  {line}" for line in remark.text.split("\n") if line]
    # what is not shown
    noise = len(discussion.remarks) - len(discussion.told)
    hidden = len(discussion.told) - len(remarks) + discussion.unlisted
    if not remarks and not discussion.is_partial:
        lines.append("No issue, comment or review with words.")
    if noise:
        lines.append(f"[left out: {format_count(noise, 'remark')} by bots, to bots or without words]")
    if hidden:
        lines.append(f"[cut: {format_count(hidden, 'older remark')} not shown]")
    return "\n".join(lines)


# --- lines with words


class Where(StrEnum):
    CHANGED = "changed_lines"
    DIFF = "diff"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """A line; its ``place`` is the name of a text, or file and line after the change, before it for ``-``."""

    number: int
    place: str
    text: str

    def __str__(self) -> str:
        return f"#{self.number} {self.place}: {truncate_text(self.text.rstrip(), 200)}"


def search_entries(entries: Iterable[Entry], words: Iterable[str], where: Where) -> Iterator[SearchMatch]:
    folded = tuple(word.casefold() for word in words if word.strip())
    for entry in entries:
        lines = _list_texts(entry) if where is Where.TEXT else _list_diff_lines(entry.pull, folded, where)
        for place, text in lines:
            if has_word(text, folded):
                yield SearchMatch(entry.number, place, text)


def has_word(text: str, words: tuple[str, ...]) -> bool:
    folded = text.casefold()
    return any(word in folded for word in words)


def _list_texts(entry: Entry) -> Iterator[tuple[str, str]]:
    yield "title", collapse_lines(entry.pull.title)
    for line in remove_comments(entry.pull.body).splitlines():
        if line.strip():
            yield "description", collapse_lines(line)
    if not entry.summary.is_fallback:
        yield "headline", entry.summary.headline
        for name, text in entry.summary.sections:
            yield f"summary, {name.lower()}", collapse_lines(text)


def _list_diff_lines(pull: PullRequest, words: tuple[str, ...], where: Where) -> Iterator[tuple[str, str]]:
    for file in pull.files or ():
        if not has_word(file.patch or "", words):
            continue
        for _, lines in split_hunks(file.patch or ""):
            for line in lines:
                if line.is_change or where is Where.DIFF:
                    number = line.old if line.mark == "-" else line.new
                    yield f"{file.path}:{number}", f"{line.mark}{line.text}"


def interleave_matches(matches: Sequence[SearchMatch]) -> list[SearchMatch]:
    """Return the first match of each pull request, then the second ones, so that truncation hides none of them."""
    seen: Counter[int] = Counter()
    ranked = []
    for match in matches:
        seen[match.number] += 1
        ranked.append((seen[match.number], match))
    return [match for _, match in sorted(ranked, key=lambda pair: pair[0])]


def select_files(pull: PullRequest, paths: tuple[str, ...]) -> tuple[ChangedFile, ...]:
    is_chosen = Filters(paths=paths).is_match
    return tuple(file for file in pull.files or () if not paths or is_chosen(replace(pull, files=(file,))))


def find_places(files: tuple[ChangedFile, ...], text: str) -> list[str]:
    """Return the hunks that contain the text; of several lines, side and number first, which hunks don't show."""
    words, lines, places = (text.strip().casefold(),), list[str](), list[str]()
    for file in files:
        is_first = True
        for header, hunk in split_hunks(file.patch or ""):
            hits = [line for line in hunk if has_word(line.text, words)]
            if not hits:
                continue
            if is_first:
                lines.append(f"=== {file.path} ({file.status}, +{file.additions} -{file.deletions})")
            is_first = False
            lines += [header, *(line.patch_text for line in hunk)]
            places += [
                f"{file.path}:{line.old if line.mark == '-' else line.new} ({_SIDES[line.mark]})" for line in hits
            ]
    if len(places) > 1:
        lines.insert(0, f"It stands in {len(places):,} lines: {join_items(places, _MAX_POSITIONS_LENGTH)}")
    return lines
