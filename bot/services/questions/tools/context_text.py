"""What the model is told of pull requests, as text: a line each for a list, more for a single one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.domain.digest.models import Entry
from bot.domain.history.reverts import is_revert
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES, PathClasses
from bot.domain.summaries.diff_packing import Coverage, PackedDiff, pack_diff
from bot.domain.text.strings import collapse_lines, format_count, remove_comments, truncate_text
from bot.services.questions.archive import Days

_DESCRIPTION = 3_000
_SECTION = 300
_LONGEST_LINE = 6_000
_LONGEST_FILES = 5_000
# of a diff that stands in the record of a day
_MOST_SMALL = 16_000
_TITLE = 200


@dataclass(frozen=True, slots=True)
class Bounded:
    """A text of lines that was cut where it was too long, and says so."""

    text: str
    hidden: int = 0


def bounded(lines: Iterable[str], most: int, what: str, advice: str) -> Bounded:
    """As many of the lines as fit into ``most`` characters; ``what`` names one of those that do not."""
    kept: list[str] = []
    hidden, room = 0, most
    for line in map(_not_endless, lines):
        if hidden or len(line) > room:
            hidden += 1
        else:
            kept.append(line)
            room -= len(line) + 1
    if hidden:
        kept.append(f"[cut: {format_count(hidden, what)} not shown; {advice}]")
    return Bounded("\n".join(kept), hidden)


def head(days: Days) -> str:
    """The days, how many pull requests they hold, and what may be missing."""
    counted = format_count(len(days.entries), "pull request")
    doubts = "".join(f" [{doubt}]" for doubt in days.doubts)
    return f"{days.repository}, {days.span} ({days.span.zone}): {counted} merged, newest first{doubts}"


def day_record(days: Days, most: int) -> Bounded:
    """The list of some days, as detailed as there is room for."""
    return listed([head(days)], days.entries, most, (whole, detailed, line, short))


def _not_endless(line: str) -> str:
    """No line shall hide all those after it."""
    return (
        line
        if len(line) <= _LONGEST_LINE
        else f"{truncate_text(line, _LONGEST_LINE)} [cut: the rest of this line]"
    )


def listed(
    head: list[str], entries: Iterable[Entry], most: int, forms: tuple[Callable[[Entry], str], ...]
) -> Bounded:
    """The entries in the first form in which all fit; in the last as many as do."""
    known = tuple(entries)
    for form in forms:
        text = "\n".join([*head, *map(form, known)])
        if len(text) <= most:
            return Bounded(text)
    return bounded([*head, *map(forms[-1], known)], most, "pull request", "narrow it with filters")


def enumerated(items: list[str], most: int) -> str:
    """The items in a row, as many as fit into ``most`` characters, and how many do not."""
    length, shown = 0, 0
    for item in items:
        length += len(item) + 2
        if length > most:
            break
        shown += 1
    more = f" [cut: {len(items) - shown:,} more]" if shown < len(items) else ""
    return ", ".join(items[:shown]) + more


def small_diffs(
    entries: Iterable[Entry], most: int, classes: PathClasses = DEFAULT_PATH_CLASSES
) -> tuple[tuple[PullRequest, str], ...]:
    """The diffs that fit whole into ``most`` characters, of the riskiest pull requests first."""
    found = []
    for entry in sorted(entries, key=lambda entry: -entry.risk.points):
        packed = diff_of(entry.pull, _MOST_SMALL, classes)
        text = f"Diff of #{entry.number}:\n{packed.text}"
        has_lines = any(file.patch for file in entry.pull.files or ())
        if has_lines and packed.coverage is Coverage.FULL and len(text) < most:
            most -= len(text) + 1
            found.append((entry.pull, text))
    return tuple(found)


def short(entry: Entry) -> str:
    """Number, area, title."""
    return f"#{entry.number} {entry.area}: {truncate_text(collapse_lines(entry.pull.title), _TITLE)}"


def line(entry: Entry) -> str:
    """The facts that the filters speak of, title and headline."""
    pull, said = entry.pull, entry.summary
    when = (
        f"merged {pull.merge_time:%Y-%m-%d %H:%M}Z by {pull.merged_by.login}" if pull.is_merged else "not merged"
    )
    parts = [
        f"#{entry.number} {truncate_text(collapse_lines(pull.title), _TITLE)}",
        *([said.headline] if not said.is_fallback else []),
        f"{said.type}, {entry.area}",
        f"by {pull.author.login}, {when}",
        f"{format_count(pull.changed_files, 'file')} +{pull.additions} -{pull.deletions}",
        f"risk {risk_of(entry)}",
        *(["takes another back"] if is_revert(pull) else []),
    ]
    return " | ".join(parts)


def detailed(entry: Entry) -> str:
    """The same with the gist of the summary."""
    said = entry.summary
    if said.is_fallback:
        return line(entry)
    more = [truncate_text(collapse_lines(said.what_changed_and_why), _SECTION)]
    more += [f"Risk: {said.risk_reason}"] if said.risk_reason else []
    more += [f"Action: {said.action}"] if said.action else []
    return f"{line(entry)}\n  " + "\n  ".join(more)


def risk_of(entry: Entry) -> str:
    """Name the band of the rules and their reasons, and say where they had no history to look back at.

    No rule speaks of a pull request without files.
    """
    if entry.pull.files is None:
        return "not assessed (files not loaded)"
    reasons = "; ".join(entry.risk.reasons)
    band = f"{entry.risk.band.label}{' without history' if entry.risk.without_history else ''}"
    return f"{band} ({reasons})" if reasons else band


def whole(entry: Entry) -> str:
    """One pull request with everything but its diff."""
    pull, said = entry.pull, entry.summary
    sections = [f"{name}: {collapse_lines(text)}" for name, text in said.sections]
    proofs = [f"Proven by {found.path}:{found.line}: {found.quote}" for found in said.evidence]
    asks = [f"Action: {said.action}"] if said.action else []
    told = ["No summary yet."] if said.is_fallback else sections
    return "\n".join([line(entry), *told, *asks, *proofs, *_files(pull), *_description(pull)])


def _description(pull: PullRequest) -> list[str]:
    """Set in, so that no line of it looks like one of ours."""
    body = truncate_text(remove_comments(pull.body).strip(), _DESCRIPTION)
    return ["Description:", *(f"  {each}" for each in body.splitlines())] if body else ["No description."]


def _files(pull: PullRequest) -> list[str]:
    if pull.files is None:
        return ["Files: could not be loaded."]
    named = [f"{f.path} ({f.status}, +{f.additions} -{f.deletions})" for f in pull.largest_files]
    unlisted = pull.changed_files - len(named)
    more = f" [cut: {format_count(unlisted, 'file')} that GitHub does not list]" if unlisted > 0 else ""
    return [f"Files: {enumerated(named, _LONGEST_FILES)}{more}"]


def diff_of(pull: PullRequest, most: int, classes: PathClasses = DEFAULT_PATH_CLASSES) -> PackedDiff:
    """The diff, most informative files first, in ``most`` characters; what does not fit is named."""
    return pack_diff(pull.files or (), most // 4, pull.changed_files, classes)
