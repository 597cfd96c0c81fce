"""Reader of archived days: recorded merges, with the summaries and contract changes that are kept."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from bot.domain.archive.models import ArchivedChange, ArchivedDay, ArchivedMerge, ArchivedOutcome
from bot.domain.contract.models import ChangeKind, ContractChange, MergeContract
from bot.domain.digest.touches import list_contract_rows
from bot.domain.history.outcomes import find_outcomes
from bot.domain.history.revert_index import RevertIndex
from bot.domain.pull_requests.areas import determine_area
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import PullRequest, Repository, remove_duplicates
from bot.domain.pull_requests.path_classes import PathClassesLookup
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.models import SummarisedPullRequest, Summary
from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, remove_invisible, truncate_text
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay
from bot.ports import HistoryStore
from bot.render.archive.sentences import ACTION_TITLE
from bot.services.history.merge_timeline import LOOK_AHEAD, LOOK_BACK

# characters and counts of what comes from outside; a day of vLLM is far below all of them
_MAX_TITLE, _MAX_LINE, _MAX_SECTION, _MAX_NAME = 300, 400, 4_000, 300
_MAX_FILES, _MAX_CHANGES = 100, 200


@dataclass(frozen=True, slots=True)
class KeptMerges:
    """What is in the store about merges. The lookups return None for what is not kept.

    ``open_history`` opens the store of recorded merges when they are first read.
    """

    open_history: Callable[[], HistoryStore]
    get_summary: Callable[[Reference], SummarisedPullRequest | None]
    get_contract: Callable[[PullRequest], MergeContract | None]
    classes_of: PathClassesLookup


class ArchiveReader:
    """Reader of days."""

    def __init__(self, kept: KeptMerges) -> None:
        self._kept = kept

    def read_days(self, repository: Repository, span: Span) -> tuple[ArchivedDay, ...]:
        """Return the days of a span on which merges are recorded, oldest first.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        days = span.days
        recorded = self._kept.open_history().read_merges(
            repository, days[0].start - LOOK_BACK, days[-1].end + LOOK_AHEAD
        )
        merges = remove_duplicates(recorded)
        outcomes = _group_outcomes(merges)
        by_date = _group_by_date(merges, span)
        return tuple(self._read_day(day, by_date[day.date], outcomes) for day in days if day.date in by_date)

    def _read_day(
        self, day: LocalDay, merges: Sequence[PullRequest], outcomes: Mapping[int, tuple[ArchivedOutcome, ...]]
    ) -> ArchivedDay:
        read = (self._read_merge(pull, outcomes.get(pull.number, ())) for pull in merges)
        return ArchivedDay(day.date, day.end, tuple(read))

    def _read_merge(self, pull: PullRequest, outcomes: tuple[ArchivedOutcome, ...]) -> ArchivedMerge:
        read = self._kept.get_summary(Reference(pull.repository, pull.number))
        contract = self._kept.get_contract(pull)
        summary = read.summary if read and not read.summary.is_fallback else None
        changes = None if contract is None else _list_changes(contract)
        return ArchivedMerge(
            pull.number,
            clean_line(pull.title, _MAX_TITLE),
            pull.url,
            clean_line(pull.author.login, _MAX_NAME),
            pull.merge_time,
            pull.commit,
            read.area if read else determine_area(pull, self._kept.classes_of(pull.repository)),
            clean_line(summary.headline, _MAX_TITLE) if summary else "",
            str(summary.type) if summary else "",
            _list_sections(summary) if summary else (),
            tuple(clean_line(file.path, _MAX_NAME) for file in (pull.files or ())[:_MAX_FILES]),
            pull.changed_files,
            None if changes is None else tuple(_build_change(each, pull) for each in changes[:_MAX_CHANGES]),
            max(len(changes or ()) - _MAX_CHANGES, 0),
            len(contract.unread) if contract else 0,
            outcomes,
        )


def _group_by_date(merges: Iterable[PullRequest], span: Span) -> Mapping[dt.date, Sequence[PullRequest]]:
    """Return the merges by their local dates, each list in the order of ``merges``."""
    grouped: dict[dt.date, list[PullRequest]] = {}
    for pull in merges:
        grouped.setdefault(pull.merge_time.astimezone(span.zone).date(), []).append(pull)
    return grouped


def _group_outcomes(merges: Iterable[PullRequest]) -> Mapping[int, tuple[ArchivedOutcome, ...]]:
    """Return what became of merges by their numbers, as far as it stands."""
    grouped: dict[int, list[tuple[datetime, ArchivedOutcome]]] = {}
    for outcome in find_outcomes(RevertIndex(tuple(merges))):
        if outcome.stands and outcome.lifetime <= LOOK_AHEAD:
            at = outcome.by.merge_time
            archived = ArchivedOutcome(str(outcome.kind), outcome.by.number, at)
            grouped.setdefault(outcome.pull.number, []).append((at, archived))
    return {
        number: tuple(each for _, each in sorted(pairs, key=lambda pair: (pair[0], pair[1].by)))
        for number, pairs in grouped.items()
    }


def _list_sections(summary: Summary) -> tuple[tuple[str, str], ...]:
    sections = ((name, truncate_text(_clean_text(text), _MAX_SECTION)) for name, text in summary.sections)
    return (*sections, *([(ACTION_TITLE, clean_line(summary.action, _MAX_SECTION))] if summary.action else ()))


def _list_changes(contract: MergeContract) -> Sequence[ContractChange]:
    """Return the changes in the order of tables; what is the same from outside is left out."""
    return [row.change for row in list_contract_rows([contract])]


def _build_change(change: ContractChange, pull: PullRequest) -> ArchivedChange:
    deadline = change.deadline if change.kind is ChangeKind.DEPRECATED else None
    return ArchivedChange(
        str(change.subject),
        str(change.kind),
        clean_line(change.name, _MAX_NAME),
        clean_line(change.new_name, _MAX_NAME),
        clean_line(change.before, _MAX_LINE),
        clean_line(change.after, _MAX_LINE),
        clean_line(change.path, _MAX_NAME),
        change.line,
        _build_change_url(change, pull),
        change.is_importable,
        clean_line(deadline.when, _MAX_NAME) if deadline else "",
        clean_line(deadline.replacement, _MAX_NAME) if deadline else "",
    )


def _build_change_url(change: ContractChange, pull: PullRequest) -> str:
    """Return the address of a line after the merge; a line that is gone is in the diff."""
    if change.side is DiffSide.NEW:
        return f"{pull.web}/{pull.repository}/blob/{quote(pull.commit)}/{quote(change.path)}#L{change.line}"
    return f"{pull.url}/files"


def _clean_text(text: str) -> str:
    return redact_text(remove_invisible(text.replace("\r\n", "\n")))


def clean_line(text: str, limit: int) -> str:
    """Return a text on one line of at most ``limit`` characters, without secrets and invisible characters."""
    return truncate_text(redact_text(collapse_lines(remove_invisible(text))), limit)
