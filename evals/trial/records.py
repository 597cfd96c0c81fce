"""Recorded days as a source of pull requests and files, in place of GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.dates import LocalDay
from bot.errors import DayUnavailable, PullRequestNotFound, SourceUnavailable, UsageError
from bot.platform.cleaning import (
    clean_hash,
    clean_line,
    clean_text,
    clean_title,
    parse_account,
    parse_count,
    parse_files,
    parse_instant,
)
from bot.platform.git.mirror import GitMirror
from bot.platform.git.reading import MirrorReader
from bot.platform.models import ChatModel, Model
from bot.platform.pulls.diff import split_hunks
from bot.platform.pulls.models import Account, ChangedFile, PullRequest, sort_newest_first
from bot.platform.pulls.sources import CountCheck, DayMerges, PullRequests, RateAllowance
from bot.platform.source.models import SourceFiles
from evals.context import apply_hunks
from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile, SourceProblem, SourceVersions

_APP = "[bot]"


class RecordedDays:
    """``PullRequests`` of a folder with one folder a day: ``pulls.json`` and ``files/<number>.json``.

    The items of ``pulls.json`` are facts by GitHub's names, those of the other files are of the REST "files" call.
    """

    def __init__(self, folder: Path) -> None:
        """Read the facts of all days. Raises UsageError."""
        self._folders: dict[int, Path] = {}
        self._pulls: dict[int, PullRequest] = {}
        self.dates = tuple(sorted(path.parent.name for path in folder.glob("*/pulls.json")))
        if not self.dates:
            raise UsageError(f"{folder} has no recorded days: name a folder with DATE/pulls.json.")
        for date in self.dates:
            self._add_day(folder / date)

    def _add_day(self, folder: Path) -> None:
        for pull in _read_pulls(folder / "pulls.json"):
            self._pulls[pull.number] = pull
            self._folders[pull.number] = folder / "files"

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List the recorded merges of a day, without files. Raise DayUnavailable if there are none."""
        pulls = [pull for pull in self._pulls.values() if pull.repository == repository and pull.merge_time in day]
        if not pulls:
            raise DayUnavailable(f"There are no records of {repository} on {day.date}.", "not recorded")
        return DayMerges(sort_newest_first(tuple(pulls)), CountCheck(len(pulls), "the records"))

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Return a recorded pull request, without files. Raise PullRequestNotFound."""
        pull = self._pulls.get(number)
        if pull is None or pull.repository != repository:
            raise PullRequestNotFound(f"There is no record of {repository}#{number}.")
        return pull

    def find_merge(self, commit: str) -> PullRequest | None:
        """Return the pull request that a commit merged, without files, or None."""
        return next((pull for pull in self._pulls.values() if pull.commit == commit), None)

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Return the pull request with its recorded files. Raise PullRequestNotFound."""
        path = self._folders[pull.number] / f"{pull.number}.json"
        if not path.is_file():
            raise PullRequestNotFound(f"There is no record of the files of {pull.repository}#{pull.number}.")
        return replace(pull, files=tuple(parse_files(_read_json(path))))


def _read_pulls(path: Path) -> Iterator[PullRequest]:
    day = _read_json(path)
    try:
        repository = Repository.parse(day["repository"])
        yield from (_build_pull_request(repository, record) for record in day["pulls"])
    except (KeyError, TypeError) as error:
        raise UsageError(f"{path} is no record of a day: {error} is missing or wrong.") from error


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} can't be read as JSON: {error}.") from error


def _build_pull_request(repository: Repository, record: Mapping[str, Any]) -> PullRequest:
    return PullRequest(
        repository=repository,
        number=record["number"],
        title=clean_title(record["title"]),
        body=clean_text(record.get("body")),
        author=_parse_author(record.get("author")),
        merged_by=_parse_author(record.get("merged_by")),
        merged_at=parse_instant(record["merged_at"]),
        merge_commit=clean_hash(record.get("merge_commit_sha")) or None,
        head_commit=clean_hash(record.get("head_sha")),
        additions=parse_count(record["additions"]),
        deletions=parse_count(record["deletions"]),
        changed_files=parse_count(record["changed_files"]),
        base="main",
        labels=tuple(name for label in record.get("labels") or () if (name := clean_line(label))),
    )


def _parse_author(login: object) -> Account:
    kind = "Bot" if isinstance(login, str) and login.endswith(_APP) else "User"
    return parse_account({"login": login, "__typename": kind} if login else None)


class TreeFiles:
    """``VersionedFiles`` of recorded merges: changed files to which every hunk of the record fits, no others.

    ``tree`` is a folder with the files of a release, None if there is none.
    """

    def __init__(self, records: RecordedDays, tree: Path | None) -> None:
        self._records = records
        self._tree = tree

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return the files after a recorded merge. Raise SourceUnavailable without a tree or a record."""
        merge = self._records.find_merge(commit)
        if self._tree is None or merge is None or side is DiffSide.OLD:
            raise SourceUnavailable(f"There are no files of {repository} at {commit} in the records.")
        changes = {file.path: file for file in self._records.load_files(merge).files or ()}
        return {path: _build_file(path, changes.get(path), self._tree) for path in paths}

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        """Raise SourceUnavailable: what was before a merge is not in the records."""
        raise SourceUnavailable(f"There are no files before {commit} of {repository} in the records.")


def _build_file(path: str, change: ChangedFile | None, tree: Path) -> SourceFile:
    before = tree / path
    if change is None or not change.patch or not before.is_file():
        return SourceFile(path, problem=SourceProblem.UNAVAILABLE)
    hunks = list(split_hunks(change.patch))
    after, fitting = apply_hunks(before.read_text(encoding="utf-8").split("\n"), hunks)
    if len(fitting) < len(hunks):
        return SourceFile(path, problem=SourceProblem.UNAVAILABLE)
    return SourceFile(path, "\n".join(after))


@dataclass(frozen=True, slots=True)
class TrialSources:
    pulls: PullRequests
    source_files: SourceFiles | None
    model: Model
    source_mirror: GitMirror | None = None
    chat: ChatModel | None = None
    # a model writes: its statements need the same proof as in the bot
    stands_in: str = ""
    background: None = None
    source_search: MirrorReader | None = None
    tag_history: None = None
    source_versions: None = None
    source_trees: None = None
    open_pulls: None = None
    releases: None = None

    def get_written_review(self, pull: PullRequest) -> None:
        """Return nothing: a trial is about summaries."""

    def list_allowances(self) -> Iterable[RateAllowance]:
        """Return nothing: a trial does not watch limits."""
        return ()

    def open_sources(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing: who opened the parts closes them."""
