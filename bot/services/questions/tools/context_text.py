"""Texts about pull requests for the model: one line each in a list, more for a single one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES, PathClasses
from bot.domain.summaries.diff_packing import Coverage, PackedDiff, pack_diff
from bot.domain.summaries.models import Evidence
from bot.domain.text.strings import collapse_lines, format_count, remove_comments, truncate_text
from bot.services.questions.archive import DayEntries
from bot.services.source.text_limits import BoundedText, join_items, limit_lines

_MAX_DESCRIPTION_LENGTH = 3_000
_MAX_SECTION_LENGTH = 300
_MAX_FILES_LENGTH = 5_000
# of a diff in the record of a day
_MAX_SMALL_DIFF_LENGTH = 16_000
_MAX_TITLE_LENGTH = 200
_MAX_NAMED_DAYS = 14
_SUMMARY_MARK = "Summary by a model, not checked against code"
_AUTHOR_MARK = "What the author says (nobody has checked it):"


def format_head(days: DayEntries) -> str:
    """Return the days, their number of pull requests, and what may be missing.

    Lines of a list have headlines, which look like facts: the head says who wrote them.
    """
    counted = format_count(len(days.entries), "pull request")
    caveats = "".join(f" [{caveat}]" for caveat in days.caveats)
    has_summaries = any(not entry.summary.is_fallback for entry in days.entries)
    marked = "; headlines and summaries are by a model, not checked against code" if has_summaries else ""
    listed = f"{days.repository}, {days.span} ({days.span.zone}): {counted} merged, newest first{caveats}"
    return f"{listed}{marked}{_format_unloaded(days)}"


def _format_unloaded(days: DayEntries) -> str:
    if not days.unloaded:
        return ""
    named = ", ".join(map(str, days.unloaded[:_MAX_NAMED_DAYS]))
    more = ", …" if len(days.unloaded) > _MAX_NAMED_DAYS else ""
    count = format_count(len(days.unloaded), "day is", "days are")
    return f"; {count} NOT LOADED ({named}{more}): what was merged then is not known"


def format_doubt(days: DayEntries, unchecked: int) -> str:
    """Return why the count of a list or search may be too small; empty if nothing is missing.

    ``unchecked`` is the number of pull requests whose files could not be loaded, where files matter.
    """
    parts = [f"{format_count(len(days.unloaded), 'day is', 'days are')} not loaded"] if days.unloaded else []
    if unchecked:
        parts.append(f"the files of {format_count(unchecked, 'pull request')} are not loaded")
    return f" (at least: {' and '.join(parts)})" if parts else ""


def format_day_record(days: DayEntries, most: int) -> BoundedText:
    """Return the list of some days, as detailed as it fits."""
    return format_entries(
        [format_head(days)],
        days.entries,
        most,
        (format_pull_request, format_details, format_line, format_short_line),
    )


def format_entries(
    head: list[str], entries: Iterable[Entry], most: int, forms: tuple[Callable[[Entry], str], ...]
) -> BoundedText:
    """Return the entries in the first form in which all fit; in the last, as many as fit."""
    listed = tuple(entries)
    for form in forms:
        text = _join_within(chain(head, map(form, listed)), most)
        if text is not None:
            return BoundedText(text)
    return limit_lines([*head, *map(forms[-1], listed)], most, "pull request", "narrow it with filters")


def _join_within(lines: Iterable[str], most: int) -> str | None:
    """Join all lines, or return None as soon as they exceed ``most`` characters."""
    kept, length = [], -1
    for line in lines:
        length += len(line) + 1
        if length > most:
            return None
        kept.append(line)
    return "\n".join(kept)


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


def format_short_line(entry: Entry) -> str:
    """Return number, area and title."""
    return f"#{entry.number} {entry.area}: {truncate_text(collapse_lines(entry.pull.title), _MAX_TITLE_LENGTH)}"


def format_line(entry: Entry) -> str:
    """Return the facts that can be filtered, title and headline."""
    pull, summary = entry.pull, entry.summary
    when = (
        f"merged {pull.merge_time:%Y-%m-%d %H:%M}Z by {pull.merged_by.login}" if pull.is_merged else "not merged"
    )
    parts = [
        f"#{entry.number} {truncate_text(collapse_lines(pull.title), _MAX_TITLE_LENGTH)}",
        *([summary.headline] if not summary.is_fallback else []),
        f"{summary.type}, {entry.area}",
        f"by {pull.author.login}, {when}",
        f"{format_count(pull.changed_files, 'file')} +{pull.additions} -{pull.deletions}",
        f"risk {describe_risk(entry)}",
        *(["takes another back"] if entry.is_revert else []),
    ]
    return " | ".join(parts)


def format_details(entry: Entry) -> str:
    """Return the line with the essence of the summary."""
    summary = entry.summary
    if summary.is_fallback:
        return format_line(entry)
    essence = truncate_text(collapse_lines(summary.what_changed_and_why), _MAX_SECTION_LENGTH)
    more = [f"{_SUMMARY_MARK}: {essence}"]
    more += [f"Risk: {summary.risk_reason}"] if summary.risk_reason else []
    more += [f"Action: {summary.action}"] if summary.action else []
    return f"{format_line(entry)}\n  " + "\n  ".join(more)


def describe_risk(entry: Entry) -> str:
    """Return the risk band with the reasons of the rules, and say if they had no history.

    No rule applies to a pull request without files.
    """
    if entry.pull.files is None:
        return "not assessed (files not loaded)"
    reasons = "; ".join(entry.risk.reasons)
    band = f"{entry.risk.band.label}{' without history' if entry.risk.without_history else ''}"
    return f"{band} ({reasons})" if reasons else band


def format_pull_request(entry: Entry) -> str:
    """Return one pull request with everything but its diff."""
    pull, summary = entry.pull, entry.summary
    sections = [f"{name}: {collapse_lines(text)}" for name, text in summary.sections]
    proofs = [
        f"Quoted for it: {evidence.path}:{evidence.line} ({_name_side(evidence)}): {evidence.quote}"
        for evidence in summary.evidence
    ]
    asks = [f"Action: {summary.action}"] if summary.action else []
    summary_lines = ["No summary yet."] if summary.is_fallback else [f"{_SUMMARY_MARK}:", *sections]
    return "\n".join(
        [format_line(entry), *summary_lines, *asks, *proofs, *_format_files(pull), *_format_author_words(pull)]
    )


def _name_side(evidence: Evidence) -> str:
    if not evidence.is_change:
        return "unchanged"
    return "removed" if evidence.side is DiffSide.OLD else "added"


def _format_author_words(pull: PullRequest) -> list[str]:
    """Return labels, linked issues and description, as what the author says."""
    labels = [f"Labels: {join_items([collapse_lines(label) for label in pull.labels], _MAX_SECTION_LENGTH)}"]
    issues = [f"- #{issue.number}: {collapse_lines(issue.title)}" for issue in pull.linked_issues]
    return [
        _AUTHOR_MARK,
        *(labels if pull.labels else []),
        *(["Issues that it closes:", *issues] if issues else ["No linked issues."]),
        *_format_description(pull),
    ]


def _format_description(pull: PullRequest) -> list[str]:
    """Return the description, indented so that no line of it looks like one of ours."""
    body = truncate_text(remove_comments(pull.body).strip(), _MAX_DESCRIPTION_LENGTH)
    return ["Description:", *(f"  {each}" for each in body.splitlines())] if body else ["No description."]


def _format_files(pull: PullRequest) -> list[str]:
    if pull.files is None:
        return ["Files: could not be loaded."]
    listed = [f"{f.path} ({f.status}, +{f.additions} -{f.deletions})" for f in pull.largest_files]
    unlisted = pull.changed_files - len(listed)
    more = f" [cut: {format_count(unlisted, 'file')} that GitHub does not list]" if unlisted > 0 else ""
    return [f"Files: {join_items(listed, _MAX_FILES_LENGTH)}{more}"]


def fit_diff(pull: PullRequest, most: int, classes: PathClasses = DEFAULT_PATH_CLASSES) -> PackedDiff:
    """Return the diff in ``most`` characters, most informative files first; what does not fit is named."""
    return pack_diff(pull.files or (), most // 4, pull.changed_files, classes)
